#!/usr/bin/env bash
# The documentation says what the program does:
# - every command of a ```console block prints what stands below it,
# - links lead somewhere, every key of a description is in docs/hardware.md,
# - the example chip loads, the manual page has all options and is free of warnings.
#
#   tests/test_docs.sh AUTOTUNE SOURCE_DIR
#
# In a block, a line of three dots stands for any number of lines. Seconds, threads and the source
# folder are not compared. Only commands that run autotune are run, from the source folder; stores
# (NAME.db) are made in a folder of the page's own and last until its end.
set -u
export LC_ALL=C.UTF-8
unset ARGP_HELP_FMT ASCEND_HOME_PATH NO_COLOR POSIXLY_CORRECT
autotune=$1
source_dir=$2
export AUTOTUNE_CONFIGS=$source_dir/configs
export XDG_CONFIG_HOME=/nonexistent
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin"
ln -s "$(realpath "$autotune")" "$work/bin/autotune"
cd "$source_dir" || exit 1
pages=(README.md CONTRIBUTING.md docs/*.md docs/examples/*.md bench/*.md)
passed=0
failed=0

pass() { passed=$((passed + 1)); }

fail() {
    failed=$((failed + 1))
    echo "FAILED $*"
}

sanitise() {
    sed -E -e "s|$work/||g" -e "s|$source_dir|@SOURCE@|g" -e 's/[ \t]+$//' \
        -e 's/"seconds": [0-9.e+-]+/"seconds": @SECONDS@/' \
        -e 's/"threads": [0-9]+/"threads": @THREADS@/' \
        -e '/^searches: /s/[0-9.]+ s\b/@SECONDS@ s/g' \
        -e 's/[0-9.]+ s, [0-9]+ threads?$/@SECONDS@ s, @THREADS@ threads/'
}

# Does the second file match the first, in which "..." stands for any lines? The stretches between
# dots are found one after the other, the last one at the end.
matches() {
    awk '
        FNR == NR { want[++wants] = $0; next }
        { have[++haves] = $0 }
        function fits(first, count, at,    i) {
            if (at + count - 1 > haves)
                return 0
            for (i = 0; i < count; i++)
                if (want[first + i] != have[at + i])
                    return 0
            return 1
        }
        END {
            at = 1
            anchored = 1
            for (w = 1; w <= wants + 1; w = next_w + 1) {
                next_w = w
                while (next_w <= wants && want[next_w] != "...")
                    next_w++
                count = next_w - w
                if (next_w > wants && !anchored)
                    at = haves - count + 1 > at ? haves - count + 1 : at
                else if (!anchored)
                    while (at <= haves && !fits(w, count, at))
                        at++
                if (!fits(w, count, at))
                    exit 1
                at += count
                anchored = 0
                if (next_w > wants)
                    exit at != haves + 1
            }
        }' "$1" "$2"
}

try_command() { # page line command
    local command=${3//build\/autotune/autotune}
    command=$(sed -E "s#(^| )([a-z]+\.db)\b#\1$work/\2#g" <<<"$command")
    PATH="$work/bin:$PATH" bash -c "$command" >"$work/raw" 2>&1 </dev/null
    local status=$?
    sanitise <"$work/raw" >"$work/now"
    sanitise <"$work/expected" >"$work/wanted"
    if [ $status -le 2 ] && matches "$work/wanted" "$work/now"; then
        pass
    else
        fail "$1:$2: $3 (exit status $status)"
        diff -u --label "$1" --label now "$work/wanted" "$work/now"
    fi
}

# Runs the commands of one page. A command may go on in the next line after a backslash.
check_blocks() {
    local page=$1 line number=0 in_block=0 command='' start=0 more=0
    local runs='(^|\| *)(build/)?autotune( |$)'
    finish() {
        if [[ $command =~ $runs ]]; then
            try_command "$page" "$start" "$command"
        fi
        command=''
    }
    while IFS= read -r line || [ -n "$line" ]; do
        number=$((number + 1))
        if [ $in_block = 0 ]; then
            if [ "$line" = '```console' ]; then in_block=1; fi
        elif [ "$line" = '```' ]; then
            finish
            in_block=0
        elif [ $more = 1 ]; then
            command+=$'\n'$line
        elif [ "${line:0:2}" = '$ ' ]; then
            finish
            command=${line:2}
            start=$number
            : >"$work/expected"
        else
            printf '%s\n' "$line" >>"$work/expected"
            continue
        fi
        more=0
        if [[ $in_block = 1 && -n $command && $line == *\\ ]]; then more=1; fi
    done <"$page"
}

check_links() {
    local page=$1 link
    while IFS= read -r link; do
        case $link in
        *://* | '#'* | '') continue ;;
        esac
        if [ -e "$(dirname "$page")/${link%%#*}" ]; then
            pass
        else
            fail "$page: a link to $link, which is not there"
        fi
    done < <(grep -oE '\]\([^) ]+\)' "$page" | sed -e 's/^](//' -e 's/)$//')
}

# The table of the loader against the page that explains it.
check_keys() {
    local key
    while IFS= read -r key; do
        if grep -qF "\`$key\`" docs/hardware.md; then
            pass
        else
            fail "docs/hardware.md does not explain the key $key"
        fi
    done < <(grep -oE '^ *\{"[a-z_0-9]+", KIND_' hardware/schema_keys.c | grep -oE '[a-z_0-9]+"' |
        tr -d '"' | sort -u)
}

check_tiny_chip() {
    if "$autotune" list hw docs/examples/tiny-chip.cfg >"$work/raw" 2>&1 &&
        [ "$(head -n 1 "$work/raw")" = Tiny ]; then
        pass
    else
        fail 'docs/examples/tiny-chip.cfg does not load:' "$(cat "$work/raw")"
    fi
}

# Options of all commands by --help, and those that the manual page explains.
check_options() {
    local command commands
    commands=$("$autotune" --help | sed -nE 's/^  ([a-z]+) {2,}.*/\1/p')
    for command in $commands; do
        if grep -q "^\.SS \"$command: " docs/autotune.1; then
            pass
        else
            fail "docs/autotune.1 has no section on $command"
        fi
    done
    for command in $commands; do "$autotune" "$command" --help; done |
        grep -oE '^ +(-[a-z], |    )--[a-z-]+' | grep -oE '\-\-[a-z-]+' | sort -u >"$work/help"
    sed 's/\\-/-/g' docs/autotune.1 | sed -nE 's/^\.(B|BR|BI) "?(-[a-z], )?(--[a-z-]+).*/\3/p' |
        grep -vx -e --version | sort -u >"$work/manual"
    if diff -u --label 'all --help' --label docs/autotune.1 "$work/help" "$work/manual"; then
        pass
    else
        fail 'docs/autotune.1 has other options than --help'
    fi
}

check_manual() {
    if ! command -v groff >/dev/null; then return; fi
    groff -man -Tutf8 -ww docs/autotune.1 >/dev/null 2>"$work/raw"
    if [ -s "$work/raw" ]; then
        fail 'docs/autotune.1 has warnings:' "$(cat "$work/raw")"
    else
        pass
    fi
}

for page in "${pages[@]}"; do
    rm -f "$work"/*.db*
    check_blocks "$page"
    check_links "$page"
done
check_keys
check_tiny_chip
check_options
check_manual
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
