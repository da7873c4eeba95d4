#!/usr/bin/env bash
# How long a sweep takes: 1,000 products from 64 to 8192 on the Ascend 310, each with its proof.
# Two processes with a shard each, by turns with one process with two threads, by the clock and by
# the seconds of processors, which other programs disturb less; and what is no search, on one core,
# with the progress on a terminal: what --verbose says of searches against the whole.
#
#   bench/bench_sweep.sh [AUTOTUNE [ROUNDS]]     (on a machine that does nothing else)
set -eu
export LC_ALL=C TERM=xterm
autotune=$(realpath "${1:-build/autotune}")
rounds=${2:-5}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

seconds() { # command…: of wall-clock time
    local start=$EPOCHREALTIME
    "$@" >/dev/null
    awk -v a="$start" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.3f", b - a }'
}

# Into FILE the seconds of processors that a sweep took.
sweep() { # file options…
    local TIMEFORMAT='%U %S' file=$1
    shift
    { time "$autotune" sweep matmul-1000 -q "$@"; } 2>"$file.time"
    awk '{ printf "%.3f\n", $1 + $2 }' "$file.time" >"$file"
}

both_shards() { # name
    sweep left --shard 1/2 --threads 1 --db "$1.a" &
    sweep right --shard 2/2 --threads 1 --db "$1.b" & # by itself: time counts what ends meanwhile
    wait
}

for ((r = 1; r <= rounds; r++)); do
    two=$(seconds sweep whole --threads 2 --db "two$r.db")
    shards=$(seconds both_shards "shards$r")
    merge=$(seconds "$autotune" merge "all$r.db" "shards$r.a" "shards$r.b")
    again=$(seconds sweep again --threads 2 --db "all$r.db")
    echo "$two $shards $(cat whole left right | xargs) $merge $again"
done | awk '{
    longer = $4 > $5 ? $4 : $5
    print $2 / $1, longer / ($3 / 2) >"ratios"
    printf "2 threads %.2f s (%.2f of processors), 2 processes %.2f s (%.2f and %.2f): %.3f times " \
           "as long, by processors %.3f; merge %.3f s; all from the store %.3f s\n", \
           $1, $3, $2, $4, $5, $2 / $1, longer / ($3 / 2), $6, $7
    fflush() }'
for column in 1 2; do
    sort -n -k $column,$column ratios | awk -v c=$column '{ ratio[NR] = $c } END {
        printf "2 processes, by %s: median %.3f times as long, %.3f to %.3f\n",
               c == 1 ? "the clock" : "processors",
               (ratio[int((NR + 1) / 2)] + ratio[int(NR / 2) + 1]) / 2, ratio[1], ratio[NR] }'
done

one=$(seconds taskset -c 0 script -qec \
    "'$autotune' sweep matmul-1000 --threads 1 --db one.db --verbose" typescript)
grep -ao 'searches: .*' typescript
# While the store is written, what searches is not: both may count the same seconds.
grep -ao 'searches: .*' typescript | awk -v all="$one" '{
    printf "1 core: %.3f s in all, at most %.2f %% over the searches\n",
           all, 100 * (all / ($2 - $(NF - 1)) - 1) }'
