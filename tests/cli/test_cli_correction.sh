#!/usr/bin/env bash
# Learned corrections by the command line: learning one, what answers then show, and when not.
#
#   tests/cli/test_cli_correction.sh AUTOTUNE SOURCE_DIR
set -u
export LC_ALL=C
autotune=$1
source_dir=$2
# shellcheck source-path=SCRIPTDIR source=../support/answers.sh
. "$source_dir/tests/support/answers.sh"
cp -r "$source_dir/configs" "$work/configs"
rm -f "$work"/configs/hardware/*.correction.json
export AUTOTUNE_CONFIGS=$work/configs XDG_CONFIG_HOME=/nonexistent
cd "$work" || exit 1

# Kernels whose times are simulated ones with an error that depends on n.
rows() { # name
    local separator='['
    for i in $(seq 0 79); do
        m=$((16 * (1 + i % 8))) n=$((16 * (1 + i / 8))) k=$((32 * (1 + i % 5)))
        printf '%s{"usedCoreNum": 1, "M": %d, "N": %d, "Ka": %d, "Kb": %d, "singleCoreM": %d,' \
            "$separator" $m $n $k $k $m
        printf '"singleCoreN": %d, "singleCoreK": %d, "baseM": 16, "baseN": 16, "baseK": 16,' $n $k
        printf '"depthA1": 1, "depthB1": 1, "stepM": 1, "stepN": 1, "stepKa": 1, "stepKb": 1,'
        printf '"dbL0A": 1, "dbL0B": 1, "dbL0C": 1%s}' "${1:+, \"cost_time\": ${times[i]}}"
        separator=','
    done
    echo ']'
}
