#!/usr/bin/env bash
# The published runs of the paper whose Algorithm 1 the graph follows, where they are at hand: every
# subset comes out exactly as published, and every row is answered. AUTOTUNE_NETWORK_RUNS names
# their folder (RUN.csv.gz, RUN.nodes.csv.gz, RUN.fullgraph.txt.gz, RUN.subgraph.txt.gz); without it
# there is nothing to test. With the rows that tools/mindspore-graph finds, a graph takes what the
# rows of its nodes do.
#
#   tests/network/test_network_runs.sh AUTOTUNE SOURCE_DIR
set -u
export LC_ALL=C
autotune=$1
tool=$2/tools/mindspore-graph
export AUTOTUNE_CONFIGS=$2/configs XDG_CONFIG_HOME=/nonexistent
runs=${AUTOTUNE_NETWORK_RUNS:-}
if [ -z "$runs" ]; then
    echo "skipped: AUTOTUNE_NETWORK_RUNS names no folder"
    exit 77
fi
command -v jq >/dev/null || { echo "SKIP: no jq"; exit 77; }
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

# What the nodes that the file selects take together, by their names and rows alone.
sum_of_rows() {
    jq -r '.operators[].predicted_us' "$work/json" | awk -v OFMT=%.15g '
        part == "times" { time[FNR - 1] = $1 }
        part == "nodes" { split($0, fields, ","); row[fields[1]] = fields[2] }
        part == "graph" && /\t/ { name[$1] = $2 }
        part == "graph" { last = $0 }
        END {
            count = split(last, ids, " ")
            for (i = 1; i <= count; i++)
                if (name[ids[i]] in row)
                    sum += time[row[name[ids[i]]]]
                else
                    untimed++
            print untimed ? untimed " nodes have no row" : sum
        }' part=times - part=nodes "$work/nodes.csv" part=graph "$work/fullgraph.txt"
}

check_rows() { # run
    local sum of_graph
    "$tool" "$work/csv" "$work/nodes.csv" "$work/fullgraph.txt" >"$work/graph.txt" 2>/dev/null
    check "$1: tools/mindspore-graph" $?
    "$autotune" network "$work/csv" --hw ascend910 --graph "$work/graph.txt" --subset l --json -o "$work/json"
    sum=$(sum_of_rows)
    of_graph=$(jq .graph.sum_us "$work/json")
    jq -en --arg rows "$sum" --arg graph "$of_graph" '($graph | tonumber) / ($rows | tonumber) - 1 | fabs < 1e-9' >/dev/null
    check "$1: the graph takes $of_graph us, the rows of its nodes $sum" $?
}

check_run() { # run
    local part
    for part in csv nodes.csv fullgraph.txt subgraph.txt; do
        gzip -dc "$runs/$1.$part.gz" >"$work/$part" || return
    done
    "$autotune" network "$work/csv" --hw ascend910 --graph "$work/fullgraph.txt" --subset l \
        --dot "$work/dot" --json -o "$work/json"
    check "$1: exit status" $?
    diff <(published "$work/subgraph.txt") <(drawn "$work/dot") >"$work/difference"
    check "$1: the published subgraph, $(wc -l <"$work/difference") lines differ" $?
    [ "$(grep -c '"count":' "$work/json")" = $(($(wc -l <"$work/csv") - 1)) ]
    check "$1: an operator a row" $?
    check_rows "$1"
}

for file in "$runs"/*.subgraph.txt.gz; do
    check_run "$(basename "$file" .subgraph.txt.gz)"
done
echo "$passed passed, $failed failed"
((failed == 0))
