#!/usr/bin/env bash
# GNU patch makes of a program, with what `autotune advise` shows, the program that --apply writes.
#
#   tests/analysis/test_advise_patch.sh AUTOTUNE SOURCE_DIR
. "$(dirname "$0")/../support/script.sh"
patch --version 2>/dev/null | grep -q 'GNU patch' || skip 'GNU patch is not here'

without_steps() { # program: what --apply wrote, without the comments that say what was done
    local steps
    steps=$(awk 'NR > 1 && !/^# [A-Z]+: [0-9.]+ ns instead of / { print NR; exit }' "$1")
    tail -n "+$steps" "$1"
}

# The patch of one change, alone and from among all that `advise` shows, against what --apply writes.
try_change() { # file strategy
    local file=$1 strategy=$2
    cp -- "$file" original
    "$autotune" advise "$file" --cores 1 --apply "$strategy" -o changed
    [[ -s changed ]] || return
    without_steps changed >wanted
    "$autotune" advise "$file" --cores 1 --apply "$strategy" --format diff >patch.diff
    check "$file $strategy: patch" patch -p0 -F0 --batch --binary -s <patch.diff
    check "$file $strategy: the same" cmp -- "$file" wanted
    check "$file $strategy: nothing left" test ! -e "$file.rej" -a ! -e "$file.orig"
    cp -- original "$file"
    rm changed
}

shown_change() { # file strategy: the patch as it stands among the advice
    local file=$1 strategy=$2
    cp -- "$file" original
    "$autotune" advise "$file" --cores 1 --apply "$strategy" -o changed
    "$autotune" advise "$file" --cores 1 --chain 0 |
        awk -v name="$strategy" '/^  [A-Z]+ +saves/ { on = $1 == name } /^  what else/ { on = 0 } on' >shown
    check "$file $strategy: patch as shown" patch -p0 -F0 --batch -s <shown
    without_steps changed >wanted
    check "$file $strategy: the same as shown" cmp -- "$file" wanted
    cp -- original "$file"
    rm changed
}

mkdir -p kernels
cp "$source_dir/docs/examples/advise.txt" kernels/advise.txt
for strategy in PP MRT ITG RSD RUS best; do
    try_change kernels/advise.txt "$strategy"
done
for strategy in PP MRT; do
    shown_change kernels/advise.txt "$strategy"
done

# Names that patch would read otherwise.
cp kernels/advise.txt 'two words.txt'
cp kernels/advise.txt 'a "b"\c.txt'
cp kernels/advise.txt $'tab\tstop.txt'
cp kernels/advise.txt $'new\nbarrier.txt'
for file in 'two words.txt' 'a "b"\c.txt' $'tab\tstop.txt'; do
    try_change "$file" MRT
done
"$autotune" advise $'new\nbarrier.txt' --cores 1 --apply MRT >changed
check "a newline in a name starts no line" test "$(grep -c '^barrier' changed)" = 0

# Lines that end with a return, a last line without a newline, bytes of no encoding, no comments.
sed 's/$/\r/' kernels/advise.txt >returns.txt
head -c -1 kernels/advise.txt >unended.txt
sed 's/c comes/\xe9\x00\x1b[31m/' kernels/advise.txt >bytes.txt
sed -E 's/ *#.*//; /^$/d' kernels/advise.txt >bare.txt
for file in returns.txt unended.txt bytes.txt bare.txt; do
    for strategy in PP MRT; do
        try_change "$file" "$strategy"
    done
done
"$autotune" advise bytes.txt --cores 1 >shown
check "no byte of a comment steers the terminal" test "$(grep -c $'\x1b' shown)" = 0
"$autotune" advise bytes.txt --cores 1 --json >answer.json
check "bytes of no encoding are no harm to JSON" iconv -f UTF-8 -t UTF-8 -o /dev/null answer.json

finish 50
