#!/usr/bin/env bash
# The documentation says what the program does:
# - every command of a ```console block prints what stands below it,
# - links lead somewhere, every key of a description is in docs/hardware.md,
# - the example chip loads,
# - the manual page has every option of every command with its values, all formats, variables, folders and exit
#   statuses, and is free of warnings.
#
#   tests/whole/test_docs.sh AUTOTUNE SOURCE_DIR
#
# In a block, a line of three dots stands for any number of lines. Seconds, threads and the source
# folder are not compared. Only commands that run autotune are run, from the source folder; stores
# (NAME.db) are made in a folder of the page's own and last until its end.
. "$(dirname "$0")/../support/script.sh"
export LC_ALL=C.UTF-8
mkdir bin
ln -s "$autotune" bin/autotune
cd "$source_dir" || exit 2
pages=(README.md CONTRIBUTING.md docs/*.md docs/examples/*.md bench/*.md)

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
    command=$(sed -E "s#(^| )([a-z]+\.(db|html))\b#\1$work/\2#g" <<<"$command")
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
    run_it() {
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
            run_it
            in_block=0
        elif [ $more = 1 ]; then
            command+=$'\n'$line
        elif [ "${line:0:2}" = '$ ' ]; then
            run_it
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
        check "$page: a link to $link" test -e "$(dirname "$page")/${link%%#*}"
    done < <(grep -oE '\]\([^) ]+\)' "$page" | sed -e 's/^](//' -e 's/)$//')
}

# The table of the loader against the page that explains it.
check_keys() {
    local key
    while IFS= read -r key; do
        check "docs/hardware.md explains the key $key" grep -qF "\`$key\`" docs/hardware.md
    done < <(grep -oE '^ *\{"[a-z_0-9]+", KIND_' hardware/schema.c | grep -oE '[a-z_0-9]+"' |
        tr -d '"' | sort -u)
}

check_tiny_chip() {
    answer 0 list hw docs/examples/tiny-chip.cfg
    equal 'docs/examples/tiny-chip.cfg' Tiny "$(head -n 1 "$work/answer")"
}

options_of() { # command
    "$autotune" "$1" --help | grep -oE '^ +(-[a-z], |    )--[a-z-]+' | grep -oE '\-\-[a-z-]+' |
        grep -vx -e --help | sort -u
}

# Options of all commands by --help, and those that the manual page explains: of all commands
# together, and of each what stands behind "Options:" in its section.
check_options() {
    local command
    for command in $(commands); do
        options_of "$command" >"$work/help"
        awk -v start=".SS \"$command: " 'index($0, start) == 1 { on = 1; next }
            on && /^\.S[SH] / { exit }
            on' docs/autotune.1 |
            sed -n '/^Options: /,$p' | sed 's/\\-/-/g' | grep -oE '\-\-[a-z-]+' | sort -u \
            >"$work/manual"
        same "docs/autotune.1 has the options of $command --help" "$work/help" "$work/manual"
    done
    for command in $(commands); do "$autotune" "$command" --help; done |
        grep -oE '^ +(-[a-z], |    )--[a-z-]+' | grep -oE '\-\-[a-z-]+' | sort -u >"$work/help"
    sed 's/\\-/-/g' docs/autotune.1 | sed -nE 's/^\.(B|BR|BI) "?(-[a-z], )?(--[a-z-]+).*/\3/p' |
        grep -vx -e --version | sort -u >"$work/manual"
    same 'docs/autotune.1 has the options of all --help' "$work/help" "$work/manual"
}

# Of options whose values --help lists: the manual page has the same list, or names each of them.
check_values() {
    local command option values listed
    sed -e 's/\\-/-/g' -e 's/\\f[RPBI]//g' docs/autotune.1 >"$work/manual"
    for command in $(commands); do
        "$autotune" "$command" --help
    done | grep -oE '^ +--[a-z-]+=[a-z0-9_]+(\|[a-z0-9_]+)+( |$)' | sort -u | tr '=' ' ' >"$work/help"
    while read -r option values; do
        listed=$(sed -nE "s/^\.BI $option \"(.*\|.*)\"/\1/p" "$work/manual" | tr -d ' ')
        [ -n "$listed" ] ||
            listed=$(awk -v start=".BI $option " 'index($0, start) == 1 { on = 1 } on && $0 == ".TP" { exit } on' \
                "$work/manual" | grep -owE "$values" | awk '!seen[$0]++' | paste -sd '|')
        equal "docs/autotune.1: values of $option, those of --help" "$values" "$listed"
    done <"$work/help"
}

section() { # title of a section of the manual page
    awk -v title=".SH $1" '$0 == title { on = 1; next } /^\.SH / { on = 0 } on' docs/autotune.1 |
        sed -e 's/\\-/-/g' -e 's/\\f[RIPB]//g' -e 's/^\.[A-Z]* //' -e 's/[" ]//g'
}

# Every word in a list must be in a section, or with "all" anywhere, of the manual page.
check_words() { # what section words…
    local what=$1 section=$2 word
    shift 2
    if [ "$section" = all ]; then sed 's/\\//g' docs/autotune.1; else section "$section"; fi >"$work/section"
    for word in "$@"; do
        check "docs/autotune.1, $section: the $what $word" grep -qF -e "$word" "$work/section"
    done
}

# What the sources read, have and say, against the manual page.
check_surroundings() {
    local formats
    formats=$("$autotune" list formats | cut -d' ' -f1)
    # shellcheck disable=SC2046,SC2086 # words
    check_words format all $formats
    for command in $(commands); do
        "$autotune" "$command" --help
    done | tr -s '\n ' ' ' | grep -oE -- '--format=NAME [a-z_, ()-]*' |
        sed -E -e 's/--format=NAME//' -e 's/ --json.*//' -e 's/\(default\)|,| or / /g' | tr -s ' ' '\n' |
        grep -v '^$' | sort -u >"$work/help"
    same 'list formats has the formats of all --help' "$work/help" <(sort <<<"$formats")
    # shellcheck disable=SC2046 # words
    check_words variable ENVIRONMENT $(grep -rhoE 'getenv\("[A-Z_]+' --include='*.c' analysis cli core \
        costmodel hardware jobs kernels results runtime search validate | sed 's/.*"//' | sort -u)
    # shellcheck disable=SC2046 # words
    check_words folder FILES $(cd configs && printf 'configs/%s ' *) .config/autotune/hardware \
        autotune.db autotune.I-of-N.db .slurm
    # shellcheck disable=SC2046 # words
    check_words status 'EXIT STATUS' $(sed -nE 's/.*enum \{ EXIT_ANSWER = (.), EXIT_NONE = (.), EXIT_BAD = (.) \};.*/\1 \2 \3/p' \
        cli/options.h)
}

check_manual() {
    if ! command -v groff >/dev/null; then return; fi
    groff -man -Tutf8 -ww docs/autotune.1 >/dev/null 2>"$work/raw"
    equal 'warnings of docs/autotune.1' '' "$(cat "$work/raw")"
}

for page in "${pages[@]}"; do
    rm -f "$work"/*.db*
    check_blocks "$page"
    check_links "$page"
done
check_keys
check_tiny_chip
check_options
check_values
check_surroundings
check_manual
finish
