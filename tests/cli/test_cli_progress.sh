#!/usr/bin/env bash
# The line that says how far a command is, on a pseudo-terminal: every command that waits shows one
# though nothing has been counted yet, what searches say is true, and the line is gone before the
# answer. The commands are those that the program itself names: a new one without a case is a
# failure. What is waited for is the line, however slow the machine is.
#
#   tests/cli/test_cli_progress.sh AUTOTUNE SOURCE_DIR
set -u
export LC_ALL=C TERM=xterm COLUMNS=200 NO_COLOR=1
autotune=$(realpath "$1")
source_dir=$(realpath "$2")
export AUTOTUNE_CONFIGS=$source_dir/configs
export XDG_CONFIG_HOME=/nonexistent
patience_s=60
work=$(mktemp -d)
holder=
trap '[ -z "$holder" ] || kill "$holder" 2>/dev/null; rm -rf "$work"' EXIT
cd "$work" || exit 2
passed=0
failed=0
covered=' '
erase=$(printf '\r\033[K')

pass() { passed=$((passed + 1)); }

fail() {
    failed=$((failed + 1))
    echo "FAILED $*"
}

if ! script -qec true /dev/null >/dev/null 2>&1; then
    echo 'no script of util-linux here: skipped'
    echo '0 passed, 0 failed'
    exit 0
fi

# Starts a command on a terminal of its own; what that gets is in `screen`.
start() { # arguments…
    : >screen
    words=
    for word in "$@"; do words="$words '$word'"; done
    script -qefc "exec '$autotune'$words" screen </dev/null >/dev/null 2>&1 &
    pid=$!
}

lines() { tr '\r' '\n' <screen | sed "s/$(printf '\033')\[K//g" | grep -a .; }

# Waits until a line of the screen matches; the command is stopped then.
await() { # pattern
    local tries=$((patience_s * 20)) found=1
    while [ "$tries" -gt 0 ]; do
        lines | grep -aqE "$1" && found=0 && break
        kill -0 "$pid" 2>/dev/null || break
        sleep 0.05
        tries=$((tries - 1))
    done
    kill "$pid" 2>/dev/null
    wait "$pid" 2>/dev/null
    return $found
}

# A command that waits for what never comes says what it is, and for how long.
shows() { # word arguments…
    covered="$covered$1 "
    start "$@"
    if await '^[a-z]+.*  [0-9]+\.[0-9] s'; then
        pass
        [ -z "${VERBOSE:-}" ] || echo "$*: $(lines | head -n 1)"
    else
        fail "$*: no line: $(lines | head -c 300)"
    fi
}

mkfifo never never.cfg never.kernel never.csv
sleep 3000 <>never &
holder=$!
for pipe in never.cfg never.kernel never.csv; do
    exec {held}<>"$pipe"
done
cp "$source_dir/docs/examples/results.jsonl" some.jsonl
"$autotune" store import some.db some.jsonl >out 2>&1 || fail "store import: $(cat out)"
cp some.db other.db

# ---- before anything is counted
shows tune --kernel never.kernel --shape 64
shows tune --op matmul --shape 65536x65536x65536 --hw ascend910b1
shows program --kernel never.kernel --shape 64
shows run --kernel never.kernel --shape 64
shows simulate never
shows check never
shows analyse never
shows advise never
shows explain --kernel never.kernel --shape 64 --set t=16
shows evaluate never --hw ascend910b1
shows reproduce --hw never.cfg
shows calibrate --hw ascend910b1 --from never -o fitted.cfg
shows validate --op matmul --shape 64x64x64 --hw never.cfg
shows sweep never.csv --db new.db
shows merge other.db some.db --sweep never.csv
shows network never.csv --hw ascend910
shows table --db some.db --kernel never.kernel
shows store import some.db never
shows list kernels never.kernel
covered="$covered kernel " # writes a template: there is nothing to wait for

# ---- what a search says
start tune --op matmul --shape 65536x65536x65536 --hw ascend910b1
if await 'best .* bound .* gap '; then
    pass
    first=$(lines | head -n 1)
    case $first in
    *gap* | *ETA*) fail "a gap or a time before anything is known: $first" ;;
    *) pass ;;
    esac
    case $(lines) in
    *ETA*) fail "a time that nobody can know: $(lines | grep -a ETA | head -n 1)" ;;
    *) pass ;;
    esac
else
    fail "no best, bound and gap: $(lines | tail -n 3)"
fi
start tune --op matmul --shape 2048x2048x2048 --strategy exhaustive
if await '^simulating [0-9,]+/[0-9,]+ .*ETA [0-9]+ s'; then
    pass
else
    fail "no time left: $(lines | tail -n 3)"
fi

# ---- the line is gone before the answer, and messages have lines of their own
script -qec "'$autotune' --op matmul --shape 1024x1024x1024 --strategy exhaustive --time-limit 0.7" \
    screen </dev/null >/dev/null 2>&1
if grep -aq "${erase}simulating" screen; then pass; else fail 'no line of a search'; fi
if grep -aqE "${erase}matmul 1024x1024x1024" screen; then
    pass
else
    fail "the line is still there: $(grep -a 'matmul 1024' screen | tail -c 200)"
fi
script -qec "'$autotune' --op matmul --shape 1024x1024x1024 -q --strategy exhaustive --time-limit 0.7" \
    screen </dev/null >/dev/null 2>&1
if grep -aqF "$erase" screen; then fail 'a line in spite of -q'; else pass; fi

# ---- no command without a case
"$autotune" --help | sed -n 's/^  \([a-z][a-z]*\)  .*/\1/p' >words
while read -r word; do
    case $covered in
    *" $word "*) pass ;;
    *) fail "autotune $word: no case here" ;;
    esac
done <words

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
