# shellcheck shell=bash
# The head of every script. A script opens with its comment, which says what it shows and, indented,
# how it is called, and sources this:
#
#     . "$(dirname "$0")/../support/script.sh"
#
# $autotune and $source_dir are then the program and the source folder, and $work is an empty folder,
# which is that of work and is removed at the end. Assertions count wherever they stand, in subshells
# and pipelines too. The last line is `finish`.
set -u
export LC_ALL=C XDG_CONFIG_HOME=/nonexistent
unset ARGP_HELP_FMT ASCEND_HOME_PATH AUTOTUNE_ISA COLUMNS NO_COLOR OMP_NUM_THREADS POSIXLY_CORRECT

if (($# < 2)) || [[ ! $(type -P "$1") || ! -d $2/configs ]]; then
    echo "$0: expected the program and the source folder:" >&2
    sed -nE 's|^# +(tests/.*/test_.*)|    \1|p' "$0" >&2
    exit 2
fi
autotune=$(realpath "$(type -P "$1")")
source_dir=$(realpath "$2")
export AUTOTUNE_CONFIGS=$source_dir/configs
scratch=$(mktemp -d) || exit 2
work=$scratch/here
at_end() { :; } # for scripts that have more to tidy up
trap 'at_end; chmod -R u+w "$scratch"; rm -rf "$scratch"' EXIT
mkdir "$work"
cd "$work" || exit 2
: >"$scratch/passed" >"$scratch/failed"
what=$0

# ------------------------------------------------------------------ skipping and ending

skip() { # reason…
    echo "skipped: $*"
    exit 77
}

needs() { # command…
    local command
    for command in "$@"; do command -v "$command" >/dev/null || skip "no $command"; done
}

# Fails also where fewer passed than there are, as when a list turned out to be empty.
finish() { # [how many there are at least]
    local passed failed
    passed=$(wc -c <"$scratch/passed")
    ((passed >= ${1:-1})) || fail "$passed passed, expected ${1:-1} at least"
    failed=$(wc -c <"$scratch/failed")
    echo "$passed passed, $failed failed"
    exit $((failed > 0))
}

# ------------------------------------------------------------------ assertions

pass() { printf . >>"$scratch/passed"; }

fail() { # what…
    printf . >>"$scratch/failed"
    printf 'FAILED %s\n' "$*" | tr -c '[:print:]\n' '?' >&$((BASH_SUBSHELL ? 2 : 1))
}

# The command succeeds; what it says is shown where it does not.
check() { # what, command…
    local what=$1
    shift
    if "$@" >"$scratch/said" 2>&1; then pass; else
        fail "$what: $*"
        head -c 3000 "$scratch/said" | sed 's/^/    /'
    fi
}

equal() { # what, expected, got
    if [[ $2 == "$3" ]]; then pass; else
        fail "$1"
        diff -u --label expected --label got <(printf '%s\n' "$2") <(printf '%s\n' "$3")
    fi
}

same() { # what, expected file, file
    check "$1" diff -u --label expected --label got "$2" "$3"
}

not() { ! "$@"; } # command…

# ------------------------------------------------------------------ answers

# Runs the program, its answer into $work/answer and what it says into $work/messages; $what is its
# command line.
answer() { # expected status, arguments…
    local expected=$1 status
    shift
    what="autotune$(printf ' %q' "$@")"
    timeout 900 "$autotune" "$@" >"$work/answer" 2>"$work/messages" </dev/null
    status=$?
    if [[ $status == "$expected" ]]; then pass; else
        fail "$what: exit status $status, expected $expected: $(cat "$work/messages")"
    fi
}

# Every condition, an expression of jq, is true of $work/answer.
holds() { # condition…
    local condition together=''
    for condition in "$@"; do together+="($condition), "; done
    if [[ $(jq -s "length == 1 and (.[0] | [${together%, }] | length == $# and all(. == true))" \
        "$work/answer" 2>/dev/null) == true ]]; then
        for condition in "$@"; do pass; done
        return
    fi
    for condition in "$@"; do # which of them
        if [[ $(jq -s "if length == 1 then .[0] | ($condition) else \"not one document\" end" \
            "$work/answer" 2>&1) == true ]]; then pass; else
            fail "$what: $condition"
            head -c 3000 "$work/answer"
        fi
    done
}

is() { jq -e "$2" "$1"; } # file, condition

said() { # text: it stands in $work/answer
    if grep -qF -e "$1" "$work/answer"; then pass; else
        fail "$what: no '$1' in: $(head -c 500 "$work/answer")"
    fi
}

told() { # text: it stands in $work/messages
    if grep -qF -e "$1" "$work/messages"; then pass; else
        fail "$what: no '$1' in: $(head -c 500 "$work/messages")"
    fi
}

# What is wrong about $work/answer, $work/messages and a status as those of an error: one line on
# standard error that has the fragment, nothing on standard output, exit status 2.
not_an_error() { # status, fragment of the message
    local lines
    mapfile lines <"$work/messages"
    [[ $1 == 2 ]] || echo "exit status $1, expected 2"
    [[ ! -s $work/answer ]] || echo "an answer of $(wc -c <"$work/answer") bytes, expected none"
    [[ ${#lines[@]} == 1 && ${lines[0]} == *$'\n' ]] || echo "${#lines[@]} lines of messages, expected 1"
    [[ ${lines[0]-} == 'autotune: '* ]] || echo "the message does not begin with 'autotune: '"
    [[ ${lines[0]-} == *"$2"* ]] || echo "the message does not contain: $2"
}

bad() { # fragment of the message, arguments…
    local fragment=$1 complaint
    shift
    what="autotune$(printf ' %q' "$@")"
    "$autotune" "$@" >"$work/answer" 2>"$work/messages" </dev/null
    complaint=$(not_an_error $? "$fragment")
    if [[ ! $complaint ]]; then pass; else
        fail "$what"
        printf '    %s\n' "$complaint" "messages: $(head -c 2000 "$work/messages")"
    fi
}

# The same of a kernel's text, of which the line and a caret may stand below.
bad_text() { # fragment of the message, arguments…
    local fragment=$1
    shift
    answer 2 "$@"
    check "$what: no answer" test ! -s "$work/answer"
    if [[ $(head -n 1 "$work/messages") == "autotune: "*"$fragment"* &&
        $(grep -c ^autotune: "$work/messages") == 1 ]]; then pass; else
        fail "$what: expected $fragment: $(head -c 500 "$work/messages")"
    fi
}

# A table of cases on standard input, a line each: the fragment, two blanks at least, and the arguments
# as a shell reads them, with lists like "${product[@]}". `cases bad` is such a call for each of them.
cases() { # function that is called with a fragment and arguments
    local row rows=0
    while IFS= read -r row; do
        eval "$1 \"\${row%%  *}\" ${row#*  }" </dev/null
        rows=$((rows + 1))
    done
    ((rows)) || fail 'a table without a case'
}

# The best tiling of an answer as --set takes it.
tiling_of() { # file
    jq -r '.best.tiling | to_entries | map("\(.key)=\(.value)") | join(",")' "$1"
}

# The commands that --help lists.
commands() { "$autotune" --help | sed -nE '/^Commands/,/^$/s/^  ([a-z]+) .*/\1/p'; }

# ------------------------------------------------------------------ this processor

# $work/host.cfg becomes tests/support/host-loops.cfg under the name of the processor at hand; false
# where that has none.
describe_host() {
    local cpu isa=portable
    cpu=$(sed -n 's/^model name[[:space:]]*: //p' /proc/cpuinfo 2>/dev/null | head -n 1)
    has() { local flag; for flag in "$@"; do grep -qw "$flag" /proc/cpuinfo || return; done; }
    if has avx2 fma; then isa=avx2; fi
    if has avx2 fma avx512dq avx512vl avx512bw; then isa=avx512; fi
    sed -e "s|cpu = \"[^\"]*\"|cpu = \"$cpu\"|" -e "s|isa = \"avx512\"|isa = \"$isa\"|" \
        "$source_dir/tests/support/host-loops.cfg" >"$work/host.cfg"
    [[ $cpu ]]
}
