#!/usr/bin/env bash
# What network says under other circumstances: each variant is what the same chip and batch say when
# they are asked for alone, and the Pareto front is that of comparing all with all.
#
#   tests/cli/test_cli_what_if.sh AUTOTUNE SOURCE_DIR
. "$(dirname "$0")/../support/script.sh"
needs jq
cp "$source_dir/docs/examples/network.csv" calls.csv
# Without blocks, which are estimated for every chip.
cut -d, -f3,5-12 calls.csv >plain.csv

# The total of variant N of file and options is that of a run with other options.
as_alone() { # what, file, options of what-if, options alone
    # shellcheck disable=SC2086 # options and their values
    "$autotune" network "$2" $3 --json -o variant.json
    # shellcheck disable=SC2086
    "$autotune" network "$2" $4 --json -o alone.json
    check "$1" is alone.json \
        ".total_us == $(jq '.what_if[1].total_us' variant.json) and
         .interval_us == $(jq -c '.what_if[1].interval_us' variant.json) and
         .hardware == $(jq -c '.what_if[1].hardware' variant.json)"
}

as_alone 'another chip' plain.csv '--hw ascend910 --what-if hw=ascend910b3' '--hw ascend910b3'
as_alone 'another clock' calls.csv '--hw ascend910 --what-if clock_mhz=700' \
    '--hw ascend910 --set-hw clock_mhz=700'
as_alone 'other cores' plain.csv '--hw ascend910 --what-if cores=7' '--hw ascend910 --set-hw cores=7'
as_alone 'behind --set-hw' plain.csv '--hw ascend910 --set-hw cores=8 --what-if cores=7' \
    '--hw ascend910 --set-hw cores=7'
as_alone 'nothing changed' calls.csv '--hw ascend910 --size batch=8 --what-if batch=8' '--hw ascend910'

# Twice the batch: rows of 512 become 1024, by hand.
sed -e 's/x32x16x16/x64x16x16/g' -e 's/512x256/1024x256/g' plain.csv >twice.csv
"$autotune" network twice.csv --hw ascend910 --json -o twice.json
"$autotune" network plain.csv --hw ascend910 --size batch=8 --what-if batch=16 --json -o batch.json
check 'another batch' is batch.json \
    ".what_if[1] | .batch == 16 and .total_us == $(jq .total_us twice.json) and (.sample_us * 16 / .total_us - 1 | fabs < 1e-12)"

# Every combination, in the order of the digits of a number.
"$autotune" network calls.csv --hw ascend910 --size batch=8 --what-if batch=2,8,32,128 \
    --what-if hw=ascend910,ascend910b3,ascend310 --what-if cores=2,8,16,30 \
    --what-if clock_mhz=800,1600 --json -o all.json
check 'every combination' is all.json '[.what_if[1:][] | [.batch, .hardware, .cores, .clock_mhz]] ==
    [[2, 8, 32, 128][] as $b | ["Ascend 910", "Ascend 910B3", "Ascend 310"][] as $h |
     [2, 8, 16, 30][] as $c | [800, 1600][] as $m | [$b, $h, $c, $m]]'
check 'first the step as it is' is all.json '.total_us == .what_if[0].total_us and
    .interval_us == .what_if[0].interval_us and .what_if[0].speedup == 1 and .what_if[0].batch == 8'
check 'learned for one chip' is all.json \
    'all(.what_if[]; .learned == (.hardware == "Ascend 910"))'
check 'else the interval is wide' is all.json \
    'all(.what_if[] | select(.learned | not); (.interval_us[1] / .interval_us[0] - 4 | fabs) < 1e-9)'
check 'a sample' is all.json '.what_if[0].sample_us as $one |
    all(.what_if[]; (.sample_us * .batch / .total_us - 1 | fabs < 1e-12) and
        (.speedup * .sample_us / $one - 1 | fabs < 1e-12))'
front='[.what_if[] | [.cores, .total_us, .sample_us // .total_us]] as $all |
    all(.what_if[]; [.cores, .total_us, .sample_us // .total_us] as $me |
        .pareto == ([$all[] | select(. != $me and .[0] <= $me[0] and .[1] <= $me[1] and .[2] <= $me[2])] == []))'
check 'the front' is all.json "$front"
check 'has some, not all' is all.json '[.what_if[].pareto] | any and (all | not)'

# Without a batch; numbers of the table of values are those of the JSON.
options=(--hw ascend910 --what-if 'hw=ascend910,ascend310' --what-if cores=2,30)
"$autotune" network calls.csv "${options[@]}" --json -o cores.json
check 'the front of time and cores' is cores.json "$front"
check 'no batch is known' is cores.json 'all(.what_if[]; .batch == null and .sample_us == null)'
"$autotune" network calls.csv "${options[@]}" --format csv -o cores.csv
jq -r '.what_if[] | [.hardware, .cores, .total_us, (.learned, .pareto | if . then 1 else 0 end)] | @tsv' cores.json |
    while IFS=$'\t' read -r chip cores us learned pareto; do
        printf '%s,%d,%.9g,%d,%d\n' "$chip" "$cores" "$us" "$learned" "$pareto"
    done >wanted.csv
check 'CSV' diff wanted.csv <(tail -n +2 cores.csv | cut -d, -f2,4,6,11,12)

refused() { # message, options…
    bad "autotune: $1
" network calls.csv "${@:2}"
}

cases refused <<'END'
--what-if batch: expected KEY=VALUE, with commas between further values  --what-if batch
--what-if =2: expected KEY=VALUE, with commas between further values  --what-if =2
--what-if batch=2,,3: expected a value between commas       --what-if batch=2,,3
--what-if cores: given twice, expected all values in one    --what-if cores=2 --what-if cores=3
--set-hw foo=1: foo: unknown key, expected a number of the description  --what-if foo=1
--set-hw cores=0: cores: 0, expected a whole number from 1 to 4096 cores  --what-if cores=0
--what-if batch 0: expected a whole number from 1 to 2147483647  --size batch=8 --what-if batch=0
calls.csv: is a table that does not say its batch, expected --size batch=N  --what-if batch=2
calls.csv: no size holds a batch of 7, expected the batch that the table is of  --size batch=7 --what-if batch=14
calls.csv: line 2: tensor 1 has more than 70368744177664 bytes at batch 2147483647  --size batch=8 --what-if batch=2147483647
--what-if: expected no --tune with it                       --tune --what-if cores=2
--what-if: expected at most 256 combinations                --what-if "cores=$(seq -s, 1 17)" --what-if "clock_mhz=$(seq -s, 800 816)"
calls.csv: is a table, whose sizes are known: --size seq=... is for models of ONNX, expected batch=N alone  --size seq=2
END
"$autotune" network calls.csv --size batch=8 --what-if batch=1000000 --json -o large.json
check 'large batches are answered' is large.json '.what_if[1].total_us > 1e4 * .total_us'
bad 'no hardware description is called' network calls.csv --what-if hw=nowhere
finish
