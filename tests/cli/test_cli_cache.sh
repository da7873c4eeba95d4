#!/usr/bin/env bash
# A warm and a cold cache: the word in every answer, what it does to times, what a chip says by
# default, and that stores and sweeps keep both apart.
#
#   tests/cli/test_cli_cache.sh AUTOTUNE SOURCE_DIR
# shellcheck disable=SC2016,SC2086 # jq's variables; lists of arguments
. "$(dirname "$0")/../support/script.sh"
needs jq

chip='--hw ascend910b2'
product='--op matmul --shape 512x2048x2048'

time_of() { # arguments…
    answer 0 "$@" --json
    jq '.best.time_ns' answer
}

# ---------------------------------------------------------------- words

words() {
    local small='--op matmul --shape 16x64x64' program=$source_dir/docs/examples/kernels/mte2.txt
    for word in warm cold; do
        local with="$chip --cache $word"
        answer 0 $small $with --json
        holds ".cache == \"$word\"" '.hardware_changes == {}'
        cp answer best.json
        answer 0 $small $with
        check "a line of the $word cache" grep -q "^cache: $word\$" answer
        tiling=$(tiling_of best.json)
        answer 0 explain $small $with --set "$tiling" --json
        holds ".cache == \"$word\""
        "$autotune" program $small $with --set "$tiling" >program.txt
        for command in simulate check; do
            answer 0 $command program.txt $with --json
            holds ".cache == \"$word\""
        done
    done
    answer 0 $small $chip --json
    holds '.cache == "warm"'
    answer 0 simulate "$program" --json
    holds '.cache == "none"'
}

# What is touched first comes from behind the cache.
paths() {
    answer 0 simulate program.txt $chip --json
    holds '[.paths[] | select(.name == "hbm->l1")][0].bytes > 0'
    local exp='--kernel exp --shape 65536 --dtype f16'
    answer 0 $exp $chip --json
    answer 0 program $exp $chip --cache cold --set "$(tiling_of answer)"
    said 'hbm->ub'
    said 'ub->gm'
}

# ---------------------------------------------------------------- times

# Each of two words, and how many times as long a cold one takes at least and at most.
ratios() {
    local warm cold
    while read -r least most arguments; do
        warm=$(time_of $arguments $chip --cache warm)
        cold=$(time_of $arguments $chip --cache cold)
        check "$arguments: $cold ns cold, $warm warm, expected $least to $most times" \
            jq -ne "$cold / $warm | . >= $least and . <= $most"
    done <<-EOF
	1.8  3    --op matmul --shape 1x4096x4096
	1.4  3    --op matmul --shape 16x2048x1024
	1    2    --op matmul --shape 512x4096x4096
	1    1.05 --op matmul --shape 4096x4096x4096
	1    1.5  --op matmul --shape 64x64x64
	1.5  3    --kernel exp --shape 16777216 --dtype f16
	1    1.05 --kernel gelu --shape 16777216 --dtype f16
	1    1    --kernel softmax_long --shape 65536x1024
	EOF
}

# ---------------------------------------------------------------- where it is said

defaults() {
    sed 's/    buffer = "gm"; behind = "hbm";/& default = "cold";/' \
        "$AUTOTUNE_CONFIGS/hardware/ascend910b2.cfg" >cold.cfg
    cold=$(time_of $product $chip --cache cold)
    answer 0 $product --hw cold.cfg --json
    holds '.cache == "cold"' ".best.time_ns == $cold"
    answer 0 $product --hw cold.cfg --cache warm --json
    holds '.cache == "warm"' ".best.time_ns < $cold"
    answer 0 $product --hw cold.cfg --cache warm --cache cold --json
    holds '.cache == "cold"'
    printf 'name = "b"; base = "cold.cfg"; source = "assumed"; set = ["cache.default=warm"];\n' >warm.cfg
    answer 0 $product --hw ./warm.cfg --json
    holds '.cache == "warm"'
    sed -i 's/"cold"/"tepid"/' cold.cfg
    bad "cold.cfg:$(grep -n tepid cold.cfg | cut -d : -f 1): cache.default: \"tepid\", expected warm or cold" \
        $product --hw ./cold.cfg
}

refused() {
    bad '--cache cold: ' --op matmul --shape 16x16x16 --cache cold
    told 'ascend310.cfg has no `cache`, expected'
    bad '--cache tepid: expected warm or cold' $product $chip --cache tepid
    answer 0 --op matmul --shape 16x16x16 --cache warm --json
    holds '.cache == "none"'
}

# ---------------------------------------------------------------- stores

stores() {
    answer 0 $product $chip --db cache.db --json
    holds '.from_store == false'
    answer 0 $product $chip --cache cold --db cache.db --json
    holds '.from_store == false' '.cache == "cold"'
    cold=$(jq .best.time_ns answer)
    answer 0 $product $chip --cache cold --db cache.db --json
    holds '.from_store == true' ".best.time_ns == $cold"
    answer 0 $product $chip --cache warm --db cache.db --json
    holds '.from_store == true' ".best.time_ns < $cold"
    printf 'op,shape,hw,cache\nmatmul,512x2048x2048,ascend910b2,warm\nmatmul,512x2048x2048,ascend910b2,cold\n' >jobs.csv
    answer 0 sweep jobs.csv --dry-run --fresh --db cache.db --json
    holds '[.jobs[].hardware] == ["Ascend 910B2", "Ascend 910B2, cold cache"]'
}

words
paths
ratios
defaults
refused
stores
finish
