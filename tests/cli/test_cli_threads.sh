#!/usr/bin/env bash
# Threads that cannot be started are an error of one line, and what is measured runs on the
# processors that the process may use.
#
#   tests/cli/test_cli_threads.sh AUTOTUNE SOURCE_DIR
#
# Needs prlimit and taskset of util-linux; skips what cannot be tried here.
# shellcheck disable=SC2086 # lists of arguments
. "$(dirname "$0")/../support/script.sh"

matmul='--op matmul --shape 64x64x64'

# ---- threads that cannot be started
# An address sanitizer reserves more than any limit.
if command -v prlimit >/dev/null && prlimit --as=600000000 "$autotune" --version >/dev/null 2>&1; then
    refused() { # arguments…
        prlimit --as=600000000 "$autotune" "$@" >answer 2>messages </dev/null
        equal "$*" '' "$(not_an_error $? ' threads: no more than ')"
        check "$*: how many can" grep -q ' threads: no more than .* can be started here' messages
    }
    printf 'op,shape\nmatmul,64x64x64\n' >jobs.csv
    refused tune $matmul --threads 1000
    refused tune $matmul --threads 1000 --strategy exhaustive
    refused tune --op knn --shape 256x128x2048 --k 8 --threads 1000
    refused evaluate "$source_dir/docs/examples/ladder-910b1.json" --hw ascend910b1 --threads 1000
    refused sweep jobs.csv --db jobs.db --threads 1000
    refused calibrate --hw ascend910b1 --from "$source_dir/docs/examples/ladder-910b1.json" \
        --threads 1000
    # whatever the room: an answer, or an error of one line
    for megabytes in 240 255 270 285 300 330 400; do
        prlimit --as=${megabytes}000000 "$autotune" $matmul --threads 30 >out 2>err
        code=$?
        case $code in
        0) equal "$megabytes MB: nothing is wrong" 0 "$(wc -l <err)" ;;
        2) equal "$megabytes MB: lines" 1 "$(wc -l <err)" ;;
        *) fail "$megabytes MB: exit status $code: $(head -c 300 err)" ;;
        esac
    done
else
    echo 'no prlimit, or a sanitizer that needs all addresses: threads are not tried'
fi

# ---- the processors that it may use
taskset -c 0 true 2>/dev/null || {
    echo 'no taskset, or no processor 0: which processors are used is not tried'
    finish
}
equal 'threads of taskset -c 0' 1 \
    "$(taskset -c 0 "$autotune" $matmul --json | sed -n 's/.*"threads": \([0-9]*\).*/\1/p')"

if describe_host; then
    measured() { # command…
        "$@" </dev/null >out 2>err || fail "$*: exit status $?: $(head -c 300 err)"
    }
    measured taskset -c 0 "$autotune" $matmul --hw host.cfg --validate 2 --db host.db
    equal 'one thread is said' 1 "$(grep -c ', 1 thread,' out)"
    kinds() { # store: kinds and cores of its results
        "$autotune" store export "$1" |
            sed 's/.*"kind":"\([a-z]*\)".*"cores":\([0-9]*\),.*/\1 \2/' | sort | tr '\n' ,
    }
    equal 'the rows are those of one thread' 'measured 1,simulated 1,' "$(kinds host.db)"
    measured taskset -c 0 "$autotune" validate $matmul --hw host.cfg --time-limit 1
    equal 'validate: one thread is said' 1 "$(grep -c ', 1 thread,' out)"
    printf 'op,shape,hw,validate\nmatmul,64x64x64,host.cfg,2\n' >jobs.csv
    measured taskset -c 0 "$autotune" sweep jobs.csv --db sweep.db
    equal 'a sweep measures with one thread' 1 "$(kinds sweep.db | grep -c 'measured 1,')"
    taskset -c 0 "$autotune" $matmul --hw host.cfg --cores 2 >out 2>err
    equal 'more than it may use: exit status' 2 $?
    equal 'more than it may use' \
        'autotune: --cores 2: expected at most 1, the processors that this process may use' \
        "$(cat err)"
    measured taskset -c 0 "$autotune" $matmul --hw host.cfg --cores 2 --validate 0
else
    echo 'a processor without a name: nothing is measured'
fi

finish
