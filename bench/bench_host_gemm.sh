#!/usr/bin/env bash
# The comparison that results/published/host-gemm.txt has: fourteen shapes and 24 drawn by a fixed seed, tuned
# and then compared with each library at its best core, in three runs. On an idle machine:
#
#   bench/bench_host_gemm.sh [--build DIR] THREADS
#
# With one thread it takes some six minutes on two cores, and as long with two.
set -euo pipefail
export LC_ALL=C
build=$(dirname "${BASH_SOURCE[0]}")/../build
[[ ${1-} != --build ]] || { build=$2; shift 2; }
[[ ${1-} =~ ^[1-9][0-9]*$ && $# -eq 1 ]] || { sed -n 's/^#   //p' "${BASH_SOURCE[0]}" >&2; exit 2; }
threads=$1
autotune=$(realpath "$build/autotune")
bench=$(realpath "$build/bench/bench_host_gemm")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$autotune" calibrate --hw host -o "$work/host.cfg" >"$work/said" 2>&1 || { cat "$work/said" >&2; exit 1; }
for shape in $("$bench" --drawn 24 --list); do
    "$autotune" --op matmul --shape "$shape" --hw "$work/host.cfg" --cores "$threads" --validate 24 \
        --time-limit 4 --format csv 2>>"$work/said" || { tail -n 3 "$work/said" >&2; exit 1; }
done >"$work/table.csv"
cd "$work"
"$bench" --table table.csv --threads "$threads" --drawn 24 --runs 3 --seconds 1.5
