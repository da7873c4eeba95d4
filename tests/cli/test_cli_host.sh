#!/usr/bin/env bash
# Tuning and validating on this machine's processor: keys and types of the answers, what their
# numbers promise each other, exit statuses. Nothing here depends on how fast anything is: the
# description is tests/support/host-loops.cfg under the name of the processor at hand.
#
#   tests/cli/test_cli_host.sh AUTOTUNE SOURCE_DIR
#
# Needs Linux on a processor that has a name.
# shellcheck disable=SC2016,SC2086 # jq's variables; lists of arguments
. "$(dirname "$0")/../support/script.sh"
needs jq
describe_host || skip 'a processor without a name'

number='type == "number"'
fraction='(type == "number" and . >= 0)'
measured="all(
    (.tiling | type == \"object\") and (.predicted_ns | $number and . > 0)
    and (.rank | $number and . >= 1 and . == floor) and (.samples | $number and . >= 0)
    and (.fell_out | type == \"boolean\")
    and if .quarantined == null
        then (.time_ns | $number and . > 0) and (.spread | $fraction)
            and (.max_error | $fraction) and .max_error <= .allowed_error
        else (.quarantined | type == \"string\") and .time_ns == null and .spread == null end)"
validation="(keys - [\"seed\"]) == [\"asked\", \"bias\", \"left_out\", \"mean_error\", \"measured\",
        \"noise\", \"noise_dropped\", \"noisy\", \"regret_first\", \"regret_top3\", \"seconds\",
        \"spearman\", \"worst_error\"]
    and ([.noise, .seconds] | all($fraction)) and (.noisy | type == \"boolean\")
    and ([.asked, .measured, .left_out] | all($number and . == floor and . >= 0))"

# What every answer with measurements promises; jq's \$m are the measured ones.
measured_holds() { # how many were asked for, conditions beyond these…
    asked=$1
    shift
    holds '.dtype == "f32"' '.space == "host"' ".measured | $measured" \
        ".validation | $validation" ".validation.asked == $asked" \
        '.validation.measured == ([.measured[] | select(.quarantined == null)] | length)' \
        '(.measured | length) + .validation.left_out == .validation.asked' \
        '([.measured[] | .tiling] | unique | length) == (.measured | length)' \
        '[.measured[] | select(.quarantined == null) | .time_ns] | . == sort' \
        '[.measured[] | .quarantined != null] | . == sort' \
        '.best.measured_ns == .measured[0].time_ns' '.best.time_ns == .measured[0].predicted_ns' \
        '.best.tiling == .measured[0].tiling' \
        '[.top[].time_ns] | . == sort' '[.top[] | has("measured_ns")] | any | not' \
        '.search.lower_bound_ns == .top[0].time_ns' \
        '.search.optimal == (.measured[0].rank == 1)' \
        '(.search.gap - (.best.time_ns - .search.lower_bound_ns) / .best.time_ns | fabs) < 1e-9' \
        '.search | .feasible == .pruned + .simulated and .threads == 1' \
        'has("choices") | not' \
        '[.measured[] | select(.rank == 1)][0].tiling == .top[0].tiling' \
        '.validation.regret_first == null or .validation.regret_first >= 1' \
        '.validation.regret_top3 == null or .validation.regret_top3 <= .validation.regret_first' \
        '.measured as $m | .validation.mean_error as $mean
            | [$m[] | select(.quarantined == null) | (.predicted_ns / .time_ns - 1) | fabs]
            | (add / length - $mean | fabs) < 1e-9' \
        '(.measured | map(select(.quarantined == null))) as $m
            | (($m | min_by(.rank)).time_ns / $m[0].time_ns - .validation.regret_first | fabs) < 1e-9' \
        "$@"
}

loads=(
    '--op matmul --shape 33x48x40'
    '--op knn --shape 32x16x96 --k 4'
    '--op cubefx --shape 512 --order 6 --functions 3'
)

tunes() {
    for load in "${loads[@]}"; do
        for cores in 1 2; do
            if [ "$(nproc)" -lt $cores ]; then continue; fi
            answer 0 $load --hw host.cfg --cores $cores --validate 4 --json --top 2
            measured_holds 4 ".cores == $cores" '.top | length == 2'
        done
        answer 0 $load --hw host.cfg --cores 1 --json
        measured_holds 8
        answer 0 $load --hw host.cfg --cores 1 --validate 4
        for words in 'measured     4 of 4 tilings' 'the model    error' 'by the model'; do
            said "$words"
        done
        width=$(grep -v -e '^/' -e ' --set ' -e '^  tiling ' answer | awk '{ if (length > most) most = length } END { print most }')
        check "$what: $width columns" test "$width" -le 130
    done
}

csv_has_rows() {
    answer 0 ${loads[0]} --hw host.cfg --cores 1 --validate 5 --top 9 --format csv
    check "$what" awk -F, 'NR == 1 { columns = NF; for (i = 1; i <= NF; i++) if ($i == "measured_ns") m = i }
        NF != columns { exit 1 } NR > 1 && NR < 7 && !($m > 0) { exit 1 }
        NR > 2 && NR < 7 && $m < last { exit 1 } { last = $m }
        END { exit !(NR >= 10 && m > 0) }' answer
}

# The model alone: nothing runs, and every byte is the same for any number of threads.
model_alone() {
    for load in "${loads[@]}"; do
        answer 0 $load --hw host.cfg --validate 0 --json --threads 1
        holds '.measured == []' '.validation == null' '.best.measured_ns == null' \
            '(.best | del(.measured_ns, .measured_gflops)) == .top[0]' '.search.optimal' \
            '.search.gap == 0'
        grep -v '"seconds"' answer >one
        for threads in 2 7; do
            answer 0 $load --hw host.cfg --validate 0 --json --threads $threads
            same "$what: another answer" one <(grep -v '"seconds"' answer)
        done
        jq -S '[.best, .top, .search.within_1_percent]' answer >bound
        answer 0 $load --hw host.cfg --validate 0 --json --strategy exhaustive
        holds '.search | .simulated == .feasible and .pruned == 0'
        same "$what: the strategies differ" bound <(jq -S '[.best, .top, .search.within_1_percent]' answer)
    done
}

samples() {
    for load in "${loads[@]}"; do
        answer 0 validate $load --hw host.cfg --cores 1 --sample 6 --seed 3 --json
        measured_holds 9 '.validation.seed == 3' '.top | length == 3'
        jq -S '[.measured[].tiling] | sort' answer >first
        answer 0 validate $load --hw host.cfg --cores 1 --sample 6 --seed 3 --json
        same "$what: a seed draws two samples" first <(jq -S '[.measured[].tiling] | sort' answer)
    done
    answer 0 validate ${loads[0]} --hw host.cfg --cores 1 --sample 6
    said 'a random sample'
    answer 0 validate ${loads[0]} --hw host.cfg --cores 1 --sample 6 --format csv
    check "$what: too few lines" test "$(wc -l <answer)" -ge 10
}

ends_early() {
    answer 0 ${loads[0]} --hw host.cfg --cores 1 --validate 4 --json --time-limit 1e-9
    holds '.top | length == 1' '.best != null' '.validation.left_out <= 4'
    (
        "$autotune" validate --op matmul --shape 300x400x500 --hw host.cfg --cores 1 \
            --sample 3000 --json >answer 2>messages &
        job=$!
        sleep 2
        kill -INT $job
        wait $job
    ) 2>/dev/null
    status=$?
    what='validate that is interrupted'
    equal "$what: status" 130 $status
    holds '.schema == 1' '.validation.left_out > 0'
}

refusals() {
    local product=${loads[0]} other=(--hw "$source_dir/tests/support/host-loops.cfg")
    cases bad <<'END'
only this machine can be measured           $product --validate 2 --hw ascend310
--validate -1: expected a whole number      $product --validate -1 --hw host.cfg
--validate x: expected a whole number       $product --validate x --hw host.cfg
only this machine can be measured           validate $product
it was measured on                          validate $product "${other[@]}"
it was measured on                          $product "${other[@]}"
--sample 0: expected a whole number         validate $product --hw host.cfg --sample 0
is a processor                              program $product --hw host.cfg
expected f32                                $product --hw host.cfg --dtype f16
END
}

# A system without /sys, as some containers are: hwloc has nothing to say beside the answer.
without_sys() {
    HWLOC_FSROOT=/nonexistent HWLOC_THISSYSTEM=1 answer 2 ${loads[0]} \
        --hw "$source_dir/tests/support/host-loops.cfg"
    check 'without /sys' not grep hwloc messages
}

# Every processor has something else to do meanwhile: commands that measure say so first, unless they are to be quiet.
busy_machine() {
    local others=()
    for ((i = 0; i < $(nproc); i++)); do
        timeout 120 sh -c 'while :; do :; done' &
        others+=($!)
    done
    printf 'op,shape,hw,validate,cores\nmatmul,24x24x24,%s,1,1\n' host.cfg >busy.csv
    for command in "--op matmul --shape 8x8x8 --hw host.cfg --cores 1 --validate 1" \
        "validate --op matmul --shape 8x8x8 --hw host.cfg --cores 1 --sample 1" \
        "sweep busy.csv --db busy.db"; do
        answer 0 $command
        told 'autotune: the machine is not idle: other work keeps '
        answer 0 $command -q
        equal "$what: no messages" '' "$(cat messages)"
    done
    kill "${others[@]}"
    wait "${others[@]}" 2>/dev/null
}

tunes
csv_has_rows
busy_machine
model_alone
samples
ends_early
refusals
without_sys
finish
