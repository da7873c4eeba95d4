#!/usr/bin/env bash
# The sample kernels of docs/examples/kernels: every one is safe, takes the time recorded in
# tests/golden/kernels.tsv on one core and on two, and, where one chain of instructions decides,
# takes what the description's numbers give by hand.
#
#   tests/kernels/test_kernels.sh AUTOTUNE SOURCE_DIR            compare
#   tests/kernels/test_kernels.sh AUTOTUNE SOURCE_DIR --record   rewrite the golden file; read its diff
. "$(dirname "$0")/../support/script.sh"
kernels=$source_dir/docs/examples/kernels
golden=$source_dir/tests/golden/kernels.tsv

# Time of a kernel in ns with six decimals; empty when there is none.
time_ns() { # kernel cores
    "$autotune" simulate --cores "$2" --json "$kernels/$1.txt" |
        awk -F'[:,]' '/^ *"time_ns": *[0-9]/ { printf "%.6f", $2 }'
}

# All times as the golden file has them.
measure() {
    printf 'name\ttime_ns on 1 core\ttime_ns on 2 cores\n'
    for file in "$kernels"/*.txt; do
        name=$(basename "$file" .txt)
        printf '%s\t%s\t%s\n' "$name" "$(time_ns "$name" 1)" "$(time_ns "$name" 2)"
    done
}

check_safe() {
    for file in "$kernels"/*.txt; do
        check "$(basename "$file") is safe" "$autotune" check "$file"
    done
}

# A line of the diff is a time that changed, a kernel without a golden time, or one that is gone.
check_golden() {
    measure >now
    while IFS= read -r line; do
        check "times differ from tests/golden/kernels.tsv" grep -qxF -e "$line" "$golden"
    done <now
    same 'tests/golden/kernels.tsv' "$golden" now
}

# Arithmetic of the comments in the kernels. alone, two, four: bytes a ns for each of 1, 2 and 4
# transfers on the bus; block: ns a 16x16x16 block; cycle: ns.
numbers='alone = 28; two = 36 / 2; four = 42 / 4; block = 7936 / 5390.32; cycle = 1000 / 680'

check_by_hand() { # kernel cores formula
    time=$(time_ns "$1" "$2")
    if verdict=$(awk -v time="$time" "BEGIN { $numbers; expected = $3
            printf \"%.6f ns, by hand %.6f ns\", time, expected
            exit !(time > expected * (1 - 1e-6) && time < expected * (1 + 1e-6)) }"); then
        pass
    else
        fail "$1 on $2 cores: $verdict = $3"
    fi
}

check_all_by_hand() {
    for cores in 1 2; do
        check_by_hand mte1A $cores '2050 + 128 * (40 + 8192 / 347.99)'
        check_by_hand mte1B $cores '2050 + 128 * (40 + 8192 / 174.37)'
        check_by_hand cube $cores '2050 + 8 * (40 + 512 * block)'
        check_by_hand cc2ub $cores '2050 + 15 * (40 + 16384 / 174.06)'
        check_by_hand cc2ub+cast $cores '2050 + 16 * (40 + 16384 / 174.09)'
        check_by_hand relu $cores '2050 + 15 * (41.5 + 31 * cycle)'
        check_by_hand vadd $cores '2050 + 10 * (41.5 + 31 * 2 * cycle)'
        check_by_hand vnot $cores '2050 + 15 * (41.5 + 31 * cycle)'
    done
    check_by_hand mte2 1 '2050 + 16 * (40 + 65536 / alone)'
    check_by_hand mte2 2 '2050 + 16 * (40 + 65536 / two)'
    check_by_hand mte3 1 '2050 + 15 * (40 + 16384 / alone)'
    check_by_hand mte3 2 '2050 + 15 * (40 + 16384 / two)'
    check_by_hand mte2+3Seq 1 '2050 + 2 * (40 + 245760 / alone)'
    check_by_hand mte2+3Seq 2 '2050 + 2 * (40 + 245760 / two)'
    for kernel in mte2+3Con mte2+3B; do
        check_by_hand $kernel 1 '2050 + 40 + 245760 / two'
        check_by_hand $kernel 2 '2050 + 40 + 245760 / four'
    done
    multiply='40 + 32768 / 174.37 + 40 + 1024 * block + 40 + 131072 / 174.09'
    check_by_hand cubeKer 1 "2050 + 40 + 65536 / alone + 40 + 32768 / alone + $multiply + \
        40 + 65536 / alone"
    check_by_hand cubeKer 2 "2050 + 40 + 65536 / two + 40 + 32768 / two + $multiply + \
        40 + 65536 / two"
}

# Y. Tang's thesis, Fig. 2.2, measured 1.24 against the kernel without flags, 1.26 against the one
# with a useless flag.
check_sequential_over_concurrent() {
    for other in mte2+3Con mte2+3B; do
        ratio=$(awk -v a="$(time_ns mte2+3Seq 1)" -v b="$(time_ns $other 1)" \
            'BEGIN { printf "%.4f", (b > 0 ? a / b : 0) }')
        if awk -v ratio="$ratio" 'BEGIN { exit !(ratio >= 1.24 && ratio <= 1.26) }'; then
            pass
        else
            fail "mte2+3Seq takes $ratio times $other, expected 1.24 to 1.26"
        fi
    done
}

if [ "${3:-}" = --record ]; then
    measure >"$golden"
    exit
fi
check_safe
check_golden
check_all_by_hand
check_sequential_over_concurrent
finish
