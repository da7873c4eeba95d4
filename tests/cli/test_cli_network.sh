#!/usr/bin/env bash
# The network command as a whole: what it adds up, that measured times change no prediction, and
# that what --tune says is what the main command says of each product.
#
#   tests/cli/test_cli_network.sh AUTOTUNE SOURCE_DIR
set -u
export LC_ALL=C
autotune=$1
calls=$2/docs/examples/network.csv
graph=$2/docs/examples/network.graph.txt
export AUTOTUNE_CONFIGS=$2/configs XDG_CONFIG_HOME=/nonexistent
command -v jq >/dev/null || { echo 'no jq: skipped'; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
passed=0
failed=0

expect() { # what, command...
    local what=$1
    shift
    if "$@" >out 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED $what: $(head -c 500 out)"
    fi
}

holds() { jq -e "$2" "$1"; } # file, condition

"$autotune" network "$calls" --hw ascend910 --graph "$graph" --json -o all.json
expect 'rows in their order' holds all.json '[.operators[].line] == [range(2; 10)]'
expect 'the total adds up' holds all.json \
    '(([.operators[] | .predicted_us * .count] | add) / .total_us - 1) | fabs < 1e-9'
expect 'so does what was measured' holds all.json \
    '(([.operators[] | .measured_us * .count] | add) / .measured_us - 1) | fabs < 1e-9'
expect 'and the kinds' holds all.json '(([.kinds[].predicted_us] | add) / .total_us - 1) | fabs < 1e-9'
expect 'hotspots' holds all.json \
    '.l_kinds.rows == ([.operators[] | select(.l_kind == 1)] | length) and .l_kinds.rows == 5'
expect 'intervals' holds all.json 'all(.operators[];
    .interval_us[0] <= .predicted_us and .predicted_us <= .interval_us[1])'
expect 'a path is no longer than all' holds all.json \
    '.graph.longest_path_us > 0 and .graph.longest_path_us <= .graph.sum_us'

# Other measured times, and none.
sed -E '2,$s/,[0-9.]+,[0-9.]+,[0-9.]+,([01])$/,777,777,777,\1/' "$calls" >other.csv
"$autotune" network other.csv --hw ascend910 --json -o other.json
expect 'measured times are read' holds other.json 'all(.operators[]; .measured_us == 777)'
expect 'and change no prediction' test "$(jq -c '[.operators[].predicted_us]' all.json)" = \
    "$(jq -c '[.operators[].predicted_us]' other.json)"
sed -E '2,$s/,[0-9.]+,[0-9.]+,[0-9.]+,([01])$/,,,,\1/' "$calls" >none.csv
"$autotune" network none.csv --hw ascend910 --json -o none.json
expect 'without them' holds none.json '.measured_us == null and .total_us > 0'

# A node that names its row has its time.
printf '1\tMatMul-op1\t2\n2\tMatMul-op2\t4\n1\n' >chain.txt
printf '3\tend\n2\n1 2\n' >>chain.txt
"$autotune" network "$calls" --hw ascend910 --graph chain.txt --subset l --json -o chain.json
expect 'rows of nodes' holds chain.json '.graph.nodes == 2 and
    (.graph.longest_path_us - .operators[2].predicted_us - .operators[4].predicted_us | fabs < 1e-6)'
printf '1\tMatMul-op1\t9\n' >beyond.txt
expect 'a row that is none' test "$("$autotune" network "$calls" --graph beyond.txt 2>&1)" = \
    'autotune: beyond.txt: node 1 is of row 9, expected one from 0 to 7'

# Tilings: those of the main command, kept, and loadable.
"$autotune" network "$calls" --hw ascend910b3 --tune --db n.db --runtime-kb kb.json --json -o tuned.json
expect 'every product is tuned' holds tuned.json \
    '[.operators[] | select(.best_us) | .op_type] == ["MatMul", "FusionOp_MatMul_GeLU", "MatMul"]'
best=$("$autotune" --op matmul --shape 512x256x256 --hw ascend910b3 --cache cold --space tcube --json |
    jq '.best.time_ns / 1000 // empty')
expect "as the main command says: $best" holds tuned.json "(.operators[2].best_us / ${best:-0} - 1) | fabs < 1e-9"
expect 'the table can be loaded' "$autotune" check --runtime-kb kb.json --hw ascend910b3
expect 'has all of them' test "$(wc -l <kb.json)" -eq 3
"$autotune" network "$calls" --hw ascend910b3 --tune --db n.db --runtime-kb kb.json --threads 1 --json \
    -o again.json
expect 'the store answers the same' cmp tuned.json again.json

# Convolutions: what the main command says of each, and why others have none.
images=$2/docs/examples/images.csv
"$autotune" network "$images" --hw ascend910 --tune --db i.db --json -o images.json
for row in '0 --kernel conv2d --shape 32x32x7x7x16x32 --stride 2 --padding 3 --rest 1 --batch 4' \
    '1 --op matmul --shape 4096x32x64' \
    '2 --kernel conv2d --shape 16x16x3x3x64x64 --stride 2 --padding 1 --rest 1 --batch 4' \
    '4 --kernel conv2d --shape 16x16x3x3x64x64 --padding 1 --batch 4'; do
    read -r call options <<<"$row"
    # shellcheck disable=SC2086 # options and their values
    best=$("$autotune" $options --hw ascend910 --json | jq '.best.time_ns / 1000 // empty')
    expect "$options: $best" holds images.json \
        ".operators[$call] | (.best_us / ${best:-0} - 1 | fabs) < 1e-9 and .best_gap == 0 and .not_tuned == null"
done
expect 'a kernel that may lie in two ways' holds images.json '.operators[3] | .best_us == null and
    .not_tuned == "a kernel of 7 taps may be 1x7 stride 1 or 7x1 stride 1"'
expect 'the gradient of a stride' holds images.json '.operators[5] | .best_us == null and
    .not_tuned == "the gradient of no convolution of stride 1"'
expect 'what is not searched' holds images.json '.operators[6] | .best_us == null and .not_tuned == null'
"$autotune" network "$images" --hw ascend910 --tune --db i.db --threads 1 --json -o again.json
expect 'the store answers the same of them' cmp images.json again.json
"$autotune" network "$images" --hw ascend910 --tune --db late.db --time-limit 0.06 --json -o late.json 2>late
expect 'what there is no time for is said' holds late.json \
    '[.operators[] | select(.not_tuned == "no time was left" or (.best_gap // 0) > 0)] | length > 0'
for options in '--db x.db' '--time-limit 3' '--threads 1' '--runtime-kb x.json'; do
    # shellcheck disable=SC2086 # an option and its value
    expect "$options without --tune" grep -q 'expected --tune' \
        <("$autotune" network "$calls" $options 2>&1)
done
echo "$passed passed, $failed failed"
((failed == 0))
