# shellcheck shell=bash disable=SC2154
# For tests that measure: $work/host.cfg becomes tests/support/host-loops.cfg under the name of the
# processor at hand. To be sourced behind answers.sh with $source_dir set; skips where that cannot
# be.
cpu=$(sed -n 's/^model name[[:space:]]*: //p' /proc/cpuinfo 2>/dev/null | head -n 1)
if ! command -v jq >/dev/null || [ -z "$cpu" ]; then
    echo 'no jq, or a processor without a name: skipped'
    exit 77
fi
isa=portable
if grep -qw avx2 /proc/cpuinfo && grep -qw fma /proc/cpuinfo; then isa=avx2; fi
if [ $isa = avx2 ] && grep -qw avx512dq /proc/cpuinfo && grep -qw avx512vl /proc/cpuinfo &&
    grep -qw avx512bw /proc/cpuinfo; then isa=avx512; fi
sed -e "s|cpu = \"[^\"]*\"|cpu = \"$cpu\"|" -e "s|isa = \"avx512\"|isa = \"$isa\"|" \
    "$source_dir/tests/support/host-loops.cfg" >"$work/host.cfg"
