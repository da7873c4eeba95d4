#!/usr/bin/env bash
# Which files may be written: no output of any command takes the place of a file that the command
# reads, of its store or of another output, by whatever name; what is written is written whole; and
# closed streams and folders say what they are.
#
# The commands, their options and what each does with its file come from --help: a command, or an
# option with a file, that has no case in tests/support/invocations.sh fails.
#
#   tests/cli/test_cli_files.sh AUTOTUNE SOURCE_DIR
. "$(dirname "$0")/../support/script.sh"
unset TMPDIR
at_end() { umount "$work/small" 2>/dev/null; }
. "$source_dir/tests/support/invocations.sh"

# ------------------------------------------------------------------ the guards

cases=0
contents() { find . ../user -type f -exec cksum {} + | sort; }
refuses() { # message, words…: exit 2 with one line that has it
    local message=$1 status lines
    shift
    "$autotune" "$@" >/dev/null 2>"$work/error" </dev/null 9<>"$work/open"
    status=$?
    mapfile -t lines <"$work/error"
    [[ $status == 2 && ${#lines[@]} == 1 && ${lines[0]} == *"$message"* ]] && return
    printf '    %s\n' "exit $status" "${lines[@]}"
    return 1
}

check_meeting() { # the words of a command, an option, the file
    local words=$1 option=$2 file=$3
    cases=$((cases + 1))
    # shellcheck disable=SC2086 # words
    check "$words $option $file" refuses "$file: expected a file of its own" $words "$option" \
        "$file"
}

# By other names: one option for all of them, since there is one check.
check_names() { # words, file
    ln -s "$2" "$work/here/a-link"
    check_meeting "$1" -o a-link
    rm a-link
    check_meeting "$1" -o "../here/$2"
    [[ -e $2 ]] || return 0
    ln "$2" "$work/here/second"
    check_meeting "$1" -o second
    rm second
    ln -sf "$work/here/$2" "$work/open"
    check_meeting "$1" -o /dev/fd/9
    rm "$work/open"
}

check_invocation() { # words, read, stores, output options
    local words=$1 file option other
    local read=$2 stores=$3 options=$4
    for option in $options; do
        for file in $read $stores; do check_meeting "$words" "$option" "$file"; done
        for file in $stores; do
            [[ $option == -o && $file != *.sh ]] && check_meeting "$words" "$option" "$file-wal"
        done
        for other in $options; do
            [[ $option < $other ]] && check_meeting "$words $other ./out" "$option" out
        done
    done
    for file in $read $stores; do check_names "$words" "$file"; done
}

# What the words behind options in --help say: OUT is written, DB a store, FILE read; no other word
# may stand for a file.
no_files='ARG|B|DIR|I/N|J|K|KEY,KEY,...|KEY=VALUE|KEY=VALUE,...|KIND|N|NAME|NAME=N,...|NAME=VALUE,...|NAME,...|OP|P|PATTERN|PERCENT'
no_files+='|R|S|SECONDS|SHAPE|SHARE|TYPE|U|X,Y'
placeholders() { "$autotune" "$1" --help | grep -oE -- '--[a-z-]+=[^ ]+' | sed 's/^--output=/-o=/'; }

check_command() { # command
    local word=$1 read stores some words options pair unknown before
    options=$(placeholders "$word" | sed -nE 's/^(.*)=OUT(\..*)?$/\1/p')
    unknown=$(placeholders "$word" | grep -vE '=OUT(\.[a-z]+)?$|=(DB|FILE|NAME\|FILE|NAME=FILE)$' |
        grep -vE "=[a-z0-9_]+(\|[a-z0-9_]+)+$" | while IFS= read -r pair; do
        [[ "|$no_files|" == *"|${pair#*=}|"* ]] || echo "$pair"
    done)
    check "$word: does one of these name a file? $unknown" test -z "$unknown"
    [[ -n $(invocations "$word") ]] || fail "$word: a command without a case"
    before=$(contents)
    while IFS='|' read -r words read stores some; do
        placeholders "$word" | grep -qx -- '-o=DIR' && continue # files of a folder: test_cli_kernel
        check_invocation "$words" "$read" "$stores" "${some:-$options}"
    done < <(invocations "$word")
    check "$word: nothing is touched" test "$before" = "$(contents)"
    for pair in $(placeholders "$word" | sed -nE 's/^([^=]*)=(DB|FILE|NAME\|FILE)$/\1/p'); do
        [[ "$word $pair" == "validate --kernel" ]] && continue # refused before: processors have none
        check "$word: $pair has no case" grep -qE -- "$pair|^store|^list" <(invocations "$word")
    done
}

for word in $(commands); do check_command "$word"; done
check 'cases were found' test $cases -gt 200
check 'the store words of --help' test "$("$autotune" store --help | sed -nE \
    '1,3s/.*OPTION...\] ([a-z|]+) .*/\1/p' | tr '|' '\n' | sort | xargs)" = \
    "$(invocations store | cut -d' ' -f2 | sort | xargs)"

refused_input() { # option
    local before status
    before=$(contents)
    "$autotune" simulate - "$1" kernel.txt <kernel.txt >/dev/null 2>&1
    status=$?
    [[ $status == 2 && $before == "$(contents)" ]]
}
check 'the standard input' refused_input -o
check 'the standard input as --trace' refused_input --trace
export_beside() { # what is written beside a header
    refuses 'expected a file of its own' --op matmul --shape 64x64x64 --hw ascend910b1 -q \
        --format tcubetiling -o best.h --trace best.json
}
check 'NAME.json beside NAME.h' export_beside
appended() { # the answer itself, behind what it is about
    local before status
    before=$(contents)
    "$autotune" simulate kernel.txt >>kernel.txt 2>/dev/null
    status=$?
    [[ $status == 2 && $before == "$(contents)" ]]
}
check 'the standard output' appended
check 'the user'\''s description of the host' refuses 'expected a file of its own' list hw \
    chip.cfg -o below.cfg

# ------------------------------------------------------------------ closed streams

one_line() { [[ $(wc -l <"$work/error") == 1 ]]; }
for word in $(commands); do
    while IFS='|' read -r words _; do
        # shellcheck disable=SC2086 # words
        "$autotune" $words >&- 2>"$work/error" </dev/null
        check "$words >&-: exit 2" test $? = 2
        check "$words >&-: one line" one_line
    done < <(invocations "$word" | grep -v gc | head -n 1)
    "$autotune" "$word" --help >&- 2>"$work/error"
    check "$word --help >&-" test $? = 2
done
"$autotune" simulate kernel.txt | true
check 'a reader that leaves' test "${PIPESTATUS[0]}" = 0
"$autotune" simulate kernel.txt -o normal.txt --trace normal.json
closed_streams() { "$autotune" "$@" <&- >&- 2>&-; }
check 'all streams closed' closed_streams simulate kernel.txt -o closed.txt --trace closed.json
check 'the same answer' cmp normal.txt closed.txt
check 'the same trace' cmp normal.json closed.json
check 'a store beside closed streams' closed_streams --op matmul --shape 64x64x64 -v --db closed.db -o closed.txt
check 'it can be opened' "$autotune" store ls closed.db -o /dev/null
"$autotune" simulate - <&- >/dev/null 2>"$work/error"
check 'a closed input: exit 2' test $? = 2
check 'a closed input: one line' one_line

# ------------------------------------------------------------------ names

check 'a name with file: is a file' "$autotune" --op matmul --shape 64x64x64 -q \
    --db 'file:a?mode=memory' -o /dev/null
check 'it is there' test -f 'file:a?mode=memory'
check 'and a store' "$autotune" store ls 'file:a?mode=memory' -o /dev/null
long=$(printf 'n%.0s' {1..255})
check 'a name of 255 bytes' "$autotune" list ops -o "$long"

# ------------------------------------------------------------------ whole or not at all

"$autotune" list ops -o wanted
printf 'old' >target
chmod 640 target
ln -s target to-target
ln -s nowhere-yet to-nowhere
check 'through a link' "$autotune" list ops -o to-target
check 'the link stays' test -L to-target
check 'its file is replaced' cmp target wanted
check 'and keeps its mode' test "$(stat -c %a target)" = 640
check 'through a link that leads nowhere yet' "$autotune" list ops -o to-nowhere
check 'the link stays' test -L to-nowhere
check 'its file is made' cmp nowhere-yet wanted
mkfifo pipe
cat pipe >piped &
check 'into a pipe' "$autotune" list ops -o pipe
wait $!
check 'it stays one' test -p pipe
check 'and had everything' cmp piped wanted
check 'into a device' "$autotune" list ops -o /dev/null
check 'which stays one' test -c /dev/null
in_shared_memory() {
    local file
    file=$(mktemp -p /dev/shm) && printf 'old' >"$file" && "$autotune" list ops -o "$file" &&
        cmp "$file" wanted
    local status=$?
    rm -f "$file"
    return $status
}
[[ -w /dev/shm ]] && check 'a file in /dev/shm is replaced' in_shared_memory
for option in '-o' '--trace'; do
    printf 'old' >target
    (ulimit -f 1 && exec "$autotune" simulate kernel.txt --hw chip.cfg --json $option target \
        -q >/dev/null 2>"$work/error")
    status=$?
    [[ $option == -o && $status == 0 ]] && continue # a short answer
    check "$option: too large for the limit" test $status = 2
    check "$option: what was there stays" test "$(cat target)" = old
done
check 'no temporary file is left' test -z "$(find . -name '.autotune*')"

# ------------------------------------------------------------------ true reasons

reason() { # reason, command…
    local reason=$1
    shift
    "$@" >/dev/null 2>"$work/error"
    [[ $? == 2 ]] && one_line && grep -q -- "$reason" "$work/error" || {
        cat "$work/error"
        return 1
    }
}
tune=("$autotune" --op matmul --shape 64x64x64 -q)
check 'no temporary folder' reason 'a temporary file in /nonexistent: No such file' \
    env TMPDIR=/nonexistent bash -c 'cat kernel.txt | "$0" analyse -' "$autotune"
mkdir temporary
cat profile.csv | TMPDIR=$PWD/temporary strace -f -e trace=openat -o "$work/calls" \
    "$autotune" analyse - >/dev/null 2>&1 &&
    check '$TMPDIR is where temporary files are' grep -q "$PWD/temporary/autotune-" "$work/calls"
few() { (ulimit -n "$1" && shift && exec "$@"); }
check 'no descriptor for a store' reason 'Too many open files' few 5 "${tune[@]}" --db few.db
mkdir closed
cp results.db closed/there.db
chmod 666 closed/there.db
chmod 755 "$scratch" "$work" .
chmod 555 closed
as_nobody=()
[[ $(id -u) == 0 ]] && as_nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)
if "${as_nobody[@]}" true 2>/dev/null && "${as_nobody[@]}" test -x "$autotune" -a -r chip.cfg; then
    for option in --db -o --trace --landscape --report; do
        [[ $option == --report ]] && "${as_nobody[@]}" "${tune[@]}" --report /dev/null 2>&1 |
            grep -q 'left out of this build' && continue
        check "$option in a closed folder" reason 'closed/new.*Permission denied' \
            "${as_nobody[@]}" "${tune[@]}" -o /dev/null $option closed/new
    done
    check 'a store in a closed folder' reason 'its folder cannot be written' \
        "${as_nobody[@]}" "${tune[@]}" --fresh --db closed/there.db
fi
mkdir small
if mount -t tmpfs -o size=64k none small 2>/dev/null; then
    head -c 61000 /dev/zero >small/filling
    for i in {1..300}; do tail -n +2 "$source_dir/docs/examples/op_summary.csv"; done >>profile.csv
    check 'a full temporary folder: input' reason 'a temporary file: No space left' \
        env TMPDIR="$PWD/small" bash -c 'cat profile.csv | "$0" analyse -' "$autotune"
    check 'a full temporary folder: output' reason 'a temporary file: No space left' \
        env TMPDIR="$PWD/small" "$autotune" analyse profile.csv --format csv
    check 'a full disk' reason 'small/answer: No space left' "$autotune" list hw ascend310 \
        -o small/answer
    check 'leaves nothing' test "$(ls -A small)" = filling
    umount small
else
    echo 'no file system of its own can be mounted: full ones are skipped'
fi

finish
