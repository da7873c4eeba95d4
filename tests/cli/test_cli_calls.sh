#!/usr/bin/env bash
# What an answer says of --count calls: their time, and of weights that lie row by row whether it
# pays to bring them into blocks. All of it is what the searches for the product with blocks and for
# the conversion say by themselves, and the number of calls from which it pays is the first.
#
#   tests/cli/test_cli_calls.sh AUTOTUNE SOURCE_DIR
set -u
export LC_ALL=C
unset ARGP_HELP_FMT ASCEND_HOME_PATH NO_COLOR POSIXLY_CORRECT
autotune=$(realpath "$1")
AUTOTUNE_CONFIGS=$(realpath "$2")/configs
export AUTOTUNE_CONFIGS XDG_CONFIG_HOME=/nonexistent
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
passed=0
failed=0

check() { # what, command…
    local what=$1
    shift
    if "$@"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf 'FAILED %s: %s\n' "$what" "$*"
    fi
}

holds() { # FILE CONDITION
    check "$problem, $1 ($(cat err))" test "$(jq "$2" "$1")" = true
}

tune() { # FILE, options…
    local file=$1
    shift
    "$autotune" "$@" --json -q >"$file" 2>err
    check "$* ($(cat err))" test $? = 0
}

refuses() { # fragment, options…
    local fragment=$1
    shift
    "$autotune" "$@" >out 2>err
    check "$* is an error" test $? = 2
    check "$*: $(cat err)" grep -qF -- "$fragment" err
}

best_ns() { jq .best.time_ns "$1"; }

# The shape of the conversion is given: it is what is checked.
check_weights() { # SHAPE OF B, options of the product…
    local shape=$1 first
    shift
    problem="$*"
    tune now.json "$@"
    tune blocks.json "$@" --b-layout nz
    tune once.json "${chip[@]}" --kernel nd_to_nz --shape "$shape" "${type[@]}"
    tune calls.json "$@" --count 1000
    jq -n --argjson now "$(best_ns now.json)" --argjson blocks "$(best_ns blocks.json)" \
        --argjson once "$(best_ns once.json)" '$ARGS.named' >of.json
    holds calls.json "$(cat of.json) as \$of | .best.time_ns == \$of.now
        and .calls == {count: 1000, total_ns: .calls.total_ns}
        and (.calls.total_ns - 1000 * \$of.now | fabs) < 1e-3
        and (.weights_in_blocks | .time_ns == \$of.blocks and .conversion_ns == \$of.once and .proven
            and (.saved_ns - (\$of.now - \$of.blocks) | fabs) < 1e-6
            and (.total_ns - (\$of.once + 1000 * \$of.blocks) | fabs) < 1e-3)"
    check "$problem: tilings" test \
        "$(jq -c '.weights_in_blocks | .tiling, .conversion_tiling' calls.json)" = \
        "$(jq -c .best.tiling blocks.json once.json)"
    first=$(jq .weights_in_blocks.pays_from_call calls.json)
    [ "$first" = null ] && return
    tune at.json "$@" --count "$first"
    holds at.json .weights_in_blocks.pays
    [ "$first" = 1 ] && return
    tune before.json "$@" --count $((first - 1))
    holds before.json '.weights_in_blocks.pays | not'
}

no_weights() { # options…: calls, and nothing else that is not there without --count
    problem="$*"
    tune without.json "$@"
    tune with.json "$@" --count 7
    holds with.json '.calls.count == 7 and (.calls.total_ns - 7 * .best.time_ns | fabs) < 1e-3'
    check "$problem: the rest is the same" test \
        "$(jq -cS 'del(.calls, .search.seconds)' with.json)" = "$(jq -cS 'del(.search.seconds)' without.json)"
}

product=(--op matmul --hw ascend910b2)
chip=(--hw ascend910b2)
type=()
check_weights 512x1024 "${product[@]}" --shape 128x512x1024
check_weights 300x200 "${product[@]}" --shape 50x200x300 --transpose b
check_weights 512x256 "${product[@]}" --shape 64x512x256 --batch 3 --share-b yes --bias yes
if [ -z "${AUTOTUNE_SLOW-}" ]; then
    chip=(--hw ascend910b4 --cache cold --cores 7)
    for dtype in bf16 i8; do
        type=(--dtype $dtype)
        check_weights 1024x512 --op matmul "${chip[@]}" "${type[@]}" --shape 16x1024x512
    done
fi

no_weights "${product[@]}" --shape 64x512x256 --batch 3 # each product has weights of its own
no_weights "${product[@]}" --shape 64x512x256 --b-layout nz
no_weights --op matmul --shape 64x512x256 # the space has no blocks
no_weights --kernel add_relu --shape 5000
no_weights --op cubefx --shape 4096 --order 6 --functions 4
"$autotune" --op matmul --shape 64x64x64 --count 2 -v >out 2>err
check "why there is nothing to compare: $(cat err)" grep -q 'weights in blocks: --b-layout' err

# A store answers all three questions, and keeps them as sweeps do.
tune stored.json "${product[@]}" --shape 64x512x256 --count 10 --db calls.db
tune again.json "${product[@]}" --shape 64x512x256 --count 20 --db calls.db
problem='from a store'
holds again.json .from_store
check 'a store has all of it' test "$("$autotune" store ls calls.db --json | jq -c '[.results[] | .op + " " + .options]')" = \
    '["matmul ","matmul b-layout=nz","nd_to_nz "]'
check 'and it says the same' test "$(jq -c .weights_in_blocks.tiling stored.json)" = "$(jq -c .weights_in_blocks.tiling again.json)"
for threads in 1 3; do
    tune $threads.json "${product[@]}" --shape 64x512x256 --count 10 --threads $threads
done
check 'any threads' test "$(jq -c '.calls, .weights_in_blocks' 1.json)" = "$(jq -c '.calls, .weights_in_blocks' 3.json)"
# What is chosen by another measure is compared as it was chosen.
tune robust.json "${product[@]}" --shape 64x512x256 --count 10 --robust
tune blocks.json "${product[@]}" --shape 64x512x256 --b-layout nz --robust
problem=robust
holds robust.json ".weights_in_blocks.time_ns == $(best_ns blocks.json)"

refuses '--count: the csv has no place for it' "${product[@]}" --shape 64x64x64 --count 2 --format csv
refuses '--count 0: expected' "${product[@]}" --shape 64x64x64 --count 0
refuses '--count 1.5: expected' "${product[@]}" --shape 64x64x64 --count 1.5
refuses 'unknown option --count' explain "${product[@]}" --shape 64x64x64 --count 2
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
