#!/usr/bin/env bash
# One allocation fails, near the first, the last, and many between, or the first of each place in the
# code that asks for memory: the answer is that of always, or there is none, with exit status 2, a
# reason, and files as they were.
#
#   tests/cli/test_cli_memory.sh AUTOTUNE SOURCE_DIR
. "$(dirname "$0")/../support/script.sh"
built=$(dirname "$autotune")/tests/libfailing_malloc.so
[[ -f $built ]] || skip 'no allocations that fail under sanitizers, or emulated'
ln -s "$built" failing.so # blanks end a name in LD_PRELOAD
failing=$PWD/failing.so
tries=${TRIES:-16} all_refused=0
export GOMP_SPINCOUNT=1000 # else the program starts itself once more

# Answers differ in the seconds that they took.
without_seconds() { sed -E 's/"seconds": [0-9.e+-]+/SECONDS/; s/[0-9.]+ s, /S, /; s/^(  time +)[0-9.]+ +s$/\1S/' "$1"; }
same_answer() { cmp -s <(without_seconds good) <(without_seconds out); }

tries_all() { # arguments…
    local n usual count step bad=0 answered=0 refused=0
    echo kept >out
    COUNT_TO=count LD_PRELOAD=$failing "$autotune" "$@" -o out >/dev/null 2>err
    usual=$?
    cp out good
    count=$(<count)
    for ((n = 1; n <= count; n += n > count - 4 || n < 4 ? 1 : (count / tries) + 1)); do
        echo kept >out
        FAIL_AT=$n LD_PRELOAD=$failing "$autotune" "$@" -o out >/dev/null 2>err
        status=$?
        if [[ $status -eq $usual ]] && same_answer; then
            answered=$((answered + 1))
        elif [[ $status -eq 2 && $(tail -n 1 err) == autotune:* ]] && { [[ $(<out) == kept ]] || same_answer; }; then
            refused=$((refused + 1))
        else
            bad=$((bad + 1))
            echo "allocation $n of $count: exit status $status, $(head -c 200 err), out: $(head -c 80 out)"
        fi
    done
    if [[ $bad -eq 0 ]]; then pass; else
        fail "autotune $*: $bad bad of $((bad + answered + refused)), $refused refused"
    fi
    all_refused=$((all_refused + refused))
}

examples=$source_dir/docs/examples
answer 0 store import some.db "$examples/results.jsonl"
answer 0 program --op matmul --shape 64x64x64 -o kernel.txt
printf 'op,shape\nmatmul,32x32x32\nmatmul,16x64x16\n' >jobs.csv
# shellcheck disable=SC2086 # lists of arguments
{
    product='--op matmul --shape 64x64x64'
    tries_all tune $product --threads 1 --json
    tries_all tune $product --threads 1 --top 5 --format csv
    tries_all tune $product --threads 1 --report page.html --landscape map.json --trace trace.json
    tries_all tune --kernel gelu --shape 4096 --threads 1 --hw ascend910b2
    tries_all tune --op matmul --shape 16..64x64x64 --tilings 2 --format c
    tries_all program $product
    tries_all simulate kernel.txt --json
    tries_all check kernel.txt
    tries_all analyse kernel.txt --json
    tries_all evaluate "$examples/ladder-910b1.json" --hw ascend910b1 --json
    tries_all network "$examples/network.csv" --hw ascend910b3 --json
    tries_all store export some.db
    tries_all store ls some.db
    tries_all list hw ascend310 --json
    tries_all list kernels
    tries_all explain $product --set m_slice=16
    tries_all explain --kernel gelu --shape 4096 --hw ascend910b2 --json
    tries_all advise kernel.txt
    tries_all check kernel.txt --json
    tries_all simulate kernel.txt --trace trace.json
    tries_all sweep jobs.csv --db jobs.db --fresh --threads 1
}
export FAIL_PLACES=1
tries=1000 # all of them
tries_all tune --op matmul --shape 16..64x64x64 --tilings 2 --format c --threads 1
check 'allocations do fail' test "$all_refused" -gt 50
finish
