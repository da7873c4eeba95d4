#!/usr/bin/env bash
# The published runs of the paper whose Algorithm 1 the graph follows, where they are at hand: every
# subset comes out exactly as published, and every row is answered. AUTOTUNE_NETWORK_RUNS names
# their folder (RUN.csv.gz, RUN.nodes.csv.gz, RUN.fullgraph.txt.gz, RUN.subgraph.txt.gz); without it
# there is nothing to test. With the rows that tools/mindspore-graph finds, a graph takes what the
# rows of its nodes do.
#
#   tests/network/test_network_runs.sh AUTOTUNE SOURCE_DIR
. "$(dirname "$0")/../support/script.sh"
tool=$source_dir/tools/mindspore-graph
runs=${AUTOTUNE_NETWORK_RUNS:-}
[ -n "$runs" ] || skip 'AUTOTUNE_NETWORK_RUNS names no folder'
needs jq

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
    jq -r '.operators[].predicted_us' json | awk -v OFMT=%.15g '
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
        }' part=times - part=nodes nodes.csv part=graph fullgraph.txt
}

check_rows() { # run
    local sum of_graph
    check "$1: tools/mindspore-graph" "$tool" csv nodes.csv fullgraph.txt
    "$tool" csv nodes.csv fullgraph.txt >graph.txt 2>/dev/null
    answer 0 network csv --hw ascend910 --graph graph.txt --subset l --json -o json
    sum=$(sum_of_rows)
    of_graph=$(jq .graph.sum_us json)
    check "$1: the graph takes $of_graph us, the rows of its nodes $sum" jq -en --arg rows "$sum" \
        --arg graph "$of_graph" '($graph | tonumber) / ($rows | tonumber) - 1 | fabs < 1e-9'
}

check_run() { # run
    local part
    for part in csv nodes.csv fullgraph.txt subgraph.txt; do
        gzip -dc "$runs/$1.$part.gz" >"$part" || return
    done
    answer 0 network csv --hw ascend910 --graph fullgraph.txt --subset l \
        --dot dot --json -o json
    same "$1: the published subgraph" <(published subgraph.txt) <(drawn dot)
    equal "$1: an operator a row" $(($(wc -l <csv) - 1)) "$(grep -c '"count":' json)"
    check_rows "$1"
}

for file in "$runs"/*.subgraph.txt.gz; do
    check_run "$(basename "$file" .subgraph.txt.gz)"
done
finish
