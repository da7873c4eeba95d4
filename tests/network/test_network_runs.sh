#!/usr/bin/env bash
# The published runs of the paper whose Algorithm 1 the graph follows, where they are at hand: every
# subset comes out exactly as published, and every row is answered. AUTOTUNE_NETWORK_RUNS names
# their folder (RUN.csv.gz, RUN.fullgraph.txt.gz, RUN.subgraph.txt.gz); without it there is nothing
# to test.
#
#   tests/network/test_network_runs.sh AUTOTUNE SOURCE_DIR
set -u
export LC_ALL=C
autotune=$1
export AUTOTUNE_CONFIGS=$2/configs XDG_CONFIG_HOME=/nonexistent
runs=${AUTOTUNE_NETWORK_RUNS:-}
if [ -z "$runs" ]; then
    echo "skipped: AUTOTUNE_NETWORK_RUNS names no folder"
    exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0
failed=0

check() { # what, condition's status
    if [ "$2" = 0 ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED $1"
    fi
}

# "node" and "input node" lines of the subset as published: an id and a name, then a line of inputs
# and one of outputs, each behind its count.
published() {
    awk 'NR % 3 == 1 { node = $1; print node }
         NR % 3 == 2 { for (i = 2; i <= NF; i++) print $i, node }' "$1" | sort
}

# The same of a graph for Graphviz.
drawn() {
    sed -nE -e 's/^  n([0-9]+) \[.*/\1/p' -e 's/^  n([0-9]+) -> n([0-9]+);$/\1 \2/p' "$1" | sort
}

check_run() { # run
    local part
    for part in csv fullgraph.txt subgraph.txt; do
        gzip -dc "$runs/$1.$part.gz" >"$work/$part" || return
    done
    "$autotune" network "$work/csv" --hw ascend910 --graph "$work/fullgraph.txt" --subset l \
        --dot "$work/dot" --json -o "$work/json"
    check "$1: exit status" $?
    diff <(published "$work/subgraph.txt") <(drawn "$work/dot") >"$work/difference"
    check "$1: the published subgraph, $(wc -l <"$work/difference") lines differ" $?
    [ "$(grep -c '"count":' "$work/json")" = $(($(wc -l <"$work/csv") - 1)) ]
    check "$1: an operator a row" $?
}

for file in "$runs"/*.subgraph.txt.gz; do
    check_run "$(basename "$file" .subgraph.txt.gz)"
done
echo "$passed passed, $failed failed"
((failed == 0))
