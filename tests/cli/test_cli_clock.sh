#!/usr/bin/env bash
# Times follow the clock: what stands in cycles is faster on a faster part, in whichever spelling a
# number is changed, and a description that was written keeps to it.
#
#   tests/cli/test_cli_clock.sh AUTOTUNE SOURCE_DIR
. "$(dirname "$0")/../support/script.sh"

# Of the best tiling, in whole ns.
time_ns() { # SHAPE, arguments…
    "$autotune" --op matmul --shape "$1" --json "${@:2}" 2>err |
        sed -nE 's/^ *"time_ns": ([0-9]+).*/\1/p' | head -n 1
}

number() { # KEY, arguments of list…
    "$autotune" list hw "${@:2}" | awk -v key="$1" '$1 == key { print $2 }'
}

within() { # what, least, value, most
    check "$1: expected $2 to $4, got $3" test "$2" -le "${3:-0}" -a "${3:-0}" -le "$4"
}

# ------------------------------------------------------------------ parts of other clocks

# Large products are bound by the matrix unit: nearly in inverse proportion to the clock, never
# more than that, since launch and memory do not follow.
shape=4096x4096x4096
slow=$(time_ns $shape --hw ascend910b2)
last=$slow
for mhz in 1650 1850; do
    time=$(time_ns $shape --hw ascend910b2 --set-hw clock_mhz=$mhz)
    within "$mhz MHz" $((slow * 1500 / mhz)) "$time" $((slow * 103 * 15 / mhz))
    check "$mhz MHz is faster than the part before" test "$time" -lt "$last"
    last=$time
done

for key in launch_ns launch_core_ns buses.l2.total_gbps.24 buses.hbm.total_gbps.1 \
    paths.gm-\>l1.bandwidth_gbps paths.gm-\>l1.latency_ns; do
    equal "$key does not follow the clock" "$(number "$key" ascend910b2)" \
        "$(number "$key" ascend910b2 --set-hw clock_mhz=1800)"
done
equal 'the matrix unit does' 14745.6 \
    "$(number matrix.f16.gflops ascend910b2 --set-hw clock_mhz=1800)"

# ------------------------------------------------------------------ either spelling

small=64x64x64
equal 'cycles are ns at the clock' \
    "$(time_ns $small --hw ascend910b2 --set-hw 'matrix.f16.issue_ns=20')" \
    "$(time_ns $small --hw ascend910b2 --set-hw 'matrix.f16.issue_cycles=30')"
equal 'cycles follow a clock that is given before' 15 \
    "$(number issue_ns ascend910b2 --set-hw clock_mhz=1800 --set-hw issue_cycles=27)"
equal 'and one that is given behind' 15 \
    "$(number issue_ns ascend910b2 --set-hw issue_cycles=27 --set-hw clock_mhz=1800)"
equal 'ns stay' 15 \
    "$(number issue_ns ascend910b2 --set-hw issue_ns=15 --set-hw clock_mhz=1800)"
bad 'issue_cycles: -1, expected a number from 0 to' \
    list hw ascend910b2 --set-hw issue_cycles=-1

sed 's/^issue_cycles = /issue_ns = { value = 3.6; source = "assumed: twice"; };\n&/' \
    "$AUTOTUNE_CONFIGS/hardware/ascend910b2.cfg" >both.cfg
line=$(grep -n '^issue_cycles' both.cfg | cut -d: -f1)
bad "both.cfg:$line: issue_cycles: a group, expected either issue_ns or issue_cycles, not both" \
    list hw both.cfg

# ------------------------------------------------------------------ a written description

cat >curves.csv <<'END'
kind,name,chip,x,value,unit_x,unit_value
mov,L1_TO_L0A_910b2,910b2,1,51.8,KiB,GB/s(GiB)
mov,L1_TO_L0A_910b2,910b2,4,133.2,KiB,GB/s(GiB)
mov,L1_TO_L0A_910b2,910b2,16,219.2,KiB,GB/s(GiB)
mov,L1_TO_L0A_910b2,910b2,32,245.7,KiB,GB/s(GiB)
mov,L1_TO_L0A_910b2,910b2,64,261.4,KiB,GB/s(GiB)
END
answer 0 calibrate --from curves.csv --hw ascend910b2 --set-hw clock_mhz=1800 -o written.cfg
check 'it is in cycles' grep -q 'block_cycles = 1' written.cfg
check 'and so is what was fitted' grep -q 'bytes_per_cycle = {' written.cfg
equal 'at the clock that it was written with' 14745.6 "$(number matrix.f16.gflops written.cfg)"
equal 'at another' 12288 "$(number matrix.f16.gflops written.cfg --set-hw clock_mhz=1500)"

finish
