#!/usr/bin/env bash
# The program as `cmake --install` puts it: it finds its descriptions and sweeps wherever it was
# installed, its manual page and documentation are there, and shells complete its words.
#
#   tests/whole/test_install.sh AUTOTUNE SOURCE_DIR
. "$(dirname "$0")/../support/script.sh"
build=$(dirname "$autotune")
unset AUTOTUNE_CONFIGS DESTDIR
prefix="$work/a prefix"
missing=()

check 'cmake --install' cmake --install "$build" --prefix "$prefix"
PATH=$prefix/bin:$PATH

says() { # pattern command…
    local pattern=$1
    shift
    "$@" >"$work/said" 2>&1 && grep -q -- "$pattern" "$work/said" || { cat "$work/said"; return 1; }
}

check 'it tunes' says 'nothing in the space is faster' autotune --op matmul --shape 64x64x64 -q
check 'by the installed description' says "\"$prefix/share/autotune/configs/hardware/ascend310.cfg\"" \
    autotune --op matmul --shape 64x64x64 -q --json
check 'it lists hardware' says '^ascend910b1 ' autotune list hw
check 'and kernels' says "^add_relu .*$prefix/share/autotune/kernels/library/add_relu.kernel" \
    autotune list kernels
check 'it tunes a kernel' says 'nothing in the space is faster' autotune --kernel add_relu --shape 4096 -q
check 'and sweeps' says '^bert-base ' autotune list sweeps
check 'it plans a sweep' says ' jobs' autotune sweep bert-base --dry-run

page=$prefix/share/man/man1/autotune.1
if command -v man >/dev/null && ! man --version 2>&1 | grep -q minimized; then
    check 'its manual page' says 'find the fastest tiling' env MANPATH="$prefix/share/man" MANPAGER=cat man autotune
else
    missing+=(man)
    check 'its manual page' says '^\.TH AUTOTUNE 1' cat "$page"
fi

nothing() { local said; said=$("$@"); [[ -z $said ]] || { echo "$said"; return 1; }; }

# Links of the documentation lead to what was installed, but for sources.
dead_links() {
    local doc link
    (cd "$prefix/share/doc/autotune" && find . -name '*.md' | while read -r doc; do
        grep -oE '\]\([^)#: ]+' "$doc" | cut -c 3- | while read -r link; do
            [[ -e $(dirname "$doc")/$link || $link == *.[ch] || $link == *.cfg || $link == https ]] || echo "$doc: $link"
        done
    done)
}
check "links of the documentation" nothing dead_links
check 'and there' test -s "$prefix/share/doc/autotune/docs/runtime.md"

# ------------------------------------------------------------------ completion

# What a line may go on with, by each shell: the words of it are the arguments, the last unfinished.
in_bash() {
    # shellcheck disable=SC2016 # for the shell within
    env -u LC_ALL bash --norc -c '
        source "$0/share/bash-completion/completions/autotune"
        COMP_WORDS=(autotune "$@") COMP_CWORD=$#
        _autotune
        printf "%s\n" "${COMPREPLY[@]}"' "$prefix" "$@"
}

in_zsh() {
    # shellcheck disable=SC2016
    zsh -f -c '
        _describe() { print -l -- ${found%%:*}; }
        _files() { :; }
        fpath=($1/share/zsh/site-functions $fpath)
        autoload -Uz _autotune
        words=(autotune "${@[2,-1]}") CURRENT=$#
        _autotune' zsh "$prefix" "$@"
}

in_fish() {
    # shellcheck disable=SC2016
    XDG_DATA_HOME=$work/fish XDG_CONFIG_HOME=$work/fish fish --no-config -c '
        source $argv[1]/share/fish/vendor_completions.d/autotune.fish
        complete -C "autotune $argv[2..-1]"' "$prefix" "$@" | cut -f 1
}

completes() { # shell, all that is expected, word…
    local shell=$1 expected=$2 found
    shift 2
    found=$("in_$shell" "$@" | sort | paste -sd ' ')
    [[ $found == "$expected" ]] || { echo "'$*' goes on with '$found', expected '$expected'"; return 1; }
}

for shell in bash zsh fish; do
    command -v $shell >/dev/null || { missing+=($shell); continue; }
    check "$shell: commands" completes $shell 'simulate' si
    check "$shell: options of the main job" completes $shell '--steps --strategy --strict' --st
    check "$shell: options of a command" completes $shell '--shard' sweep --sha
    check "$shell: strategies" completes $shell 'bound exhaustive random' --strategy ''
    check "$shell: operators" completes $shell 'cubefx knn matmul' explain --op ''
    check "$shell: hardware" completes $shell 'ascend310 ascend310-l1-2m' --op matmul --hw ascend31
    check "$shell: formats of the command" completes $shell 'html' analyse --format h
    check "$shell: choices" completes $shell 'b both' --transpose b
    check "$shell: sweeps" completes $shell 'bert-base bert-large' sweep bert
    check "$shell: words of a command" completes $shell 'export' store e
    check "$shell: what is listed" completes $shell 'strategies' list st
done
check 'bash: a value behind =' completes bash 'exhaustive' --strategy = e
check 'zsh and fish: a value behind =' says '^--strategy=exhaustive' autotune --complete --strategy=e

# Every option of every command that --help shows is offered.
all_options() { # command
    local help
    help=$(autotune "$1" --help | grep -oE '^ +(-., )?--[a-z-]+' | grep -oE -- '--[a-z-]+' | sort -u)
    diff <(echo "$help") <(autotune --complete "$1" -- | cut -f 1 | sort)
}
autotune --complete '' | cut -f 1 >"$work/commands"
check 'every command is offered' says '^list' cat "$work/commands"
while read -r command; do check "options of $command" all_options "$command"; done <"$work/commands"

((!${#missing[@]})) || echo "not tried, for want of it: ${missing[*]}"
finish
