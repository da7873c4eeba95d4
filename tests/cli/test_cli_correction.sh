#!/usr/bin/env bash
# Learned corrections by the command line: learning one, what answers then show, and when not.
#
#   tests/cli/test_cli_correction.sh AUTOTUNE SOURCE_DIR
. "$(dirname "$0")/../support/script.sh"
needs jq
# What is shipped has to be learned again where times or numbers have changed.
answer 0 list hw
check 'no shipped correction is out of date' not grep -E 'not corrected|correction broken' answer
cp -r "$source_dir/configs" .
rm -f configs/hardware/*.correction.json
export AUTOTUNE_CONFIGS=$work/configs

# Kernels of 8 sizes of m and 10 of n; the i-th takes so many microseconds as the i-th word says.
bank() { # microseconds…
    jq -cn --args '[2, 0, 1, 1, 1, 64, 1, 1, 1, 1, null, 0, 0, 0, 2, 0, 1, 64, 1, 1, 1, 1, null, 0,
        0, 0, 2, 4, 2, 1, 1, 2, 2, 4, 1, 1, 1, 4, 4, 1, 1, 1, 1, 1, 1, 1, 0, 1, 0, 0, 0] as $tiling |
        $ARGS.positional | to_entries[] |
        {shape: {A_shape: [1, 16, (4 * (1 + .key % 8)), 16, 16],
                 B_shape: [256, (4 * (1 + (.key / 8 | floor))), 1, 1, 16],
                 A_dtype: "float16", B_dtype: "float16", C_dtype: "float16", dilationH: 1,
                 bias_flag: false, batch_type: 0},
         tiling: $tiling, cost_time: (.value | tonumber)}' "$@"
}

ones=$(yes 10 | head -n 80)
# shellcheck disable=SC2086 # a list of words
bank $ones >simulated.jsonl
answer 0 evaluate simulated.jsonl --hw ascend910b2 --json
holds '.used == 80' '.corrected == null' 'has("correction") | not' '.rows[0] | has("corrected_ns") | not'
# With an error that depends on n, and some noise.
times=$(jq '.rows | to_entries[] | .value.predicted_ns / 1000 *
    (if .key >= 40 then 1.6 else 1.1 end) * (1 + 0.01 * (.key % 7))' answer)
# shellcheck disable=SC2086
bank $times >measured.jsonl

learn=(calibrate --hw ascend910b2 --learn --from measured.jsonl)
mine=configs/hardware/ascend910b2.correction.json
answer 0 "${learn[@]}" -o $mine --json
holds '.learned_from[0].rows == 80' '.written == "'$mine'"' \
    '.cross_validated | map(select(.rows == "all" and .times == "simulated"))[0].mean_relative_error > 0.1' \
    '.cross_validated | map(select(.rows == "all" and .times == "corrected"))[0].mean_relative_error < 0.05'
answer 0 "${learn[@]}" -o again.json --threads 1
answer 0 "${learn[@]}" -o -
same 'the same file by any threads' $mine again.json
same 'and on -' $mine answer
answer 0 "${learn[@]}" --seed 2 -o other.json
check 'another seed draws otherwise' not cmp -s $mine other.json

answer 0 evaluate measured.jsonl --hw ascend910b2 --json
holds '.mape > 0.1' '.corrected | .mape < 0.05 and .used == 80 and .interval_covers >= 0.7' \
    '.corrected | has("median_ape") and has("spearman")' \
    '.corrected | has("ge_10us") and has("large_plain") and has("clean")' \
    '.correction.rows_learned_from == 80' \
    'all(.rows[]; .interval_ns[0] <= .corrected_ns and .corrected_ns <= .interval_ns[1])' \
    'all(.rows[]; .predicted_ns > 0)'
cp answer with
answer 0 evaluate measured.jsonl --hw ascend910b2 --json --no-correction
holds 'has("corrected") | not' '.rows[0] | has("corrected_ns") | not'
equal 'simulated times stay' "$(jq '[.rows[].predicted_ns]' with)" "$(jq '[.rows[].predicted_ns]' answer)"
answer 0 evaluate measured.jsonl --hw ascend910b2 --format csv
check csv grep -q 'corrected_ns,interval_low_ns,interval_high_ns$' <(head -n 1 answer)
answer 0 evaluate measured.jsonl --hw ascend910b2
check 'rows that were learned from are told of' grep -q 'flatter it' answer
answer 0 evaluate measured.jsonl --hw ascend910b2 --json --set-hw launch_ns=1
holds '.corrected == null' '.correction.reason == "learned for other numbers of the description"'

product=(--op matmul --shape 64x128x64 --hw ascend910b2 --space cann)
answer 0 "${product[@]}" --json --top 3
holds '.best | .time_ns > 0 and .corrected_ns > 0 and .interval_ns[0] < .interval_ns[1]' \
    '.best.corrected_ns == .top[0].corrected_ns' '.top | all(.corrected_ns > 0)' \
    '.best.outside >= 0' '.correction | .used and (.about | test("80 kernels"))'
time_ns=$(jq .best.time_ns answer) corrected_ns=$(jq .best.corrected_ns answer) tiling=$(tiling_of answer)
answer 0 "${product[@]}" --json --top 3 --no-correction
holds 'has("correction") | not' '.best | has("corrected_ns") | not'
equal 'the simulated time stays' "$time_ns" "$(jq .best.time_ns answer)"
answer 0 explain "${product[@]}" --json --set "$tiling"
equal 'explain corrects as tune does' "$corrected_ns" "$(jq .corrected_ns answer)"
answer 0 "${product[@]}"
check 'the table says it' grep -q '^  corrected  .*80 % of such kernels within' answer
answer 0 "${product[@]}" --format csv --top 2
check csv grep -q 'corrected_ns,interval_low_ns,interval_high_ns$' <(head -n 1 answer)
answer 0 "${product[@]}" --set-hw launch_ns=1
check 'and why not' grep -q '^  correction   none: learned for other numbers' answer
answer 0 "${product[@]}" --cores 2 --json
holds '.correction.used'
answer 0 --op matmul --shape 64x64x64 --hw ascend310 --json
holds 'has("correction") | not'
answer 0 --kernel "$source_dir/kernels/library/add_relu.kernel" --shape 65536 --hw ascend910b2 --json
holds 'has("correction") | not'
answer 0 list hw
check 'list hw' grep -q '^ascend910b2  .*corrected for matmul, learned from 80 kernels' answer

# What was learned chooses among the leaders, and their worst cases are of their own intervals.
small=(--op matmul --shape 64x64x64 --hw ascend910b2 --space cann)
answer 0 "${small[@]}" --json --corrected
holds '.by_corrected | .verdict == "chosen" and .weighed > 1 and .complete' \
    '.by_corrected.time_ns == .best.time_ns and .by_corrected.corrected_ns == .best.corrected_ns' \
    '.by_corrected | .corrected_ns <= .best_corrected_ns and .time_ns >= .best_ns' \
    '.by_corrected | .cost == .time_ns / .best_ns - 1 and .nominal_best.time_ns == .best_ns' \
    '.by_corrected.nominal_best.optimal' 'has("robust") | not'
chosen=$(jq .by_corrected answer)
answer 0 "${small[@]}" --corrected
check 'the table says chosen' grep -q '^  chosen  .*the corrected time is least' answer
answer 0 "${small[@]}" --json --robust
holds '.robust.residual_factor < 1.11' '.robust | .worst_ns / .worst_time_ns / .residual_factor - 1 | fabs < 1e-12' \
    'has("by_corrected") | not'
robust=$(jq .robust answer)
answer 0 "${small[@]}" --json --robust --no-correction
holds '.robust.residual_factor | . > 1.116 and . < 1.117'
# A store keeps them apart, each with what was learned then.
for option in --corrected --robust '--robust --no-correction' ''; do
    # shellcheck disable=SC2086 # a list of words
    answer 0 "${small[@]}" --json --db kept.db $option
    holds '.from_store | not'
done
answer 0 "${small[@]}" --json --db kept.db --corrected
holds '.from_store'
equal 'kept as chosen' "$chosen" "$(jq .by_corrected answer)"
answer 0 "${small[@]}" --json --db kept.db --robust
holds '.from_store'
equal 'kept with its factor' "$robust" "$(jq .robust answer)"
cp $mine kept.json
cp other.json $mine
answer 0 "${small[@]}" --json --db kept.db --corrected
holds '.from_store | not'
cp kept.json $mine

cases bad <<'END'
--corrected: expected it or --robust, not both              "${product[@]}" --corrected --robust
--corrected: expected no --no-correction                    "${product[@]}" --corrected --no-correction
--corrected: one tiling is the answer                       "${product[@]}" --corrected --top 2
can be used: learned for other numbers                      "${product[@]}" --corrected --set-hw launch_ns=1
--corrected: nothing learned of knn in the space selb on Ascend 310 can be used: there  --op knn --shape 64x32x256 --k 2 --hw ascend310 --corrected
matmul in the space thesis on Ascend 310 can be used: there is no correction  --op matmul --shape 64x64x64 --hw ascend310 --corrected
END

# A damaged file is refused, and can be done without.
sed -i 's/"margin": /"margin": "x", "m": /' $mine
bad 'ascend910b2.correction.json: margin: expected a number' "${product[@]}"
answer 0 "${product[@]}" --no-correction
answer 0 list hw
check 'list hw of a damaged one' grep -q '^ascend910b2  .*correction broken: ' answer

cases bad <<'END'
--seed                calibrate --hw ascend910b2 --from measured.jsonl --seed 3
--pool                calibrate --hw ascend910b2 --from measured.jsonl --pool ascend910b1=measured.jsonl
--pool                "${learn[@]}" --pool ascend910b1
--fit                 "${learn[@]}" --fit launch_ns
expected at least 40  calibrate --hw ascend910b2 --learn --from "$source_dir/docs/examples/ladder-910b1.json"
measured.jsonl        "${learn[@]}" -o measured.jsonl
END
finish
