#!/usr/bin/env bash
# `autotune probe` as a command: the forms of its answer agree with each other, every procedure runs
# on every shipped chip or says why not, and on this computer those that mean something there.
#
#   tests/cli/test_probe_cli.sh AUTOTUNE SOURCE_DIR
set -u
export LC_ALL=C
autotune=$(realpath "$1")
source_dir=$(realpath "$2")
export AUTOTUNE_CONFIGS=$source_dir/configs XDG_CONFIG_HOME=/nonexistent
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
passed=0
failed=0

same() { # what, wanted, got
    if [[ $2 == "$3" ]]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf 'FAILED %s:\n    wanted %s\n    got    %s\n' "$1" "$2" "$3"
    fi
}

names=$("$autotune" probe | awk '{ print $1 }')
same 'the list as JSON' "$names" "$("$autotune" probe --json | jq -r '.[].name')"
same 'without a name twice the same' "$("$autotune" probe --all)" "$("$autotune" probe --all)"

for file in "$source_dir"/configs/hardware/*.cfg; do
    chip=$(basename "$file" .cfg)
    "$autotune" probe --all --hw "$chip" --json >"$chip.json" || failed=$((failed + 1))
    same "$chip: all procedures" "$names" "$(jq -r '.procedures[].name' "$chip.json")"
    same "$chip: points, or why not" true "$(jq '[.procedures[] |
        if .why_not then (.series | all(.points == [])) and .concluded == []
        else .series | any(.points != []) and all((.points == []) == (.why_not != null)) end] | all' "$chip.json")"
    same "$chip: the text is of the same numbers" \
        "$(jq -r '.procedures[] | select(.why_not) | .name' "$chip.json")" \
        "$("$autotune" probe --all --hw "$chip" | awk '/not on this chip/ { print name } /^[a-z]/ { name = $1 }')"
done

# Each procedure by itself is what it is among all, and exits with 1 where nothing can be run.
for name in $names; do
    "$autotune" probe "$name" --hw ascend910b1 --json >one.json
    status=$?
    same "$name: exit status" "$(jq ".procedures[] | select(.name == \"$name\") | if .why_not then 1 else 0 end" \
        ascend910b1.json)" $status
    same "$name: alone as among all" "$(jq -c ".procedures[] | select(.name == \"$name\")" ascend910b1.json)" \
        "$(jq -c '.procedures[0]' one.json)"
done

# A file of curves: by its name or by --format, whole programs' times in ns, names that can be read.
"$autotune" probe matrix-narrow --hw ascend910 -o by-name.csv
"$autotune" probe matrix-narrow --hw ascend910 --format csv >by-format.csv
same 'curves by the name of the file' "$(cat by-format.csv)" "$(cat by-name.csv)"
same 'with the points of the answer' \
    "$("$autotune" probe matrix-narrow --hw ascend910 --json | jq -r '.procedures[0].series[] |
        (.name | ltrimstr("K = ")) as $k | .points[] | "16x\($k)x\(.x) \(.ns * 1000 | round)"')" \
    "$(tail -n +2 by-name.csv | awk -F, '{ printf "%s %.0f\n", $4, $5 * 1000 }')"
same 'of one kind and chip' 'mmad,MMAD_FP16_FP16_FP32_1_core_910,910,MxKxN,ns' \
    "$(tail -n +2 by-name.csv | cut -d, -f1-3,6-7 | sort -u)"
"$autotune" probe --all --hw ascend910 -o all.csv
same 'no field is empty' '' "$(awk -F, 'NF != 7 || /,,/ || /,$/' all.csv | head -n 3)"

# What is missing is missing, whatever the description is called.
"$autotune" probe vector-repeats --hw ascend910 --set-hw clock_mhz=1800 --json >fast.json
same 'a clock that is set' '1,1 115.2,230.4' "$(for f in ascend910 fast; do
    jq -r '[.procedures[] | select(.name == "vector-repeats").concluded[] |
        select(.name == "a repeat, f16" or .name == "one core, f16").found * 10 | round / 10] | @csv' $f.json
done | awk -F, '{ a[NR] = $1; b[NR] = $2 } END { print a[1] "," a[2] " " b[1] "," b[2] }')"

# On this computer: nothing is expected of a time but that there is one.
cpu=$(sed -n 's/^model name[[:space:]]*: //p' /proc/cpuinfo | head -n 1)
sed -e "s|cpu = \"[^\"]*\"|cpu = \"$cpu\"|" -e 's|isa = "avx512"|isa = "portable"|' \
    "$source_dir/tests/support/host-loops.cfg" >host.cfg
"$autotune" probe --all --hw host.cfg --json >host.json
status=$?
same 'here: exit status' 0 $status
same 'here: all procedures' "$names" "$(jq -r '.procedures[].name' host.json)"
same 'here: which have no counterpart' \
    'vector-mask matrix-block matrix-narrow ub-width l0c-width vector-load vector-density matrix-load' \
    "$(jq -r '[.procedures[] | select(.why_not).name] | join(" ")' host.json)"
same 'here: each other has points, and they take time' true \
    "$(jq '[.procedures[] | select(.why_not | not).series[] | .points | length > 4 and all(.ns > 0)] | all' host.json)"
same 'here: what is told is told' true \
    "$(jq '[.procedures[].concluded[] | .found == null or .found > 0] | all' host.json)"
same 'here: no curves for a chip' 2 "$("$autotune" probe cores --hw host.cfg -o here.csv 2>/dev/null; echo $?)"
same 'and no file' no "$([[ -e here.csv ]] && echo yes || echo no)"

echo "$passed passed, $failed failed"
((failed == 0))
