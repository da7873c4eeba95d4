#!/usr/bin/env bash
# Stored results are answered with as long as MODEL_VERSION (core/version.h) is the same: when the
# recorded kernels' times change it has to grow. tests/golden/model_version.tsv has the times
# of each version; those that were recorded never change.
#
#   tests/whole/test_model_version.sh AUTOTUNE SOURCE_DIR            compare
#   tests/whole/test_model_version.sh AUTOTUNE SOURCE_DIR --record   add the line of a new version
. "$(dirname "$0")/../support/script.sh"
mode=${3:-compare}
golden=$source_dir/tests/golden/model_version.tsv
version=$(sed -nE 's/^enum \{ MODEL_VERSION = ([0-9]+) \};$/\1/p' "$source_dir/core/version.h")
# Kernels that are new, and a new order of lines, change no time: one line a kernel, by name.
times() { tail -n +2 "$source_dir/tests/golden/kernels.tsv" | sort; }
recorded() { awk -F'\t' -v v="$version" '$1 == v { print $2 "\t" $3 "\t" $4 }' "$golden"; }

check 'core/version.h has a MODEL_VERSION' test -n "$version"
if [[ $mode == --record ]]; then
    known=$(recorded | cut -f 1)
    times | while IFS= read -r line; do
        grep -qxF -- "${line%%$'\t'*}" <<<"$known" || printf '%s\t%s\n' "$version" "$line"
    done >>"$golden"
fi
# Kernels that were recorded and are still there; new ones have to be recorded.
equal "times that model version $version was recorded with have changed, or are not recorded" '' \
    "$(comm -13 <(recorded | sort) <(times))$(comm -23 <(recorded | cut -f 1 | sort) <(times | cut -f 1))"
while IFS=$'\t' read -r kernel _; do
    check "$kernel is still there" grep -q "^$kernel" <(times)
done < <(recorded)
[[ ! -s $scratch/failed ]] || echo 'Where a time is another, add one to MODEL_VERSION; then run this with --record.'
finish
