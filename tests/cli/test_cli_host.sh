#!/usr/bin/env bash
# Tuning and validating on this machine's processor: keys and types of the answers, what their
# numbers promise each other, exit statuses. Nothing here depends on how fast anything is: the
# description is tests/support/host-loops.cfg under the name of the processor at hand.
#
#   tests/cli/test_cli_host.sh AUTOTUNE SOURCE_DIR
#
# Needs jq, and Linux on a processor that has a name.
# shellcheck disable=SC2016,SC2086 # jq's variables; lists of arguments
set -u
export LC_ALL=C
unset ARGP_HELP_FMT ASCEND_HOME_PATH NO_COLOR POSIXLY_CORRECT AUTOTUNE_ISA
autotune=$1
export AUTOTUNE_CONFIGS=$2/configs
# shellcheck source=tests/support/answers.sh
. "$2/tests/support/answers.sh"
source_dir=$2
# shellcheck source=tests/support/this_host.sh
. "$2/tests/support/this_host.sh"

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
            answer 0 $load --hw "$work/host.cfg" --cores $cores --validate 4 --json --top 2
            measured_holds 4 ".cores == $cores" '.top | length == 2'
        done
        answer 0 $load --hw "$work/host.cfg" --cores 1 --json
        measured_holds 8
        answer 0 $load --hw "$work/host.cfg" --cores 1 --validate 4
        for words in 'measured     4 of 4 tilings' 'the model    error' 'by the model'; do
            if grep -q "$words" "$work/answer"; then pass; else fail "$what: no '$words'"; fi
        done
        width=$(grep -v -e '^/' -e ' --set ' -e '^  tiling ' "$work/answer" | awk '{ if (length > most) most = length } END { print most }')
        if [ "$width" -le 130 ]; then pass; else fail "$what: $width columns"; fi
    done
}

csv_has_rows() {
    answer 0 ${loads[0]} --hw "$work/host.cfg" --cores 1 --validate 5 --top 9 --format csv
    if awk -F, 'NR == 1 { columns = NF; for (i = 1; i <= NF; i++) if ($i == "measured_ns") m = i }
        NF != columns { exit 1 } NR > 1 && NR < 7 && !($m > 0) { exit 1 }
        NR > 2 && NR < 7 && $m < last { exit 1 } { last = $m }
        END { exit !(NR >= 10 && m > 0) }' "$work/answer"; then pass; else
        fail "$what"
        cat "$work/answer"
    fi
}

# The model alone: nothing runs, and every byte is the same for any number of threads.
model_alone() {
    for load in "${loads[@]}"; do
        answer 0 $load --hw "$work/host.cfg" --validate 0 --json --threads 1
        holds '.measured == []' '.validation == null' '.best.measured_ns == null' \
            '(.best | del(.measured_ns, .measured_gflops)) == .top[0]' '.search.optimal' \
            '.search.gap == 0'
        grep -v '"seconds"' "$work/answer" >"$work/one"
        for threads in 2 7; do
            answer 0 $load --hw "$work/host.cfg" --validate 0 --json --threads $threads
            if grep -v '"seconds"' "$work/answer" | cmp -s - "$work/one"; then pass; else
                fail "$what: another answer with $threads threads"
            fi
        done
        jq -S '[.best, .top, .search.within_1_percent]' "$work/answer" >"$work/bound"
        answer 0 $load --hw "$work/host.cfg" --validate 0 --json --strategy exhaustive
        holds '.search | .simulated == .feasible and .pruned == 0'
        if jq -S '[.best, .top, .search.within_1_percent]' "$work/answer" |
            cmp -s - "$work/bound"; then pass; else fail "$what: the strategies differ"; fi
    done
}

samples() {
    for load in "${loads[@]}"; do
        answer 0 validate $load --hw "$work/host.cfg" --cores 1 --sample 6 --seed 3 --json
        measured_holds 9 '.validation.seed == 3' '.top | length == 3'
        jq -S '[.measured[].tiling] | sort' "$work/answer" >"$work/first"
        answer 0 validate $load --hw "$work/host.cfg" --cores 1 --sample 6 --seed 3 --json
        if jq -S '[.measured[].tiling] | sort' "$work/answer" | cmp -s - "$work/first"; then pass
        else fail "$what: a seed draws two samples"; fi
    done
    answer 0 validate ${loads[0]} --hw "$work/host.cfg" --cores 1 --sample 6
    if grep -q 'a random sample' "$work/answer"; then pass; else fail "$what: no sample"; fi
    answer 0 validate ${loads[0]} --hw "$work/host.cfg" --cores 1 --sample 6 --format csv
    if [ "$(wc -l <"$work/answer")" -ge 10 ]; then pass; else fail "$what: too few lines"; fi
}

ends_early() {
    answer 0 ${loads[0]} --hw "$work/host.cfg" --cores 1 --validate 4 --json --time-limit 1e-9
    holds '.top | length == 1' '.best != null' '.validation.left_out <= 4'
    (
        "$autotune" validate --op matmul --shape 300x400x500 --hw "$work/host.cfg" --cores 1 \
            --sample 3000 --json >"$work/answer" 2>"$work/messages" &
        job=$!
        sleep 2
        kill -INT $job
        wait $job
    ) 2>/dev/null
    status=$?
    what='validate that is interrupted'
    if [ $status -eq 130 ]; then pass; else fail "$what: status $status, expected 130"; fi
    holds '.schema == 1' '.validation.left_out > 0'
}

refusals() {
    for command in "--validate 2 --hw ascend310 ${loads[0]}" "--validate -1 --hw $work/host.cfg ${loads[0]}" \
        "--validate x --hw $work/host.cfg ${loads[0]}" "validate ${loads[0]}" \
        "validate ${loads[0]} --hw $2/tests/support/host-loops.cfg" \
        "${loads[0]} --hw $2/tests/support/host-loops.cfg" \
        "validate ${loads[0]} --hw $work/host.cfg --sample 0" \
        "program ${loads[0]} --hw $work/host.cfg" "${loads[0]} --hw $work/host.cfg --dtype f16"; do
        answer 2 $command
        if [ "$(wc -l <"$work/messages")" -eq 1 ] && [ ! -s "$work/answer" ]; then pass; else
            fail "$what: $(cat "$work/messages" "$work/answer")"
        fi
    done
}

# A system without /sys, as some containers are: hwloc has nothing to say beside the answer.
without_sys() {
    HWLOC_FSROOT=/nonexistent HWLOC_THISSYSTEM=1 answer 2 ${loads[0]} \
        --hw "$1/tests/support/host-loops.cfg"
    if grep -q hwloc "$work/messages"; then fail "without /sys: $(cat "$work/messages")"; else pass; fi
}

# Every processor has something else to do meanwhile: commands that measure say so first, unless they are to be quiet.
busy_machine() {
    local others=()
    for ((i = 0; i < $(nproc); i++)); do
        timeout 120 sh -c 'while :; do :; done' &
        others+=($!)
    done
    printf 'op,shape,hw,validate,cores\nmatmul,24x24x24,%s,1,1\n' "$work/host.cfg" >"$work/busy.csv"
    for command in "--op matmul --shape 8x8x8 --hw $work/host.cfg --cores 1 --validate 1" \
        "validate --op matmul --shape 8x8x8 --hw $work/host.cfg --cores 1 --sample 1" \
        "sweep $work/busy.csv --db $work/busy.db"; do
        answer 0 $command
        if grep -q '^autotune: the machine is not idle: other work keeps ' "$work/messages"; then pass; else
            fail "$what: $(cat "$work/messages")"
        fi
        answer 0 $command -q
        if [ -s "$work/messages" ]; then fail "$what: $(cat "$work/messages")"; else pass; fi
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
refusals "$@"
without_sys "$2"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
