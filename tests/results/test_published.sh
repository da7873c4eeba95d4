#!/usr/bin/env bash
# Published figures are what the program gives: every file of results/published has a header and
# names its commands; those that take seconds give what is published, the others are of this model
# and of these chips; and what the documentation quotes stands in the files.
#
#   tests/results/test_published.sh AUTOTUNE SOURCE_DIR
#
# $AUTOTUNE_BANK_FILES is a folder with measured/ of banks; what needs it is skipped without it.
# Nothing that is measured in seconds is compared.
. "$(dirname "$0")/../support/script.sh"
build=$(dirname "$autotune")
published=$source_dir/results/published
rerun=$published/rerun
# Figures are the same from any build, and sanitizers find nothing here that other tests do not.
[[ -z ${AUTOTUNE_SLOW:-} ]] || skip 'a slow build'
needs jq
[[ -x $build/contention_monitor ]] || skip "no $build/contention_monitor"

has_header() { # file
    local keys kind
    keys=$(sed -n '3,/^$/p' "$1" | awk 'NF { printf "%s%s", s, $1; s = " " }')
    kind=$(sed -n 's/^kind *//p' "$1" | head -1)
    case $kind:$keys in
    'simulated:kind program chips machine recorded' | 'timed:kind program machine recorded') pass ;;
    *) fail "$1: the header has '$keys' for kind '$kind'" ;;
    esac
    if grep -qE '^(long)?\$ .' "$1"; then pass; else fail "$1: no command"; fi
    if [[ $(grep -cE '^(long)?\$ .' "$1") -eq $(grep -c '^\$$' "$1") ]]; then pass; else
        fail "$1: a command whose output does not end with '\$'"
    fi
    if grep -qF "$source_dir" "$1"; then fail "$1: it names this source folder"; else pass; fi
}

# A page, what it says, and what has to stand in a published file for that.
quotes() {
    cat <<'QUOTES'
docs/sweeps.md	take some 14 s	sweep	14.3 s (median
docs/sweeps.md	one 7.3 s)	sweep	7.3 s on a faster machine
docs/sweeps.md	at most 2 % of it	sweep	at most 1.99 % over the searches
docs/sweeps.md	3 % longer than one	sweep	median 1.030 times as long
docs/runtime.md	before takes 5 to 9 ns	host-gemm	1.3e-07         9 exact
docs/banks.md	| 910B2: all | 18.0 %, 9.3 %, 0.982	accuracy	18 %                 9.28 %             -0.779 %
docs/banks.md	15.7 %, 7.3 %, 0.984	accuracy	corrected               15.7 %                 7.32 %    0.9841                 80.1 %
docs/banks.md	| 14.0 %, 7.5 % | 12.4 %, 6.1 %	accuracy	corrected               12.4 %                 6.08 %    0.9718
docs/banks.md	| 8.4 %, 5.0 % | 7.2 %, 4.2 %	accuracy	corrected               7.15 %                 4.17 %     0.996
docs/banks.md	| 8.2 %, 5.1 % | 7.4 %, 4.2 %	accuracy	corrected               7.36 %                 4.24 %    0.9946
docs/banks.md	| 19.9 %, 18.1 %, 0.986 | 11.5 %, 7.1 %, 0.985	accuracy	corrected               11.5 %                 7.14 %    0.9853                 81.0 %
docs/banks.md	by row +11.9, +8.4, −1.4, +8.2, +10.9 and −5.1 %	accuracy	759.4 ms   849.9 ms          11.9 %
docs/matmul.md	| 8192x8192x8192 | 164,588,090,668 |	heuristics	164,588,090,668 are
docs/reproduce.md	54.7 % of the peak, not 23.6	reproduction	23.64     54.66
docs/case-studies.md	gets faster by 2.4, R's by 1.26	r-case-studies	Depthwise must become 2.6 times
README.md	results/published/bench.txt	bench	4096x4096x4096
QUOTES
}

check_quotes() {
    local page text file figure
    while IFS=$'\t' read -r page text file figure; do
        if grep -qF -- "$text" "$source_dir/$page"; then pass; else fail "$page no longer says '$text'"; fi
        if grep -qF -- "$figure" "$published/$file.txt"; then pass; else
            fail "$page says '$text', but $file.txt has no '$figure'"
        fi
    done < <(quotes)
}

# Whatever page speaks of a published file speaks of one that is there.
check_links() {
    local name
    while read -r name; do
        if [[ -e $source_dir/$name ]]; then pass; else fail "$name is spoken of, and not there"; fi
    done < <(grep -rhoE 'results/published/[a-z0-9-]+(\.txt)?' "$source_dir"/{README.md,CONTRIBUTING.md,docs,bench} | sort -u)
}

# The script sees a figure that is another, a model that is another, and a chip that is.
finds_changes() { # what, sed expression
    local copy=$work/source
    rm -rf "$copy" && mkdir -p "$copy/results/published" "$copy/core"
    ln -s "$source_dir"/{bench,configs,docs,tests} "$copy/"
    cp "$source_dir/core/version.h" "$copy/core/"
    cp "$rerun" "$copy/results/published/"
    sed -E "$2" "$published/contention-monitor.txt" >"$copy/results/published/contention-monitor.txt"
    if "$copy/results/published/rerun" --build "$build" >"$work/out" 2>&1; then
        fail "a change of $1 is not found"
    else
        pass
    fi
    "$copy/results/published/rerun" --build "$build" --record >"$work/out" 2>&1 || fail "record: $(cat "$work/out")"
    if diff <(grep -v '^program' "$published/contention-monitor.txt" | grep -v ^recorded) \
        <(grep -v '^program' "$copy/results/published/contention-monitor.txt" | grep -v ^recorded); then
        pass
    else
        fail "what is recorded after a change of $1 is not what is published"
    fi
}

for file in "$published"/*.txt; do has_header "$file"; done
if "$rerun" --build "$build" >"$work/out" 2>&1; then pass; else
    fail "figures are no longer so; results/published/rerun --record --long writes them anew"
fi
grep -v 'as published\|left alone' "$work/out"
finds_changes 'a figure' 's/^(40960.*)1/\12/'
finds_changes 'the model' '/^program/s/[0-9]+$/0/'
finds_changes 'a chip' '/^chips/s/[0-9a-f]+$/0/'
check_quotes
check_links
finish
