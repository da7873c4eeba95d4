#!/usr/bin/env bash
# How long a sweep takes: 1,000 products from 64 to 8192 on the Ascend 310, each with its proof;
# what store and progress cost (the searches' own seconds against the whole, on one thread; jq); and
# two processes with a shard each against one process with two threads.
#
#   bench/bench_sweep.sh [AUTOTUNE]     (on a machine that does nothing else)
set -eu
export LC_ALL=C
autotune=$(realpath "${1:-build/autotune}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

seconds() { # command…: of wall-clock time
    local start=$EPOCHREALTIME
    "$@" >/dev/null
    awk -v a="$start" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.3f", b - a }'
}

both_shards() {
    "$autotune" sweep matmul-1000 --shard 1/2 --threads 1 --db "$1.a" -q &
    "$autotune" sweep matmul-1000 --shard 2/2 --threads 1 --db "$1.b" -q
    wait $!
}

# The seconds that the searches of the sweep take by themselves, one after the other.
searches() {
    "$autotune" sweep matmul-1000 --dry-run --json | jq -r '.jobs[].shape' | while read -r shape; do
        "$autotune" --op matmul --shape "$shape" --threads 1 --json
    done | jq -s 'map(.search.seconds) | add'
}

rounds=3
for ((r = 1; r <= rounds; r++)); do
    two=$(seconds "$autotune" sweep matmul-1000 --threads 2 --db "two$r.db")
    shards=$(seconds both_shards "shards$r")
    one=$(seconds "$autotune" sweep matmul-1000 --threads 1 --db "one$r.db")
    again=$(seconds "$autotune" sweep matmul-1000 --threads 1 --db "one$r.db")
    awk -v two="$two" -v shards="$shards" -v one="$one" -v again="$again" 'BEGIN {
        printf "2 threads %.2f s, 2 processes %.2f s (%.3f of it), 1 thread %.2f s, all from the store %.3f s\n",
               two, shards, shards / two, one, again }'
done
"$autotune" sweep matmul-1000 --threads 1 --db alone.db
echo "the searches alone, on 1 thread: $(searches) s"
