# shellcheck shell=bash disable=SC2154
# For tests of JSON answers: runs the program, judges exit statuses and asks jq about what it said.
# To be sourced once $autotune is set; at the end say "$passed passed, $failed failed".
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0
failed=0

pass() { passed=$((passed + 1)); }

fail() {
    failed=$((failed + 1))
    printf 'FAILED %s\n' "$*"
}

# Runs a command into $work/answer and judges its exit status.
answer() { # expected status, arguments…
    expected=$1
    shift
    what="autotune $*"
    timeout 300 "$autotune" "$@" >"$work/answer" 2>"$work/messages" </dev/null
    status=$?
    if [ $status -eq "$expected" ]; then
        pass
    else
        fail "$what: exit status $status, expected $expected: $(cat "$work/messages")"
    fi
}

# Every condition, an expression of jq, must be true of $work/answer.
holds() { # condition…
    for condition in "$@"; do
        if [ "$(jq -s "if length == 1 then .[0] | ($condition) else \"not one document\" end" \
            "$work/answer" 2>&1)" = true ]; then
            pass
        else
            fail "$what: $condition"
            head -c 3000 "$work/answer"
        fi
    done
}
