#!/usr/bin/env bash
# The case studies of R (Y. Zhou et al., "Squeezing Operator Performance Potential for the Ascend
# Architecture", ASPLOS 2025, section 5), docs/examples/roofline: the published order of causes, the
# utilisations near 5 points, work that no step changes but the one that is meant to, and programs
# that are safe. The tables of results/published/r-case-studies.txt are from here.
#
#   tests/analysis/test_case_studies.sh AUTOTUNE SOURCE_DIR                       compare
#   tests/analysis/test_case_studies.sh AUTOTUNE SOURCE_DIR --table|--advice|--texts      print one of the tables
. "$(dirname "$0")/../support/script.sh"
needs jq
programs=$source_dir/docs/examples/roofline
tolerance=5 # points

# What R prints, - where it does not. program, step, verdict, its component, U in % (the largest of
# all components), the component that it is of, R in %, the component that it is of, time in us.
# R names no verdict for AvgPool's end: it is below every threshold. "any": R says only "the highest".
rows() {
    cat <<'ROWS'
add-relu-0	-	Insufficient Parallelism	MTE-GM	38.42	MTE-UB	58.68	MTE-GM	98.673
add-relu-1	RSD	MTE Bound	MTE-UB	66.24	MTE-UB	85.14	MTE-UB	-
add-relu-2	MRT	MTE Bound	MTE-UB	70.52	MTE-UB	-	-	57.157
depthwise-0	-	Insufficient Parallelism	MTE-GM	35.45	any	46.66	MTE-GM	408.101
depthwise-1	AIS	Insufficient Parallelism	MTE-L1	42.72	any	71.69	MTE-L1	-
depthwise-2	RUS	Insufficient Parallelism	any	60.35	any	77.69	any	-
depthwise-3	PP	Inefficient MTE	MTE-GM	71.56	any	94.18	MTE-GM	-
depthwise-4	ITG	MTE Bound	MTE-GM	93.54	MTE-GM	-	-	325.121
avg-pool-0	-	Inefficient Compute	Vector	13.54	Vector	83.98	Vector	69.821
avg-pool-1	AIP	-	-	59.07	Vector	-	-	16.206
ROWS
}

# Where ours differs from R by name; docs/case-studies.md says why. program and column.
differs() { # program, column
    case "$1 $2" in
    "depthwise-1 verdict_component" | "depthwise-1 active") return 0 ;;
    *) return 1 ;;
    esac
}

analyse() {
    "$autotune" analyse "$programs/$1.txt" --hw r-inference --json >"$1.json" ||
        fail "analyse $1"
}

ours() { # program, jq filter on the operator
    jq -r ".operators[0] | $2" "$1.json"
}

largest() { # program, ratio: "component percent"
    ours "$1" ".components | max_by(.$2) | \"\(.name) \(.$2 * 100)\""
}

near() { # what, published, ours
    if awk -v a="$2" -v b="$3" -v t="$tolerance" 'BEGIN { d = a - b; exit !(d <= t && -d <= t) }'; then
        pass
    else
        fail "$1: published $2, ours $3, more than $tolerance points apart"
    fi
}

# The ratio of the component that R names, of the largest one where it says only "the highest".
ratio_of() { # program, ratio, component
    if [ "$3" = any ]; then
        largest "$1" "$2" | awk '{ print $2 }'
    else
        ours "$1" ".components[] | select(.name == \"$3\").$2 * 100"
    fi
}

check_diagnosis() {
    while IFS=$'\t' read -r name _ verdict component u u_of r r_of _; do
        if [ "$verdict" = - ]; then
            check "$name is not bound, as R's is not" not grep -q Bound <<<"$(ours "$name" .verdict)"
        else
            equal "verdict of $name" "$verdict" "$(ours "$name" .verdict)"
            [ "$component" = any ] || differs "$name" verdict_component ||
                equal "component of $name" "$component" "$(ours "$name" .component)"
        fi
        [ "$u_of" = any ] ||
            equal "most used in $name" "$u_of" "$(largest "$name" utilisation | cut -d' ' -f1)"
        near "utilisation of $name" "$u" "$(largest "$name" utilisation | cut -d' ' -f2)"
        [ "$r" = - ] || differs "$name" active ||
            near "active ratio of $name" "$r" "$(ratio_of "$name" active_ratio "$r_of")"
    done < <(rows)
}

# Barriers that order nothing are what RUS removes; nothing else may be found anywhere.
check_safe() {
    while IFS=$'\t' read -r name _; do
        kinds=$("$autotune" check "$programs/$name.txt" --hw r-inference --json |
            jq -r '[.findings[].kind] | sort | group_by(.) | map("\(length) \(.[0])") | join(", ")')
        case $name in
        depthwise-[01]) equal "check of $name" "5 over_sync" "$kinds" ;;
        *) equal "check of $name" "" "$kinds" ;;
        esac
    done < <(rows)
}

# "gm->ub 491520" and so on: only MRT, which is about that, may change it. Not the tests of loops.
work_of() {
    ours "$1" '.components[] | select(.name != "Scalar").parts[] | "\(.name) \(.amount)"' | sort
}

check_steps() {
    previous=
    while IFS=$'\t' read -r name step _; do
        if [ "$step" != - ]; then
            check "$name is faster than $previous" awk -v a="$(ours "$previous" .time_us)" \
                -v b="$(ours "$name" .time_us)" 'BEGIN { exit !(b < a) }'
            changed=$(diff <(work_of "$previous") <(work_of "$name") | grep -c '^>')
            case $step in
            MRT) equal "work changed by $step" 1 "$changed" ;;
            *) equal "work changed by $step" 0 "$changed" ;;
            esac
        fi
        previous=$name
    done < <(rows)
}

table() {
    printf '%-12s %-4s | %-24s %-7s %6s %6s %8s | %-24s %-7s %-13s %-13s %7s\n' program step \
        "R: verdict" of U R us "ours: verdict" of "U" "R" us
    while IFS=$'\t' read -r name step verdict component u u_of r r_of us; do
        read -r c cu < <(largest "$name" utilisation)
        read -r d dr < <(largest "$name" active_ratio)
        printf '%-12s %-4s | %-24s %-7s %6s %6s %8s | %-24s %-7s %-6s %6.2f %-6s %6.2f %7.2f\n' \
            "$name" "$step" "$verdict" "$component" "$u" "$r" "$us" "$(ours "$name" .verdict)" \
            "$(ours "$name" .component)" "$c" "$cu" "$d" "$dr" "$(ours "$name" .time_us)"
    done < <(rows)
}

# What `autotune advise` makes of each step: the paper's, with what it would leave, against what our
# program of the next step takes; and what it would do first.
advice() {
    printf '%-12s %-8s %12s %12s   %s\n' program "R's step" "advise: us" "program: us" "advise's first"
    previous=
    while IFS=$'\t' read -r name step _; do
        if [ "$step" != - ]; then
            "$autotune" advise "$programs/$previous.txt" --hw r-inference --json |
                jq -r --arg step "$step" --arg name "$previous" --argjson ours "$(ours "$name" .time_us)" '
                    def us: if . == null then "-" else . / 1000 * 100 | round / 100 | tostring end;
                    (.advice | map(select(.strategy == $step)) | first) as $its
                    | (.advice | map(select(.applies and .saved_ns > 0)) | max_by(.saved_ns)) as $best
                    | [$name, $step, ($its.time_ns | us), ($ours * 1000 | us),
                       (if $best then "\($best.strategy), \($best.time_ns | us) us" else "-" end)]
                    | @tsv' |
                awk -F'\t' '{ printf "%-12s %-8s %12s %12s   %s\n", $1, $2, $3, $4, $5 }'
        fi
        previous=$name
    done < <(rows)
}

# The same operators as kernels' texts, R's steps as axes: text, shape, R's last program. A convolution
# with its border reads 61,152 bytes a tile where depthwise-4 moves 61,440.
texts() {
    cat <<'TEXTS'
add-relu	128x1536	add-relu-2
depthwise	60x19x24	depthwise-4
avg-pool	2x784	avg-pool-1
TEXTS
}

best_of() { # text, shape
    "$autotune" --kernel "$programs/$1.kernel" --shape "$2" --hw r-inference --cores 1 --json
}

check_texts() {
    while IFS=$'\t' read -r name shape last; do
        best_of "$name" "$shape" >"best"
        equal "$name: proven" true "$(jq .search.optimal "best")"
        equal "$name: no slower than $last" true "$(jq --argjson last "$(ours "$last" .time_us)" \
            '.best.time_ns <= 1000 * $last' "best")"
        equal "$name is safe" 0 "$("$autotune" program --kernel "$programs/$name.kernel" \
            --shape "$shape" --hw r-inference --cores 1 |
            "$autotune" check - --hw r-inference >/dev/null; echo $?)"
    done < <(texts)
}

texts_table() {
    printf '%-10s %-9s %12s %12s   %s\n' text shape "R's last: us" "optimum: us" tiling
    while IFS=$'\t' read -r name shape last; do
        best_of "$name" "$shape" | jq -r --arg name "$name" --arg shape "$shape" \
            --argjson last "$(ours "$last" .time_us)" '[$name, $shape, $last,
                (.best.time_ns / 10 | round / 100),
                (.best.tiling | to_entries | map("\(.key)=\(.value)") | join(","))] | @tsv' |
            awk -F'\t' '{ printf "%-10s %-9s %12.2f %12.2f   %s\n", $1, $2, $3, $4, $5 }'
    done < <(texts)
}

while IFS=$'\t' read -r name _; do analyse "$name"; done < <(rows)
case ${3-} in
--table) table; exit ;;
--advice) advice; exit ;;
--texts) texts_table; exit ;;
esac
check_diagnosis
check_safe
check_steps
check_texts
finish
