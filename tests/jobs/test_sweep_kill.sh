#!/usr/bin/env bash
# A sweep that is killed at random moments: what was on disk stays, nothing is torn, and in the end
# the store has what an undisturbed sweep leaves; also with a disk that fills up, by Ctrl-C, and by
# two sweeps into one store.
#
#   tests/jobs/test_sweep_kill.sh AUTOTUNE SOURCE_DIR
set -u
export LC_ALL=C
autotune=$(realpath "$1")
source_dir=$2
export AUTOTUNE_CONFIGS=$source_dir/configs
export XDG_CONFIG_HOME=/nonexistent
kills=50
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
passed=0
failed=0
RANDOM=7

pass() { passed=$((passed + 1)); }

fail() {
    failed=$((failed + 1))
    echo "FAILED $*"
}

expect() { # what command…
    local what=$1
    shift
    if "$@" >out 2>&1; then pass; else fail "$what"; fi
}

# 320 jobs of some milliseconds.
cat >jobs.cfg <<'CFG'
op = "matmul";
shapes = { m = { from = 16; to = 128; factor = 2; }; k = [16, 48, 80, 112]; n = { from = 20; to = 110; step = 10; }; };
hardware = ( "ascend310", { hw = "ascend910"; cores = 4; } );
CFG

export_of() { "$autotune" store export "$1" 2>export.err; }

"$autotune" sweep jobs.cfg --db whole.db --threads 1 >whole.txt || fail 'the undisturbed sweep'
export_of whole.db >whole.jsonl
total=$(wc -l <whole.jsonl)
[[ $total -eq 320 ]] && pass || fail "an undisturbed sweep has $total of 320 results"

# Kills at random moments of up to 0.15 s; a finished store is begun anew.
done_kills=0
: >before
for ((try = 0; done_kills < kills && try < 20 * kills; try++)); do
    "$autotune" sweep jobs.cfg --db killed.db --threads $((1 + RANDOM % 2)) -q >/dev/null 2>&1 &
    sleep "0.0$((RANDOM % 10))$((RANDOM % 10))"
    if kill -KILL $! 2>/dev/null; then landed=1; else landed=0; fi
    wait $! 2>/dev/null && landed=0
    done_kills=$((done_kills + landed))
    [[ -f killed.db ]] || continue
    if ! export_of killed.db >after; then
        fail "kill $done_kills: $(cat export.err)"
        break
    fi
    lost=$(comm -23 <(sort before) <(sort after) | wc -l)
    torn=$(comm -13 <(sort whole.jsonl) <(sort after) | wc -l)
    [[ $lost -eq 0 && $torn -eq 0 ]] && pass || fail "kill $done_kills: $lost lost, $torn torn"
    mv after before
    if [[ $(wc -l <before) -eq $total ]]; then
        rm -f killed.db*
        : >before
    fi
done
[[ $done_kills -eq $kills ]] && pass || fail "$done_kills of $kills kills hit a running sweep"
expect 'the sweep after the kills' "$autotune" sweep jobs.cfg --db killed.db
export_of killed.db >killed.jsonl
expect 'kills: the same in the end' cmp whole.jsonl killed.jsonl

# Ctrl-C: dies of the signal, says what is left, goes on.
"$autotune" sweep jobs.cfg --db stopped.db --threads 1 >stopped.txt 2>&1 &
sleep 0.2
kill -INT $!
wait $!
status=$?
[[ $status -eq 130 || $status -eq 0 ]] && pass || fail "Ctrl-C: status $status"
[[ $status -eq 0 ]] || expect 'Ctrl-C: says what is left' grep -q unfinished stopped.txt
expect 'the sweep after Ctrl-C' "$autotune" sweep jobs.cfg --db stopped.db
export_of stopped.db >stopped.jsonl
expect 'Ctrl-C: the same in the end' cmp whole.jsonl stopped.jsonl

# A disk that is full: files may have so many blocks of 512 bytes or of 1024.
(ulimit -f 100; exec "$autotune" sweep jobs.cfg --db full.db) >full.txt 2>&1
status=$?
[[ $status -eq 2 && $(wc -l <full.txt) -eq 1 ]] && pass || fail "full disk: status $status, $(cat full.txt)"
expect 'full disk: what is there is whole' export_of full.db
(ulimit -f 0; "$autotune" store ls full.db) | tail -1 >listed.txt
expect 'full disk: what is there can be read' grep -q ' results\?$' listed.txt
expect 'the sweep on a larger disk' "$autotune" sweep jobs.cfg --db full.db
export_of full.db >full.jsonl
expect 'full disk: the same in the end' cmp whole.jsonl full.jsonl

# One on which there is no room for a store leaves nothing behind.
for blocks in 0 1 3 4 8 16 28; do
    (ulimit -f $blocks; exec "$autotune" sweep jobs.cfg --db none.db) 2>&1 | cat >full.txt
    status=${PIPESTATUS[0]}
    [[ $status -eq 2 && $(wc -l <full.txt) -eq 1 && -z $(find . -name 'none.db*') ]] && pass ||
        fail "no room, $blocks blocks: status $status, $(cat full.txt; find . -name 'none.db*')"
    rm -f none.db*
done

# Two sweeps into one store at once.
"$autotune" sweep jobs.cfg --db both.db -q >/dev/null 2>&1 &
"$autotune" sweep jobs.cfg --db both.db -q >both.txt 2>&1 || fail "two at once: $(cat both.txt)"
wait $! || fail 'two at once: the other'
export_of both.db >both.jsonl
expect 'two at once: the same in the end' cmp whole.jsonl both.jsonl

# Four that make the same store at once, again and again.
head -n 1 whole.jsonl >one.jsonl
: >race.txt
for i in $(seq 20); do
    rm -f race.db*
    for j in 1 2 3 4; do "$autotune" store import race.db one.jsonl -q >/dev/null 2>>race.txt & done
    wait
done
expect 'four that make a store at once' cmp race.txt /dev/null

# Threads and shards.
expect '2 threads' "$autotune" sweep jobs.cfg --db two.db --threads 2
export_of two.db >two.jsonl
expect '2 threads: the same' cmp whole.jsonl two.jsonl
for i in 1 2 3; do expect "shard $i" "$autotune" sweep jobs.cfg --shard $i/3; done
expect 'merge' "$autotune" merge all.db autotune.?-of-3.db --sweep jobs.cfg
export_of all.db >all.jsonl
expect 'shards: the same' cmp whole.jsonl all.jsonl
"$autotune" merge some.db autotune.1-of-3.db --sweep jobs.cfg >some.txt
[[ $? -eq 1 ]] && pass || fail 'merge of some shards: status'
expect 'merge says what is missing' grep -q 'missing  *21[0-9]  of 320 jobs' some.txt

echo "$passed passed, $failed failed"
((failed == 0))
