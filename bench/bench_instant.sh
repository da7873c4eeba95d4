#!/usr/bin/env bash
# How soon answers come: large products with proof, the 1,000 products of language models, ranges of
# sizes, and, of problems drawn by a fixed seed, by how much the answer of a tenth of a second is
# slower than the optimum.
#
#   bench/bench_instant.sh [AUTOTUNE [PROBLEMS]]     (on a machine that does nothing else)
set -eu
export LC_ALL=C
autotune=$(realpath "${1:-build/autotune}")
problems=${2:-200}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

seconds() { # command…: of wall-clock time; what it prints goes to ./out
    local start=$EPOCHREALTIME
    "$@" >out
    awk -v a="$start" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.3f", b - a }'
}

median_of_3() { for _ in 1 2 3; do seconds "$@"; echo; done | sort -n | sed -n 2p; }

product() { # shape chip options…
    local shape=$1 chip=$2 took
    shift 2
    took=$(median_of_3 "$autotune" --op matmul --shape "$shape" --hw "$chip" "$@" --json -q)
    printf '%-18s %-12s %-20s %8s s  %s of %s legal\n' "$shape" "$chip" "$*" "$took" \
        "$(jq -r 'if .search.optimal then "proven" else "cut off" end' out)" \
        "$(jq .search.feasible out)"
}

# "CHIP MxKxN OPTIONS…", sizes log-uniform from 16 to 8192: of ten four are multiples of 128, three of
# 16. A generator of its own (Park and Miller 1988), for every awk has another.
draw() { # how many
    awk -v count="$1" '
        function draw() { state = state * 16807 % 2147483647; return state / 2147483647 }
        function size(    s, c) {
            s = int(exp(log(2) * (4 + 9 * draw()))); c = draw()
            s -= c < .4 ? s % 128 : c < .7 ? s % 16 : 0
            return s < 16 ? 16 : s
        }
        BEGIN {
            state = 20261126
            chips = split("ascend310 ascend910 ascend910b1 ascend910b2 ascend910b3 ascend910b4", chip)
            for (p = 0; p < count; p++) {
                c = chip[1 + int(chips * draw())]
                line = c " " size() "x" size() "x" size()
                if (draw() < .2) line = line " --batch " 2 ^ (1 + 2 * int(3 * draw()))
                t = draw()
                if (c ~ /b[0-9]$/ && t < .3) line = line " --transpose " (t < .1 ? "a" : t < .2 ? "b" : "both")
                print line
            }
        }'
}

answer() { # chip shape options…: into ./answer, while nothing else runs
    "$autotune" --op matmul --hw "$1" --shape "$2" "${@:3}" --json -q >answer
}

compare() {
    local line optimum
    draw "$problems" | while read -r line; do
        # shellcheck disable=SC2086 # words
        answer $line --time-limit 60
        optimum=$(jq 'select(.search.optimal) | .best.time_ns' answer)
        [[ $optimum ]] || continue
        # shellcheck disable=SC2086
        answer $line --time-limit 0.1
        jq -r --argjson optimum "$optimum" --arg line "$line" '"\(.best.time_ns / $optimum) \($line)"' answer
    done | sort -rn >ratios
    awk -v all="$problems" '
        { sum += $1; over += $1 > 1.05; most = most < $1 ? $1 : most }
        END { printf "%d problems, optimum known of %d: %d within 5 %%; mean %.4f, largest %.3f\n", all, NR,
              NR - over, sum / NR, most }' ratios
    head -n 8 ratios
}

echo 'with proof, median of 3'
for chip in ascend910b1 ascend910b2; do
    for edge in 4096 8192 16384; do
        for option in '' '--transpose a' '--transpose b' '--bias yes' '--batch 8'; do
            # shellcheck disable=SC2086
            product ${edge}x${edge}x${edge} $chip $option
        done
    done
done
printf '\nsweep language-models-1000 on ascend910b2: %s s\n' \
    "$(seconds "$autotune" sweep language-models-1000 --hw ascend910b2 --db models.db -q)"
grep found out
printf '\nranges on ascend910b2\n'
for how in '--tilings 6' '--regret 5%'; do
    # shellcheck disable=SC2086
    printf '1..8192x4096x11008 %s: %s s\n' "$how" \
        "$(seconds "$autotune" --op matmul --shape 1..8192x4096x11008 --hw ascend910b2 $how --json -q)"
    jq -c '.range | [.regret_proven, (.tilings | length)]' out
done
printf '\n0.1 s, over the optimum\n'
compare
