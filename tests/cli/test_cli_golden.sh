#!/usr/bin/env bash
# What the command line prints, compared with tests/golden/cli/NAME.txt: the command, its answer,
# its messages and its exit status, with @SOURCE@ for the source folder and @SECONDS@, @THREADS@
# for what a machine decides.
#
#   tests/cli/test_cli_golden.sh AUTOTUNE SOURCE_DIR            compare
#   tests/cli/test_cli_golden.sh AUTOTUNE SOURCE_DIR --update   rewrite the golden files; read the diff
#   tests/cli/test_cli_golden.sh AUTOTUNE SOURCE_DIR --except EXPRESSION   compare all but these names
# shellcheck disable=SC2016,SC2086 # command lines for bash -c; lists of arguments
. "$(dirname "$0")/../support/script.sh"
mode=${3:-compare}
except=${4:-^$}
golden=$source_dir/tests/golden/cli
names=()

sanitise() {
    sed -e "s|$source_dir|@SOURCE@|g" -e "s|$work|@WORK@|g" \
        -e 's/^  time  *[0-9.]*  s$/  time @SECONDS@ s/' \
        -e 's/"seconds": [0-9.e+-]*/"seconds": @SECONDS@/' \
        -e 's/"threads": [0-9]*/"threads": @THREADS@/' \
        -e 's/^               [0-9.]* s, [0-9]* threads*$/               @SECONDS@ s, @THREADS@ threads/' \
        -e 's/, and this is "[^"]*"/, and this is "@CPU@"/'
}

# A command's answer as the golden file has it; programs are read from tests/golden/cli.
transcript() {
    echo "\$ autotune $*" | sanitise
    (cd "$golden" && "$autotune" "$@") >"$work/answer" 2>"$work/messages" </dev/null
    status=$?
    sanitise <"$work/answer"
    sed 's/^/stderr: /' "$work/messages" | sanitise
    echo "exit status $status"
}

golden() { # name arguments…
    name=$1
    shift
    names+=("$name.txt")
    [[ ! $name =~ $except ]] || return 0
    transcript "$@" >"$work/now"
    if [ "$mode" = --update ]; then
        cp "$work/now" "$golden/$name.txt"
    else
        same "$name: autotune $*" "$golden/$name.txt" "$work/now"
    fi
}

product="--op matmul --shape 512x1024x512"
odd="--op matmul --shape 100x64x50"

golden help --help
for command in tune program run simulate check analyse advise explain evaluate reproduce calibrate probe validate sweep merge network kernel list; do
    golden help-$command $command --help
done
golden version --version

for what in ops kernels hw spaces strategies formats sweeps; do
    golden list-$what list $what
done
golden list-hw-ascend310 list hw ascend310
golden list-hw-set list hw ascend310-l1-2m --set-hw issue_ns=20
golden list-json list ops --json
golden list-kernel list kernels add_relu
golden list-kernel-json list kernels add_relu --json
golden list-set-json list sweeps resnet-50 --json

calls=../../../docs/examples/network.csv
graph=../../../docs/examples/network.graph.txt
golden network network $calls --hw ascend910 --top 3
golden network-graph-json network $calls --hw ascend910 --graph $graph --subset l --json
golden network-csv network ../../../docs/examples/op_summary.csv --hw ascend910 --format csv
golden network-profile network ../../../docs/examples/op_summary.csv --hw ascend910
golden network-tune network $calls --hw ascend910b3 --tune --db "$work/network.db" --top 3
golden network-images network ../../../docs/examples/images.csv --hw ascend910 --tune --db "$work/images.db"
golden network-what-if network $calls --hw ascend910 --size batch=8 --what-if batch=4,16 --what-if cores=16,30
golden network-what-if-csv network $calls --hw ascend910 --what-if hw=ascend910b3 --what-if clock_mhz=1000 --format csv
golden network-subset network $calls --hw ascend910 --graph $graph --subset MatMul,Relu

golden probe probe
golden probe-list-json probe --json
golden probe-all probe --all --hw ascend910
golden probe-split probe l1-width --hw ascend910b1
golden probe-none probe l0c-width --hw ascend910b1
golden probe-json probe matrix-narrow --hw ascend910 --json
golden probe-csv probe matrix-narrow --hw ascend910 --format csv
golden probe-unknown probe vector-mas
golden probe-both probe cores --all
golden probe-cores probe cores --cores 2
golden probe-no-name probe --format csv
golden probe-other-computer probe cores --hw "$source_dir/tests/support/host-loops.cfg"
golden probe-not-here probe matrix-block --hw "$source_dir/tests/support/host-loops.cfg"

demo=../../../docs/examples/demo-chip.ini
golden platform-list list hw $demo
golden platform-list-split list hw split.ini
golden platform-found list hw "split" --hw-path .
golden platform-tune $odd --hw $demo
golden platform-tune-split $odd --hw split.ini --space thesis
golden platform-tune-split-k --op matmul --shape 16x1024x16 --hw split.ini
golden platform-mistyped list hw mistyped.ini
golden platform-truncated list hw truncated.ini

golden tune $product
golden tune-top $product --top 5
golden tune-json $product --json
golden tune-csv $product --top 5 --format csv
golden tune-one-core $odd --cores 1
golden tune-robust --op matmul --shape 96x64x80 --hw fitted.cfg --robust
golden tune-robust-json --op matmul --shape 96x64x80 --hw fitted.cfg --robust --json
at_hand=m_slice=32,k_slice=64,n_slice=16,buffers=1,resident=none,split=m,cores=1
golden tune-robust-over --op matmul --shape 96x64x80 --hw fitted.cfg --robust --over $at_hand
golden tune-robust-unknown $odd --robust
golden explain-no-batch explain --op matmul --shape 64x64x64 --set m_slice=64,k_slice=64,n_slice=64,buffers=1,resident=both,split=batch
golden tune-batch --op matmul --shape 64x64x64 --batch 3 --strategy exhaustive
golden tune-tiny --op matmul --shape 1x1x1
golden tune-none $product --set-hw buffers.l0a.capacity_bytes=256
golden tune-none-json $product --set-hw buffers.l0a.capacity_bytes=256 --json
golden tune-verbose $odd --verbose --cores 1

golden sweep-plan sweep sweep.cfg --dry-run --threads 2
golden sweep-plan-json sweep sweep.csv --dry-run --threads 2 --json
golden sweep-plan-shard sweep sweep.cfg --dry-run --threads 2 --shard 2/3
golden sweep-set sweep llama-2-70b-decode --dry-run --threads 2 --hw ascend910
golden sweep-shard sweep sweep.cfg --shard 2/3 --db "$work/part.db"
golden sweep-plan-rest sweep sweep.cfg --dry-run --threads 2 --db "$work/part.db"
golden sweep-plan-rest-json sweep sweep.cfg --shard 1/2 --dry-run --json --db "$work/part.db"
golden sweep-table sweep sweep.cfg --db "$work/table.db"
golden sweep-again sweep sweep.cfg --db "$work/table.db" --json
golden sweep-rows sweep sweep.csv --db "$work/rows.db" -q
golden sweep-calls-json sweep "$source_dir/docs/examples/calls.csv" --db "$work/calls.db" --json -q
golden tune-stored $odd --cores 1 --db "$work/tune.db"
golden tune-from-store $odd --cores 1 --db "$work/tune.db"
golden tune-from-store-json $odd --cores 1 --db "$work/tune.db" --json
golden tune-fresh $odd --cores 1 --db "$work/tune.db" --fresh --format csv
golden merge merge "$work/all.db" "$work/table.db" "$work/tune.db" --sweep sweep.cfg
golden merge-missing merge "$work/other.db" "$work/tune.db" --sweep sweep.cfg --json

points="--op knn --shape 100x48x512 --k 4"
golden tune-knn $points
golden tune-knn-top $points --top 3 --compare
golden tune-knn-choices --op knn --shape 64x32x256 --k 2 --cores 1 --loop full --vec-compare relu \
    --index vector --steps max
golden tune-knn-json $points --json --compare
golden tune-knn-csv $points --top 3 --format csv
golden tune-knn-none $points --set-hw buffers.ub.capacity_bytes=64

inputs="--op cubefx --shape 4096 --order 6"
golden tune-cubefx $inputs --functions 4
golden tune-cubefx-compare $inputs --function sin,tan,gelu --expand-at 0.5 --compare --top 3
golden tune-cubefx-mac $inputs --functions 4 --mac 4 --transfer-weight 0.01
golden tune-cubefx-json $inputs --function sin,cos --compare --json
golden tune-cubefx-csv $inputs --functions 4 --top 3 --format csv
golden tune-cubefx-none --op cubefx --shape 16 --order 16 --functions 4096

# A processor, by the model alone: measured times are never the same.
host="--hw ../../support/host-loops.cfg"
golden host-tune $product $host --validate 0
golden host-tune-top --op matmul --shape 17x129x33 $host --validate 0 --cores 1 --top 4
golden host-tune-json $product $host --validate 0 --json
golden host-tune-csv $product $host --validate 0 --top 3 --format csv
golden host-tune-exhaustive $product $host --validate 0 --strategy exhaustive --threads 1
golden host-tune-knn --op knn --shape 512x64x2048 --k 16 $host --validate 0
golden host-tune-cubefx --op cubefx --shape 16384 --order 8 --functions 4 $host --validate 0
golden host-explain explain $product $host \
    --set kernel=12x2,m_tile=97,k_tile=128,n_tile=128,pack_a=no,pack_b=no,order=n,store=cached,split=m
golden host-other-machine $product $host
golden host-other-machine-validate validate $product $host
golden host-program program $product $host
golden host-simulate simulate pipeline.asm $host
golden host-analyse analyse pipeline.asm $host
golden host-advise advise pipeline.asm $host
golden host-check check pipeline.asm $host
golden host-type $product $host --validate 0 --dtype f16
golden host-space $product $host --validate 0 --space thesis
golden host-compare --op knn --shape 512x64x2048 --k 16 $host --validate 0 --compare
golden host-export $product $host --validate 0 --format runtime_kb
golden host-robust $product $host --validate 0 --robust
golden validate-chip $product --validate 8
golden validate-command-chip validate $product
golden space-chip $product --space host

golden explain-legal explain $product \
    --set m_slice=64,k_slice=64,n_slice=64,buffers=2,resident=a,split=m
golden explain-illegal explain $product \
    --set m_slice=64,k_slice=64,n_slice=64,buffers=2,resident=both,split=m
golden explain-several explain $product \
    --set m_slice=256,k_slice=256,n_slice=256,buffers=2,resident=both,split=m
golden explain-off-axis explain $product \
    --set m_slice=65,k_slice=64,n_slice=64,buffers=3,resident=both,split=n
golden explain-json explain $product --json \
    --set m_slice=256,k_slice=256,n_slice=256,buffers=2,resident=both,split=m
golden explain-none explain $product --set-hw buffers.l0a.capacity_bytes=256 \
    --set m_slice=64,k_slice=64,n_slice=64,buffers=1,resident=a,split=m

golden explain-knn-legal explain $points --set m1=64,n1=512,m2=32,n2=256
golden explain-knn explain $points --set m1=70,n1=4096,m2=64,n2=5000
golden explain-knn-json explain $points --set m1=64,n1=512,m2=64,n2=100000 --json
golden explain-cubefx explain $inputs --functions 4 --set merge=17,tile=100,segments=40
golden explain-cubefx-json explain $inputs --functions 40 --set merge=16,tile=4096,segments=1 --json

for part in distance idle step full; do
    golden program-knn-$part program --op knn --shape 32x16x64 --k 2 --part $part
done
golden program-knn-set program --op knn --shape 32x16x64 --k 2 --vec-compare relu --index vector \
    --set m1=16,n1=64,m2=16,n2=32 --part step
golden program-knn-illegal program $points --set m1=64,n1=512,m2=64,n2=100000
golden program-cubefx program --op cubefx --shape 512 --order 3 --functions 2 --cores 1
golden program-cubefx-json program --op cubefx --shape 256 --order 3 --functions 2 --part kernel \
    --set merge=1,tile=256,segments=1 --json

golden program program $odd --set m_slice=64,k_slice=32,n_slice=64,buffers=2,resident=both,split=m
golden program-one-core program $odd --cores 1 \
    --set m_slice=112,k_slice=64,n_slice=64,buffers=1,resident=both,split=m
golden program-json program --op matmul --shape 16x16x16 --json
golden program-illegal program $product \
    --set m_slice=256,k_slice=256,n_slice=256,buffers=2,resident=both,split=m
golden program-none program $product --set-hw buffers.l0a.capacity_bytes=256

golden simulate simulate pipeline.asm
golden simulate-json simulate pipeline.asm --json
golden simulate-one-core simulate pipeline.asm --cores 1
golden simulate-separately simulate pipeline.asm --skew
golden simulate-empty simulate /dev/null
golden simulate-deadlock simulate deadlock.asm
golden simulate-deadlock-json simulate deadlock.asm --json
golden simulate-broken simulate broken.asm

golden check-ok check pipeline.asm
golden check-findings check findings.asm
golden check-json check findings.asm --json
golden check-ok-json check pipeline.asm --json
golden check-deadlock check deadlock.asm
golden check-tilings check --runtime-kb tilings.jsonl --hw ascend910b1
golden check-tilings-json check --runtime-kb tilings.jsonl --hw ascend910b1 --json

golden analyse analyse pipeline.asm
golden analyse-json analyse pipeline.asm --json
golden analyse-thresholds analyse pipeline.asm --cores 1 --active-ratio 0.3 --utilisation-cube 1
golden analyse-split analyse split.asm --hw split.ini
golden analyse-inefficient analyse short.asm
golden analyse-types analyse types.asm --hw split.ini --cores 1
golden analyse-waiting analyse waiting.asm --set-hw buses.interconnect.total_gbps.4=50
golden analyse-deadlock analyse deadlock.asm
golden analyse-deadlock-json analyse deadlock.asm --json
golden analyse-empty analyse /dev/null
golden analyse-broken analyse broken.asm
golden analyse-csv analyse pipeline.asm --format csv
golden analyse-profile analyse op_summary.csv --top 3
golden analyse-profile-chip analyse op_summary.csv --hw ascend310 --json
golden analyse-profile-csv analyse op_summary.csv --hw ascend310 --format csv
golden analyse-profile-blocks analyse PipeUtilization.csv --format csv --utilisation 0.9
golden analyse-profile-damaged analyse kernel_details-damaged.csv --hw ascend910b3 --format csv
golden analyse-profile-damaged-json analyse kernel_details-damaged.csv --json
golden analyse-profile-no-times analyse no-times.csv
golden analyse-profile-none analyse ../../fuzz/curves/all.csv
modes=../../../docs/examples/profile
golden analyse-profile-joined analyse $modes --hw ascend910b3
golden analyse-profile-joined-json analyse $modes/l2-cache.csv $modes/pipe.csv $modes/arithmetic.csv --hw ascend910b3 --json
golden analyse-profile-arithmetic analyse $modes/arithmetic.csv --format csv
golden analyse-profile-access analyse $modes/memory-access.csv --hw ascend910b3 --format csv
golden analyse-profile-unlike analyse $modes/pipe.csv op_summary.csv --format csv
golden analyse-profile-twice analyse $modes $modes/pipe.csv
golden analyse-profile-program analyse $modes/pipe.csv pipeline.asm
golden analyse-profile-no-folder analyse ../../../docs/examples/roofline

advisable=../../../docs/examples/advise.txt
golden advise advise $advisable --cores 1
golden advise-json advise $advisable --cores 1 --json --chain 2
golden advise-apply advise $advisable --cores 1 --apply MRT --apply PP
golden advise-apply-diff advise $advisable --cores 1 --apply RSD --format diff
golden advise-apply-json advise $advisable --cores 1 --apply rus --json
golden advise-best advise $advisable --cores 1 --apply best
golden advise-apply-none advise $advisable --cores 1 --apply AIP
golden advise-leftover advise leftover.asm --cores 1 --set-hw dispatch_ns=20 --apply PP
golden advise-nothing advise pipeline.asm
golden advise-short advise short.asm --chain 0
golden advise-unsafe advise findings.asm
golden advise-unsafe-json advise findings.asm --json
golden advise-deadlock-json advise deadlock.asm --json
golden advise-empty advise /dev/null
golden advise-broken advise broken.asm

golden evaluate evaluate bank.jsonl --hw split.ini
golden evaluate-json evaluate bank.jsonl --hw split.ini --worst 1 --json
golden evaluate-csv evaluate bank.jsonl --hw split.ini --format csv
golden evaluate-damaged evaluate bank-damaged.jsonl --hw split.ini
golden evaluate-keep-going evaluate bank-damaged.jsonl --hw split.ini --keep-going --json
golden evaluate-override evaluate bank.jsonl --hw split.ini --set-hw clock_mhz=500 --cores 1
golden evaluate-against evaluate bank.jsonl --hw split.ini --against --time-limit 100
golden evaluate-against-json evaluate bank.jsonl --hw split.ini --against --time-limit 100 --json
golden evaluate-ranking evaluate bank.jsonl --hw split.ini --ranking --worst 1
golden evaluate-ranking-json evaluate bank.jsonl --hw split.ini --ranking --seed 2 --json
golden evaluate-ladder evaluate ../../../docs/examples/ladder-910b1.json --hw ascend910b1
golden evaluate-none evaluate bank.jsonl --hw ascend310

# A golden file that no case writes is a leftover.
for file in "$golden"/*.txt; do
    case " ${names[*]} " in
    *" ${file##*/} "*) ;;
    *) fail "$file belongs to no case" ;;
    esac
done
finish
