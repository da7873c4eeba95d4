# shellcheck shell=bash disable=SC2154
# Every command with all of its files, for tests about all commands: to be sourced behind script.sh.
# The files lie in $work/here, which is then the folder of work.

mkdir -p "$work/here/configs" "$work/here/new.db.slurm" "$work/user/autotune/hardware"
cd "$work/here" || exit 1
cp -r "$source_dir"/configs/{hardware,platform,sweeps} configs
export AUTOTUNE_CONFIGS=$work/here/configs XDG_CONFIG_HOME=$work/user
cp configs/hardware/ascend310.cfg below.cfg
printf 'base = "below.cfg"; name = "a variant"; source = "assumed: a test"; set = ["cores=2"];\n' \
    >chip.cfg
cp "$source_dir/docs/examples/demo-chip.ini" .
cp "$source_dir/docs/examples/kernels/softmax.txt" kernel.txt
cp "$source_dir/docs/examples/op_summary.csv" profile.csv
cp "$source_dir/docs/examples/network.csv" "$source_dir/docs/examples/network.graph.txt" .
cp "$source_dir/docs/examples/cann-heuristics.json" bank.json
cp "$source_dir/tests/fuzz/curves/all.csv" curves.csv
cp "$source_dir/tests/fuzz/bank/runtime.json" table.json
cp "$source_dir/kernels/library/add_relu.kernel" mine.kernel
"$autotune" --kernel mine.kernel --shape 64 -q --db texts.db -o /dev/null || exit 1
printf 'op,shape,hw\nmatmul,64x64x64,chip.cfg\n' >jobs.csv
product=(--op matmul --shape 64x64x64 --hw chip.cfg)
set='m_slice=64,k_slice=32,n_slice=64,buffers=2,resident=both,split=m'
for store in results other into; do
    "$autotune" --op matmul --shape 64x64x64 -q --db $store.db -o /dev/null || exit 1
done
"$autotune" store export results.db -o results.jsonl || exit 1
describe_host && mv "$work/host.cfg" .

# A command with all of its files: the words that call it, what is read, its stores, and the options
# that write where others do not go with these words. Several lines are several cases.
invocations() { # command
    local shipped=configs/platform/split.cfg
    case $1 in
    tune) echo "${product[*]} --db results.db|chip.cfg below.cfg|results.db"
        echo "--op matmul --shape 64x64x64 --db new.db|configs/hardware/ascend310.cfg|new.db"
        echo "--kernel mine.kernel --shape 64 --hw chip.cfg|mine.kernel chip.cfg below.cfg|" ;;
    program) echo "program ${product[*]}|chip.cfg below.cfg|"
        echo "program --kernel mine.kernel --shape 64|mine.kernel configs/hardware/ascend310.cfg|" ;;
    run) echo "run --kernel mine.kernel --shape 64 --hw chip.cfg|mine.kernel chip.cfg below.cfg|" ;;
    explain) echo "explain ${product[*]} --set $set|chip.cfg below.cfg|"
        echo "explain --kernel mine.kernel --shape 64 --set t=16,bufs=1,cores=1|mine.kernel|" ;;
    simulate) echo "simulate kernel.txt --hw chip.cfg|kernel.txt chip.cfg below.cfg|" ;;
    check) echo "check kernel.txt --hw chip.cfg|kernel.txt chip.cfg below.cfg|"
        echo "check --runtime-kb table.json --hw demo-chip.ini|table.json demo-chip.ini $shipped|" ;;
    analyse) echo "analyse kernel.txt --hw chip.cfg|kernel.txt chip.cfg below.cfg|"
        echo "analyse profile.csv --hw demo-chip.ini|profile.csv demo-chip.ini $shipped|" ;;
    advise) echo "advise kernel.txt --hw chip.cfg|kernel.txt chip.cfg below.cfg|"
        echo "advise kernel.txt --apply best --format diff|kernel.txt|" ;;
    evaluate) echo "evaluate bank.json --hw demo-chip.ini|bank.json demo-chip.ini $shipped|"
        echo "evaluate bank.json --hw ascend910b2|bank.json configs/hardware/ascend910b2.correction.json|" ;;
    reproduce) echo "reproduce L --hw chip.cfg|chip.cfg below.cfg configs/hardware/ascend910.cfg|" ;;
    calibrate)
        echo "calibrate --hw demo-chip.ini --from bank.json --from curves.csv|$(
        )bank.json curves.csv demo-chip.ini $shipped|" ;;
    probe) echo "probe --all --hw chip.cfg|chip.cfg below.cfg|"
        echo "probe||||--report" ;;
    validate) echo "validate --op matmul --shape 64x64x64 --hw host.cfg --db other.db|$(
        )host.cfg|other.db" ;;
    sweep) echo "sweep jobs.csv --hw chip.cfg --db results.db|jobs.csv chip.cfg below.cfg|results.db"
        echo "sweep jobs.csv --db results.db --dry-run|jobs.csv chip.cfg below.cfg|results.db|-o"
        echo "sweep jobs.csv|jobs.csv chip.cfg below.cfg|autotune.db"
        echo "sweep jobs.csv --db new.db --slurm --tasks 2|jobs.csv chip.cfg below.cfg|$(
        )new.db new.db.slurm/shard-1-of-2.db new.db.slurm/array.sh new.db.slurm/merge.sh|-o"
        echo "sweep llama-2-7b-decode --db new.db|configs/sweeps/llama-2-7b-decode.cfg|new.db" ;;
    merge) echo "merge into.db other.db results.db --sweep jobs.csv --hw chip.cfg|jobs.csv chip.cfg below.cfg|$(
        )into.db other.db results.db" ;;
    network) echo "network network.csv --hw chip.cfg --graph network.graph.txt --tune --db new.db|$(
        )network.csv network.graph.txt chip.cfg below.cfg|new.db|--dot --report -o"
        echo "network network.csv --what-if hw=chip.cfg|network.csv chip.cfg below.cfg||--report -o"
        echo "network network.csv --hw ascend910b3 --tune --db new.db|network.csv|new.db|--runtime-kb" ;;
    table) echo "table --db results.db||results.db"
        echo "table --db texts.db --kernel mine.kernel|mine.kernel|texts.db" ;;
    store) printf 'store %s results.db||results.db\n' ls show export gc
        echo "store diff results.db other.db||results.db other.db"
        echo "store import into.db results.jsonl|results.jsonl|into.db" ;;
    kernel) echo "kernel new fresh -o -||" ;;
    list) echo "list kernels mine.kernel|mine.kernel|"
        echo "list hw|configs/hardware/ascend310.cfg configs/hardware/ascend910b1.correction.json|"
        echo "list hw demo-chip.ini|demo-chip.ini $shipped|"
        echo "list sweeps|configs/sweeps/llama-2-7b-decode.cfg|" ;;
    esac
}
