#!/usr/bin/env bash
# The closed loop as a user runs it: `probe --all` of a description that only the simulator sees,
# `calibrate` of another one to the times, and the hidden numbers are there, in the description that
# is written and in answers on it. What no time shows is named, in the table and in JSON.
#
#   tests/jobs/test_closed_loop_cli.sh AUTOTUNE SOURCE_DIR
. "$(dirname "$0")/../support/script.sh"

hidden=(launch_ns=1234.5 issue_cycles=30 core_skew_ns=20 dispatch_ns=3 vector_repeat_bytes=320
    'paths.l0c->ub.lot_bytes=2048' 'paths.l1->l0a.bytes_per_cycle=300' 'paths.gm->ub.issue_ns=50'
    matrix.f16.block_k=32 matrix.f16.block_cycles=3 matrix.f16.row_blocks_at_once=3
    operations.vadd.first_cycles=11 operations.vadd.repeat_cycles=4 operations.nop.each_cycles=7)
sets=()
for number in "${hidden[@]}"; do sets+=(--set-hw "$number"); done

answer 0 probe --all --hw ascend910 "${sets[@]}" -o curves.csv
check 'probes are written' test "$(wc -l <curves.csv)" -gt 1000
answer 0 calibrate --hw ascend910 --from curves.csv -o fitted.cfg
cp answer table.txt
answer 0 calibrate --hw ascend910 --from curves.csv --json

# What the hidden description has, in ns, and what was found, within 2 %.
numbers() { # description, further arguments
    "$autotune" list hw "$@" | awk 'NF > 2 && $2 + 0 == $2 { print $1, $2 }' | sort
}
numbers ascend910 "${sets[@]}" >hidden.txt
numbers ./fitted.cfg >found.txt
check 'every number is listed' test "$(wc -l <hidden.txt)" -gt 120
join hidden.txt found.txt |
    awk '{ d = $2 - $3; if (d < 0) d = -d; if (d > 0.02 * ($2 < 0 ? -$2 : $2)) print }' >apart.txt
check "numbers are apart: $(head -3 apart.txt)" test ! -s apart.txt

printf 'M mmad m=16 k=64 n=80 type=f16\nV vadd elements=5000\nV l0c->ub bytes=3000\n' >one.txt
for hw in 'ascend910' './fitted.cfg'; do
    extra=()
    [[ $hw = ascend910 ]] && extra=("${sets[@]}")
    "$autotune" simulate one.txt --cores 1 --hw "$hw" "${extra[@]}" |
        sed -n 's/^  time .*(\(.*\) ns)$/\1/p'
done >times.txt
check 'a program takes the same time' awk '{ t[NR] = $1 } END { d = t[1] / t[2] - 1; exit !(NR == 2 && d < 1e-3 && d > -1e-3) }' times.txt

check 'the table names what is open' grep -q '^ *clock_mhz  *what takes cycles' table.txt
check 'JSON names it' grep -q '"key": *"clock_mhz"' answer
check 'a number that was found is not named' not grep -q launch_ns <(grep -A1000 'not identified' table.txt)

# Times that no program of the description can have are refused.
printf 'kind,name,chip,x,value,unit_x,unit_value\nstart,LAUNCH_910,910,999999,5,CORES,ns\n' >wrong.csv
bad '999999 cores, expected up to 30' calibrate --hw ascend910 --from wrong.csv
finish
