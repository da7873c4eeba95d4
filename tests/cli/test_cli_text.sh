#!/usr/bin/env bash
# What files and names may say: no character that steers a terminal, turns a line around or is not
# seen comes out of any command as it went in; no cell of a CSV is a formula; and a file may begin
# with a byte order mark.
#
#   tests/cli/test_cli_text.sh AUTOTUNE SOURCE_DIR
. "$(dirname "$0")/../support/script.sh"
unset TMPDIR

. "$source_dir/tests/support/invocations.sh"

# ------------------------------------------------------------------ hostile names

# A bell, an escape sequence, a C1 control, marks of direction, one that is not seen, an end of
# line, and bytes that are no UTF-8.
bad=$'h\a\e[31m\xc2\x9b\xe2\x80\xae\xe2\x81\xa6\xe2\x80\x8f\xd8\x9c\xe2\x80\x8b\xff\xc3'
line=$'\nINJECTED'
raw='[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xd8\x9c|\xe2\x80[\x8b-\x8f\xa8-\xae]|\xe2\x81[\xa0-\xaf]'
raw+='|\xef\xbb\xbf|[\xf5-\xff]|^INJECTED'
is_clean() { ! grep -qaP "$raw" "$@"; }

# The same words about files with hostile names.
hostile() { # words
    local word
    words=()
    for word in $1; do
        if [[ -e $word && $word != configs* ]]; then
            [[ -e $bad$line$word ]] || cp -r "$word" "$bad$line$word"
            word=$bad$line$word
        fi
        words+=("$word")
    done
}

for word in $(commands); do
    while IFS='|' read -r given _; do
        [[ $given == validate* ]] && continue # it measures
        [[ $given == calibrate* ]] && given+=' --time-limit 1'
        [[ $given == *--tune* ]] && given+=' --time-limit 0.2'
        hostile "$given"
        for format in '' json csv markdown c; do
            timeout 600 "$autotune" "${words[@]}" ${format:+--format $format} >"$work/answer" \
                2>"$work/messages" </dev/null
            status=$?
            check "$given $format: exit $status" test $status -le 2
            check "$given $format: the answer" is_clean "$work/answer"
            check "$given $format: the messages" is_clean "$work/messages"
            if [[ $format == json && -s $work/answer ]]; then
                check "$given: JSON" jq -e . "$work/answer"
            fi
        done
        "$autotune" "${words[@]}" --no-such"$bad" >"$work/answer" 2>"$work/messages"
        check "$given: an unknown option" is_clean "$work/messages"
        "$autotune" "${words[@]}" -o "none/$bad$line" >"$work/answer" 2>"$work/messages"
        check "$given: a folder that is not there" is_clean "$work/messages"
        check "$given: one line" test "$(wc -l <"$work/messages")" -le 3
    done < <(invocations "$word")
done

# ------------------------------------------------------------------ hostile contents

clean() { # what, words…
    local what=$1
    shift
    "$autotune" "$@" >"$work/answer" 2>"$work/messages" </dev/null
    check "$what: the answer" is_clean "$work/answer"
    check "$what: the messages" is_clean "$work/messages"
}
for key in name source; do
    sed -E "s/$key = \"[^\"]*\"/$key = \"$bad\"/" chip.cfg >chip2.cfg
    clean "a description's $key" list hw ./chip2.cfg
    check "a description's $key is refused" grep -q "$key" "$work/messages"
done
for mark in $'\xe2\x80\xae' $'\xe2\x81\xa6' $'\xe2\x80\x8f' $'\xd8\x9c' $'\xe2\x80\x8b' $'\xff'; do
    printf 'base = "below.cfg"; name = "a%sb"; source = "assumed: x"; set = [];\n' "$mark" >chip2.cfg
    answer 2 list hw ./chip2.cfg
done
printf '[%s]\n%s=1\n' "$bad" "$bad" >bad.ini
clean 'a platform file' list hw ./bad.ini
{ printf '# %s\n' "$bad"; cat kernel.txt; } >commented.txt
for words in 'simulate commented.txt' 'check commented.txt' 'analyse commented.txt' \
    'advise commented.txt' 'advise commented.txt --json'; do
    # shellcheck disable=SC2086 # words
    clean "comments: $words" $words
done
while IFS= read -r text; do printf '%s\n# %s\n' "$text" "$bad"; done \
    <"$source_dir/docs/examples/kernels/mte1A.txt" >commented.txt
"$autotune" advise commented.txt --apply best --format diff >patch.diff
check 'a patch is what it is' grep -qaF "$bad" patch.diff
check 'and applies' patch -s -p0 --dry-run commented.txt patch.diff
script -qec "'$autotune' advise commented.txt --apply best --format diff -q" /dev/null >"$work/answer" \
    </dev/null
check 'but on a terminal' is_clean <(sed 's/\r$//' "$work/answer")
printf '%s\n' "$bad" >nonsense.txt
clean 'a program that is none' simulate nonsense.txt
sed "s/block1/$bad/" profile.csv >bad.csv
for format in table json csv; do clean "a profile, $format" analyse bad.csv --format $format; done
printf 'op,shape,hw\n%s,64x64x64,\nmatmul,%s,\nmatmul,8x8x8,%s\n%s\n' "$bad" "$bad" "$bad" "$bad" \
    >bad-jobs.csv
clean 'a sweep' sweep bad-jobs.csv --db bad.db
clean 'a sweep as JSON' sweep bad-jobs.csv --db bad.db --json
printf '{"%s": "%s"}\n' "$bad" "$bad" >bad.json
clean 'a bank' evaluate bad.json --hw demo-chip.ini
clean 'an export' store import bad.db bad.json
for option in --op --shape --space --dtype --hw --set-hw --cores --strategy; do
    clean "$option" "${product[@]}" $option "$bad$line"
    check "$option: one line" test "$(wc -l <"$work/messages")" = 1
done
if command -v sqlite3 >/dev/null; then
    sqlite3 results.db "UPDATE result SET hardware_name = '$bad$line=', tiling = '=$bad',
        answer = '{\"a\": \"=\\u001b[31m\\u202e\\n\"}'"
    for words in ls show export 'ls --json' 'show --json' 'ls --format csv' gc; do
        read -r word more <<<"$words"
        # shellcheck disable=SC2086 # words
        clean "a store: $words" store $word results.db $more
    done
    clean 'a store: diff' store diff results.db other.db
    for format in markdown csv json c; do
        clean "a table, $format" table --db results.db --format $format
    done
fi

# ------------------------------------------------------------------ formulas

is_cell() { # name, what its cell is, of a profile
    printf 'Op Name,OP Type,Task Type,Task Duration(us),Block Dim,aicore_time(us),mac_time(us)\n' >f.csv
    printf '"%s",Add,AI_CORE,9,1,8,4\n' "$1" >>f.csv
    "$autotune" analyse f.csv --format csv -q 2>/dev/null | grep -qaF -- ",$2,"
}
for sign in = + @ -; do
    check "a name that begins with $sign" is_cell "${sign}cmd()" "\"'${sign}cmd()\""
done
check 'a number stays one' is_cell -1.5e3 -1.5e3
check 'so does a name' is_cell 'a=b' 'a=b'
if command -v sqlite3 >/dev/null; then
    sqlite3 other.db "UPDATE result SET hardware_name = '=1+1'"
    for words in 'store ls other.db' 'table --db other.db'; do
        # shellcheck disable=SC2086 # words
        check "$words" grep -qF "\"'=1+1\"" <("$autotune" $words --format csv)
    done
fi
# Every writer of CSV puts its texts by the one function that does this.
check 'all writers of CSV' test -z "$(cd "$source_dir" &&
    grep -lE 'FORMAT_CSV\] *=|_CSV\] *=' cli/*.c jobs/*/*.c | while read -r file; do
        case $file in
        cli/options.c) ;; # its name
        cli/cmd_analyse.c | cli/analyse_profile.c | results/analysis_write.c) echo results/analysis_write.c ;;
        cli/cmd_probe.c) ;; # numbers and identifiers, as calibrate reads them
        cli/cmd_network.c) echo results/network_write.c ;;
        cli/cmd_table.c) echo formats/table_write.c ;;
        cli/cmd_store.c) echo results/store_write.c ;;
        cli/tune_answer.c) echo results/tune_csv.c ;;
        cli/cmd_evaluate.c) echo cli/cmd_evaluate.c ;;
        *) echo "$file: a writer of CSV without a case" ;;
        esac
    done | sort -u | while IFS= read -r file; do
        grep -q csv_put "$file" 2>/dev/null || echo "$file"
    done)"

# ------------------------------------------------------------------ byte order marks

same_with_mark() { # file, words…
    local file=$1
    shift
    "$autotune" "$@" >"$work/plain" 2>"$work/plain-err" </dev/null
    cp "$file" "$work/kept"
    { printf '\xef\xbb\xbf'; cat "$work/kept"; } >"$file"
    "$autotune" "$@" >"$work/answer" 2>"$work/messages" </dev/null
    local status=$?
    iconv -f UTF-8 -t UTF-16 "$work/kept" >"$file"
    "$autotune" "$@" >"$work/utf16" 2>"$work/utf16-err" </dev/null
    cp "$work/kept" "$file"
    [[ $status -le 1 ]] && cmp "$work/plain" "$work/answer" && cmp "$work/plain-err" "$work/messages" &&
        grep -q 'UTF-16, expected text in UTF-8' "$work/utf16-err"
}
check 'a description' same_with_mark chip.cfg list hw ./chip.cfg
check 'its base' same_with_mark below.cfg list hw ./chip.cfg
check 'a platform file' same_with_mark demo-chip.ini list hw ./demo-chip.ini
check 'a program' same_with_mark kernel.txt simulate kernel.txt
check 'a program to be changed' same_with_mark kernel.txt advise kernel.txt
cp "$source_dir/docs/examples/op_summary.csv" profile.csv
check 'a profile' same_with_mark profile.csv analyse profile.csv
check 'a bank' same_with_mark bank.json evaluate bank.json --hw ascend910b1
check 'a table of tilings' same_with_mark table.json check --runtime-kb table.json --hw ascend910b1
check 'curves' same_with_mark curves.csv calibrate --hw ascend910b1 --chip c7 --from \
    curves.csv --json
check 'results' same_with_mark results.jsonl store import "$work/new.db" results.jsonl --keep -q \
    -o /dev/null
check 'a sweep' same_with_mark jobs.csv sweep jobs.csv --dry-run
cp configs/sweeps/bert-base.cfg set.cfg
check 'a sweep of products' same_with_mark set.cfg sweep set.cfg --dry-run
for words in 'simulate -' 'analyse -'; do
    # shellcheck disable=SC2086 # words
    check "the standard input: $words" cmp <("$autotune" $words <kernel.txt) \
        <({ printf '\xef\xbb\xbf'; cat kernel.txt; } | "$autotune" $words)
done

finish
