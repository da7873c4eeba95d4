#!/usr/bin/env bash
# Products that a kernel's text and --op matmul both can say, on the 910B2 with a warm and a cold cache:
# what the text takes over what the operator's own space does. Both know one rule for the cache and one for
# short pieces, so that they differ where their spaces do (docs/kernels.md, "Texts and --op matmul").
#
#   bench/bench_products.sh [AUTOTUNE [HARDWARE]]
set -eu
export LC_ALL=C
cd "$(dirname "$0")/.."
autotune=$(realpath "${1:-build/autotune}")
chip=${2:-ascend910b2}

# ns of the best tiling; ends the run where that is not proven.
ns() { # options
    "$autotune" "$@" --hw "$chip" --time-limit 10 --json -q |
        jq 'if .search.optimal then .best.time_ns else error("not proven") end'
}

products() {
    cat <<'P'
in_L2 512x512x512
in_L2 1024x1024x1024
in_L2 2048x2048x2048
in_L2 512x7168x2048
in_L2 4096x4096x1024
beyond_L2 8192x8192x8192
beyond_L2 4096x14336x4096
beyond_L2 64x7168x18432
beyond_L2 128x4096x32000
beyond_L2 2048x8192x28672
one_row 1x4096x4096
one_row 1x4096x14336
one_row 1x8192x8192
one_row 1x2048x32000
one_row 1x14336x4096
ragged 1000x1000x1000
ragged 77x1280x5120
ragged 333x4097x2049
ragged 2047x2049x4095
ragged 50x11008x4100
batched 128x128x128 32
batched 512x64x512 32
batched 2048x128x2048 32
batched 64x512x512 64
batched 256x256x256 256
P
}

printf '%-10s %-18s %-5s %12s %12s %8s\n' kind product cache 'matmul, us' 'text, us' ratio
products | while read -r kind shape batch; do
    for cache in warm cold; do
        operator=$(ns --op matmul --shape "$shape" ${batch:+--batch "$batch"} --cache "$cache")
        if [[ $batch ]]; then
            text=$(ns --kernel batched_matmul --shape "${batch}x$shape" --cache "$cache")
        else
            text=$(ns --kernel matmul_epilogue --shape "$shape" --cache "$cache")
        fi
        printf '%-10s %-18s %-5s %12.2f %12.2f %8.3f\n' "$kind" "${batch:+${batch}x}$shape" "$cache" \
            "$(jq -n "$operator / 1000")" "$(jq -n "$text / 1000")" "$(jq -n "$text / $operator")"
    done
done
