#!/usr/bin/env bash
# Ranges of sizes from the command line: each entry's tiling is legal at every size of its part and
# takes there what is claimed, the header of C finds it, a library's rows pass `check`, and what
# makes no sense is refused in one line.
#
#   tests/cli/test_cli_range.sh AUTOTUNE SOURCE_DIR
set -u
export LC_ALL=C
unset ARGP_HELP_FMT ASCEND_HOME_PATH NO_COLOR POSIXLY_CORRECT COLUMNS
autotune=$(realpath "$1")
source_dir=$(realpath "$2")
export AUTOTUNE_CONFIGS=$source_dir/configs
export XDG_CONFIG_HOME=/nonexistent
if ! command -v jq >/dev/null; then
    echo 'no jq: skipped'
    exit 77
fi
# shellcheck source=tests/support/answers.sh
. "$source_dir/tests/support/answers.sh"
cd "$work" || exit 1

# One line of a range's answer for each run of its sizes: from, to, time, cores, tiling.
runs() { # answer
    jq -r '.range.tilings[] | (.tiling | to_entries | map("\(.key)=\(.value)") | join(",")) as $set
        | .sizes[] | "\(.from) \(.to) \(.time_ns) \(.cores_used) \($set)"' "$1"
}

# Every size: legal there, on the cores that are claimed, in the time that is claimed.
try_sizes() { # operator, shape with @ for the size, chip, regret
    local op=$1 shape=$2 hw=$3 from to time cores set size simulated
    answer 0 --op "$op" --shape "${shape/@/5..40}" --hw "$hw" --regret "$4" --json
    cp answer range.json
    holds '.range.axis == "m"' '.range.from == 5' '.range.to == 40' \
        ".range.regret_proven <= ${4%\%} / 100" \
        '[.range.tilings[].from] == [5] + [.range.tilings[:-1][].to + 1]' \
        '.range.tilings[-1].to == 40' '[.range.tilings[].sizes[] | .to - .from + 1] | add == 36' \
        '[.range.tilings[].sizes[] | .time_ns >= .best_known_ns and .best_known_ns >= .lower_bound_ns] | all' \
        '.range.regret_proven as $most | [.range.tilings[] | .regret_proven <= $most] | all' \
        '.shape.m == {"from": 5, "to": 40}'
    while read -r from to time cores set; do
        for ((size = from; size <= to; size += 3)); do
            answer 0 explain --op "$op" --shape "${shape/@/$size}" --hw "$hw" --set "$set" --json
            holds '.legal' ".cores_used == $cores"
            "$autotune" program --op "$op" --shape "${shape/@/$size}" --hw "$hw" --set "$set" >kernel
            simulated=$("$autotune" simulate kernel --hw "$hw" --cores "$cores" --json | jq .time_ns)
            if [[ $simulated == "$time" ]]; then
                pass
            else
                fail "$op ${shape/@/$size}: $set takes $simulated, $time were claimed"
            fi
        done
    done < <(runs range.json)
}

# What the optimum of some sizes is, searched by itself.
try_optimum() {
    local size time least
    for size in 5 16 17 40; do
        least=$("$autotune" --op matmul --shape "${size}x64x96" --json | jq .best.time_ns)
        time=$(runs range.json | awk -v size="$size" '$1 <= size && size <= $2 { print $3 }')
        if jq -en "$time <= $least * (1 + $(jq .range.regret_proven range.json) + 1e-12)" >/dev/null; then
            pass
        else
            fail "size $size takes $time, its fastest $least"
        fi
    done
}

try_threads() {
    local threads
    for threads in 1 3; do
        "$autotune" --op matmul --shape 1..100x64x96 --regret 3% --json --threads $threads |
            jq 'del(.search.seconds, .search.threads)' >"threads$threads"
    done
    if cmp -s threads1 threads3; then pass; else fail 'threads change the answer'; fi
}

# The header says of every size what the JSON does.
try_header() {
    local compiler
    answer 0 --op matmul --shape 5..40x64x96 --regret 5% --json
    jq -r '.range.tilings[] | . as $part | range(.from; .to + 1) | "\(.) \($part.tiling.m_slice) \($part.tiling.resident)"' \
        answer >wanted
    answer 0 --op matmul --shape 5..40x64x96 --regret 5% --format c -o tilings.h
    cat >main.c <<'END'
#include "tilings.h"
#include <stdio.h>
int main(void)
{
    int m;
    for (m = 1; m <= 60; m++) {
        const struct autotune_matmul_f16_k64_n96 *part = autotune_matmul_f16_k64_n96_find(m);
        if (part)
            printf("%d %d %s\n", m, (int)part->tiling.m_slice, part->tiling.resident);
    }
    return 0;
}
END
    for compiler in 'cc -std=c99' 'c++ -std=c++11 -x c++'; do
        command -v "${compiler%% *}" >/dev/null || continue
        # shellcheck disable=SC2086
        if $compiler -Wall -Wextra -Werror -pedantic main.c -o main && ./main >found && cmp -s wanted found; then
            pass
        else
            fail "$compiler: the header's lookup"
        fi
    done
}

try_rows() {
    answer 0 --op matmul --shape 5..40x64x96 --hw ascend910b1 --cores 2 --regret 10% \
        --format runtime_kb -o rows.json
    if [[ $(wc -l <rows.json) == 36 ]]; then pass; else fail 'a row for every size'; fi
    answer 0 check --runtime-kb rows.json --hw ascend910b1
}

try_kernel() {
    answer 0 --kernel add_relu --shape 900..1400 --tilings 12 --json
    holds '.range.axis == "N"' '.range.tilings | length <= 12' '.kernel | length > 0'
    answer 0 --op cubefx --shape 100..900 --order 4 --functions 2 --regret 5%
}

refused() { # message, arguments…
    local message=$1
    shift
    answer 2 "$@"
    if [[ $(wc -l <messages) == 1 && $(<messages) == *"$message"* ]]; then
        pass
    else
        fail "autotune $*: $(<messages), expected $message"
    fi
}

try_mistakes() {
    local range=1..64x64x96
    refused 'expected --regret or --tilings with a range' --op matmul --shape $range
    refused 'not both' --op matmul --shape $range --regret 5% --tilings 3
    refused 'expected a --shape with a range' --op matmul --shape 64x64x96 --regret 5%
    refused 'expected a --shape with a range' --op matmul --shape 64x64x96 --tilings 5
    refused 'expected a percentage' --op matmul --shape $range --regret 5
    refused 'expected a percentage' --op matmul --shape $range --regret -1%
    refused 'expected a percentage' --op matmul --shape $range --regret nan%
    refused 'of one size only' --op matmul --shape 1..64x1..64x96 --regret 5%
    refused 'that ascends' --op matmul --shape 64..1x64x96 --regret 5%
    refused 'on both sides' --op matmul --shape 1..x64x96 --regret 5%
    refused 'on both sides' --op matmul --shape 0..5x64x96 --regret 5%
    refused 'on both sides' --op matmul --shape 1...5x64x96 --regret 5%
    refused 'on both sides' --op matmul --shape 1..99999999999999999999x64x96 --regret 5%
    refused 'expected MxKxN' --op matmul --shape 1..64x64 --regret 5%
    refused 'several programs' --op knn --shape 16..64x64x1024 --k 4 --regret 5%
    refused 'about one size' --op matmul --shape $range --regret 5% --top 3
    refused 'about one size' --op matmul --shape $range --regret 5% --db results.db
    refused 'about one size' --op matmul --shape $range --regret 5% --report page.html
    refused '--format csv' --op matmul --shape $range --regret 5% --format csv
    refused '--format c' --op matmul --shape 64x64x96 --format c
    refused 'expected one size' explain --op matmul --shape $range --set m_slice=16
    refused 'expected one size' program --op matmul --shape $range
    printf 'op,shape\nmatmul,%s\n' $range >sweep.csv
    answer 2 sweep sweep.csv --db results.db
    if grep -q 'sweep.csv:2: --shape 1..64x64x96: expected one size' messages; then pass; else fail "$(<messages)"; fi
}

try_sizes matmul @x64x96 ascend310 5%
try_optimum
try_sizes matmul @x96x48 ascend910b1 10%
try_threads
try_header
try_rows
try_kernel
try_mistakes
echo "$passed passed, $failed failed"
((failed == 0))
