#!/usr/bin/env bash
# What operators of networks take, learned from made-up runs by the command line.
#
#   tests/cli/test_cli_learn_network.sh AUTOTUNE SOURCE_DIR
. "$(dirname "$0")/../support/script.sh"
needs jq
cp -r "$source_dir/configs" .
rm -f configs/hardware/*.network.json
export AUTOTUNE_CONFIGS=$work/configs

# Rows of n elements: 2 us and a us a thousand of them, Sqrt three times that.
run() { # first size, us a thousand elements of Mul
    echo op_type,block_dim,in_shapes,in_formats,in_dtypes,out_shapes,out_formats,out_dtypes,count,mean_us,l_kind
    awk -v first="$1" -v us="$2" 'BEGIN { for (i = 0; i < 24; i++) { n = first * (i + 1)
        printf "Mul,30,%dx100,DefaultFormat,FLOAT,%dx100,DefaultFormat,FLOAT,2,%.3f,0\n", n, n, 2 + us * n / 10
        printf "Sqrt,30,%dx100,DefaultFormat,FLOAT,%dx100,DefaultFormat,FLOAT,1,%.3f,1\n", n, n, 2 + 3 * us * n / 10 } }'
}
run 16 0.02 >alpha_8.csv
run 32 0.02 >alpha_16.csv
run 24 0.02 >beta_8.csv
run 48 0.02 >beta_16.csv
run 40 0.02 >gamma.csv

learn=(calibrate --hw ascend910 --learn --from alpha_8.csv --from alpha_16.csv --from beta_8.csv --from beta_16.csv)
mine=configs/hardware/ascend910.network.json
answer 0 network gamma.csv --hw ascend910 --json
holds '(.total_us / .measured_us - 1) | fabs > 0.2'
answer 0 "${learn[@]}" -o $mine --json
holds '.learned_from | map(.rows) == [48, 48, 48, 48]' '.written == "'$mine'"' \
    '.cross_validated | map(select(.rows == "sums, run left out" and .times == "corrected"))[0] | .used == 4 and .mean_relative_error < 0.1' \
    '.cross_validated | map(select(.rows == "calls, network left out" and .times == "law"))[0] | .used == 192 and .mean_relative_error < 0.2' \
    '.cross_validated | all(.rows | test("MatMul|Conv2D") | not)' \
    '.cross_validated | all(.times != "line")'
answer 0 "${learn[@]}" -o again.json --threads 1
answer 0 "${learn[@]}" -o -
same 'the same file by any threads' $mine again.json
same 'and on -' $mine answer
holds '[.laws[].kind] | contains(["*vector", "~Mul", "Sqrt"])'

# What is left out is not seen: a network that takes twice as long as the other, and can be told by its blocks.
sed -E 's/^(Mul|Sqrt),30,/\1,24,/' <(run 16 0.04) >slow_8.csv
sed -E 's/^(Mul|Sqrt),30,/\1,24,/' <(run 32 0.04) >slow_16.csv
answer 0 calibrate --hw ascend910 --learn --from alpha_8.csv --from alpha_16.csv --from slow_8.csv --from slow_16.csv --json
holds '.cross_validated | map(select(.rows == "calls, network left out" and .times == "corrected"))[0].mean_relative_error > 0.3' \
    '.cross_validated | map(select(.rows == "calls, run left out" and .times == "corrected"))[0].mean_relative_error < 0.2'

# A run of sizes in between, whose measured times play no part.
answer 0 network gamma.csv --hw ascend910 --json
holds '(.total_us / .measured_us - 1) | fabs < 0.1' '.interval_us[0] < .total_us and .total_us < .interval_us[1]' \
    'all(.operators[]; .interval_us[0] <= .predicted_us and .predicted_us <= .interval_us[1])'
learned=$(jq .total_us answer)
sed 's/,[0-9.]*,\([01]\)$/,7,\1/' gamma.csv >other.csv
answer 0 network other.csv --hw ascend910 --json
equal 'measured times change no prediction' "$learned" "$(jq .total_us answer)"

echo '{"schema": 1}' >$mine
bad 'ascend910.network.json: chip: expected a text' network gamma.csv --hw ascend910
bad 'runs of networks (.csv) or banks of kernels, not both' "${learn[@]}" --from bank.jsonl
bad '1 runs, expected 2 to 16' calibrate --hw ascend910 --learn --from gamma.csv
bad 'all runs are of one network' calibrate --hw ascend910 --learn --from alpha_8.csv --from alpha_16.csv
head -n 9 gamma.csv >small.csv
bad '32 measured calls, expected at least 40' calibrate --hw ascend910 --learn --from small.csv --from small.csv --from small.csv --from small.csv
bad '--pool: it is for banks of kernels' "${learn[@]}" --pool ascend910b2=bank.jsonl
finish
