#!/usr/bin/env bash
# The line that says how far a command is, on a pseudo-terminal: every command that waits shows one
# though nothing has been counted yet, what searches say is true, and the line is gone before the
# answer. The commands are those that the program itself names: a new one without a case is a
# failure. What is waited for is the line, however slow the machine is.
#
#   tests/cli/test_cli_progress.sh AUTOTUNE SOURCE_DIR
. "$(dirname "$0")/../support/script.sh"
export TERM=xterm COLUMNS=200 NO_COLOR=1
script -qec true /dev/null >/dev/null 2>&1 || skip 'no script of util-linux'
patience_s=60
covered=' '
erase=$(printf '\r\033[K')
drawn=$(printf '\r\033')'\[K'

# Starts a command on a terminal of its own; what that gets is in `screen`.
start() { # arguments…
    : >screen
    words=
    for word in "$@"; do words="$words '$word'"; done
    script -qefc "exec '$autotune'$words" screen </dev/null >/dev/null 2>&1 &
    pid=$!
}

# What was drawn, a line each; script's own lines are not.
lines() { tr '\r' '\n' <screen | sed "s/$(printf '\033')\[K//g" | grep -av '^Script ' | grep -a .; }

# Waits until the screen has what matches; the command is killed then.
await() { # pattern
    local until=$((SECONDS + patience_s)) found=1 alive=0
    while [ "$alive" = 0 ] && [ "$SECONDS" -lt "$until" ]; do
        kill -0 "$pid" 2>/dev/null
        alive=$?
        grep -aqE "$1" screen && found=0 && break
        sleep 0.1
    done
    pkill -9 -P "$pid" 2>/dev/null
    kill "$pid" 2>/dev/null
    wait "$pid" 2>/dev/null
    return $found
}

# A command that waits for what never comes says what it is, and for how long.
shows() { # word arguments…
    covered="$covered$1 "
    start "$@"
    if await "${drawn}[a-z]+.*  [0-9]+\.[0-9] s"; then
        pass
        [ -z "${VERBOSE:-}" ] || echo "$*: $(lines | head -n 1)"
    else
        fail "$*: no line: $(lines | head -c 300)"
    fi
}

mkfifo never never.kernel never.csv # pipes that nobody writes to
exec 6<>never 7<>never.kernel 8<>never.csv
cp "$source_dir/docs/examples/op_summary.csv" profile.csv
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14; do
    tail -n +2 profile.csv >more.csv
    cat more.csv >>profile.csv
done
cann='--op matmul --shape 65536x65536x65536 --hw ascend910b1'
tiling=single_m=65536,single_n=65536,cores=1,outer=m,base_m=4096,base_n=4096,base_k=65536
tiling=$tiling,l0b_holds=tile,step_ka=1,step_kb=1,step_m=1,step_n=1,step_batch_a=1,step_batch_b=1
tiling=$tiling,l1a_buffers=1,l1b_buffers=2,l0a_buffers=1,l0b_buffers=1,l0c_buffers=1
cp "$source_dir/docs/examples/results.jsonl" some.jsonl
answer 0 store import some.db some.jsonl
cp some.db other.db

# ---- before anything is counted
# shellcheck disable=SC2086 # lists of arguments
{
    shows tune $cann
    shows program $cann
    shows explain $cann --set "$tiling"
}
shows run --op matmul --shape 4096x4096x4096 --cores 1 -o nowhere \
    --set m_slice=256,k_slice=128,n_slice=256,buffers=1,resident=none,split=m
shows simulate never
shows check never
shows analyse never
shows advise never
shows evaluate never --hw ascend910b1
shows reproduce
shows calibrate --hw ascend910b1 --from never -o fitted.cfg
shows sweep never.csv --db new.db
shows merge other.db some.db --sweep never.csv
shows network profile.csv --hw ascend910
shows table --db some.db --kernel never.kernel
shows store import some.db never
shows list kernels never.kernel
covered="$covered kernel " # writes a template: there is nothing to wait for
if describe_host; then
    shows validate --op matmul --shape 1024x1024x1024 --hw host.cfg
    shows probe --all --hw host.cfg
else
    covered="$covered validate probe "
fi

# ---- what a search says
start tune --op matmul --shape 16384x16384x16384 --batch 8 --hw ascend910b1
if await 'best .* bound .* gap '; then
    pass
    first=$(lines | head -n 1)
    case $first in
    *best*bound*gap*) pass ;;
    *gap*) fail "a gap before anything is known: $first" ;;
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
check "the time that is left: $(lines | tail -n 3)" await 'simulating [0-9,]+/[0-9,]+ .*ETA [0-9]+ s'

# ---- the line is gone before the answer, and messages have lines of their own
script -qec "'$autotune' --op matmul --shape 1024x1024x1024 --strategy exhaustive --time-limit 0.7" \
    screen </dev/null >/dev/null 2>&1
check 'a line of a search' grep -aqE "${drawn}(bounding|simulating)" screen
check "the line is gone: $(grep -a 'matmul 1024' screen | tail -c 200)" grep -aqE "${drawn}matmul 1024x1024x1024" screen
script -qec "'$autotune' --op matmul --shape 1024x1024x1024 -q --strategy exhaustive --time-limit 0.7" \
    screen </dev/null >/dev/null 2>&1
check 'no line with -q' not grep -aqF "$erase" screen

# ---- no command without a case
for word in $(commands); do check "$word has a case here" test "$covered" != "${covered/ $word /}"; done

finish
