#!/usr/bin/env bash
# MindSpore's computation graph of a made-up run becomes the text that `autotune network` reads:
# each node has the time of its own row, and files that do not belong together are refused.
#
#   tests/tools/test_mindspore_graph.sh AUTOTUNE SOURCE_DIR
. "$(dirname "$0")/../support/script.sh"
needs jq

# Two products of one kind that take quite different times, and a node that was not timed.
make_run() {
    cat >run.csv <<'CSV'
run,sig,op_type,in_shapes,in_formats,in_dtypes,out_shapes,out_formats,out_dtypes,count
r,7,MatMul,64x16,ND,FLOAT,64x16,ND,FLOAT,1
r,3,MatMul,4096x4096;4096x4096,ND;ND,FLOAT;FLOAT,4096x4096,ND,FLOAT,2
r,4,ReLU,4096x4096,ND,FLOAT,4096x4096,ND,FLOAT,1
CSV
    cat >run.nodes.csv <<'CSV'
full_op_name,sig,task_id
Default/a/MatMul-op1,7,0
Default/b/MatMul-op2,3,1
Default/b/ReLU-op3,4,2
Default/c/MatMul-op9,3,3
CSV
    printf '%s\n' $'1\tDefault/GetNext-op0' $'2\tDefault/a/MatMul-op1' 1 $'5\tDefault/b/MatMul-op2' \
        '2 cst1' $'6\tDefault/b/ReLU-op3' 5 '2 5' >run.fullgraph.txt
}

convert() { "$source_dir/tools/mindspore-graph" run.csv run.nodes.csv run.fullgraph.txt >graph.txt 2>said; }

check_graph() { # what
    check "$1" convert
    printf '%s\n' $'1\tDefault/GetNext-op0' $'2\tDefault/a/MatMul-op1\t0' 1 \
        $'5\tDefault/b/MatMul-op2\t1' '2 cst1' $'6\tDefault/b/ReLU-op3\t2' 5 '2 5' >expected.txt
    same "$1" expected.txt graph.txt
    equal "$1" '3 of 4 nodes have a row' "$(cat said)"
}

# The graph's sum is that of the rows of its nodes; without rows it would be three means.
check_times() {
    answer 0 network run.csv --hw ascend910 --graph graph.txt --json
    holds '([.operators[].predicted_us] | add) as $sum
        | .graph.nodes == 4 and (.graph.sum_us / $sum - 1 | fabs) < 1e-9
          and .operators[1].predicted_us > 2 * .operators[0].predicted_us'
}

refuses() { # what is expected, file, sed expression
    make_run
    sed -i "$3" "$2"
    convert
    local status=$?
    if [ "$status" = 2 ] && [ ! -s graph.txt ] && [ "$(wc -l <said)" = 1 ] && grep -qF -- "$1" said; then
        pass
    else
        fail "$2 with $3: status $status, '$(cat said)', expected '$1'"
    fi
}

make_run
check_graph 'as it is'
check_times
gzip run.nodes.csv && mv run.nodes.csv.gz run.nodes.csv
sed -i 's/$/\r/' run.fullgraph.txt
check_graph 'packed, and with lines of Windows'
refuses "run.csv:1: 'run,SIG," run.csv 's/sig/SIG/'
refuses "run.csv:3: '7': expected each sig once" run.csv 's/^r,3/r,7/'
refuses "run.csv:4: 'r,4': expected 10 fields" run.csv '4s/,ReLU.*//'
refuses "run.nodes.csv:3: '8': expected a sig of run.csv" run.nodes.csv 's/op2,3/op2,8/'
refuses "run.nodes.csv:4: 'Default/b/ReLU-op3': expected a node of the kind of its row of run.csv, MatMul" \
    run.nodes.csv 's/op3,4/op3,3/'
refuses "run.nodes.csv:5: 'Default/b/MatMul-op2': expected one sig for each name" run.nodes.csv \
    's/^.*op9,3/Default\/b\/MatMul-op2,7/'
refuses 'expected nodes of run.nodes.csv' run.fullgraph.txt 's/Default/Other/'
rm run.csv
check 'a missing file' not convert
check 'which is named' grep -q 'run.csv: expected a readable file' said
check 'there is help' grep -q RUN.fullgraph.txt <("$source_dir/tools/mindspore-graph" --help)
finish
