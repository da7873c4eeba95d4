#!/usr/bin/env bash
# The commands `store` and `table`: what they print, compared with tests/golden/store/NAME.txt; what
# they refuse, and that it leaves everything as it was; that a table in C compiles without a warning
# as C and C++ and looks up what brute force finds.
#
#   tests/jobs/test_store_cli.sh AUTOTUNE SOURCE_DIR            compare
#   tests/jobs/test_store_cli.sh AUTOTUNE SOURCE_DIR --update   rewrite the golden files; read the diff
# shellcheck disable=SC2016 # command lines for bash -c
. "$(dirname "$0")/../support/script.sh"
mode=${3:-compare}
golden=$source_dir/tests/golden/store
model=$(sed -nE 's/^enum \{ MODEL_VERSION = ([0-9]+) \};/\1/p' "$source_dir/core/version.h")
mkdir here
cd here || exit 2
names=()

# Rows are written for model version 1; @MODEL@ stands for the version of this program.
sanitise() {
    sed -E -e "s/(model.version\"?:? ?)$model\b/\1@MODEL@/gI" \
        -e "s/,$model,([0-9.e+]*,[01],|0\.1\.0,)/,@MODEL@,\1/" \
        -e 's/("bytes_[a-z]+": )[0-9]+/\1@BYTES@/' -e 's/has [0-9,]+ bytes/has @BYTES@ bytes/' \
        -e 's/had [0-9,]+ bytes and has [0-9,]+/had @BYTES@ bytes and has @BYTES@/'
}

golden() { # name arguments…
    local name=$1 status
    shift
    names+=("$name.txt")
    {
        echo "\$ autotune $*"
        "$autotune" "$@" >"$work/answer" 2>"$work/messages" </dev/null
        status=$?
        sanitise <"$work/answer"
        sed 's/^/stderr: /' "$work/messages" | sanitise
        echo "exit status $status"
    } >"$work/now"
    if [ "$mode" = --update ]; then
        cp "$work/now" "$golden/$name.txt"
    else
        same "$name: autotune $*" "$golden/$name.txt" "$work/now"
    fi
}

# Of all files but those by which SQLite's readers know of each other.
files() { find . -type f ! -name '*-shm' ! -name '*-wal' -printf '%p %s %T@ %C@\n' | sort; }

# An error that leaves every file as it was.
bad_and_idle() { # fragment of the message, arguments…
    local before
    before=$(files)
    bad "$@"
    equal "$what: no file has changed" "$before" "$(files)"
}

# An exported row: shape, time, and any member as NAME=JSON.
row() { # shape time_ns NAME=JSON…
    local op='"matmul"' options='""' space='"thesis"' hardware='"00112233445566778899aabbccddeeff"'
    local cores=2 model_version=$model hardware_name='"Ascend 310"' optimal=true limit_s=0
    local kind='"simulated"' answer='{}' dtype='"f16"' query='"strategy=bound top=1"' extra=''
    local tiling='"m_slice=128,k_slice=64,n_slice=112,buffers=2,resident=a,split=m"'
    local shape="\"$1\"" time_ns=$2
    shift 2
    [ $# -eq 0 ] || local "$@"
    printf '{"kind":%s,"op":%s,"shape":%s,"options":%s,"dtype":%s,"space":%s,"query":%s,' \
        "$kind" "$op" "$shape" "$options" "$dtype" "$space" "$query"
    printf '"hardware":%s,"cores":%s,"model_version":%s,"hardware_name":%s,"tiling":%s,' \
        "$hardware" "$cores" "$model_version" "$hardware_name" "$tiling"
    printf '"time_ns":%s,"optimal":%s,"limit_s":%s,"answer":%s%s}\n' \
        "$time_ns" "$optimal" "$limit_s" "$answer" "$extra"
}

other_chip='hardware="ffeeddccbbaa99887766554433221100"'
slower='tiling="m_slice=64,k_slice=64,n_slice=64,buffers=1,resident=both,split=n"'

rows_before() {
    row 512x1024x512 104614.571419 answer='{"gap":0.0,"bottleneck":"MTE2"}'
    row 64x64x64 3000.5
    row 64x64x64 2000.25 cores=1
    row 64x64x64 9000.25 options='"batch=4 transpose=a"' answer='"a text, with \"marks\""'
    row 128x64x64 9000.25 model_version=0
    row 128x64x64 8123.5 kind='"measured"'
    row 99999x64x64 0 tiling='""'
    row 256x64x64 1000.0 optimal=false limit_s=2.5
    row 1024x64x64 7777
}

rows_after() {
    row 512x1024x512 95614.5 "$slower"
    row 64x64x64 3000.5 "$other_chip"
    row 64x64x64 2000.25 cores=1 "$slower"
    row 128x64x64 9000.25
    row 128x64x64 8123.5 kind='"measured"'
    row 99999x64x64 5.5e9
    row 256x64x64 1000.0001 optimal=false limit_s=2.5
    row 1024x64x64 7777
    row 2048x64x64 17777
}

import() { answer 0 store import "$@"; } # store file

# ---------------------------------------------------------------- what is printed

golden help-store store --help
golden help-table table --help
rows_before >before.jsonl
rows_after >after.jsonl
golden import store import before.db before.jsonl
golden import-again store import before.db before.jsonl
import after.db after.jsonl
golden ls store ls before.db
golden ls-json store ls before.db --kind measured --json
golden ls-csv store ls before.db --format csv
golden ls-some store ls before.db --op MATMUL --shape '64x*' --hw ascend310 --cores 2 --options ''
golden ls-fingerprint store ls before.db --hw 001122
golden ls-none store ls before.db --hw 001123
golden show store show before.db --shape '512x*'
golden show-text store show before.db --options 'batch=4*'
golden show-json store show before.db --shape '512x*' --json
golden diff store diff before.db after.db
golden diff-json store diff before.db after.db --json --shape '512x*'
golden diff-same store diff before.db before.db
golden diff-some store diff before.db after.db --kind measured
golden export store export before.db --shape '64x*'
golden table-ambiguous table --db before.db
golden table table --db before.db --cores 2
golden table-c table --db before.db --cores 2 --format c --prefix chip
golden table-json table --db before.db --cores 2 --json --shape '64x*'
golden table-csv table --db before.db --cores 2 --format csv
golden table-measured table --db before.db --kind measured --format csv
golden table-none table --db before.db --op knn
golden gc-dry-run store gc before.db --dry-run
check 'a dry run removes nothing' test "$("$autotune" store ls before.db | wc -l)" -eq 11
golden gc store gc before.db
golden gc-kind store gc before.db --kind measured --json
golden gc-nothing store gc before.db

# ---------------------------------------------------------------- contents and bytes

# The same rows in another order, through another store: the same bytes.
shuf --random-source=<(yes) before.jsonl >shuffled.jsonl
import shuffled.db shuffled.jsonl
rm before.db*
import before.db before.jsonl
"$autotune" store export before.db -o one.jsonl
"$autotune" store export shuffled.db >two.jsonl
check 'an export does not depend on the order of writing' cmp one.jsonl two.jsonl
import third.db one.jsonl
"$autotune" store export third.db >three.jsonl
check 'import gives back what export has written' cmp one.jsonl three.jsonl
check 'and a diff of the two is empty' "$autotune" store diff before.db third.db -o /dev/null
for format in c json csv markdown; do
    "$autotune" table --db before.db --cores 2 --format $format >table.1
    "$autotune" table --db shuffled.db --cores 2 --format $format | sed s/shuffled/before/ >table.2
    check "a table depends on the rows alone, as $format" cmp table.1 table.2
    for origin in '0\.1\.0' 00112233445566778899aabbccddeeff \
        "autotune table --db before.db --cores 2 --format $format"; do
        check "$format says where it is from" grep -q -- "$origin" table.1
    done
done

# Tables of the vendor, from a chip that has them.
blocks='tiling="single_m=64,single_n=128,cores=8,outer=m,base_m=64,base_n=128,base_k=96,l0b_holds=tile'
blocks+=',step_ka=3,step_kb=1,step_m=1,step_n=1,step_batch_a=1,step_batch_b=1,l1a_buffers=1'
blocks+=',l1b_buffers=2,l0a_buffers=2,l0b_buffers=2,l0c_buffers=1"'
{
    row 256x256x256 1949.5 'space="cann"' 'hardware_name="Ascend 910B1"' cores=24 "$blocks"
    row 256x256x512 2949.5 'space="cann"' 'hardware_name="Ascend 910B1"' cores=24 "$blocks"
} >cann.jsonl
import cann.db cann.jsonl
golden table-runtime-kb table --db cann.db --format runtime_kb
golden table-tcubetiling table --db cann.db --format tcubetiling
"$autotune" table -q --db cann.db --format runtime_kb -o kb.jsonl
check 'a table of runtime_kb is read and legal' \
    "$autotune" check --runtime-kb kb.jsonl --hw ascend910b1 -o /dev/null

# ---------------------------------------------------------------- the header, compiled

# Shapes of many sizes, some powers of two, for which many are equally near; of a space whose lookup
# re-checks nothing.
many_rows() {
    local i
    row 1x1x1 1 'space="cann"'
    for i in $(seq 120); do
        row "$((1 << RANDOM % 12))x$((1 << RANDOM % 12))x$((1 << RANDOM % 12))" $((RANDOM + 1)) \
            'space="cann"'
        row "$((RANDOM % 5000 + 1))x$((RANDOM % 5000 + 1))x$((RANDOM % 5000 + 1))" $((RANDOM + 1)) \
            'space="cann"' "options=\"batch=$((RANDOM % 8 + 2))\""
    done
}
RANDOM=7
many_rows | sort -u -t: -k4,5 >many.jsonl # one row a shape
import many.db many.jsonl --replace
"$autotune" table --db many.db --format c -o table.h
checked=0
try_compiler() { # compiler and options…
    command -v "$1" >/dev/null || return
    checked=$((checked + 1))
    check "the header by $*" "$@" -Wall -Wextra -Wpedantic -Werror -I. "$golden/check_table.c" -o check_table -lm
    check 'which finds what brute force finds' ./check_table
}
try_compiler gcc -std=c99 -x c
try_compiler g++ -std=c++11 -x c++
try_compiler g++ -std=c++20 -x c++
try_compiler clang -std=c99 -x c
try_compiler clang++ -std=c++11 -x c++
check 'there are a compiler of C and one of C++' test $checked -ge 2
check 'the header has a few hundred entries' \
    test "$(grep -cE '^    \{\{' table.h)" -gt 150

# Names that a comment or a text of C could stumble over.
rm -f odd.db*
{
    row 8x8x8 1 'hardware_name="Chip */ \" ??/ \\"' \
        'tiling="int=1,default=x,class=-9223372036854775807"'
} >odd.jsonl
import odd.db odd.jsonl
"$autotune" table --db odd.db --format c --prefix Odd -o odd.h
echo '#include "odd.h"
int main(void) { return Odd_matmul_f16_find(8, 8, 8, 1)->tiling.int_ != 1; }' >odd.c
for compiler in 'gcc -std=c99 -x c' 'g++ -std=c++11 -x c++'; do
    # shellcheck disable=SC2086 # a list of words
    check "odd names by $compiler" $compiler -Wall -Wextra -Wpedantic -Werror odd.c -o odd
    check "odd names by $compiler run" ./odd
done

# Values of several words, as kernels of processors have them.
{
    row 64x64x1 9 'dtype="f32"' 'space="host"' 'tiling="kernel=dot 8x2,k_tile=64"'
    row 64x64x64 99 'dtype="f32"' 'space="host"' 'tiling="kernel=6x4,k_tile=64"'
} >words.jsonl
import words.db words.jsonl
check 'words with a blank come back' cmp words.jsonl <("$autotune" store export words.db)
"$autotune" table --db words.db --format c -o words.h
check 'and are texts of a header' grep -qF '{"dot 8x2", 64}' words.h
check 'and cells of a table' grep -qF '| dot 8x2 |' <("$autotune" table --db words.db)

# The example's header is what the command writes today.
import results.db "$source_dir/docs/examples/results.jsonl"
"$autotune" table --db results.db --hw ascend310 --op matmul --format c -o tilings.h
check 'docs/examples/tilings.h is up to date' cmp tilings.h "$source_dir/docs/examples/tilings.h"

# ---------------------------------------------------------------- what is refused

words() {
    cases bad_and_idle <<'END'
store: expected ls, show, diff, export, import or gc        store
store frob: expected ls                                     store frob before.db
store ls: expected a store                                  store ls
store diff: expected two stores                             store diff before.db
store import: expected a store and a file                   store import before.db
store ls: expected a store                                  store ls before.db after.db
expected nothing here                                       store diff a b c
--dry-run: store ls has none                                store ls before.db --dry-run
--keep: store gc has none                                   store gc before.db --keep
--keep, --replace: expected one of them                     store import n.db one.jsonl --keep --replace
--kind nice: expected simulated, measured or imported       store ls before.db --kind nice
--dtype f61: expected f16, f32, bf16, i8, u8, i16, u16, i32 or u32; did you mean f16?  table --db before.db --dtype f61
--format: store show has no such format                     store show before.db --format csv
--format c: expected one of table, json, csv                store ls before.db --format c
unknown option --set-hw                                     store ls before.db --set-hw issue_ns=20
unknown option --hw-path                                    table --db before.db --hw-path .
--cores 0: expected a whole number                          table --db before.db --cores 0
--db is missing                                             table
--db: its value is missing                                  table --db
--format table: expected one of json, csv, c, markdown      table --db before.db --format table
--prefix 1x: expected a letter                              table --db before.db --prefix 1x
before.db: the tables of operator libraries hold tilings of matmul in the space cann  table -q --db before.db --cores 2 --format runtime_kb
END
}

# A table is of one thing; the message names what there is.
ambiguous() {
    row 8x8x8 1 >more.jsonl
    cp many.db mixed.db
    import mixed.db more.jsonl
    rm more.jsonl
    bad_and_idle 'results of matmul in cann and thesis; --space says which' table --db mixed.db
    row 8x8x8 1 "$other_chip" 'hardware_name="Other"' >more.jsonl
    import mixed.db more.jsonl
    rm more.jsonl
    bad_and_idle 'one chip, these are results of 2: Ascend 310 00112233445566778899aabbccddeeff, Other ffee' \
        table --db mixed.db
    for hw in other ffeedd; do
        check "--hw $hw chooses" "$autotune" table --db mixed.db --hw $hw -o /dev/null
    done
    rm mixed.db*
}

# Rows that a store can hold and a table cannot.
unfit() {
    local fault
    for fault in 'op="frob"|there is no such operator' \
        'options="batch=x"|--batch x' 'options="batch"|name=value' 'options="frob=1"|--frob' \
        'tiling="m_slice=1,m_slice=2"|name=value' 'tiling="_=1"|name=value' \
        'tiling="m=1,n=99999999999999999999"|'; do
        rm -f unfit.db* unfit.jsonl
        row 8x8x8 1 "${fault%%|*}" >unfit.jsonl
        import unfit.db unfit.jsonl
        if [ -n "${fault#*|}" ]; then
            bad_and_idle "${fault#*|}" table --db unfit.db --format c
        else
            check "a word of digits: ${fault%%|*}" \
                "$autotune" table --db unfit.db --format c -o /dev/null
        fi
    done
    rm -f unfit.db* unfit.jsonl
    row 8x8x8 1 tiling='"kernel=dot  8x2"' >unfit.jsonl
    import unfit.db unfit.jsonl
    bad_and_idle 'name=value' table --db unfit.db
    rm -f unfit.db* unfit.jsonl
    { row 8x8x8 1 tiling='"m=1"'; row 9x8x8 1 tiling='"n=1"'; } >unfit.jsonl
    import unfit.db unfit.jsonl
    bad_and_idle 'expected the names that others of this space have' table --db unfit.db
    rm -f unfit.db* unfit.jsonl
    { row 8x8x8 1 tiling='"m=1"'; row 9x8x8 1 tiling='"m=a"'; } >unfit.jsonl
    import unfit.db unfit.jsonl
    bad_and_idle 'expected numbers where others' table --db unfit.db
    rm -f unfit.db* unfit.jsonl
}

# Every member of a row that is wrong is named, with the line; nothing of the file counts.
lines() {
    local fault
    for fault in 'kind="nice"|kind: expected' 'op="a b"|op: ' 'op=7|op: ' 'shape="8x-8"|shape: ' \
        'shape="8x"|shape: ' 'shape="0x8"|shape: ' 'shape="99999999999999999999"|shape: ' \
        'options="a\nb"|options: ' 'dtype=""|dtype: ' \
        'dtype="f7"|dtype: f7, expected f16, f32, bf16, ' 'dtype="F16"|dtype: F16, expected f16, ' \
        'dtype=1|dtype: expected f16, ' 'space="\u001b[31m"|space: ' \
        'hardware="0011"|hardware: ' 'hardware="00112233445566778899aabbccddeefg"|hardware: ' \
        'cores=0|cores: ' 'cores=1.5|cores: ' 'cores=2147483648|cores: ' 'cores="2"|cores: ' \
        'model_version=-1|model_version: ' 'time_ns=-1|time_ns: ' 'time_ns=1e300|time_ns: ' \
        'tiling="a= b"|tiling: ' 'tiling="a=b ,c=d"|tiling: ' 'time_ns=1e999|expected a result' 'time_ns=nan|expected a result' 'time_ns=0|time_ns: ' \
        'tiling=""|time_ns: ' 'tiling="a"|tiling: ' 'tiling="a=1,"|tiling: ' 'optimal=1|optimal: ' \
        'limit_s=-2|limit_s: ' 'limit_s=2|limit_s: ' 'answer=7|answer: ' 'answer=[]|answer: ' \
        'query=null|query: ' 'extra=,"more":1|a member that' 'extra=,"op":"x"|expected a result' \
        'answer="\u0000"|expected a result'; do
        { row 8x8x8 1; row 9x8x8 1 "${fault%%|*}"; } >bad.jsonl
        bad_and_idle "bad.jsonl:2: ${fault#*|}" store import before.db bad.jsonl
        bad_and_idle "bad.jsonl:2: ${fault#*|}" store import new.db bad.jsonl
    done
    row 8x8x8 1 | sed 's/"cores":2,//' >bad.jsonl
    bad_and_idle 'bad.jsonl:1: cores: ' store import before.db bad.jsonl
    row 8x8x8 1 | head -c 100 >bad.jsonl
    bad_and_idle 'bad.jsonl:1: the line is not ended' store import before.db bad.jsonl
    { row 8x8x8 1; echo; } >bad.jsonl
    bad_and_idle 'bad.jsonl:2: expected a result' store import before.db bad.jsonl
    head -c 70000000 /dev/zero | tr '\0' '[' >bad.jsonl
    bad_and_idle 'bad.jsonl:1: a line of more than' store import before.db bad.jsonl
    head -c 100000 /dev/zero | tr '\0' '[' >bad.jsonl
    echo >>bad.jsonl
    bad_and_idle 'bad.jsonl:1: expected a result' store import before.db bad.jsonl
    bad_and_idle 'nowhere.jsonl: cannot open it' store import before.db nowhere.jsonl
    bad_and_idle '.: cannot read it' store import new.db .
    rm bad.jsonl
}

# Two results for one question.
clashes() {
    row 64x64x64 2999 >clash.jsonl
    bad_and_idle 'clash.jsonl: result 1, matmul 64x64x64: the store has another one' \
        store import before.db clash.jsonl
    row 256x64x64 900 >better.jsonl                               # proven
    row 256x64x64 950 optimal=false limit_s=2.5 >faster.jsonl     # cut off, but faster
    row 256x64x64 1050 optimal=false limit_s=2.5 >slower.jsonl    # neither
    row 128x64x64 8000 kind='"measured"' >measured.jsonl
    bad_and_idle 'the store has another one' store import before.db measured.jsonl
    cp before.db clash.db
    golden import-slower store import clash.db slower.jsonl
    golden import-faster store import clash.db faster.jsonl
    golden import-proven store import clash.db better.jsonl
    golden import-unproven store import clash.db faster.jsonl
    golden import-keep store import clash.db clash.jsonl --keep
    golden import-replace store import clash.db clash.jsonl --replace --json
    golden import-some store import clash.db one.jsonl --kind measured
    cat one.jsonl | "$autotune" store import piped.db - >/dev/null 2>&1
    check 'a pipe is read' "$autotune" store diff before.db piped.db -o /dev/null
    rm -f clash.db* piped.db* ./*er.jsonl measured.jsonl clash.jsonl
}

no_stores() {
    local word
    echo 'op,shape' >text.db
    head -c 4096 before.db >half.db
    cp before.db newer.db
    printf '\0\0\0\143' | dd of=newer.db bs=1 seek=60 conv=notrunc 2>/dev/null # user_version 99
    for word in 'store ls' 'store show' 'store export' 'store gc' 'table --db'; do
        # shellcheck disable=SC2086 # a list of words
        {
            cases bad_and_idle <<'END'
nowhere.db: there is no such store                 $word nowhere.db
text.db: expected a store, this is no SQLite file  $word text.db
half.db: the store is damaged                      $word half.db
newer.db: a store of version 99, expected at most  $word newer.db
.:                                                 $word .
END
        }
    done
    cases bad_and_idle <<'END'
text.db: expected a store        store import text.db one.jsonl
newer.db: a store of version 99  store import newer.db one.jsonl
no/such/folder.db:               store import no/such/folder.db one.jsonl
newer.db: a store of version 99  store diff before.db newer.db
text.db: expected a store        store diff text.db before.db
full:                            store export before.db -o /dev/full
END
    rm text.db half.db newer.db
}

# A store that must not be written is read all the same; what would write says so.
read_only() {
    local run=() folder=$work/closed
    mkdir "$folder"
    cp before.db one.jsonl "$folder"
    cp before.db "$folder/100%41 of #1?.db"
    chmod 755 "$scratch" "$work"
    chmod 444 "$folder"/*
    chmod 555 "$folder"
    if [ "$(id -u)" -eq 0 ]; then # root writes anywhere
        command -v setpriv >/dev/null || return
        run=(setpriv --reuid=65534 --regid=65534 --clear-groups)
        "${run[@]}" test -x "$autotune" -a -r "$AUTOTUNE_CONFIGS" || return
    fi
    check 'a store that is closed to writing is listed' \
        "${run[@]}" "$autotune" store ls "$folder/before.db" -o /dev/null
    check 'whatever its name means in a URI' \
        "${run[@]}" "$autotune" store ls "$folder/100%41 of #1?.db" -o /dev/null
    local word
    for word in "gc $folder/before.db" "import $folder/before.db $folder/one.jsonl --replace" \
        "import $folder/new.db $folder/one.jsonl"; do
        # shellcheck disable=SC2086 # a list of words
        "${run[@]}" "$autotune" store $word >"$work/answer" 2>"$work/messages"
        equal "store $word" '' "$(not_an_error $? '')"
    done
    check 'and is as it was' cmp "$folder/before.db" before.db
    chmod 755 "$folder"
}

words
ambiguous
unfit
lines
clashes
no_stores
read_only

# A golden file that no case writes is a leftover.
for file in "$golden"/*.txt; do
    case " ${names[*]} " in
    *" ${file##*/} "*) ;;
    *) fail "$file belongs to no case" ;;
    esac
done
# ---- what a sweep leaves to be counted is counted when it is asked for

printf 'op,shape\nmatmul,100x640x128\nmatmul,16x64x16\n' >counted.csv
check 'a sweep' "$autotune" sweep counted.csv --hw ascend910b2 --db counted.db -q
best() { # options…
    "$autotune" --op matmul --hw ascend910b2 --json "$@" | jq 'del(.from_store, .search.seconds)'
}
but_for_bounds() { jq 'del(.search.within_1_percent_at_most, .search.within_fit_error_at_most)'; }
for shape in 100x640x128 16x64x16; do
    best --shape $shape --db counted.db >stored.json
    best --shape $shape >searched.json
    check "$shape: as searched" diff <(but_for_bounds <stored.json) <(but_for_bounds <searched.json)
    # what bounds say of those that were never opened is not kept: all may be within one percent
    check "$shape: not fewer are within 1 %" jq -en 'input.search as $stored | input.search as $searched |
        $stored.feasible == $stored.within_1_percent_at_most and
        $stored.feasible >= $searched.within_1_percent_at_most' stored.json searched.json
done
check 'it was not counted before' test "$("$autotune" store export counted.db | grep -c '"feasible"')" = 0

finish
