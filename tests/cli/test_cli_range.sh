#!/usr/bin/env bash
# Ranges of sizes from the command line: each entry's tiling is legal at every size of its part and
# takes there what is claimed, the header of C finds it, a library's rows pass `check`, and what
# makes no sense is refused in one line.
#
#   tests/cli/test_cli_range.sh AUTOTUNE SOURCE_DIR
. "$(dirname "$0")/../support/script.sh"
needs jq

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
            equal "$op ${shape/@/$size}: what $set takes" "$time" "$simulated"
        done
    done < <(runs range.json)
}

# What the optimum of some sizes is, searched by itself.
try_optimum() {
    local size time least
    for size in 5 16 17 40; do
        least=$("$autotune" --op matmul --shape "${size}x64x96" --json | jq .best.time_ns)
        time=$(runs range.json | awk -v size="$size" '$1 <= size && size <= $2 { print $3 }')
        check "size $size takes $time, its fastest $least" \
            jq -en "$time <= $least * (1 + $(jq .range.regret_proven range.json) + 1e-12)"
    done
}

try_threads() {
    local threads
    for threads in 1 3; do
        answer 0 --op matmul --shape 1..100x64x96 --regret 3% --json --threads $threads
        jq 'del(.search.seconds, .search.threads)' answer >"threads$threads"
    done
    same 'threads change nothing' threads1 threads3
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
        check "$compiler" $compiler -Wall -Wextra -Werror -pedantic main.c -o main
        same "$compiler: the header's lookup" wanted <(./main)
    done
}

try_rows() {
    answer 0 --op matmul --shape 5..40x64x96 --hw ascend910b1 --cores 2 --regret 10% \
        --format runtime_kb -o rows.json
    equal 'a row for every size' 36 "$(wc -l <rows.json)"
    answer 0 check --runtime-kb rows.json --hw ascend910b1
}

try_kernel() {
    answer 0 --kernel add_relu --shape 900..1400 --tilings 12 --json
    holds '.range.axis == "N"' '.range.tilings | length <= 12' '.kernel | length > 0'
    answer 0 --op cubefx --shape 100..900 --order 4 --functions 2 --regret 5%
    # a kernel that is wrong at one size in their midst
    cat >hole.kernel <<'END'
kernel hole
size N pad 16
tensor X[N] f16, Z[N] f16
axis t = powers(16, 128)
for i in N by t
  tile x: ub[i] f16
  load x <- X if N != 96
  store Z <- x
END
    answer 0 --kernel hole.kernel --shape 16..80 --regret 5%
    answer 2 --kernel hole.kernel --shape 16..320 --regret 5%
    told "hole.kernel:8:3: reads elements of tile 'x' that nothing wrote in its life"
}

try_mistakes() {
    local product='--op matmul' range='--shape 1..64x64x96'
    cases bad <<'END'
expected --regret or --tilings with a range  $product $range
not both                                     $product $range --regret 5% --tilings 3
expected a --shape with a range              $product --shape 64x64x96 --regret 5%
expected a --shape with a range              $product --shape 64x64x96 --tilings 5
expected a percentage                        $product $range --regret 5
expected a percentage                        $product $range --regret -1%
expected a percentage                        $product $range --regret nan%
of one size only                             $product --shape 1..64x1..64x96 --regret 5%
that ascends                                 $product --shape 64..1x64x96 --regret 5%
on both sides                                $product --shape 1..x64x96 --regret 5%
on both sides                                $product --shape 0..5x64x96 --regret 5%
on both sides                                $product --shape 1...5x64x96 --regret 5%
on both sides                                $product --shape 1..99999999999999999999x64x96 --regret 5%
expected MxKxN                               $product --shape 1..64x64 --regret 5%
several programs                             --op knn --shape 16..64x64x1024 --k 4 --regret 5%
about one size                               $product $range --regret 5% --top 3
about one size                               $product $range --regret 5% --db results.db
about one size                               $product $range --regret 5% --report page.html
--format csv                                 $product $range --regret 5% --format csv
--format c                                   $product --shape 64x64x96 --format c
expected one size                            explain $product $range --set m_slice=16
expected one size                            program $product $range
END
    printf 'op,shape\nmatmul,1..64x64x96\n' >sweep.csv
    answer 2 sweep sweep.csv --db results.db
    told 'sweep.csv:2: --shape 1..64x64x96: expected one size'
}

try_sizes matmul @x64x96 ascend310 5%
try_optimum
try_sizes matmul @x96x48 ascend910b1 10%
try_threads
try_header
try_rows
try_kernel
try_mistakes
finish
