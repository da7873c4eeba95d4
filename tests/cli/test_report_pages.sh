#!/usr/bin/env bash
# Pages of --report: the same bytes for the same question, no text of the data is markup, and in
# headless Chromium every chart is drawn and nothing is asked of a network.
#
#   tests/cli/test_report_pages.sh AUTOTUNE SOURCE_DIR
. "$(dirname "$0")/../support/script.sh"
folder=$work
source=$source_dir

tune() { # threads, page
    (cd "$folder" && cp "$source/configs/hardware/ascend310.cfg" . &&
        "$autotune" --op matmul --shape 512x1024x512 --hw ascend310.cfg --top 20 -q \
            --threads "$1" --report "$2" -o /dev/null)
}

# What the page says of its command, the number of threads in it, is not of the answer.
body() { sed 's/--threads [0-9]* --report [a-z]*.html//' "$folder/$1"; }
same() { cmp <(body one.html) <(body two.html); }

check 'tune writes a page' tune 1 one.html
check 'and again, with more threads' tune 2 two.html
check 'the pages are the same' same
check 'a page is small' test "$(wc -c <"$folder/one.html")" -lt 400000
check 'nothing is loaded' not grep -qE '<(link|iframe|img|script)[^>]*(src|href)=' "$folder/one.html"
check 'the policy forbids all but its own' grep -q "default-src 'none'; script-src 'sha256-" "$folder/one.html"

# Names that try to leave the data: of a chip, of operators, of a file.
hostile='</script><script>window.touched=1</script><img src=x onerror=window.touched=1><!--'
sed "s|^name *= *\"[^\"]*\"|name = \"${hostile:0:60}\"|" "$source/configs/hardware/ascend310.cfg" \
    >"$folder/hostile.cfg"
{
    echo 'Op Name,OP Type,Task Type,Task Duration(us),aicore_time(us),mac_ratio,vec_ratio,scalar_ratio,mte1_ratio,mte2_ratio,mte3_ratio'
    awk -v name="$hostile" 'BEGIN {
        for (i = 0; i < 20000; i++)
            printf "%s%d,%s,AI_CORE,%d.5,%d.25,0.%d,0.1,0.2,0.3,0.9%d,0.05\n", name, i % 3000, name,
                i % 97 + 1, i % 97 + 1, i % 10, i % 8
    }'
} >"$folder/<b>hostile.csv"
cat >"$folder/long.txt" <<'END'
loop 20000
  MTE2 gm->l1 bytes=8192 dst=l1:0
  set MTE2 MTE1 0
  wait MTE2 MTE1 0
  MTE1 l1->l0a bytes=8192 src=l1:0 dst=l0a:0
end
END
printf 'op,shape,hw\nmatmul,64x64x64,ascend310\nmatmul,128x64x64,ascend310\nmatmul,64x64x64,ascend310-l1-2m\nmatmul,128x64x64,ascend310-l1-2m\nmatmul,0x1,ascend310\n' \
    >"$folder/jobs.csv"
exits() { # status, command…
    local wanted=$1
    shift
    "$@"
    local status=$?
    [[ $status == "$wanted" ]] || { echo "exit status $status, expected $wanted"; return 1; }
}

check 'a chip with a hostile name' "$autotune" --op matmul --shape 64x64x64 -q \
    --hw "$folder/hostile.cfg" --report "$folder/hostile.html"
check 'a profile with hostile names' exits 0 "$autotune" analyse "$folder/<b>hostile.csv" -q \
    --report "$folder/profile.html" -o "$folder/profile.txt"
check 'the page of 20,000 rows is small' test "$(wc -c <"$folder/profile.html")" -lt 200000
check 'a long program' "$autotune" analyse "$folder/long.txt" --format html -o "$folder/long.html"
check 'its page is bounded' test "$(wc -c <"$folder/long.html")" -lt 1000000
check 'the page as the answer' "$autotune" analyse "$folder/long.txt" --report "$folder/long2.html" \
    -o /dev/null
check 'is that of --report' cmp <(sed 's/"command":"[^"]*"//' "$folder/long.html") \
    <(sed 's/"command":"[^"]*"//' "$folder/long2.html")
sweep() { "$autotune" sweep "$folder/jobs.csv" -q --db "$folder/jobs.db" --report "$folder/$1.html" -o /dev/null; }
check 'a sweep' exits 2 sweep sweep
check 'and again' exits 2 sweep sweep2
check 'the same page' cmp <(sed 's/sweep2*.html//' "$folder/sweep.html") \
    <(sed 's/sweep2*.html//' "$folder/sweep2.html")
# What saves most stands first, as in the answer.
"$autotune" sweep "$source/docs/examples/calls.csv" -q --db "$folder/calls.db" --json \
    --report "$folder/calls.html" >"$folder/calls.json"
rows=$(grep -o '"Jobs by what they save".*' "$folder/calls.html" | grep -oE '"simulated",[^]]*' |
    awk -F, '{ printf "%s %.0f %s\n", $6, $7, $8 == "null" ? $8 : sprintf("%.0f", $8) }')
check 'by what is saved' test "$(cut -d' ' -f1,3 <<<"$rows")" = "$(jq -r '.calls[] |
    "\(.count) \(if .saved_ns == null then "null" else (.saved_ns | round) end)"' "$folder/calls.json")"
check 'and what calls take' test "$(cut -d' ' -f2 <<<"$rows")" = \
    "$(jq -r '.calls[] | .total_ns | round' "$folder/calls.json")"
# A network: what is on the page adds up to what the answer says.
network() { # page, options…
    "$autotune" network "$source/docs/examples/network.csv" --hw ascend910 -q --json \
        --graph "$source/docs/examples/network.graph.txt" --report "$folder/$1.html" "${@:2}"
}
sections() { # page: the data, in which markup is escaped
    grep -o '{"title":.*"sections":.*}' "$folder/$1.html" | jq -c .sections
}
check 'a network' network network -o "$folder/network.json"
check 'all of its time has an area' test "$(sections network |
    jq '[.[] | select(.kind == "treemap").cells[][2]] | add | round')" = \
    "$(jq '1000 * .measured_us | round' "$folder/network.json")"
check 'nothing is known of tilings' test "$(sections network | jq -c '.[] | select(.kind == "treemap") |
    [.tuned, (.columns | any(.name == "saved")), (.cells | all(.[3] == 0 and .[4] == null))]')" = '[false,false,true]'
tuned() { network "$1" --tune --db "$folder/tuned.db" --threads "$2" -o "$folder/$1.json"; }
check 'a network that is tuned' tuned tuned 1
check 'and again, with more threads' tuned tuned2 2
check 'the same page' cmp <(sections tuned) <(sections tuned2)
check 'what tilings save is hatched' test "$(sections tuned | jq -c '[.[] | select(.kind == "treemap").cells[] |
    select(.[3] > 0) | [(.[3] | round), .[4]]]')" = "$(jq -c '[.operators[] |
    select(.best_us and .best_us < .measured_us) | [.count * (.measured_us - .best_us) * 1000, .verdict]] |
    sort | reverse | map([(.[0] | round), .[1]])' "$folder/tuned.json")"
sed "s#\<\(Gelu\|hcom[A-Za-z_]*\)#&$hostile#g" "$source/docs/examples/op_summary.csv" >"$folder/<i>network.csv"
check 'operators with hostile names' "$autotune" network "$folder/<i>network.csv" --hw ascend910 -q \
    --report "$folder/names.html" -o /dev/null
check 'and all of them are on it' test "$(sections names |
    jq -c --arg name "$hostile" '[.[] | .title as $title | (.cells[]?, .rows[]?)[0] | select(endswith($name)) | $title]')" = \
    '["Where the time goes","Where the time goes","Kinds of operators","Not covered"]'
check 'nothing that is covered is a page too' exits 1 "$autotune" network "$folder/<b>hostile.csv" \
    --hw ascend910 -q --report "$folder/uncovered.html" -o /dev/null
for page in hostile profile names uncovered; do
    check "$page: texts stay in the data" test "$(grep -c 'touched=1' "$folder/$page.html")" = \
        "$(grep -c 'u003cscript\\u003ewindow.touched=1' "$folder/$page.html")"
done
check 'knn writes a page' "$autotune" --op knn --shape 128x64x2048 --k 8 -q \
    --report "$folder/knn.html" -o /dev/null
# Procedures: a figure for each that the chip has what is needed for, and what it concludes.
probes() { "$autotune" probe --all --hw "$1" --json --report "$folder/$2.html" -o "$folder/$2.json"; }
for chip in ascend910 ascend910b1; do
    check "procedures on $chip" probes $chip $chip
    check "$chip: a figure of each that runs" test "$(sections $chip |
        jq -c '[.[] | select(.kind == "curves").title | split(" ")[0]]')" = \
        "$(jq -c '[.procedures[] | select(.why_not == null).name]' "$folder/$chip.json")"
    check "$chip: as many lines" test "$(sections $chip |
        jq -c '[.[] | select(.kind == "curves").curves | length]')" = "$(jq -c '[.procedures[] |
        select(.why_not == null).series | map(select(.why_not == null)) | length]' "$folder/$chip.json")"
    check "$chip: why others do not run" test "$(sections $chip |
        jq '[.[] | select(.kind == "text" and (.note | startswith("Not on this chip")))] | length')" = \
        "$(jq '[.procedures[] | select(.why_not)] | length' "$folder/$chip.json")"
done
check 'and again' probes ascend910 again
check 'the same page' cmp <(sections ascend910) <(sections again)
check 'no legal tiling is a page too' exits 1 "$autotune" --op matmul --shape 64x64x64 -q \
    --set-hw buffers.l1.capacity_bytes=32 --report "$folder/none.html" -o /dev/null
printf 'MTE2 gm->l1 bytes=64 dst=l1:0\nwait MTE2 MTE1 0\n' >"$folder/stuck.txt"
check 'a deadlock is a page too' exits 1 "$autotune" analyse "$folder/stuck.txt" \
    --report "$folder/stuck.html" -o /dev/null

refused() { # message, command…
    local message=$1
    shift
    exits 2 "$@" 2>"$folder/error" >/dev/null &&
        [[ $(wc -l <"$folder/error") == 1 ]] && grep -q -- "$message" "$folder/error"
}
check 'a folder that is not there' refused 'No such file' "$autotune" --op matmul --shape 64x64x64 \
    -q --report "$folder/none/a.html"
printf 'a,b\n1,2\n' >"$folder/none.csv"
check 'a table that is no profile' refused "^autotune: $folder/none.csv:1: no profile" "$autotune" \
    analyse "$folder/none.csv" --format html
for page in profile long sweep network tuned names uncovered knn none stuck ascend910; do
    check "$page: no address in the page" not grep -q 'https\?://' "$folder/$page.html"
done
check 'tables of libraries have no page' refused '--report: expected --format' "$autotune" \
    --op matmul --shape 64x64x64 --hw ascend910b1 --format runtime_kb --report "$folder/a.html"
check 'nor has a plan' refused '--report: expected neither' "$autotune" sweep "$folder/jobs.csv" \
    --dry-run --report "$folder/a.html"

# A page takes the place of no other file of its command.
alone() { refused "^autotune: -.*: expected $1" "$autotune" "${@:2}"; }
cp "$source/configs/hardware/ascend310.cfg" "$folder/chip.cfg"
ln -s jobs.csv "$folder/link.csv"
ln "$folder/jobs.db" "$folder/second.db"
contents() { find "$folder" -type f ! -name error -exec cksum {} + | sort; }
before=$(contents)
product=(--op matmul --shape 64x64x64 -q)
check 'analyse: the input' alone 'a file of its own, this is' analyse \
    "$folder/long.txt" --report "$folder/../${folder##*/}/long.txt"
for page in jobs.csv link.csv; do
    check "sweep: $page" alone 'a file of its own, this is' sweep "$folder/jobs.csv" \
        --db "$folder/jobs.db" --report "$folder/$page"
done
for page in jobs second; do
    check "sweep: $page.db" alone 'a file of its own, this is' sweep \
        "$folder/jobs.csv" --db "$folder/jobs.db" --report "$folder/$page.db"
done
check 'sweep: a new store' alone 'a file of its own, this is' sweep "$folder/jobs.csv" \
    --db "$folder/new.db" --report "$folder/../${folder##*/}/new.db"
check 'tune: a new store' alone 'a file of its own, this is' "${product[@]}" \
    --db "$folder/new.db" --report "$folder/new.db"
check 'tune: the description' alone 'a file of its own, this is' \
    "${product[@]}" --hw "$folder/chip.cfg" --report "$folder/chip.cfg"
for option in -o --trace --landscape; do
    check "tune: $option" alone 'a file of its own, this is' "${product[@]}" \
        $option "$folder/new.json" --report "$folder/new.json"
done
for words in "${product[*]}" "analyse $folder/long.txt" "sweep $folder/jobs.csv" \
    "network $folder/jobs.csv" "probe cores"; do
    # shellcheck disable=SC2086 # a list of words
    check "$words: standard output" alone 'the name of a file' $words --report -
done
check 'and nothing has changed' test "$(contents)" = "$before"
check 'a device may be named twice' "$autotune" "${product[@]}" -o /dev/null --report /dev/null

chromium=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
if [[ -z $chromium ]]; then
    (($(wc -c <"$scratch/failed") == 0)) || finish
    skip 'Chromium is missing, pages were not opened'
fi
HOME=$folder XDG_CONFIG_HOME=$folder/browser "$source/tests/report/browse" "$chromium" "$folder/profile" \
    "$folder"/{one,hostile,profile,long,sweep,tuned,names,knn,none,stuck,ascend910}.html >browsed 2>&1 ||
    echo "FAILED browse: exit status $?" >>browsed
check 'pages are opened' grep -q '^ok ' browsed
while IFS= read -r line; do
    case $line in
    'ok '*) pass ;;
    FAILED*) fail "${line#FAILED }" ;;
    ' '*) printf '%s\n' "$line" ;;
    esac
done <browsed
finish
