#!/usr/bin/env bash
# A sweep that is killed at random moments: what was on disk stays, nothing is torn, and in the end
# the store has what an undisturbed sweep leaves; also with a disk that fills up, by Ctrl-C, and by
# two sweeps into one store.
#
#   tests/jobs/test_sweep_kill.sh AUTOTUNE SOURCE_DIR
. "$(dirname "$0")/../support/script.sh"
kills=50
RANDOM=7

# 320 jobs of some milliseconds.
cat >jobs.cfg <<'CFG'
op = "matmul";
shapes = { m = { from = 16; to = 128; factor = 2; }; k = [16, 48, 80, 112]; n = { from = 20; to = 110; step = 10; }; };
hardware = ( "ascend310", { hw = "ascend910"; cores = 4; } );
CFG

export_of() { "$autotune" store export "$1" 2>export.err; }

answer 0 sweep jobs.cfg --db whole.db --threads 1
export_of whole.db >whole.jsonl
total=$(wc -l <whole.jsonl)
equal 'results of an undisturbed sweep' 320 "$total"

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
equal 'kills that hit a running sweep' $kills $done_kills
check 'the sweep after the kills' "$autotune" sweep jobs.cfg --db killed.db
export_of killed.db >killed.jsonl
check 'kills: the same in the end' cmp whole.jsonl killed.jsonl

# Ctrl-C: dies of the signal, says what is left, goes on.
"$autotune" sweep jobs.cfg --db stopped.db --threads 1 >stopped.txt 2>&1 &
sleep 0.2
kill -INT $!
wait $!
status=$?
[[ $status -eq 130 || $status -eq 0 ]] && pass || fail "Ctrl-C: status $status"
[[ $status -eq 0 ]] || check 'Ctrl-C: says what is left' grep -q unfinished stopped.txt
check 'the sweep after Ctrl-C' "$autotune" sweep jobs.cfg --db stopped.db
export_of stopped.db >stopped.jsonl
check 'Ctrl-C: the same in the end' cmp whole.jsonl stopped.jsonl

# A disk that is full: files may have so many blocks of 512 bytes or of 1024.
(ulimit -f 100; exec "$autotune" sweep jobs.cfg --db full.db) >full.txt 2>&1
status=$?
[[ $status -eq 2 && $(wc -l <full.txt) -eq 1 ]] && pass || fail "full disk: status $status, $(cat full.txt)"
check 'full disk: what is there is whole' export_of full.db
(ulimit -f 0; "$autotune" store ls full.db) | tail -1 >listed.txt
check 'full disk: what is there can be read' grep -q ' results\?$' listed.txt
check 'the sweep on a larger disk' "$autotune" sweep jobs.cfg --db full.db
export_of full.db >full.jsonl
check 'full disk: the same in the end' cmp whole.jsonl full.jsonl

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
check 'two at once: the same in the end' cmp whole.jsonl both.jsonl

# Four that make the same store at once, again and again.
head -n 1 whole.jsonl >one.jsonl
: >race.txt
for i in $(seq 20); do
    rm -f race.db*
    for j in 1 2 3 4; do "$autotune" store import race.db one.jsonl -q >/dev/null 2>>race.txt & done
    wait
done
check 'four that make a store at once' cmp race.txt /dev/null

# Threads and shards.
check '2 threads' "$autotune" sweep jobs.cfg --db two.db --threads 2
export_of two.db >two.jsonl
check '2 threads: the same' cmp whole.jsonl two.jsonl
for i in 1 2 3; do check "shard $i" "$autotune" sweep jobs.cfg --shard $i/3; done
check 'merge' "$autotune" merge all.db autotune.?-of-3.db --sweep jobs.cfg
export_of all.db >all.jsonl
check 'shards: the same' cmp whole.jsonl all.jsonl
answer 1 merge some.db autotune.1-of-3.db --sweep jobs.cfg
check 'merge says what is missing' grep -q 'missing  *21[0-9]  of 320 jobs' answer

finish
