#!/usr/bin/env bash
# Threads that cannot be started are an error of one line, and what is measured runs on the
# processors that the process may use.
#
#   tests/cli/test_cli_threads.sh AUTOTUNE SOURCE_DIR
#
# Needs prlimit and taskset of util-linux; skips what cannot be tried here.
# shellcheck disable=SC2086 # lists of arguments
set -u
export LC_ALL=C
autotune=$(realpath "$1")
source_dir=$(realpath "$2")
export AUTOTUNE_CONFIGS=$source_dir/configs
export XDG_CONFIG_HOME=/nonexistent
unset NO_COLOR POSIXLY_CORRECT OMP_NUM_THREADS
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
passed=0
failed=0

pass() { passed=$((passed + 1)); }

fail() {
    failed=$((failed + 1))
    echo "FAILED $*"
}

equal() { # what expected found
    if [ "$2" = "$3" ]; then pass; else fail "$1: expected '$2', found '$3'"; fi
}

matmul='--op matmul --shape 64x64x64'

# ---- threads that cannot be started
# An address sanitizer reserves more than any limit.
if command -v prlimit >/dev/null && prlimit --as=600000000 "$autotune" --version >/dev/null 2>&1; then
    refused() { # arguments…
        local code
        prlimit --as=600000000 "$autotune" "$@" >out 2>err </dev/null
        code=$?
        equal "$*: exit status" 2 $code
        equal "$*: lines" 1 "$(wc -l <err)"
        grep -q '^autotune: .* threads: no more than .* can be started here' err ||
            fail "$*: $(head -c 300 err)"
        equal "$*: nothing is printed" 0 "$(wc -c <out)"
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
command -v taskset >/dev/null && taskset -c 0 true 2>/dev/null || {
    echo "no taskset, or no processor 0: $passed passed, $failed failed"
    [ "$failed" = 0 ]
    exit
}
equal 'threads of taskset -c 0' 1 \
    "$(taskset -c 0 "$autotune" $matmul --json | sed -n 's/.*"threads": \([0-9]*\).*/\1/p')"

# shellcheck source=tests/support/this_host.sh
if (. "$source_dir/tests/support/this_host.sh") >out; then
    measured() { # shell expression before autotune, arguments…
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
    cat out
fi

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
