#!/usr/bin/env bash
# How long a sweep takes: 1,000 products from 64 to 8192 on the Ascend 310, each with its proof.
# Two processes with a shard each, by turns with one process with two threads; and what is no search,
# on one core, with the progress on a terminal: what --verbose says of searches against the whole.
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

sweep() { "$autotune" sweep matmul-1000 "$@"; }

both_shards() {
    sweep --shard 1/2 --threads 1 --db "$1.a" -q &
    sweep --shard 2/2 --threads 1 --db "$1.b" -q
    wait $!
}

for ((r = 1; r <= rounds; r++)); do
    two=$(seconds sweep --threads 2 --db "two$r.db" -q)
    shards=$(seconds both_shards "shards$r")
    merge=$(seconds "$autotune" merge "all$r.db" "shards$r.a" "shards$r.b")
    again=$(seconds sweep --threads 2 --db "all$r.db" -q)
    echo "$two $shards $merge $again"
done | tee runs | awk '{ printf "2 threads %.2f s; 2 processes %.2f s, %.3f times as long; their merge %.3f s; all from " \
        "the store %.3f s\n", $1, $2, $2 / $1, $3, $4 }'
awk '{ print $2 / $1 }' runs | sort -n | awk '{ ratio[NR] = $1 } END {
    printf "2 processes: median %.3f times as long, %.3f to %.3f\n",
           (ratio[int((NR + 1) / 2)] + ratio[int(NR / 2) + 1]) / 2, ratio[1], ratio[NR] }'

one=$(seconds taskset -c 0 script -qec \
    "'$autotune' sweep matmul-1000 --threads 1 --db one.db --verbose" typescript)
grep -ao 'searches: .*' typescript
# While the store is written, what searches is not: both may count the same seconds.
grep -ao 'searches: .*' typescript | awk -v all="$one" '{
    printf "1 core: %.3f s in all, at most %.2f %% over the searches\n",
           all, 100 * (all / ($2 - $(NF - 1)) - 1) }'
