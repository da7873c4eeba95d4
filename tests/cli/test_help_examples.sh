#!/usr/bin/env bash
# Every example of every --help runs, in a folder that has the files which they name.
#
#   tests/cli/test_help_examples.sh AUTOTUNE SOURCE_DIR
#
# What needs a cluster or measures this machine for minutes is left out, and said.
. "$(dirname "$0")/../support/script.sh"
mkdir bin files
ln -s "$autotune" bin/autotune
PATH=$work/bin:$PATH
left_out=0
limit_s=300
[ -z "${AUTOTUNE_SLOW-}" ] || limit_s=900

# The files that examples name.
make_files() {
    local golden=$source_dir/tests/golden/cli examples=$source_dir/docs/examples
    ln -s "$source_dir/docs" docs
    cp "$examples/advise.txt" kernel.txt
    cp "$examples/op_summary.csv" op_summary.csv
    gzip -c op_summary.csv >op_summary.csv.gz
    cp "$golden/op_summary.csv" kernel_details.csv
    cp "$examples"/profile/*.csv .
    cp "$source_dir/tests/fuzz/onnx/small.onnx" model.onnx
    cp "$examples/network.csv" run.csv
    cp "$examples/network.graph.txt" run.txt
    { head -n 1 run.csv; for _ in {1..3}; do tail -n +2 run.csv; done; } >bert_32.csv
    cp bert_32.csv resnet50_16.csv
    cp "$golden/fitted.cfg" fitted.cfg
    cp "$AUTOTUNE_CONFIGS/hardware/ascend910b2.cfg" my910b2.cfg
    cp "$golden/bank.jsonl" matmul_repository.jsonl
    for _ in {1..45}; do cat "$golden/bank.jsonl"; done >repository.jsonl
    cp "$examples/cann-heuristics.json" bank.json
    # 100 ns and 300 bytes a ns
    awk 'BEGIN {
        print "kind,name,chip,x,value,unit_x,unit_value"
        for (kib = 1; kib <= 64; kib *= 2)
            printf "mov,GM_TO_L1_910b1,910b1,%d,%.6f,KiB,GB/s(GiB)\n", kib,
                kib * 1024 / (100 + kib * 1024 / 300) * 1e9 / 2^30
    }' >curves.csv
    cp curves.csv instruction-curves.csv
    autotune probe --all --hw ascend910b2 -o probes.csv
    printf 'op,shape\nmatmul,64x64x64\nmatmul,512x64x64\nmatmul,64x128x64\n' >shapes.csv
    cp "$golden/sweep.cfg" chips.cfg
    autotune --op matmul --shape 64x64x64 --hw ascend910b1 --format runtime_kb -o runtime_kb.json
    for db in results before after; do autotune sweep shapes.csv --db $db.db -q >/dev/null; done
    autotune sweep shapes.csv --hw ascend910b1 --db results910.db -q >/dev/null
    for part in 1 2; do
        autotune sweep shapes.csv --shard $part/2 -q >/dev/null
        cp autotune.$part-of-2.db part$part.db
    done
    autotune store export results.db -o results.jsonl
    autotune run --kernel add_relu --shape 1000 -o made >/dev/null
    cp made/Z.npy x.npy
    cp made/Z.npy y.npy
    autotune program --op matmul --shape 64x64x64 --hw ascend910b1 >split.txt
}

# A command a line; those that go on after a backslash are joined.
examples_of() { # command
    autotune "$1" --help | sed -n '/^Examples\{0,1\}:$/,$p' | sed 1d |
        sed -e ':more' -e '/\\$/{N;s/ *\\\n */ /;b more' -e '}' -e 's/^ *//' -e '/^$/d'
}

# Why an example is left out, or nothing.
reason_for_none() { # example
    case $1 in
    *--slurm*) echo 'needs a Slurm cluster' ;;
    *'--hw host'*) echo 'measures this machine for minutes' ;;
    *'| patch'*) command -v patch >/dev/null || echo 'needs patch' ;;
    esac
}

# The same with less to do, or with what is there.
quick() { # example
    sed -e 's/^autotune reproduce$/autotune reproduce L/' -e 's/--time-limit 600/--time-limit 2/' -e 's/--shape 1280x128x204800/--shape 128x128x2048/' \
        -e 's/kernel.txt --hw ascend910b1/split.txt --hw ascend910b1/' \
        -e 's/results.db --hw ascend910b1/results910.db --hw ascend910b1/' <<<"$1"
}

try_example() { # example
    local reason command status
    reason=$(reason_for_none "$1")
    if [ -n "$reason" ]; then
        echo "left out: $1: $reason"
        left_out=$((left_out + 1))
        return
    fi
    command=$(quick "$1")
    rm -rf "$work/here"
    mkdir "$work/here"
    cp -a "$work/files/." "$work/here"
    (cd "$work/here" && timeout $limit_s bash -c "set -o pipefail; $command") </dev/null \
        >"$work/answer" 2>"$work/messages"
    status=$?
    if [ $status -eq 0 ] && [[ $1 == autotune* || $1 == zcat* ]]; then pass; else
        fail "$command: exit status $status: $(tail -n 3 "$work/messages" "$work/answer")"
    fi
}

cd files || exit 2
make_files
for command in $(commands); do
    examples=$(examples_of "$command")
    check "$command --help has an example" test -n "$examples"
    while IFS= read -r example; do try_example "$example"; done <<<"$examples"
done
echo "$left_out examples are left out"
finish
