#!/usr/bin/env bash
# What is measured on this machine goes into a store and is answered from it: tune, validate, sweeps
# and shards; `store` and `table` tell it from what was simulated. Nothing here depends on how fast
# anything is: kinds, counts and where answers are from, and that what comes from the store is what
# was measured.
#
#   tests/cli/test_measured.sh AUTOTUNE SOURCE_DIR
#
# Needs Linux on a processor that has a name.
# shellcheck disable=SC2086 # lists of arguments
. "$(dirname "$0")/../support/script.sh"
needs jq
describe_host || skip 'a processor without a name'

loads=(
    '--op matmul --shape 33x48x40'
    '--op knn --shape 32x16x96 --k 4'
    '--op cubefx --shape 512 --order 6 --functions 3'
)
here='--hw host.cfg --cores 1'

# How many rows of each kind a store has: "simulated measured".
kinds() { # store
    "$autotune" store ls "$1" --json |
        jq -r '[.results[].kind] | map(select(. == "simulated")) as $s
            | "\($s | length) \(length - ($s | length))"'
}

has_kinds() { # store, simulated, measured
    equal "$what: kinds of rows of $1" "$2 $3" "$(kinds "$1")"
}

# The answer without what differs between a measurement and its return.
measurement() { jq -S 'del(.from_store, .search.seconds, .validation.from_store)' answer; }

# ---------------------------------------------------------------- tune

tunes() {
    for load in "${loads[@]}"; do
        rm -f tune.db*
        answer 0 $load $here --validate 4 --db tune.db --json
        holds '.from_store == false' '.validation.from_store == false' '.measured | length == 4'
        measurement >first
        has_kinds tune.db 1 1
        "$autotune" store export tune.db >rows
        answer 0 $load $here --validate 4 --db tune.db --json
        holds '.from_store' '.validation.from_store'
        measurement >again
        check "$what: what was measured comes back" cmp -s first again
        check "$what: and the store stays as it is" cmp -s rows <("$autotune" store export tune.db)
        # the row is what the answer says, in more digits
        jq '[.best.measured_ns, .measured[].time_ns] | map(. * 1000 | round)' answer >said
        jq 'select(.kind == "measured") | [.time_ns, .answer.measured[].time_ns]
            | map(. * 1000 | round)' rows >kept
        check "$what: the row has the times of the answer" cmp -s said kept
        answer 0 $load $here --validate 4 --db tune.db
        for words in 'from store: --fresh measures again' 'from store   searched before'; do
            said "$words"
        done
    done
    # without a store no answer says where it is from
    answer 0 ${loads[0]} $here --validate 2 --json
    holds 'has("from_store") | not' '.validation | has("from_store") | not'
}

# Whichever kind is there is not done again.
only_what_is_missing() {
    rm -f one.db* two.db*
    answer 0 ${loads[0]} $here --validate 0 --db one.db --json
    holds '.from_store == false' '.validation == null'
    has_kinds one.db 1 0
    answer 0 ${loads[0]} $here --validate 3 --db one.db --json
    holds '.from_store' '.validation.from_store == false' '.measured | length == 3'
    has_kinds one.db 1 1
    "$autotune" store export one.db --kind measured >measured.jsonl
    "$autotune" store import two.db measured.jsonl >/dev/null
    answer 0 ${loads[0]} $here --validate 3 --db two.db --json
    holds '.from_store == false' '.validation.from_store'
    has_kinds two.db 1 1
    check 'and both stores are the same' "$autotune" store diff one.db two.db -o /dev/null
    answer 0 ${loads[0]} $here --validate 3 --db two.db --json
    holds '.from_store' '.validation.from_store'
    # another question is another row; the model's answer is the same
    answer 0 ${loads[0]} $here --validate 4 --db two.db --json
    holds '.from_store' '.validation.from_store == false' '.measured | length == 4'
    answer 0 ${loads[0]} $here --db two.db --json
    holds '.from_store' '.validation.from_store == false' '.measured | length == 8'
    answer 0 ${loads[0]} $here --top 2 --validate 4 --db two.db --json
    holds '.from_store == false' '.validation.from_store' '.top | length == 2'
    has_kinds two.db 2 3
}

fresh_ones() {
    rm -f fresh.db*
    answer 0 ${loads[0]} $here --validate 3 --db fresh.db --json
    # a time that nothing takes, so that it is seen whether it is still there
    "$autotune" store export fresh.db | sed 's/"time_ns":[^,]*,"optimal":false/"time_ns":1000000000,"optimal":false/' >slow
    "$autotune" store import fresh.db slow --replace >/dev/null
    answer 0 ${loads[0]} $here --validate 3 --db fresh.db --json
    holds '.validation.from_store'
    check "$what: the row is not touched" cmp -s slow <("$autotune" store export fresh.db)
    answer 0 ${loads[0]} $here --validate 3 --db fresh.db --fresh --json
    holds '.from_store == false' '.validation.from_store == false'
    has_kinds fresh.db 1 1
    check "$what: the old row counts no more" not grep -q '"time_ns":1000000000' <("$autotune" store export fresh.db)
    # what is no answer is told, and mended by --fresh
    "$autotune" store export fresh.db | sed 's/"rank":1,/"rank":0,/' >bad
    "$autotune" store import fresh.db bad --replace >/dev/null
    answer 2 ${loads[0]} $here --validate 3 --db fresh.db --json
    told 'no answer to this measurement; --fresh'
    answer 0 ${loads[0]} $here --validate 3 --db fresh.db --fresh --json
    answer 0 ${loads[0]} $here --validate 3 --db fresh.db --json
    holds '.validation.from_store'
}

# The time limit is how much may be spent, not what is asked.
limits() {
    rm -f limit.db*
    answer 0 ${loads[0]} $here --validate 3 --db limit.db --json --time-limit 5
    answer 0 ${loads[0]} $here --validate 3 --db limit.db --json --time-limit 2
    holds '.validation.from_store'
    answer 0 ${loads[0]} $here --validate 3 --db limit.db --json
    holds '.validation.from_store == false'
    answer 0 ${loads[0]} $here --validate 3 --db limit.db --json --time-limit 1e-9
    holds '.validation.from_store'
    has_kinds limit.db 1 1
}

# Half an answer is not kept, whatever has been measured by then.
interrupted() {
    rm -f stop.db*
    (
        "$autotune" validate --op matmul --shape 600x600x600 $here --sample 60 --db stop.db \
            --json >answer 2>messages &
        job=$!
        sleep 3
        kill -INT $job
        wait $job
    ) 2>/dev/null
    status=$?
    what='validate that is interrupted'
    check "$what" test $status -eq 130
    holds '.validation.asked == 63'
    has_kinds stop.db 1 0
}

# ---------------------------------------------------------------- validate

samples() {
    rm -f sample.db*
    answer 0 validate ${loads[1]} $here --sample 5 --seed 3 --db sample.db --json
    holds '.from_store == false' '.validation.from_store == false' '.validation.seed == 3'
    measurement >first
    has_kinds sample.db 1 1
    answer 0 validate ${loads[1]} $here --sample 5 --seed 3 --db sample.db --json
    holds '.from_store' '.validation.from_store' '.top | length == 3'
    measurement >again
    check "$what: what was measured comes back" cmp -s first again
    answer 0 validate ${loads[1]} $here --sample 5 --seed 4 --db sample.db --json
    holds '.from_store' '.validation.from_store == false'
    answer 0 validate ${loads[1]} $here --sample 5 --seed 3 --db sample.db --fresh --format csv
    answer 0 validate ${loads[1]} $here --sample 5 --seed 3 --db sample.db
    said 'from store: --fresh measures again'
    has_kinds sample.db 1 2
    # tune and validate are different questions, the model's first three the same
    answer 0 ${loads[1]} $here --validate 5 --top 3 --db sample.db --json
    holds '.from_store' '.validation.from_store == false'
}

# ---------------------------------------------------------------- sweeps

sweep_file() {
    cat >jobs.csv <<END
op,shape,k,order,functions,hw,cores,validate,top
matmul,33x48x40,,,,host.cfg,1,3,
knn,32x16x96,4,,,host.cfg,1,2,
cubefx,512,,6,3,host.cfg,1,2,
matmul,64x64x64,,,,ascend310,,,
matmul,64x64x63,,,,host.cfg,1,,
matmul,33x48x40,,,,host.cfg,1,,
matmul,33x48x40,,,,host.cfg,1,2,2
END
}

sweeps() {
    rm -f ./*.db*
    sweep_file
    answer 0 sweep jobs.csv --dry-run --json
    holds '[.jobs[].kind] | sort | group_by(.) | map([.[0], length])
        == [["measured", 4], ["simulated", 6]]' '.duplicates == 1' \
        '[.jobs[] | select(.kind == "measured") | .query] | sort
            == ["validate=2", "validate=2", "validate=2", "validate=3"]'
    answer 0 sweep jobs.csv --db all.db --json
    holds '.jobs == 10' '.searched == 6' '.measured == 4' '.from_store == 0' '.cut_off == 0' \
        '.unfinished == 0' '.faults == []'
    has_kinds all.db 6 4
    "$autotune" store export all.db >rows
    answer 0 sweep jobs.csv --db all.db --json
    holds '.searched == 0' '.measured == 0' '.from_store == 10'
    check "$what: nothing is done again" cmp -s rows <("$autotune" store export all.db)
    # what a sweep has measured answers tune, and the other way round
    answer 0 ${loads[0]} $here --validate 3 --db all.db --json
    holds '.from_store' '.validation.from_store' '.measured | length == 3'
    answer 0 ${loads[2]} $here --validate 2 --db other.db --json
    answer 0 sweep jobs.csv --db other.db --json
    holds '.from_store == 2' '.measured == 3' '.searched == 5'
    answer 0 sweep jobs.csv --db all.db --fresh --report page.html --json
    holds '.measured == 4' '.searched == 6'
    check 'a page tells kinds apart' grep -q '"measured"' page.html
    answer 0 sweep jobs.csv --db all.db --pareto --json
    holds '[.chips[].jobs] | add == 6'
    simulated=$("$autotune" store ls all.db --kind simulated --json |
        jq '[.results[].time_ns] | add | . * 1000 | round')
    holds "[.chips[].time_ns] | add | . * 1000 | round == $simulated"
    answer 0 sweep jobs.csv --db all.db --threads 7
    check 'the summary says what comes from the store' grep -q '^  from store  *10 ' answer
}

# Threads that have searched do not stand in the way of kernels that use several.
several_cores() {
    if [ "$(nproc)" -lt 2 ]; then return; fi
    cat >cores.csv <<END
op,shape,hw,cores,validate
matmul,64x64x64,host.cfg,2,2
matmul,128x64x64,ascend310,,
matmul,64x128x64,ascend310,,
matmul,64x64x128,ascend310,,
matmul,64x64x96,host.cfg,2,2
END
    answer 0 sweep cores.csv --db cores.db --threads 3 --json
    holds '.searched == 5' '.measured == 2' '[.chips[].jobs] == [2, 3] or [.chips[].jobs] == [3, 2]'
    has_kinds cores.db 5 2
}

# Shards share the measuring too; merged, the store has what one run has but for the times.
shards() {
    for i in 1 2 3; do
        answer 0 sweep jobs.csv --shard $i/3 --db part$i.db --json
    done
    answer 0 merge merged.db part1.db part2.db part3.db --sweep jobs.csv --json
    holds '.added == 10' '.duplicates == 0' '.measured_twice == 0' '.missing == []'
    questions() { "$autotune" store ls "$1" --json | jq -S '[.results[] | [.kind, .op, .shape, .query]]'; }
    check 'shards ask what the whole asks' cmp -s <(questions all.db) <(questions merged.db)
    check 'what is simulated is the same' "$autotune" store diff all.db merged.db \
        --kind simulated -o /dev/null
    answer 0 merge left.db all.db merged.db --json
    holds '.rows == 20' '.added == 10' '.duplicates == 10' '.measured_twice == 4' '.better == 0'
    answer 0 merge right.db merged.db all.db --json
    check 'the order of merging does not matter' \
        cmp -s <("$autotune" store export left.db) <("$autotune" store export right.db)
    answer 0 merge left.db all.db merged.db
    check 'a merge says what it chose among' grep -q '^  measured  *4  of them' answer
    # of the part that is lost the measured jobs are missing too
    "$autotune" store export all.db --kind simulated >rows
    "$autotune" store import lost.db rows >/dev/null
    "$autotune" store import empty.db /dev/null >/dev/null
    answer 1 merge again.db lost.db empty.db --sweep jobs.csv --json
    holds '.missing | length == 4 and all(.job | endswith(", measured"))'
}

# Rows that cannot be measured are named, and the rest goes on.
bad_rows() {
    cat >bad.csv <<END
op,shape,hw,cores,validate
matmul,64x64x64,ascend310,,3
matmul,64x64x64,host.cfg,1,x
matmul,64x64x64,$source_dir/tests/support/host-loops.cfg,1,2
matmul,64x64x62,host.cfg,1,2
END
    answer 2 sweep bad.csv --db bad.db --json
    holds '[.faults[].line] == [2, 3, 4]' '.measured == 1' '.searched == 2' \
        '.faults[0].text | contains("--validate: expected --hw host")' \
        '.faults[2].text | contains("expected --validate 0")'
    has_kinds bad.db 2 1
}

# ---------------------------------------------------------------- store and table

kinds_apart() {
    for kind in simulated measured; do
        answer 0 store ls all.db --kind $kind --json
        holds "[.results[].kind] | unique == [\"$kind\"]"
        answer 0 store show all.db --kind $kind --json
        holds "[.results[].kind] | unique == [\"$kind\"]"
    done
    holds '.results | all(.answer | .machine.threads == 1 and (.measured | length) >= 2)' \
        '.results | all(.optimal == false and .time_ns > 0)'
    answer 0 store ls all.db --kind measured
    check "$what: nothing is proven by measuring" \
        test "$(grep -c 'measured .* not proven$' answer)" -eq 4
    answer 0 store show all.db --kind measured
    said 'spread'
    # out and in again, byte for byte
    "$autotune" store export all.db >rows
    "$autotune" store import back.db rows >/dev/null
    check 'an export brings all back' cmp -s rows <("$autotune" store export back.db)
    check 'a diff of it is empty' "$autotune" store diff all.db back.db -o /dev/null
    # a measured row of the same question with another time is refused, kept or replaced
    sed -n '/"kind":"measured"/{s/"time_ns":[^,]*,"optimal"/"time_ns":7,"optimal"/;p;q}' rows >other
    answer 2 store import back.db other
    told 'the store has another one'
    answer 0 store import back.db other --replace
    answer 1 store diff all.db back.db --json
    answer 1 store diff all.db back.db
    said ', measured, validate='
    answer 0 store diff all.db back.db --kind simulated
    # tidying up takes what is measured only where it is asked for
    answer 0 store gc back.db --json
    holds '.removed == 0' '.kept == 10'
    answer 0 store gc back.db --kind measured --json
    holds '.removed == 4' '.kept == 6'
    has_kinds back.db 6 0
}

tables() {
    for kind in simulated measured; do
        answer 0 table --db all.db --hw testhost --kind $kind --format json
        holds ".kind == \"$kind\""
        answer 0 table --db all.db --hw testhost --kind $kind --format csv
        check "$what has one kind" test "$(grep -c ",$kind," answer)" -eq \
            $(($(wc -l <answer) - 1))
    done
    answer 0 table --db all.db --hw testhost --format csv
    check 'a table is of what is simulated' test "$(grep -c ',measured,' answer)" -eq 0
    answer 0 table --db all.db --hw testhost --kind measured
    said 'time, measured'
    "$autotune" store import only.db <("$autotune" store export all.db --kind measured) >/dev/null
    answer 1 table --db only.db
    told '; --kind measured has 4; '
    # C compiles what was measured
    answer 0 table --db all.db --hw testhost --kind measured --format c -o measured.h
    if command -v gcc >/dev/null; then
        echo '#include "measured.h"' >measured.c
        check 'a header of what was measured compiles' gcc -std=c99 -Wall -Wextra -Werror \
            -fsyntax-only measured.c
    fi
}

# A refusal makes no store.
refused() { # fragment of the message, arguments…
    bad "$@"
    check "$what: no store" test ! -e new.db
}

refusals() {
    local product=${loads[0]} other=(--hw "$source_dir/tests/support/host-loops.cfg")
    cases refused <<'END'
--fresh: expected --db             validate $product $here --fresh
--fresh: expected --db             $product $here --fresh
only this machine can be measured  $product --validate 2 --db new.db
it was measured on                 validate $product "${other[@]}" --db new.db
it was measured on                 $product "${other[@]}" --db new.db
no/such/folder.db                  $product $here --db no/such/folder.db
END
}

tunes
only_what_is_missing
fresh_ones
limits
interrupted
samples
sweeps
several_cores
shards
bad_rows
kinds_apart
tables
refusals
finish
