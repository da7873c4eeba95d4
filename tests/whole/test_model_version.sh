#!/usr/bin/env bash
# Stored results are answered with as long as MODEL_VERSION (core/version.h) is the same: when the
# recorded kernels' times change it has to grow. tests/golden/model_version.tsv has the times
# of each version; those that were recorded never change.
#
#   tests/whole/test_model_version.sh AUTOTUNE SOURCE_DIR            compare
#   tests/whole/test_model_version.sh AUTOTUNE SOURCE_DIR --record   add the line of a new version
set -u
export LC_ALL=C
source_dir=$2
mode=${3:-compare}
golden=$source_dir/tests/golden/model_version.tsv
version=$(sed -nE 's/^enum \{ MODEL_VERSION = ([0-9]+) \};$/\1/p' "$source_dir/core/version.h")
# Kernels that are new, and a new order of lines, change no time: one line a kernel, by name.
times() { tail -n +2 "$source_dir/tests/golden/kernels.tsv" | sort; }
recorded() { awk -F'\t' -v v="$version" '$1 == v { print $2 "\t" $3 "\t" $4 }' "$golden"; }

if [[ ! $version ]]; then
    echo 'FAILED core/version.h has no MODEL_VERSION'
    echo '0 passed, 1 failed'
    exit 1
fi
if [[ $mode == --record ]]; then
    known=$(recorded | cut -f 1)
    times | while IFS= read -r line; do
        grep -qxF -- "${line%%$'\t'*}" <<<"$known" || printf '%s\t%s\n' "$version" "$line"
    done >>"$golden"
fi
# Kernels that were recorded and are still there; new ones have to be recorded.
changed=$(comm -13 <(recorded | sort) <(times))
gone=$(comm -23 <(recorded | cut -f 1 | sort) <(times | cut -f 1))
count=$(recorded | wc -l)
if [[ $changed || $gone || $count -eq 0 ]]; then
    echo "FAILED times that model version $version was recorded with have changed, or are not recorded:"
    # shellcheck disable=SC2001 # every line
    sed 's/^/    /' <<<"$changed$gone"
    echo '    Where a time is another, add one to MODEL_VERSION; then run this with --record.'
    echo "0 passed, 1 failed"
    exit 1
fi
echo "$count passed, 0 failed"
