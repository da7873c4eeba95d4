#!/usr/bin/env bash
# `autotune probe` as a command: the forms of its answer agree with each other, every procedure runs
# on every shipped chip or says why not, and on this computer those that mean something there.
#
#   tests/cli/test_probe_cli.sh AUTOTUNE SOURCE_DIR
. "$(dirname "$0")/../support/script.sh"
needs jq

names=$("$autotune" probe | awk '{ print $1 }')
equal 'the list as JSON' "$names" "$("$autotune" probe --json | jq -r '.[].name')"
equal 'without a name twice the same' "$("$autotune" probe --all)" "$("$autotune" probe --all)"

for file in "$source_dir"/configs/hardware/*.cfg; do
    chip=$(basename "$file" .cfg)
    answer 0 probe --all --hw "$chip" --json
    cp answer "$chip.json"
    equal "$chip: all procedures" "$names" "$(jq -r '.procedures[].name' "$chip.json")"
    equal "$chip: points, or why not" true "$(jq '[.procedures[] |
        if .why_not then (.series | all(.points == [])) and .concluded == []
        else .series | any(.points != []) and all((.points == []) == (.why_not != null)) end] | all' "$chip.json")"
    equal "$chip: the text is of the same numbers" \
        "$(jq -r '.procedures[] | select(.why_not) | .name' "$chip.json")" \
        "$("$autotune" probe --all --hw "$chip" | awk '/not on this chip/ { print name } /^[a-z]/ { name = $1 }')"
done

# Each procedure by itself is what it is among all, and exits with 1 where nothing can be run.
for name in $names; do
    "$autotune" probe "$name" --hw ascend910b1 --json >one.json
    status=$?
    equal "$name: exit status" "$(jq ".procedures[] | select(.name == \"$name\") | if .why_not then 1 else 0 end" \
        ascend910b1.json)" $status
    equal "$name: alone as among all" "$(jq -c ".procedures[] | select(.name == \"$name\")" ascend910b1.json)" \
        "$(jq -c '.procedures[0]' one.json)"
done

# A file of curves: by its name or by --format, whole programs' times in ns, names that can be read.
"$autotune" probe matrix-narrow --hw ascend910 -o by-name.csv
"$autotune" probe matrix-narrow --hw ascend910 --format csv >by-format.csv
equal 'curves by the name of the file' "$(cat by-format.csv)" "$(cat by-name.csv)"
equal 'with the points of the answer' \
    "$("$autotune" probe matrix-narrow --hw ascend910 --json | jq -r '.procedures[0].series[] |
        (.name | ltrimstr("K = ")) as $k | .points[] | "16x\($k)x\(.x) \(.ns * 1000 | round)"')" \
    "$(tail -n +2 by-name.csv | awk -F, '{ printf "%s %.0f\n", $4, $5 * 1000 }')"
equal 'of one kind and chip' 'mmad,MMAD_FP16_FP16_FP32_1_core_910,910,MxKxN,ns' \
    "$(tail -n +2 by-name.csv | cut -d, -f1-3,6-7 | sort -u)"
"$autotune" probe --all --hw ascend910 -o all.csv
equal 'no field is empty' '' "$(awk -F, 'NF != 7 || /,,/ || /,$/' all.csv | head -n 3)"

# What is missing is missing, whatever the description is called.
"$autotune" probe vector-repeats --hw ascend910 --set-hw clock_mhz=1800 --json >fast.json
equal 'a clock that is set' '1,1 115.2,230.4' "$(for f in ascend910 fast; do
    jq -r '[.procedures[] | select(.name == "vector-repeats").concluded[] |
        select(.name == "a repeat, f16" or .name == "one core, f16").found * 10 | round / 10] | @csv' $f.json
done | awk -F, '{ a[NR] = $1; b[NR] = $2 } END { print a[1] "," a[2] " " b[1] "," b[2] }')"

# On this computer: nothing is expected of a time but that there is one.
describe_host || finish
answer 0 probe --all --hw host.cfg --json
cp answer host.json
equal 'here: all procedures' "$names" "$(jq -r '.procedures[].name' host.json)"
equal 'here: which have no counterpart' \
    'vector-mask matrix-block matrix-narrow ub-width l0c-width vector-load vector-density matrix-load' \
    "$(jq -r '[.procedures[] | select(.why_not).name] | join(" ")' host.json)"
equal 'here: each other has points, and they take time' true \
    "$(jq '[.procedures[] | select(.why_not | not).series[] | .points | length > 4 and all(.ns > 0)] | all' host.json)"
equal 'here: what is told is told' true \
    "$(jq '[.procedures[].concluded[] | .found == null or .found > 0] | all' host.json)"
answer 2 probe cores --hw host.cfg -o here.csv # no curves for a chip
check 'and no file' test ! -e here.csv

finish
