#!/usr/bin/env bash
# What programs may rely on: the keys and types of the JSON answers, what the numbers promise each
# other, exit statuses, the same answer for any number of threads, the same optimum by either
# strategy, times that a program reproduces, and an end by time limit or signal that still answers.
#
#   tests/cli/test_cli_contract.sh AUTOTUNE SOURCE_DIR
#
# AUTOTUNE_SLOW=1 (sanitizer builds) tries fewer shapes.
# shellcheck disable=SC2016,SC2086 # jq's variables; lists of arguments
. "$(dirname "$0")/../support/script.sh"
needs jq
programs=$source_dir/tests/golden/cli
slow=${AUTOTUNE_SLOW:-0}

# The answer without what may differ from run to run.
timeless() {
    jq 'del(.search.seconds, .search.threads)' answer
}

# Text of JSON: jq would read NaN and print it as null.
finite() {
    check "$what: finite" not grep -iE '(nan|inf)[,"]?$|: *-?(nan|inf)' answer
}

integers() { # object, key…
    object=$1
    shift
    for key in "$@"; do printf '%s.%s | type == "number" and . == floor\n' "$object" "$key"; done
}

row='(.tiling | type == "object" and (keys_unsorted ==
        ["m_slice", "k_slice", "n_slice", "buffers", "resident", "split", "cores"])
        and ([.m_slice, .k_slice, .n_slice] | all(. > 0 and . % 16 == 0))
        and (.buffers | . == 1 or . == 2) and (.resident | IN("both", "a", "b", "none"))
        and (.split | IN("m", "n")) and (.cores | . >= 1 and . == floor))
    and (.cores_used | . >= 1 and . == floor)
    and ([.time_ns, .lower_bound_ns, .roofline_ns, .gflops] | all(type == "number" and . > 0))
    and .lower_bound_ns <= .time_ns and .roofline_ns <= .time_ns
    and (.pipes | length > 0) and (.time_ns as $time | [.pipes[], .buses[]] | all(
        (.name | type == "string") and .busy_ns >= 0 and .busy_ns <= $time
        and (.share - .busy_ns / $time | fabs) < 1e-12))
    and ([.pipes[], .buses[]] | max_by(.share).share) as $most
        | .bottleneck as $name | any(.pipes[], .buses[]; .name == $name and .share == $most)'

tune_holds() { # conditions beyond these…
    finite
    mapfile -t whole < <(integers .search candidates feasible pruned simulated threads \
        within_1_percent)
    holds '.schema == 1' '.op == "matmul"' '.shape | keys == ["batch", "k", "m", "n"]' \
        '[.hardware, .hardware_file, .space, .dtype] | all(type == "string")' \
        '.cores | . >= 1 and . == floor' "${whole[@]}" \
        '.search | .optimal | type == "boolean"' \
        '[.search | .lower_bound_ns, .gap, .seconds] | all(type == "number" and . >= 0)' \
        '.search | .candidates >= .feasible and .feasible >= .pruned + .simulated' \
        'has("best") and (.top | type == "array")' "$@"
}

found_holds() { # conditions beyond these…
    tune_holds ".best | $row" ".top | length > 0 and all($row)" '.best == .top[0]' \
        '[.top[] | .time_ns] | . == sort' \
        '([.top[] | .tiling] | unique | length) == (.top | length)' \
        '.search.lower_bound_ns <= .best.time_ns' '.search.within_1_percent >= 1' \
        '(.search.gap - (.best.time_ns - .search.lower_bound_ns) / .best.time_ns | fabs) < 1e-9' \
        '.search.gap < 1' "$@"
}

optimal_holds() { # conditions beyond these…
    found_holds '.search.optimal' '.search.gap == 0' '.search.lower_bound_ns == .best.time_ns' \
        '.search | .feasible == .pruned + .simulated' "$@"
}

keys_of_tune() {
    product='--op matmul --shape 256x384x320'
    answer 0 $product --json
    optimal_holds '.shape == {"m": 256, "k": 384, "n": 320, "batch": 1}' '.cores == 2' \
        '.hardware == "Ascend 310"' '.space == "thesis"' '.top | length == 1' \
        '.hardware_file | endswith("/configs/hardware/ascend310.cfg")'
    check "$what: 9 significant digits" grep -qE '"time_ns": [0-9]{4,}\.[0-9]{5,}' answer
    answer 0 $product --format json --top 7 --batch 3 --cores 1
    optimal_holds '.top | length == 7' '.shape.batch == 3' '.cores == 1' \
        '.top | all(.cores_used == 1)'
    answer 0 $product --json --strategy exhaustive --threads 1
    optimal_holds '.search | .pruned == 0 and .threads == 1'
    answer 0 --op matmul --shape 1x1x1 --json --top 1000
    optimal_holds '.search | .within_1_percent == .feasible' '(.top | length) == .search.feasible'
    answer 0 --op MatMul --shape 64x64x64 --json --hw 'Ascend 310' # names ignore case and blanks
    optimal_holds
    answer 0 --op matmul --shape 64x64x64 --json --hw ascend310-l1-2m
    optimal_holds '.hardware == "Ascend 310 with 2 MiB of L1"'
}

nothing_legal() {
    none='--set-hw buffers.l0a.capacity_bytes=256'
    for shape in 512x512x512 16x16x16 1x1x1; do
        answer 1 --op matmul --shape $shape --json $none
        tune_holds '.best == null' '.top == []' '.search.feasible == 0' '.search.simulated == 0' \
            '.search.pruned == 0' '.search.candidates > 0' '.search.gap == 0'
        answer 1 program --op matmul --shape $shape $none
        answer 1 program --op matmul --shape $shape $none --json
        holds '.tiling == null'
        answer 1 --op matmul --shape $shape $none --format csv
    done
}

keys_of_explain() {
    product='--op matmul --shape 512x1024x512 --json'
    answer 0 explain $product --set m_slice=256,k_slice=256,n_slice=256,buffers=2,resident=both,split=m
    holds '.schema == 1' '.legal == false' '.nearest | type == "object" and .resident == "a"' \
        '.violations | length == 3 and all((.limit | type == "string")
            and .needed_bytes > .available_bytes and .available_bytes > 0
            and .excess_bytes == .needed_bytes - .available_bytes)' \
        '[.violations[].limit] == ["l1", "l0a", "l0b"]'
    nearest=$(jq '{best: {tiling: .nearest}}' answer | tiling_of -)
    answer 0 explain $product --set "$nearest"
    holds '.legal' '.violations == []' '.nearest == null'
    answer 0 explain $product --set "$nearest" --set-hw buffers.l0a.capacity_bytes=256
    holds '.legal == false' '.nearest == null'
    answer 0 program $product --set "$nearest"
    holds '.tiling | type == "object"' '.cores_used == 2' '.program | startswith("# matmul")'
    answer 1 program $product --set "${nearest/resident=a/resident=both}"
    holds '.legal == false' '.violations | length > 0'
}

# What is written beside an answer changes nothing of it, whatever the threads.
keys_beside() {
    for job in '--op matmul --shape 64x96x80' '--op matmul --shape 64x64x64 --hw ascend910b3' \
        '--op knn --shape 64x32x200 --k 8' '--op cubefx --shape 4096 --order 8 --functions 1'; do
        answer 0 $job --json
        timeless >plain
        for threads in 1 3; do
            answer 0 $job --json --threads $threads --trace trace.json \
                --landscape "$work/map.$threads"
            timeless >beside
            same "$job: --trace or --landscape changes the answer" plain beside
            jq -c '[.traceEvents[] | select(.args.batch != null) | [.args.batch, .name, .args]]
                | group_by(.[0]) | map([.[0][0], .[0][1], (map(.[2].bounded // 0) | add),
                    (map(.[2].played // 0) | add)])' trace.json >"$work/batches.$threads"
        done
        same "$job: threads change the batches" "$work/batches.1" "$work/batches.3"
        same "$job: threads change the map" "$work/map.1" "$work/map.3"
        best=$(jq .best.time_ns answer)
        cp trace.json answer
        holds '[.traceEvents[] | select(.ph == "X")] | length > 5 and all(.dur > 0 and .ts >= 0)' \
            '[.traceEvents[] | select(.ph == "C") | .name] | unique | length == 4'
        cp "$work/map.3" answer
        finite
        holds ".slice.best as [\$x, \$y] | .slice.cells[\$y][\$x].time_ns == $best" \
            '.schema == 1 and .slice.kind == "slice"' \
            '[.slice, .envelope] | map(select(.)) | all((.axes | length == 2) and
                (.cells | length) == (.axes[1].values | length) and
                (.axes[0].values | length) as $x | .cells | all(length == $x))'
    done
    rm trace.json
    answer 0 --op matmul --shape 512x512x512 --time-limit 1e-6 --trace trace.json
    cp trace.json answer
    holds '[.traceEvents[] | select(.name == "answering")] | length == 1'
}

keys_of_simulate() {
    answer 0 simulate "$programs/pipeline.asm" --json
    finite
    holds '.schema == 1' '.time_ns > 2050' '.deadlock == null' '.cores == 2' \
        '.pipes | length == 6 and all((.name | type == "string") and .busy_ns >= 0 and .share <= 1)' \
        '.time_ns as $time | .pipes | all((.share - .busy_ns / $time | fabs) < 1e-12)' \
        '.paths | length > 0 and all((.name | contains("->")) and (.bytes | type == "number"))' \
        '[.paths[] | select(.name == "gm->l1") | .bytes] == [24576]'
    for how in --separately --full '--separately --full'; do
        cp answer in-step
        answer 0 simulate "$programs/pipeline.asm" --json $how
        same "simulate $how changes the answer" in-step answer
    done
    answer 0 simulate "$programs/pipeline.asm" --trace trace.json
    cp trace.json answer
    holds '.traceEvents | length > 20' \
        '[.traceEvents[] | select(.ph == "X")] | all(.dur >= 0 and .ts >= 0 and .args.line > 0)'
    answer 0 simulate /dev/null --json --set-hw launch_ns=0
    finite
    holds '.time_ns == 0' '.pipes | all(.share == 0)'
    answer 1 simulate "$programs/deadlock.asm" --json
    finite
    holds '.time_ns == null' '.deadlock == {"pipe": "MTE1", "line": 4, "text": "wait MTE2 MTE1 1"}' \
        '.pipes | length == 6' '.paths | length > 0'
    answer 1 simulate "$programs/deadlock.asm"
    cp "$programs/pipeline.asm" "$work/"$'odd \377"\\\n.asm'
    answer 0 simulate "$work/"$'odd \377"\\\n.asm' --json # a name that is no UTF-8
    holds '.time_ns > 0'
}

keys_of_analyse() {
    answer 0 analyse "$programs/pipeline.asm" --json
    finite
    holds '.schema == 1' '.cores == 2' '.operators | length == 1' \
        '.thresholds == {"active_ratio": 0.8, "utilisation": 0.65, "utilisation_cube": 0.8}' \
        '.operators[0] | (.name | type == "string") and .time_us > 2.05 and .launch_us == 2.05' \
        '.operators[0].verdict | IN("Compute Bound", "MTE Bound", "Insufficient Parallelism",
            "Inefficient MTE", "Inefficient Compute")' \
        '.operators[0] | .component as $named | [.components[].name] | any(. == $named)' \
        '.operators[0].reason | length > 0' '.operators[0].note == null or (.operators[0].note | length > 0)' \
        '.operators[0] | .time_us as $time | .components | length > 3 and all(
            (.kind | IN("compute", "transfer", "interconnect"))
            and .utilisation >= 0 and .efficiency >= 0 and .active_ratio >= 0
            and .utilisation <= 1 and .efficiency <= 1 and .active_ratio <= 1
            and (.utilisation - .efficiency * .active_ratio | fabs) < 1e-12
            and (.utilisation - .ideal_us / $time | fabs) < 1e-12
            and (.active_ratio - .busy_us / $time | fabs) < 1e-12
            and .waiting_us >= 0 and .waiting_us <= .busy_us)' \
        '.operators[0].components | all((.utilisation - ([.parts[].utilisation] | add) | fabs) < 1e-12)' \
        '.operators[0].components | all(.parts | all((.unit | IN("bytes", "operations"))
            and .amount >= 0 and .peak_per_ns > 0))' \
        '.operators[0] | .naive.utilisation == ([.components[] | select(.kind != "interconnect")
            | .parts[].utilisation] | max)' \
        '.operators[0].pairs | length > 0 and length <= 7 and all(.intensity > 0
            and (.attained_per_ns / .ideal_per_ns - .compute_utilisation | fabs) < 1e-12
            and (.attained_bytes_per_ns / .ideal_bytes_per_ns - .transfer_utilisation | fabs) < 1e-12)'
    answer 0 analyse "$programs/pipeline.asm" --json --active-ratio 1 --utilisation 1 --utilisation-cube 1
    holds '.operators[0].verdict == "Insufficient Parallelism"'
    answer 0 analyse "$programs/pipeline.asm" --json --utilisation 1e-9 --utilisation-cube 1e-9
    holds '.operators[0].verdict | endswith("Bound")'
    for file in /dev/null "$programs/deadlock.asm"; do
        answer $([ "$file" = /dev/null ] && echo 0 || echo 1) analyse "$file" --json --set-hw launch_ns=0
        finite
        holds '.operators[0] | .verdict == null and .component == null and .reason == ""
            and (.note | length > 0)' '.operators[0].naive == null' '.operators[0].pairs == []'
    done
    holds '.operators[0] | .time_us == null and (.note | contains("line 4"))' \
        '.operators[0].components | all(.utilisation == null and .busy_us == null)'
    answer 1 analyse "$programs/deadlock.asm"
}

keys_of_advise() {
    local example=${programs%/tests/*}/docs/examples/advise.txt best
    answer 0 advise "$example" --json
    finite
    holds '.schema == 1' '.safe' '.note == null' '.time_ns > 0' '.verdict == "MTE Bound"' \
        '.advice | map(.strategy) | sort == ["AIP", "AIS", "CT", "EA", "ITG", "LC", "MRT", "OP", "PP", "RSD",
            "RUS", "TT"]' \
        '.time_ns as $time | [.advice[] | select(.applies)] | length > 2 and all(.saved_ns > 0
            and (.time_ns + .saved_ns - $time | fabs) < 1e-6 and .condition == null
            and .tidied_ns <= .saved_ns and (.changes | length > 0 and all(.line >= 1 and (.before != null or .after != null)))
            and (.diff | startswith("--- ")))' \
        '[.advice[] | select(.applies) | .saved_ns] | . == (sort | reverse)' \
        '.advice | map(.applies) | . == (sort | reverse)' \
        '[.advice[] | select(.applies | not)] | all(.saved_ns == null and .time_ns == null and .tidied_ns == null
            and .changes == [] and .diff == null and (.condition | length > 0))' \
        '.chain[0] as $first | .advice | any({strategy, saved_ns, time_ns} == $first)' '.chain | length <= 4'
    for name in $(jq -r '.advice[] | select(.applies) | .strategy' answer); do
        answer 0 advise "$example" --json
        best=$(jq ".advice[] | select(.strategy == \"$name\") | .time_ns" answer)
        answer 0 advise "$example" --apply "$name" -o changed
        answer 0 check changed
        answer 0 simulate changed --json
        holds ".time_ns == $best"
    done
    answer 0 advise "$example" --apply best --json
    holds '.applied | length > 0' '.time_ns == .applied[-1].time_ns' '.program | length > 0' \
        '.diff | contains("\n@@ -")'
    answer 1 advise "$example" --apply AIP
    answer 1 advise "$programs/findings.asm" --json
    holds '.safe == false' '.note | length > 0' '.advice == []' '.verdict == null'
    answer 1 advise "$programs/findings.asm"
    answer 1 advise "$programs/deadlock.asm" --json
    holds '.time_ns == null'
}

keys_of_check() {
    answer 0 check "$programs/pipeline.asm" --json
    holds '.schema == 1' '.ok == true' '.findings == []'
    answer 1 check "$programs/findings.asm" --json
    holds '.ok == false' '[.findings[].kind] == ["unmatched_flag", "double_set", "capacity", "hazard", "over_sync"]' \
        '.findings | all((.lines | length > 0 and all(. >= 1)) and (.text | type == "string"))' \
        '.findings[3].lines == [2, 3]' '.findings[4].witness == {"because": "no_conflict", "path": []}' \
        '.findings[0].witness | .sets == 2 and .waits == 1 and [.unmatched[].line] == [5]'
    answer 1 check "$programs/findings.asm"
    answer 1 check "$programs/deadlock.asm" --json
    holds '[.findings[].kind] | contains(["deadlock"])'
}

keys_of_list() {
    for what in ops hw spaces strategies formats; do
        answer 0 list $what --json
        holds 'length > 0 and all((.name | type == "string") and (.title | length > 0))'
    done
    answer 0 list hw ascend310 --json
    holds '.name == "Ascend 310"' '.facts | length > 20 and
        all([.key, .value, .source] | all(type == "string" and length > 0))'
}

# What every answer of another operator than matmul has.
tuned_holds() { # operator, keys of its tilings as JSON, conditions beyond these…
    op=$1 keys=$2
    shift 2
    finite
    mapfile -t whole < <(integers .search candidates feasible pruned simulated threads \
        within_1_percent)
    holds '.schema == 1' ".op == \"$op\"" "${whole[@]}" '.top | length > 0' '.best == .top[0]' \
        ".top | all(.tiling | keys_unsorted == $keys and all(. > 0 and . == floor))" \
        '[.top[] | .time_ns] | . == sort' '.best.lower_bound_ns <= .best.time_ns' \
        '.best.roofline_ns <= .best.time_ns' '.search | .optimal and .gap == 0' \
        '.search | .feasible == .pruned + .simulated and .candidates >= .feasible' \
        '.search.lower_bound_ns == .best.time_ns' "$@"
}

# Plays $work/answer, a program, and leaves its time in $part_ns; it has to be safe.
play_part() { # cores
    cp answer program
    answer 0 check program
    answer 0 simulate program --cores "$1" --json
    part_ns=$(jq .time_ns answer)
}

knn_keys='["m1", "n1", "m2", "n2", "cores"]'
knn_loads=('64x32x256 --k 2' '100x48x300 --k 7 --cores 1 --loop full'
    '64x32x512 --k 4 --vec-compare relu --index vector --steps max')

keys_of_knn() {
    for load in "${knn_loads[@]:0:$([ "$slow" = 1 ] && echo 1 || echo 3)}"; do
        problem="--op knn --shape $load"
        answer 0 $problem --json --top 3 --compare
        tuned_holds knn "$knn_keys" '.shape | keys == ["d", "k", "m", "n"]' \
            '.choices | keys == ["index", "loop", "steps", "vec-compare"]' \
            '.search | (.pruned_selb | type) == "number" and (.pruned_harmonic | type) == "number"
                and .pruned_selb + .pruned_harmonic <= .pruned' \
            '.top | all(.tiling | .m2 <= .m1 and .n2 <= .n1)' \
            '[.stages[].stage] == ["distance", "selection"]' \
            '.stages | all(.tiles > 0 and .time_ns > 0 and .share <= 1 and .bottleneck_share <= 1
                and (.tile_ns - .time_ns / .tiles | fabs) <= 1e-9 * .tile_ns)' \
            '.best.time_ns as $t | ([.stages[].time_ns] | add) as $sum | ($sum - $t | fabs) <= 1e-6 * $t' \
            '([.stages[].share] | add) - 1 | fabs < 1e-9' \
            '.tile_costs | keys == ["distance_ns", "selection_idle_ns", "selection_step_ns"]
                and all(. > 0)' \
            '.distance_tiling | keys_unsorted ==
                ["m_slice", "k_slice", "n_slice", "buffers", "resident", "split", "cores"]' \
            '.loop_steps | keys == ["counted", "steps_max", "steps_mean", "tiles", "tiles_along_n",
                "time_max_ns", "time_max_over_mean", "time_mean_ns"]' \
            '.loop_steps | .steps_mean <= .steps_max * (1 + 1e-9) and .time_mean_ns <= .time_max_ns * (1 + 1e-9)
                and (.tiles | length > 0) and .tiles[0].tile == 1 and .tiles[-1].tile == .tiles_along_n' \
            '.shape.k as $k | .loop_steps.tiles | all((.row_updates - $k / .tile | fabs) < 1e-9
                and .loop_steps >= .row_updates * (1 - 1e-9) and .loop_steps <= $k)' \
            '.best.time_ns as $t | .loop_steps | (if .counted == "mean" then .time_mean_ns else .time_max_ns end)
                - $t | fabs < 1e-6 * $t' \
            '[.comparison[].instead] == ["distance stage tuned alone", "selection stage tuned alone",
                "bitonic selection", "heap selection"]' \
            '.best.time_ns as $t | .comparison | all(.time_ns > 0 and (.slower * $t - .time_ns | fabs) < 1e-6 * .time_ns)' \
            '.comparison[:2] | all(.slower >= 1 - 1e-12)'
        cp answer tuned
        cores=$(jq .best.cores_used tuned)
        for part in distance idle step full; do
            answer 0 program $problem --set "$(tiling_of tuned)" --part $part
            play_part "$cores"
            jq --arg part $part --argjson ns "$part_ns" '.played[$part] = $ns' tuned >now
            mv now tuned
        done
        cp tuned answer
        what="autotune $problem: the parts' programs take the times of tile_costs"
        holds '.tile_costs.distance_ns == .played.distance' '.tile_costs.selection_idle_ns == .played.idle' \
            '.tile_costs.selection_step_ns - (.played.step - .played.idle) | fabs < 1e-6' \
            '.played.full >= .played.step'
    done
    answer 0 --op matmul --shape 64x64x64 --json
    holds '.search | has("pruned_selb") or has("pruned_harmonic") | not' '.choices.transpose == "none"' \
        'has("stages") or has("integer_program") | not'
    answer 1 --op knn --shape 64x32x256 --k 2 --compare --json --set-hw buffers.ub.capacity_bytes=64
    holds '.best == null' 'has("stages") | not'
}

cubefx_keys='["merge", "tile", "segments", "cores"]'

keys_of_cubefx() {
    for load in '4096 --order 6 --functions 4' '1000 --order 3 --functions 17 --cores 1' \
        '5000 --order 20 --functions 2'; do
        problem="--op cubefx --shape $load"
        answer 0 $problem --json --top 3 --compare
        tuned_holds cubefx "$cubefx_keys" '.shape | keys == ["functions", "n", "order"]' \
            '.search | has("pruned_selb") or has("pruned_harmonic") | not' \
            '.integer_program | .edge == 16 and ([.merges[].merge] == [range(1; 17)])' \
            '.integer_program | ([.merges[].mac_count] | min) as $least | .mac_count == $least
                and .optimal == [.merges[] | select(.mac_count == $least) | .merge]
                and .merge == .optimal[0]' \
            '.integer_program.merges | all(.transfer_elements == 256 * (1 + .mac_count)
                and .steps == ((16 / .merge) | ceil))' \
            '.shape as $s | .integer_program.merges | all(.mac_count == .steps
                * ((.merge * $s.order / 16) | ceil) * (1 + ((.merge * $s.functions / 16) | ceil)))' \
            '.best.tiling.merge == .merge_choice.merge' '.merge_choice.time_ns == .best.time_ns' \
            '.merge_choice | .why | length > 0' '.merge_choice | .slower == null or .slower >= 1' \
            '[.comparison[].instead] == ["naive", "horner", "estrin", "motzkin", "cordic"]' \
            '.best.time_ns as $t | .comparison | all((.slower * $t - .time_ns | fabs) < 1e-6 * .time_ns)'
        cp answer tuned
        answer 0 program $problem --set "$(tiling_of tuned)" --part kernel
        cp answer first
        answer 0 program $problem
        same "$what: not the best's program" first answer
        play_part "$(jq .best.cores_used tuned)"
        cp tuned answer
        holds ".best.time_ns == $part_ns"
    done
    problem='--op cubefx --shape 4096'
    answer 0 $problem --order 2 --functions 2 --mac 4 --json # thesis, eq. 4.11
    holds '.integer_program | .merge == 2 and .mac_count == 4 and .transfer_elements == 80 and .edge == 4
        and [.merges[].merge] == [1, 2, 3, 4]' '.merge_choice == null'
    answer 0 $problem --order 3 --functions 2 --mac 4 --json
    holds '.integer_program | .merge == 1 and .mac_count == 8 and .merges[3].mac_count == 9'
    for weight in 0 1e-3 1 1e9; do # never changes what is optimal, only what it costs
        answer 0 $problem --order 6 --functions 4 --transfer-weight $weight --json
        finite
        holds ".integer_program | .cost - (.mac_count + $weight * .transfer_elements) | fabs < 1e-6"
        jq '.integer_program | del(.cost)' answer >now
        [ $weight != 0 ] || cp now first
        same "$what: changes the merge" first now
    done
    for order in 1 16 65; do
        answer 0 $problem --order $order --function sin,TAN,sin --expand-at 0.5 --json
        finite
        holds '.shape.functions == 3' '[.accuracy.functions[].function] == ["sin", "tan", "sin"]' \
            ".accuracy | .terms == $order and .expanded_at == 0.5 and .from == -0.5 and .to == 1.5" \
            '.accuracy.functions[0] == .accuracy.functions[2]' \
            ".accuracy.functions | all((.coefficients | length == $order and all(type == \"number\"))
                and ([.max_error, .mean_error, .max_relative_error, .horner_max_error]
                    | all(. == null or . >= 0)))" \
            '.accuracy.functions[0].coefficients[0] - 0.479425538604203 | fabs < 1e-12'
    done
    answer 0 $problem --order 256 --functions 1 --json
    holds 'has("accuracy") | not'
}

# Text that people read in a terminal.
fits_the_page() {
    for load in '--op knn --shape 1280x128x2048 --k 16' '--op cubefx --shape 16384 --order 6 --functions 4' \
        '--op cubefx --shape 16384 --order 16 --function sin,cos,tan,tanh,sigmoid,gelu,exp,log1p'; do
        answer 0 $load --compare
        width=$(grep -v '^/' answer | awk '{ if (length > most) most = length } END { print most }')
        check "$what: $width columns" test "$width" -le 110
        check "$what: no noise" not grep '[^ ] $\|coefficients\|^ *merges$' answer
    done
}

# The published numbers, but those of k-NN, which take long: test_published has all.
keys_of_reproduce() {
    [ "$slow" = 1 ] && return
    for source in L 'T Table' 'T 4.4' 'T 2'; do
        answer 0 reproduce "$source" --json
        finite
        holds '.schema == 1' '.hardware == "Ascend 310"' '.hardware_changes == {}' '.rows | length > 17' \
            ".rows | all(.source | startswith(\"$source\"))" \
            '.rows | all(keys_unsorted == ["source", "quantity", "unit", "paper", "ours", "ratio", "why"])' \
            '.rows | all([.source, .quantity, .unit, .why] | all(type == "string" and length > 0))' \
            '.rows | all([.paper, .ours] | all(. == null or type == "number") and any(. != null))' \
            '.rows | all(([.paper, .ours] | any(. == null)) == (.ratio == null))' \
            '.rows | all(.ratio == null or ((.ratio * .paper - .ours) | fabs) <= 1e-9 * (.ours | fabs))' \
            '([.rows[] | [.source, .quantity]] | unique | length) == (.rows | length)'
    done
    answer 0 reproduce 'T Table' --json
    holds '[.rows[] | select(.source == "T Table 4.1")] | length == 72 and all(.ours != null)' \
        '.rows | map(select(.source == "T Table 4.1" and .paper > 0.06 and (.quantity | contains("Cube-fx"))))
            | length > 8 and all(.ratio > 0.5 and .ratio < 2)'
    answer 0 reproduce L --json
    holds '[.rows[] | select(.source == "L Table I") | .ours] | length == 8 and .[0] == .[1] and .[1] < .[2]
            and .[2] == .[3] and .[4] == .[5] and .[5] < .[6] and .[6] == .[7]' \
        '[.rows[] | select(.quantity | contains("left out")) | .ours] | length == 10 and all(. != null)'
    jq -n --slurpfile learned "$AUTOTUNE_CONFIGS/hardware/ascend910.network.json" --slurpfile answer answer \
        '($learned[0].cross_validated[] | select(.rows == "L\u0027s sums, network left out").corrected[0]) as $mean
            | $answer[0].rows[] | select(.quantity == "whole steps; ours: network left out")
            | (.ours - 100 * $mean | fabs) < 1e-9' >quoted
    same 'reproduce quotes what the shipped record does not say' <(echo true) quoted
}

# Shapes that stay the same from run to run: "MxKxN [--batch B] [--cores 1]".
shapes() { # count, largest size
    awk -v count="$1" -v largest="$2" '
        function size() { return 1 + int((rand() ^ 2) * largest) }
        BEGIN {
            srand(1)
            for (i = 0; i < count; i++) {
                ragged = rand() < 0.7
                line = ""
                for (d = 0; d < 3; d++) {
                    s = size()
                    if (!ragged) s = 16 * int((s + 15) / 16)
                    line = line (d ? "x" : "") s
                }
                if (rand() < 0.3) line = line " --batch " (2 + int(rand() * 4))
                if (rand() < 0.4) line = line " --cores 1"
                print line
            }
        }'
}

same_for_any_threads() {
    rm -f first
    [ "$slow" = 1 ] && count=1 || count=2
    for strategy in bound exhaustive random; do
        while read -r shape; do
            for threads in 1 3 8 1; do
                answer 0 --op matmul --shape $shape --json --top 9 --strategy $strategy \
                    --threads $threads
                timeless >now
                [ -e first ] || cp now first
                same "$what: differs from one thread" first now
            done
            rm -f first
        done < <(shapes $count 400)
    done
    [ "$slow" = 1 ] && threads_of='1 3' || threads_of='1 3 8'
    for load in '--op knn --shape 160x64x1000 --k 5 --compare' \
        '--op knn --shape 64x32x256 --k 2 --steps max --strategy exhaustive' \
        '--op knn --shape 160x64x1000 --k 5 --strategy random' \
        '--op cubefx --shape 20000 --order 7 --functions 5 --compare' \
        '--op cubefx --shape 3000 --order 16 --function sin,gelu --strategy exhaustive'; do
        for threads in $threads_of; do
            answer 0 $load --json --top 9 --threads $threads
            timeless >now
            [ -e first ] || cp now first
            same "$what: differs from one thread" first now
        done
        rm -f first
    done
}

# What the search proves is what trying everything finds.
same_by_any_strategy() {
    [ "$slow" = 1 ] && count=6 || count=12
    while read -r shape; do
        for strategy in exhaustive bound; do
            answer 0 --op matmul --shape $shape --json --top 5 --strategy $strategy
            optimal_short='{best, top, cores, n: [.search | .candidates, .feasible,
                .within_1_percent, .optimal, .gap, .lower_bound_ns]}'
            jq "$optimal_short" answer >$strategy
        done
        same "$what: differs from exhaustive" exhaustive bound
        holds '.search | .optimal and .feasible == .pruned + .simulated'
    done < <(shapes $count 512)
}

# The program of the best takes the time that the search reports, and is safe.
program_reproduces() {
    [ "$slow" = 1 ] && count=4 || count=8
    while read -r shape; do
        answer 0 --op matmul --shape $shape --json
        best=$(jq .best.time_ns answer)
        cores=$(jq .best.cores_used answer)
        set=$(tiling_of answer)
        answer 0 program --op matmul --shape $shape --set "$set"
        cp answer program
        answer 0 program --op matmul --shape $shape
        same "$what: not the best's program" program answer
        answer 0 simulate program --cores "$cores" --json
        holds ".time_ns == $best"
        answer 0 simulate program --cores "$cores" --json --separately
        holds ".time_ns == $best"
        answer 0 check program
    done < <(shapes $count 512)
}

# a search of half a minute: with large buffers nearly every tiling is legal
long='--op matmul --shape 4096x4096x4096 --strategy exhaustive --threads 1'
for buffer in l0a l0b l0c ub l1; do
    long="$long --set-hw buffers.$buffer.capacity_bytes=67108864"
done

ends_by_time_limit() {
    [ "$slow" = 1 ] && limit=5 || limit=0.5
    answer 0 $long --json --time-limit $limit
    found_holds '.search | .optimal == false' ".search.seconds < $limit + 10" \
        '.search.simulated > 0'
    answer 0 $long --time-limit $limit
    said '  cut short '
    answer 0 --op matmul --shape 64x64x64 --json --time-limit 1000
    optimal_holds
    "$autotune" $long --time-limit 1e-9 >answer 2>&1 # before anything is known
    check 'a search that was cut short does not claim that nothing is legal' not grep 'none legal\|no tiling' answer
}

ends_by_signal() { # signal, status, seconds
    stop "$@"
    found_holds '.search.optimal == false' '.search.gap >= 0'
    equal "$what: messages" '' "$(cat messages)"
}

stop() { # signal, status, seconds: of $long
    what="kill -$1: autotune $long --json"
    (
        "$autotune" $long --json >answer 2>messages &
        job=$!
        sleep "$3"
        kill "-$1" $job
        wait $job
    ) 2>/dev/null
    status=$?
    equal "$what: status" "$2" $status
}

# A comparison has searches of its own: it is left out when the search has been cut short.
points_end_early() {
    long_points='--op knn --shape 100000x256x1000000 --k 100 --threads 1 --compare'
    [ "$slow" = 1 ] && limit=5 wait=8 || limit=0.5 wait=3
    answer 0 $long_points --json --time-limit $limit
    holds '.best.time_ns > 0' '.search.optimal == false' '.search.gap >= 0' '.comparison == null' \
        'has("stages")'
    answer 0 $long_points --time-limit $limit
    said 'left out: it was cut short'
    long=$long_points
    stop INT 130 $wait
    holds '.best.time_ns > 0' '.search.optimal == false' '.comparison == null'
}

ends_by_signals() {
    [ "$slow" = 1 ] && wait=20 || wait=1
    ends_by_signal INT 130 $wait
    ends_by_signal TERM 143 $wait
}

# A tuned MatMul of the space cann in every form that other programs read: what is read back is one
# kernel of the same shape, and the header says the same in C and in C++.
exports_are_read_back() {
    local cann="--op matmul --hw ascend910b1 --shape 256x128x256"
    for format in tcubetiling-json runtime_kb; do
        answer 0 $cann --format $format -o "$work/kernels.$format"
        answer 0 evaluate "$work/kernels.$format" --hw ascend910b1 --json
        holds '.rows[0].shape == "256x128x256" and .used == 1'
    done
    answer 0 $cann --format tcubetiling -o tiling.h
    cat >reader.c <<'END'
#include "tiling.h"
#include <stdio.h>
int main(void)
{
    int i;
    for (i = 0; i < autotune_tiling_count; i++)
        printf("%d %d %d\n", (int)autotune_tilings[i].M, (int)autotune_tilings[i].Ka,
               (int)autotune_tilings[i].N);
    return 0;
}
END
    for compiler in 'gcc -std=c99' 'g++ -std=c++11 -x c++'; do
        what="$compiler: the header of tcubetiling"
        if ! command -v "${compiler%% *}" >/dev/null; then
            echo "skipped: no ${compiler%% *}"
        else
            check "$what" $compiler -Wall -Wextra -Wpedantic -Werror -o reader reader.c
            equal "$what: what it says" '256 128 256' "$(./reader)"
        fi
    done
}

keys_of_tune
nothing_legal
exports_are_read_back
keys_of_knn
keys_of_cubefx
fits_the_page
keys_of_explain
keys_of_simulate
keys_beside
keys_of_analyse
keys_of_advise
keys_of_check
keys_of_list
same_for_any_threads
same_by_any_strategy
program_reproduces
ends_by_time_limit
ends_by_signals
points_end_early
keys_of_reproduce
finish
