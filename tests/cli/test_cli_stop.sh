#!/usr/bin/env bash
# Ctrl-C and SIGTERM in the midst of every command, and time limits: each ends within a moment,
# dies of the signal, leaves neither half a file nor a temporary one, and what promises the best so
# far prints it. The commands are those that the program itself names: a new one without a case is
# a failure.
#
#   tests/cli/test_cli_stop.sh AUTOTUNE SOURCE_DIR
#
# What is wanted is 0.3 s; what is demanded is generous, for slow machines, and more so for slow
# builds ($AUTOTUNE_SLOW). What is started takes far longer than that by itself.
. "$(dirname "$0")/../support/script.sh"
begin_s=0.4 # until the signal: it has begun
allowed_ms=${AUTOTUNE_SLOW:+20000}
allowed_ms=${allowed_ms:-3000}
patience_s=30
holder=
at_end() { [ -z "$holder" ] || kill "$holder" 2>/dev/null; }
covered=' '

now_ms() { date +%s%3N; }

# Waits for a child for so long at most: its exit status in $code, what it took in $took_ms.
await() { # pid since_ms
    local pid=$1 since_ms=$2
    while kill -0 "$pid" 2>/dev/null && [ "$(ps -o stat= -p "$pid" | cut -c1)" != Z ]; do
        if [ $(($(now_ms) - since_ms)) -gt $((patience_s * 1000)) ]; then
            kill -9 "$pid"
            break
        fi
        sleep 0.02
    done
    took_ms=$(($(now_ms) - since_ms))
    wait "$pid" 2>/dev/null
    code=$?
}

# Temporary names: what is written gets its own when it is whole.
left_behind() {
    find . -name '.autotune-draft-*' | tr '\n' ' '
}

# Stops a command in its midst by either signal. `how` is `dies` where nothing is to be printed,
# `answers` where standard output has an answer all the same. Files that end early are a failure:
# the case is too short.
stop() { # how word arguments…
    local how=$1 word=$2 signal pid caught
    shift
    covered="$covered$word "
    for signal in INT TERM; do
        : >out
        : >err
        # a shell's background jobs ignore SIGINT
        env --default-signal=INT,TERM,QUIT "$autotune" "$@" <"$input" >out 2>err &
        pid=$!
        sleep "$begin_s"
        if ! kill "-$signal" "$pid" 2>/dev/null; then
            wait "$pid"
            fail "$*: ended by itself ($?): $(head -c 200 err)"
            return
        fi
        await "$pid" "$(now_ms)"
        caught=$(left_behind)
        if [ "$code" != $((128 + $(kill -l "$signal"))) ]; then
            fail "$*: SIG$signal: exit status $code: $(head -c 200 err)"
        elif [ "$took_ms" -gt "$allowed_ms" ]; then
            fail "$*: SIG$signal: took $took_ms ms"
        elif [ "$how" = answers ] && ! [ -s out ]; then
            fail "$*: SIG$signal: no answer"
        elif [ "$how" = dies ] && [ -s out ]; then
            fail "$*: SIG$signal: half an answer: $(head -c 200 out)"
        elif [ -n "$caught" ]; then
            fail "$*: SIG$signal: left behind: $caught"
        else
            pass
        fi
        [ -z "${VERBOSE:-}" ] || echo "$took_ms ms  SIG$signal  $*"
    done
}

# A time limit of a second ends as an answer does; where programs are slow there may be none yet.
limit() { # arguments…
    local since
    since=$(now_ms)
    "$autotune" "$@" --time-limit 1 </dev/null >out 2>err &
    await $! "$since"
    if [ "$code" != 0 ] && [ "$code${AUTOTUNE_SLOW:+ slow}" != '1 slow' ]; then
        fail "$*: exit status $code: $(head -c 200 err)"
    elif [ "$took_ms" -gt $((1000 + allowed_ms)) ]; then
        fail "$*: took $took_ms ms with a limit of one second"
    elif ! [ -s out ]; then
        fail "$*: no answer"
    else
        pass
    fi
    [ -z "${VERBOSE:-}" ] || echo "$took_ms ms  1 s  $*"
}

# A text of the library at the size of a model, on all cores that may work: within the limit there is
# an answer on several of them. Every text has a row.
texts() {
    local text shape chip more named=' '
    while read -r text shape chip more; do
        named+="$text "
        # shellcheck disable=SC2086 # several options
        limit --kernel "$text" --shape "$shape" --hw "$chip" --json $more
        [ -n "${AUTOTUNE_SLOW:-}" ] || check "$text: on several cores" jq -e '.best.cores_used > 1' out
    done <<'END'
add_relu 45088768 ascend310
audio_features 16384x16x8 ascend910b1
average_pool 64x112x112x3x3 ascend910b2
batched_gemv 32x4096x128 ascend910b2
batched_matmul 32x2048x128x2048 ascend910b2
causal_attention 32x4096x128 ascend310
column_max 4096x11008 ascend910b2
column_sum 4096x11008 ascend910
conv2d 56x56x3x3x256x256 ascend910b2
cubefx_pipeline 1048576x16x8 ascend910b1
depthwise_conv2d 64x112x112x3x3 ascend910b2
exp 45088768 ascend310
fft 64x1024 ascend910b2
fft_passes 64x64x1024 ascend910b2
flash_attention 32x4096x128 ascend910b2
gelu 45088768 ascend910b2
layernorm 4096x4096 ascend910b2
layernorm_long 4096x65536 ascend910b2
layernorm_matrix 4096x4096 ascend310
matmul_epilogue 4096x4096x4096 ascend910b2
matmul_thesis 4096x4096x4096 ascend310
matmul_two_level 4096x4096x4096 ascend910b2
max_pool 64x112x112x3x3 ascend310
maximum 45088768 ascend910b2
mish 45088768 ascend310
nd_to_nz 4096x4096 ascend910b2
quant_matmul 4096x4096x11008 ascend910b2 --dtype i8 --out-type f16
rms_norm 4096x4096 ascend310
rms_norm_long 4096x65536 ascend910b2
rms_norm_rows 4096x4096 ascend910b2
rotary 32x4096x128 ascend910b2
row_max 4096x11008 ascend910b2
row_sum 4096x11008 ascend910
scale_bias_relu 4096x11008 ascend910b2
sigmoid 45088768 ascend310
softmax 8192x4096 ascend910b2
softmax_long 4096x32768 ascend910b2
softmax_rows 4096x11008 ascend910b2
swiglu 4096x22016 ascend910b2
transpose_2d 4096x4096 ascend910b2
weight_quant_matmul 64x4096x4096 ascend910b2
END
    for text in "$source_dir"/kernels/library/*.kernel; do
        text=$(basename "$text" .kernel)
        [[ $named == *" $text "* ]] || fail "$text: no row"
    done
    # no tiling of it can be looked at in time
    "$autotune" --kernel fft --shape 16x1073741824 --hw ascend910b2 --time-limit 1 </dev/null >out 2>err &
    await $! "$(now_ms)"
    check 'fft of 2^30: cut short in time' test "$code" = 1 -a "$took_ms" -le $((1000 + allowed_ms))
}

# What takes too long is refused within the limit, too.
refusal() { # arguments…
    local since
    since=$(now_ms)
    "$autotune" "$@" --time-limit 1 </dev/null >out 2>err &
    await $! "$since"
    if [ "$code" != 2 ] || [ "$took_ms" -gt $((1000 + allowed_ms)) ]; then
        fail "$*: exit status $code in $took_ms ms: $(head -c 200 err)"
    else
        pass
    fi
}

# ---- what takes long
input=/dev/null
huge=65536x65536x65536
cann="--op matmul --shape $huge --hw ascend910b1"
knn='--op knn --shape 65536x512x1048576 --k 64'
cat >long.txt <<'END'
loop i 100000
  loop j 100000
    V vecDup elements=16 type=f16 dst=ub:0
  end
end
END
mkfifo never # a pipe that nobody writes to, or reads
sleep 3000 <>never &
holder=$!
mkfifo nobody # a pipe that nobody reads: opening it to write to it waits
grep '"op":"matmul","shape":"64x64x64"' "$source_dir/docs/examples/results.jsonl" >one.jsonl
rows() { # first last: results that differ in their shape
    awk -v first="$1" -v last="$2" '{
        for (i = first; i <= last; i++) {
            row = $0
            sub(/64x64x64/, i "x64x64", row)
            print row
        } }' one.jsonl
}
rows 1 40000 >some.jsonl
answer 0 store import some.db some.jsonl
cat "$source_dir/docs/examples/op_summary.csv" >profile.csv
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do
    tail -n +2 profile.csv >more.csv
    cat more.csv >>profile.csv
done
rm -f more.csv
cat >sweep.csv <<END
op,shape,hw
matmul,$huge,ascend910b1
matmul,65536x65536x65520,ascend910b1
END
tiling=single_m=65536,single_n=65536,cores=1,outer=m,base_m=4096,base_n=4096,base_k=65536
tiling=$tiling,l0b_holds=tile,step_ka=1,step_kb=1,step_m=1,step_n=1,step_batch_a=1,step_batch_b=1
tiling=$tiling,l1a_buffers=1,l1b_buffers=2,l0a_buffers=1,l0b_buffers=1,l0c_buffers=1
awk '/^  \{/ { kept = "" } { kept = kept $0 "\n" } /^  }/ { body = kept }
    END { print "["; for (i = 1; i <= 40000; i++) printf "%s%s", body, i < 40000 ? "," : ""; print "]" }' \
    "$source_dir/docs/examples/ladder-910b1.json" | sed 's/},,/},/' >bank.json

# ---- the cases
# shellcheck disable=SC2086 # lists of arguments
{
    stop any tune $cann
    limit tune $cann
    refusal tune $cann --strategy exhaustive
    for strategy in bound exhaustive random; do
        stop any tune $knn --strategy $strategy --compare
        limit tune $knn --strategy $strategy
        limit tune --op matmul --shape $huge --strategy $strategy
        limit tune --op cubefx --shape 16777216 --order 64 --functions 64 --strategy $strategy
    done
    limit tune $knn --compare
    limit tune $cann --top 100000 --format csv
    limit tune $cann --landscape map.json --report page.html
    rm -f map.json page.html
    stop any tune $cann --top 100000 --report page.html --landscape map.json --trace trace.json
}

# shellcheck disable=SC2086 # lists of arguments
{
    stop dies program $cann
    stop dies run --op matmul --shape 4096x4096x4096 --cores 1 -o nowhere \
        --set m_slice=256,k_slice=128,n_slice=256,buffers=1,resident=none,split=m
    stop dies simulate long.txt --full
    stop dies simulate never
    stop dies check never
    stop dies advise never
    stop dies analyse never
    stop any analyse profile.csv --format csv -o rows.csv
    stop dies network profile.csv --hw ascend910 -o nobody
    stop dies explain $cann --set "$tiling" -o nobody
    stop dies evaluate never --hw ascend910b1
    stop any evaluate bank.json --hw ascend910b1
    ladder=$source_dir/docs/examples/ladder-910b1.json
    for _ in {1..30}; do # a longer one
        echo "${list:-[}"
        sed -e '1s/^\[//' -e '$s/\]$//' "$ladder"
        list=,
    done >ladders.json
    echo ']' >>ladders.json
    stop any evaluate ladders.json --hw ascend910b1 --ranking
    stop dies reproduce -o nobody
    stop dies probe --all --hw ascend910 -o nobody
    stop any calibrate --hw ascend910b1 --from bank.json -o fitted.cfg
    stop any sweep sweep.csv --db sweep.db
    stop any sweep sweep.csv --db sweep.db --report sweep.html
    stop dies merge all.db some.db -o nobody
    stop dies table --db some.db --format c -o nobody
    stop dies store ls some.db -o nobody
    stop dies store export some.db -o nobody
    stop dies store import new.db never
    stop dies kernel new fresh -o nobody
    stop dies list hw ascend310 -o nobody
}
rm -f sweep.db* all.db* new.db* rows.csv fitted.cfg

texts
limit --kernel flash_attention --shape 8x32768x128 --hw ascend910b2 --report page.html
# The search ends in time; its page would take a second more.
limit --kernel fft --shape 16x65536 --hw ascend310 --report page.html
# While tilings for longer parts are looked for.
"$autotune" --kernel softmax --shape 128..1024x1024 --hw ascend910b2 --regret 5% --time-limit 5 </dev/null >out 2>err &
await $! "$(now_ms)"
check 'a range: cut short in time' test "$took_ms" -le $((5000 + allowed_ms))

# ---- this processor, where it has a name
stop dies calibrate --hw host -o mine.cfg
if describe_host; then
    stop any validate --op matmul --shape 1024x1024x1024 --hw host.cfg
    stop answers tune --op matmul --shape 1024x1024x1024 --hw host.cfg --validate 1000
    limit tune --op matmul --shape 1024x1024x1024 --hw host.cfg --validate 1000
else
    covered="$covered validate "
fi

# ---- no command without a case
for word in $(commands); do check "$word has a case here" test "$covered" != "${covered/ $word /}"; done

finish
