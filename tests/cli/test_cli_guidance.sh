#!/usr/bin/env bash
# What helps whoever uses the program for the first time: answers that can be pasted and lead on, the
# time of a tiling of one's own, warnings, the word that was meant, lines that fit.
#
#   tests/cli/test_cli_guidance.sh AUTOTUNE SOURCE_DIR
. "$(dirname "$0")/../support/script.sh"
needs jq
mkdir bin
ln -s "$autotune" bin/autotune
PATH=$work/bin:$PATH

# ------------------------------------------------------------------ the launch

# launch_ns + cores x launch_core_ns, in all that says it. 910B1: 350 and the rest of its description.
try_launch() {
    local description per_core all
    description=$(autotune list hw ascend910b1)
    per_core=$(awk '$1 == "launch_core_ns" { print $2 }' <<<"$description")
    all=$(awk '$1 == "launch_ns" { print $2 }' <<<"$description")
    answer 0 --op matmul --shape 4096x4096x4096 --hw ascend910b1 --json
    holds ".best.launch_ns - ($all + .best.cores_used * $per_core) | fabs < 1e-6" \
        '.best.cores_used == 24' '.top[0].launch_ns == .best.launch_ns'
    answer 0 --op matmul --shape 4096x4096x4096 --hw ascend910b1 --report page.html
    check 'table: the launch of 24 cores' grep -q ' of it is the launch' answer
    # shellcheck disable=SC2016 # not for the shell
    said=$(sed -nE 's/^  time .*; ([0-9.]+ us) of it is the launch$/\1/p' answer)
    check "said '$said', wanted $all + 24 x $per_core" awk -v said="$said" -v want="$all" \
        -v core="$per_core" 'BEGIN { w = (want + 24 * core) / 1000; exit !(said + 0 > w - 0.001 && said + 0 < w + 0.001) }' </dev/null
    check 'page: the launch' grep -q "launch, in this time.\{0,40\}$said" page.html
    tiling=$(sed -nE 's/^  tiling +//p' answer)
    autotune explain --op matmul --shape 4096x4096x4096 --hw ascend910b1 --set "$tiling" >explained
    check 'explain: the launch' grep -q "; $said of it is the launch" explained
    autotune program --op matmul --shape 4096x4096x4096 --hw ascend910b1 >program.txt
    autotune analyse program.txt --hw ascend910b1 >analysed
    check 'analyse: the launch' grep -q "of which launch $said" analysed
}

# ------------------------------------------------------------------ tilings and commands

# The command under an answer, its lines joined.
next_of() { # file
    sed -n '/^ *next  */,$p' "$1" | sed -e 's/^ *next  *//' -e 's/^ *//' -e 's/ \\$//' | tr '\n' ' '
}

runs() { check "$1" bash -c "{ $1; } >next" </dev/null; } # command line

# Answers of all operators: each tiling is one word that --set takes, and the next command runs.
try_next() { # arguments…
    local tiling command
    answer 0 "$@"
    cp answer table
    tiling=$(sed -nE 's/^  tiling +([^ ]+)$/\1/p' table)
    check "$*: a tiling without blanks" test -n "$tiling"
    command=$(next_of table)
    check "$*: next names the tiling" grep -qF -e "--set $tiling" <<<"$command"
    runs "$command"
    answer 0 "$@" --json
    time_ns=$(jq .best.time_ns answer)
    if [ "${*: -2:1}" = --top ]; then set -- "${@:1:$#-2}"; fi
    answer 0 explain "$@" --set "$tiling" --json
    holds '.legal' ".time_ns == $time_ns" '.cores_used > 0' '.bound_ns > 0 and .bound_ns <= .time_ns' \
        '(.gap - (.time_ns - .bound_ns) / .time_ns) | fabs < 1e-12' \
        '.bottleneck as $b | [.pipes[], .buses[]] | (map(.share) | max) as $m | any(.name == $b and .share == $m)'
    answer 0 explain "$@" --set "$tiling" --strict
    check "$*: explain says what there is to gain" grep -q 'gap  *at most .* to gain' answer
    command=$(next_of answer)
    runs "$command"
}

try_tilings() {
    local product='512x256x128'
    try_next --op matmul --shape $product
    try_next --op matmul --shape 128x64x64 --batch 2 --transpose both --hw ascend910b1 --cores 3 \
        --space cann
    try_next --op matmul --shape $product --set-hw buffers.l1.capacity_bytes=524288 --top 3
    try_next --op knn --shape 64x32x256 --k 2
    try_next --op cubefx --shape 4096 --order 4 --function sin,1:0:-0.5
    cp "$source_dir/docs/examples/tiny-chip.cfg" "it's a chip.cfg"
    try_next --op matmul --shape 64x64x64 --hw "it's a chip.cfg"
    # a list of several: what stands in it is what --set takes
    answer 0 --op matmul --shape $product --top 4
    for tiling in $(grep -oE 'm_slice=[^ ]*$' answer | sort -u); do
        answer 0 explain --op matmul --shape $product --set "$tiling" --strict
    done
    # refused: the nearest one is taken
    answer 1 explain --op matmul --shape $product --strict \
        --set m_slice=256,k_slice=256,n_slice=128,buffers=2,resident=both,split=m
    runs "$(next_of answer) --strict"
    check 'the nearest is legal' grep -q '^legal' next
    answer 0 explain --op matmul --shape $product \
        --set m_slice=256,k_slice=256,n_slice=128,buffers=2,resident=both,split=m
    # stores and tables
    answer 0 --op matmul --shape $product --db tilings.db
    answer 0 store show tilings.db
    answer 0 explain --op matmul --shape $product --strict --set "$(sed -nE 's/^ *tiling +//p' answer)"
    answer 0 table --db tilings.db --format csv
    answer 0 explain --op matmul --shape $product --strict \
        --set "$(sed -nE '2s/.*"(m_slice=[^"]*)".*/\1/p' answer)"
}

# ------------------------------------------------------------------ programs

try_programs() {
    local kernel=$source_dir/docs/examples/kernels/reluKer.txt
    answer 0 simulate "$kernel"
    check 'no warning of a safe program' test ! -s messages
    sed '/wait MTE2 V/d' "$kernel" >"un safe.txt"
    answer 0 simulate "un safe.txt" --json
    holds '.time_ns > 0'
    check "one line: $(cat messages)" test "$(wc -l <messages)" = 1
    findings=$(sed -nE "s/.*unsafe, ([0-9]+) findings; .*/\1/p" messages)
    command=$(sed -nE 's/.*`(.*)` names them/\1/p' messages)
    check "its command: $command" test "$command" = "autotune check 'un safe.txt'"
    bash -c "$command --json" >answer
    holds "[.findings[] | select(.kind != \"over_sync\")] | length == $findings" \
        '[.findings[].kind] as $k | ["unmatched_flag", "double_set", "capacity", "alignment", "deadlock",
          "hazard", "over_sync"] as $order | [$k[] | . as $x | $order | index($x)] | . == sort' \
        '.findings[0].kind == "unmatched_flag"' 'any(.findings[]; .kind == "hazard")'
    answer 0 simulate "un safe.txt" -q
    check 'nothing with -q' test ! -s messages
    printf 'loop 3000000\nV vadd elements=128\nend\n' >long.txt
    answer 0 simulate long.txt -v --cores 1
    check 'too long to be looked at' grep -q 'too long to be checked' messages
}

# ------------------------------------------------------------------ did you mean

meant() { # word, arguments…
    local word=$1
    shift
    bad "; did you mean $word?
" "$@"
}

nothing_meant() { # arguments…
    answer 2 "$@"
    check "$what: nothing is meant" not grep -q 'did you mean' messages
}

try_words() {
    local product=(--op matmul --shape 64x64x64)
    cases meant <<'END'
--threads                  "${product[@]}" --thread 2
--shape                    --op matmul --shpae 64x64x64
--strict                   explain "${product[@]}" --stric
simulate                   simulat kernel.txt
diff                       store dfif a b
hw                         list hwd
bert-base                  list sweeps bert
matmul                     --op matmull --shape 64x64x64
thesis                     "${product[@]}" --space thesus
exhaustive                 "${product[@]}" --strategy exhaustiv
json                       "${product[@]}" --format jsn
f16                        "${product[@]}" --dtype f61
none                       "${product[@]}" --transpose noen
ascend910b1                "${product[@]}" --hw ascend910b
ascend910b1                "${product[@]}" --hw 910b1
resnet-50                  sweep resnet50
m_slice                    explain "${product[@]}" --set m_slce=3
both                       explain "${product[@]}" --set resident=bth
issue_ns                   "${product[@]}" --set-hw issue=20
buffers.l1.capacity_bytes  "${product[@]}" --set-hw l1.capacity=20
distance                   program --op knn --shape 64x64x64 --k 4 --part distanc
n_slice                    "${product[@]}" --landscape map.json --landscape-axes m_slice,n_slic
sin                        --op cubefx --shape 64 --order 4 --function sn
best                       advise "$source_dir/docs/examples/advise.txt" --apply bst
repository                 evaluate bank.json --bank-format repositry
measured                   store ls none.db --kind mesured
END
    printf 'base = "ascend310";\nname = "x";\nsourc = "assumed: x";\n' >typo.cfg
    meant source "${product[@]}" --hw typo.cfg
    printf 'op,shap\nmatmul,3x3x3\n' >typo.csv
    meant shape sweep typo.csv
    printf 'op = "matmul"; shaps = "8x8x8"; batc = 3;\n' >sweep.cfg
    local line
    while IFS='|' read -r word line; do
        printf '%s\n' "$line" >kernel.txt
        meant "$word" simulate kernel.txt
    done <<'END'
loop|lop i 3
barrier|barier
MTE2|MTE22 gm->l1 bytes=3
gm->l1|MTE2 gm->l11 bytes=3
vmul|V vmull elements=3
mmad|M mmda m=16 k=16 n=16
bytes|MTE2 gm->l1 byte=3
l1|MTE2 gm->l1 bytes=32 dst=l11:0
f16|V vmul elements=3 type=f17
END
    nothing_meant --op qqqqqq --shape 64x64x64
    nothing_meant qqqqqq
    nothing_meant "${product[@]}" --qqqqqq
    nothing_meant "${product[@]}" --set-hw qqqqqqqq=2
    nothing_meant --op x --shape 64x64x64
}

# ------------------------------------------------------------------ lines

# Lines longer than this that a blank could end sooner: a long one is a single word, behind a label.
long_lines() { # width < text
    sed -E -e 's/^ *(tiling|--set|next) +//' -e 's/^nearest legal: --set //' -e 's/^(il)?legal: //' -e 's/^ +//' |
        awk -v width="$1" 'length > width && / /'
}

try_lines() {
    local command long
    for command in $(commands) ''; do
        # shellcheck disable=SC2086 # no word at all
        long=$(autotune $command --help | awk 'length > 80')
        check "$command --help: $long" test -z "$long"
        # no example is wrapped without a backslash
        # shellcheck disable=SC2086 # no word at all
        long=$(autotune $command --help | sed -n '/^Example/,$p' | sed 1d | grep '^[^ ]')
        check "$command --help, a broken example: $long" test -z "$long"
    done
    local product=(--op matmul --shape 512x1024x512)
    while IFS= read -r command; do
        # shellcheck disable=SC2086 # words
        long=$(COLUMNS=200 autotune $command 2>/dev/null | grep -v "^$AUTOTUNE_CONFIGS" | long_lines 80)
        check "$command: longer than 80: $long" test -z "$long"
    done <<END
${product[*]} --top 3
${product[*]} --hw ascend910b1 --top 3
--op knn --shape 256x128x20480 --k 8
--op cubefx --shape 16384 --order 16 --functions 9
explain ${product[*]} --set m_slice=64,k_slice=64,n_slice=64,buffers=1,resident=a,split=m
END
    answer 0 "${product[@]}"
    check 'TFLOP/s' grep -q '^  rate .* TFLOP/s' answer
    if ! script -qec true /dev/null >/dev/null 2>&1; then
        echo 'no script(1): terminals are left out'
        return
    fi
    for width in 60 120; do
        # shellcheck disable=SC2016 # of the shell within
        TERM=dumb script -qec "stty cols $width; autotune advise '$source_dir/docs/examples/advise.txt' --cores 1" \
            /dev/null </dev/null 2>/dev/null | tr -d '\r' | grep -A3 '^  OP  ' >terminal
        check "a terminal of $width columns: $(cat terminal)" awk -v width=$width \
            'length > width { bad = 1 } length > most { most = length }
             END { exit bad || most <= width - 20 }' terminal
        TERM=dumb script -qec "stty cols $width; autotune sweep --help" /dev/null </dev/null \
            2>/dev/null | tr -d '\r' | sed '/^Examples/,$d' >terminal
        check "help on a terminal of $width columns" awk -v width=$width \
            'length > width { bad = 1 } length > most { most = length }
             END { exit bad || most <= width - 20 }' terminal
    done
}

# ------------------------------------------------------------------ sweeps

try_sweep() {
    printf 'op,shape\nmatmul,64x64x64\nmatmul,512x64x64\nmatmul,64x128x64\nmatmul,3\n' >shapes.csv
    answer 2 sweep shapes.csv --db sweep.db
    check 'found' grep -q '^  found  *3 tilings, simulated: .* in all, median ' answer
    check 'slowest' grep -q '^  slowest  *matmul 512x64x64 on Ascend 310: ' answer
    check 'bad' grep -q '^  bad  *1 ' answer
    command=$(next_of answer)
    runs "$command --format csv"
    check 'a table of three' test "$(wc -l <next)" = 4
    times=$(tail -n +2 next | sed -E 's/.*",([0-9.]+),.*/\1/' | sort -g | tr '\n' ',')
    answer 2 sweep shapes.csv --db sweep.db --json
    holds "[${times%,}] as \$t | .found[0] | .rows == 3 and .median_ns == \$t[1] and .slowest.time_ns == \$t[2]
           and ((.time_ns - (\$t | add)) | fabs < 1e-6)"
    printf 'op,shape,set-hw\nmatmul,64x64x64,buffers.l0a.capacity_bytes=256\n' >none.csv
    answer 1 sweep none.csv --db none.db
    check 'the one without a tiling' grep -q '^  no tiling  *matmul 64x64x64' answer
}

try_launch
try_tilings
try_programs
try_words
try_lines
try_sweep
finish
