#!/usr/bin/env bash
# The network command as a whole: what it adds up, that measured times change no prediction, and
# that what --tune says is what the main command says of each product.
#
#   tests/cli/test_cli_network.sh AUTOTUNE SOURCE_DIR
. "$(dirname "$0")/../support/script.sh"
needs jq
calls=$source_dir/docs/examples/network.csv
graph=$source_dir/docs/examples/network.graph.txt
images=$source_dir/docs/examples/images.csv

answer 0 network "$calls" --hw ascend910 --graph "$graph" --json -o all.json
check 'rows in their order' is all.json '[.operators[].line] == [range(2; 10)]'
check 'the total adds up' is all.json \
    '(([.operators[] | .predicted_us * .count] | add) / .total_us - 1) | fabs < 1e-9'
check 'so does what was measured' is all.json \
    '(([.operators[] | .measured_us * .count] | add) / .measured_us - 1) | fabs < 1e-9'
check 'and the kinds' is all.json '(([.kinds[].predicted_us] | add) / .total_us - 1) | fabs < 1e-9'
check 'hotspots' is all.json \
    '.l_kinds.rows == ([.operators[] | select(.l_kind == 1)] | length) and .l_kinds.rows == 5'
check 'intervals' is all.json 'all(.operators[];
    .interval_us[0] <= .predicted_us and .predicted_us <= .interval_us[1])'
check 'a path is no longer than all' is all.json \
    '.graph.longest_path_us > 0 and .graph.longest_path_us <= .graph.sum_us'

# Other measured times, and none.
sed -E '2,$s/,[0-9.]+,[0-9.]+,[0-9.]+,([01])$/,777,777,777,\1/' "$calls" >other.csv
answer 0 network other.csv --hw ascend910 --json -o other.json
check 'measured times are read' is other.json 'all(.operators[]; .measured_us == 777)'
check 'and change no prediction' test "$(jq -c '[.operators[].predicted_us]' all.json)" = \
    "$(jq -c '[.operators[].predicted_us]' other.json)"
sed -E '2,$s/,[0-9.]+,[0-9.]+,[0-9.]+,([01])$/,,,,\1/' "$calls" >none.csv
answer 0 network none.csv --hw ascend910 --json -o none.json
check 'without them' is none.json '.measured_us == null and .total_us > 0'

# A node that names its row has its time.
printf '1\tMatMul-op1\t2\n2\tMatMul-op2\t4\n1\n' >chain.txt
printf '3\tend\n2\n1 2\n' >>chain.txt
answer 0 network "$calls" --hw ascend910 --graph chain.txt --subset l --json -o chain.json
check 'rows of nodes' is chain.json '.graph.nodes == 2 and
    (.graph.longest_path_us - .operators[2].predicted_us - .operators[4].predicted_us | fabs < 1e-6)'
printf '1\tMatMul-op1\t9\n' >beyond.txt
bad 'autotune: beyond.txt: node 1 is of row 9, expected one from 0 to 7' network "$calls" --graph beyond.txt

# Tilings: those of the main command, kept, and loadable.
answer 0 network "$calls" --hw ascend910b3 --tune --db n.db --runtime-kb kb.json --json -o tuned.json
check 'every product is tuned' is tuned.json \
    '[.operators[] | select(.best_us) | .op_type] == ["MatMul", "FusionOp_MatMul_GeLU", "MatMul"]'
best=$("$autotune" --op matmul --shape 512x256x256 --hw ascend910b3 --cache cold --space tcube --json |
    jq '.best.time_ns / 1000 // empty')
check "as the main command says: $best" is tuned.json "(.operators[2].best_us / ${best:-0} - 1) | fabs < 1e-9"
check 'the table can be loaded' "$autotune" check --runtime-kb kb.json --hw ascend910b3
check 'has all of them' test "$(wc -l <kb.json)" -eq 3
answer 0 network "$calls" --hw ascend910b3 --tune --db n.db --runtime-kb kb.json --threads 1 --json \
    -o again.json
check 'the store answers the same' cmp tuned.json again.json

# Convolutions: what the main command says of each, and why others have none.
answer 0 network "$images" --hw ascend910 --tune --db i.db --json -o images.json
for row in '0 --kernel conv2d --shape 32x32x7x7x16x32 --stride 2 --padding 3 --rest 1 --batch 4' \
    '1 --op matmul --shape 4096x32x64' \
    '2 --kernel conv2d --shape 16x16x3x3x64x64 --stride 2 --padding 1 --rest 1 --batch 4' \
    '4 --kernel conv2d --shape 16x16x3x3x64x64 --padding 1 --batch 4'; do
    read -r call options <<<"$row"
    # shellcheck disable=SC2086 # options and their values
    best=$("$autotune" $options --hw ascend910 --json | jq '.best.time_ns / 1000 // empty')
    check "$options: $best" is images.json \
        ".operators[$call] | (.best_us / ${best:-0} - 1 | fabs) < 1e-9 and .best_gap == 0 and .not_tuned == null"
done
check 'a kernel that may lie in two ways' is images.json '.operators[3] | .best_us == null and
    .not_tuned == "a kernel of 7 taps may be 1x7 stride 1 or 7x1 stride 1"'
check 'the gradient of a stride' is images.json '.operators[5] | .best_us == null and
    .not_tuned == "the gradient of no convolution of stride 1"'
check 'what is not searched' is images.json '.operators[6] | .best_us == null and .not_tuned == null'
answer 0 network "$images" --hw ascend910 --tune --db i.db --threads 1 --json -o again.json
check 'the store answers the same of them' cmp images.json again.json
"$autotune" network "$images" --hw ascend910 --tune --db late.db --time-limit 0.06 --json -o late.json 2>late
check 'what there is no time for is said' is late.json \
    '[.operators[] | select(.not_tuned == "no time was left" or (.best_gap // 0) > 0)] | length > 0'
for options in '--db x.db' '--time-limit 3' '--threads 1' '--runtime-kb x.json'; do
    # shellcheck disable=SC2086 # an option and its value
    bad 'expected --tune' network "$calls" $options
done
finish
