#!/usr/bin/env bash
# How soon kernels' texts of the library are answered at the sizes of language models: seconds of the
# whole command until the proof, and by how much the answer of a short limit is slower. With another
# binary both by turns. Then problems drawn by a fixed seed over all texts, sizes log-uniform up to
# those of the table: by how much the answer of half a second is slower than that of ten.
#
#   bench/bench_texts.sh [AUTOTUNE [BEFORE|- [PROBLEMS]]]     (on a machine that does nothing else)
set -eu
export LC_ALL=C
cd "$(dirname "$0")/.."
autotune=$(realpath "${1:-build/autotune}")
before=${2:--}
problems=${3:-200}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# text, shape, chip: seconds within which an answer within 5 % and its proof are wanted.
table() {
    cat <<'T'
split/matmul_epilogue 4096x4096x4096 ascend910b2 0.3 0.5
split/matmul_epilogue 512x7168x2048 ascend910b2 0.3 0.5
conv2d 56x56x3x3x256x256 ascend910b2 0.2 0.3
conv2d 14x14x3x3x512x512 ascend910b2 0.2 0.3
split/weight_quant_matmul 64x4096x4096 ascend910b2 0.2 0.5
nd_to_nz 4096x4096 ascend910b2 0.2 0.5
transpose_2d 4096x4096 ascend910b2 0.2 0.5
fft 64x1024 ascend910b2 0.5 1
split/flash_attention 32x4096x128 ascend910b2 0.5 1
split/flash_attention 8x32768x128 ascend910b2 1.5 4
causal_attention 32x4096x128 ascend310 2 7
softmax_long 4096x32768 ascend910b2 0.3 2
swiglu 4096x22016 ascend910b2 0.3 2
matmul_two_level 1024x1024x1024 ascend910b2 0.5 1
matmul_two_level 4096x4096x4096 ascend910b2 0.5 3
batched_matmul 32x2048x128x2048 ascend910b2 0.3 2
batched_gemv 32x4096x128 ascend910b2 0.3 2
gelu 45088768 ascend910b2 0.3 2
maximum 45088768 ascend910b2 0.3 2
layernorm 4096x4096 ascend910b2 0.3 2
layernorm_long 4096x65536 ascend910b2 0.3 2
rms_norm 4096x4096 ascend310 0.3 2
rms_norm_rows 4096x4096 ascend910b2 0.3 2
rms_norm_long 4096x65536 ascend910b2 0.3 2
rotary 32x4096x128 ascend910b2 0.3 2
softmax 8192x4096 ascend910b2 0.3 2
column_max 4096x11008 ascend910b2 0.3 2
split/column_sum 4096x11008 ascend910b2 0.3 2
row_max 4096x11008 ascend910b2 0.3 2
split/row_sum 4096x11008 ascend910b2 0.3 2
average_pool 64x112x112x3x3 ascend910b2 0.3 2
max_pool 64x112x112x3x3 ascend310 0.3 2
depthwise_conv2d 64x112x112x3x3 ascend910b2 0.3 2
scale_bias_relu 4096x11008 ascend910b2 0.3 2
fft_passes 64x64x1024 ascend910b2 0.3 2
split/cubefx_pipeline 1048576x16x8 ascend910b1 0.3 2
T
}

# Of one search: seconds, µs of the best tiling (0: none), is it proven?
answer() { # binary text shape chip seconds
    local start=$EPOCHREALTIME
    "$1" --kernel "kernels/library/$2.kernel" --shape "$3" --hw "$4" --time-limit "$5" --json -q \
        </dev/null >"$work/out" 2>"$work/err" || true
    jq -r --argjson from "$start" --argjson to "$EPOCHREALTIME" \
        '"\($to - $from) \((.best.time_ns // 0) / 1000) \(.search.optimal)"' <"$work/out" 2>/dev/null || echo '0 0 false'
}

row() { # binary text shape chip t5 tp
    local short long
    short=$(answer "$1" "$2" "$3" "$4" "$5")
    long=$(answer "$1" "$2" "$3" "$4" 10)
    echo "$long $short" | awk '{
        printf "  %10.4g us  %s after %5.2f s  %+6.1f %%", $2, $3 == "true" ? "proven" : "open  ", $1,
               $5 ? 100 * ($5 / $2 - 1) : 999 }'
}

printf '%-28s %-20s %-12s %s\n' text shape chip 'best, proof; answer of the short limit'
table | while read -r text shape chip t5 tp; do
    printf '%-28s %-20s %-12s' "$text" "$shape" "$chip"
    [[ $before == - ]] || { row "$before" "$text" "$shape" "$chip" "$t5"; printf '  ->'; }
    row "$autotune" "$text" "$shape" "$chip" "$t5"
    printf '  (wanted %s, %s)\n' "$t5" "$tp"
done

# A generator of its own (Park and Miller 1988), for every awk has another.
draw() { # how many
    table | awk -v count="$1" '
        function draw() { state = state * 16807 % 2147483647; return state / 2147483647 }
        { rows[NR] = $1 " " $3; shapes[NR] = $2 }
        END {
            state = 20260301
            for (i = 0; i < count; i++) {
                r = 1 + int(draw() * NR); n = split(shapes[r], sizes, "x"); shape = ""
                for (s = 1; s <= n; s++) {
                    size = int(exp(draw() * log(sizes[s] + 1)))
                    shape = shape (s > 1 ? "x" : "") (size < 1 ? 1 : size)
                }
                print rows[r], shape
            }
        }'
}

done=0
draw $((problems * 4)) | while read -r text chip shape; do
    # else refused, or none legal
    read -r _ best _ < <(answer "$autotune" "$text" "$shape" "$chip" 10) && [[ $best != 0 ]] ||
        continue
    read -r took time _ < <(answer "$autotune" "$text" "$shape" "$chip" 0.5)
    echo "$text $shape $chip $best $time $took"
    ((++done < problems)) || break
done | awk '{ slower = $5 > 0 ? $5 / $4 - 1 : 9; near += slower <= .05; count++
              if (slower > .05) printf "%-28s %-20s %-12s %10.4g us for %.4g after %.2f s\n", $1, $2, $3, $5, $4, $6 }
            END { printf "within 5 %% after 0.5 s: %d of %d drawn\n", near, count }'
