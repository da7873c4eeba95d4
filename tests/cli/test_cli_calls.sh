#!/usr/bin/env bash
# What an answer says of --count calls: their time, and of weights that lie row by row whether it
# pays to bring them into blocks. All of it is what the searches for the product with blocks and for
# the conversion say by themselves, and the number of calls from which it pays is the first.
#
#   tests/cli/test_cli_calls.sh AUTOTUNE SOURCE_DIR
. "$(dirname "$0")/../support/script.sh"
needs jq

tune() { # file, options…: the answer, and a copy of it
    answer 0 "${@:2}" --json -q
    cp answer "$1"
}

best_ns() { jq .best.time_ns "$1"; }

# The shape of the conversion is given: it is what is checked.
check_weights() { # SHAPE OF B, options of the product…
    local shape=$1 first
    shift
    tune now.json "$@"
    tune blocks.json "$@" --b-layout nz
    tune once.json "${chip[@]}" --kernel nd_to_nz --shape "$shape" "${type[@]}"
    tune calls.json "$@" --count 1000
    jq -n --argjson now "$(best_ns now.json)" --argjson blocks "$(best_ns blocks.json)" \
        --argjson once "$(best_ns once.json)" '$ARGS.named' >of.json
    holds "$(cat of.json) as \$of | .best.time_ns == \$of.now
        and .calls == {count: 1000, total_ns: .calls.total_ns}
        and (.calls.total_ns - 1000 * \$of.now | fabs) < 1e-3
        and (.weights_in_blocks | .time_ns == \$of.blocks and .conversion_ns == \$of.once and .proven
            and (.saved_ns - (\$of.now - \$of.blocks) | fabs) < 1e-6
            and (.total_ns - (\$of.once + 1000 * \$of.blocks) | fabs) < 1e-3)"
    equal "$what: tilings" "$(jq -c .best.tiling blocks.json once.json)" \
        "$(jq -c '.weights_in_blocks | .tiling, .conversion_tiling' calls.json)"
    first=$(jq .weights_in_blocks.pays_from_call calls.json)
    [ "$first" = null ] && return
    tune at.json "$@" --count "$first"
    holds .weights_in_blocks.pays
    [ "$first" = 1 ] && return
    tune before.json "$@" --count $((first - 1))
    holds '.weights_in_blocks.pays | not'
}

no_weights() { # options…: calls, and nothing else that is not there without --count
    tune without.json "$@"
    tune with.json "$@" --count 7
    holds '.calls.count == 7 and (.calls.total_ns - 7 * .best.time_ns | fabs) < 1e-3'
    equal "$what: the rest is the same" "$(jq -S 'del(.search.seconds)' without.json)" \
        "$(jq -S 'del(.calls, .search.seconds)' with.json)"
}

product=(--op matmul --hw ascend910b2)
chip=(--hw ascend910b2)
type=()
check_weights 256x128 "${product[@]}" --shape 16x256x128
check_weights 60x100 "${product[@]}" --shape 50x100x60 --transpose b
check_weights 128x64 "${product[@]}" --shape 32x128x64 --batch 3 --share-b yes --bias yes
if [ -z "${AUTOTUNE_SLOW-}" ]; then
    chip=(--hw ascend910b4 --cache cold --cores 7)
    for dtype in bf16 i8; do
        type=(--dtype $dtype)
        check_weights 1024x512 --op matmul "${chip[@]}" "${type[@]}" --shape 16x1024x512
    done
fi

no_weights "${product[@]}" --shape 32x128x64 --batch 3 # each product has weights of its own
no_weights "${product[@]}" --shape 32x128x64 --b-layout nz
no_weights --op matmul --shape 32x128x64 # the space has no blocks
no_weights --kernel add_relu --shape 5000
no_weights --op cubefx --shape 4096 --order 6 --functions 4
answer 0 --op matmul --shape 64x64x64 --count 2 -v
told 'weights in blocks: --b-layout' # why there is nothing to compare

# A store answers all three questions, and keeps them as sweeps do.
tune stored.json "${product[@]}" --shape 32x128x64 --count 10 --db calls.db
tune again.json "${product[@]}" --shape 32x128x64 --count 20 --db calls.db
holds .from_store
equal 'it says the same' "$(jq .weights_in_blocks.tiling stored.json)" "$(jq .weights_in_blocks.tiling again.json)"
answer 0 store ls calls.db --json
holds '[.results[] | .op + " " + .options] == ["matmul ", "matmul b-layout=nz", "nd_to_nz "]'
for threads in 1 3; do
    tune $threads.json "${product[@]}" --shape 32x128x64 --count 10 --threads $threads
done
equal 'any threads' "$(jq '.calls, .weights_in_blocks' 1.json)" "$(jq '.calls, .weights_in_blocks' 3.json)"
# What is chosen by another measure is compared as it was chosen.
tune blocks.json "${product[@]}" --shape 32x128x64 --b-layout nz --robust
tune robust.json "${product[@]}" --shape 32x128x64 --count 10 --robust
holds ".weights_in_blocks.time_ns == $(best_ns blocks.json)"

bad '--count: the csv has no place for it' "${product[@]}" --shape 64x64x64 --count 2 --format csv
bad '--count 0: expected' "${product[@]}" --shape 64x64x64 --count 0
bad '--count 1.5: expected' "${product[@]}" --shape 64x64x64 --count 1.5
bad 'unknown option --count' explain "${product[@]}" --shape 64x64x64 --count 2
finish
