#!/usr/bin/env bash
# Pages of --report: the same bytes for the same question, no text of the data is markup, and in
# headless Chromium every chart is drawn and nothing is asked of a network.
#
#   tests/test_report.sh AUTOTUNE SOURCE_DIR
set -u
export LC_ALL=C
autotune=$1
source=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
passed=0
failed=0

expect() { # what, command…
    local what=$1
    shift
    if "$@" >"$folder/said" 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED $what"
        sed 's/^/    /' "$folder/said"
    fi
}

none() { ! "$@"; }

if "$autotune" --op matmul --shape 64x64x64 --report "$folder/none.html" 2>&1 |
    grep -q 'left out of this build'; then
    echo 'skipped: pages were left out of this build'
    exit 77
fi

tune() { # threads, page
    (cd "$folder" && cp "$source/configs/hardware/ascend310.cfg" . &&
        "$autotune" --op matmul --shape 512x1024x512 --hw ascend310.cfg --top 20 -q \
            --threads "$1" --report "$2" -o /dev/null)
}

# What the page says of its command, the number of threads in it, is not of the answer.
body() { sed 's/--threads [0-9]* --report [a-z]*.html//' "$folder/$1"; }
same() { cmp <(body one.html) <(body two.html); }

expect 'tune writes a page' tune 1 one.html
expect 'and again, with more threads' tune 2 two.html
expect 'the pages are the same' same
expect 'a page is small' test "$(wc -c <"$folder/one.html")" -lt 400000
expect 'nothing is loaded' none grep -qE '<(link|iframe|img|script)[^>]*(src|href)=' "$folder/one.html"
expect 'the policy forbids all but its own' grep -q "default-src 'none'; script-src 'sha256-" "$folder/one.html"

# A description with a name that tries to leave the data.
hostile="</script><script>window.touched=1</script><img src=x onerror=window.touched=1><!--"
sed "s|^name *= *\"[^\"]*\"|name = \"${hostile:0:60}\"|" "$source/configs/hardware/ascend310.cfg" \
    >"$folder/hostile.cfg"
expect 'hostile names are answered' "$autotune" --op matmul --shape 64x64x64 -q \
    --hw "$folder/hostile.cfg" --report "$folder/hostile.html"
expect 'and stay in the data' test "$(grep -c 'window.touched=1' "$folder/hostile.html")" = \
    "$(grep -c 'window.touched=1.*u003c\|u003c.*window.touched=1' "$folder/hostile.html")"
expect 'knn writes a page' "$autotune" --op knn --shape 128x64x2048 --k 8 -q \
    --report "$folder/knn.html" -o /dev/null

chromium=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
node=$(command -v node || command -v nodejs)
if [[ -z $chromium || -z $node ]]; then
    echo "$passed passed, $failed failed"
    ((failed == 0)) || exit 1
    echo 'skipped in part: Chromium or node is missing, pages were not opened'
    exit 77
fi
"$node" "$source/tests/report/browse.mjs" "$chromium" "$folder/profile" \
    "$folder/one.html" "$folder/hostile.html" "$folder/knn.html" >"$folder/browsed" 2>&1
passed=$((passed + $(grep -c '^ok ' "$folder/browsed")))
failed=$((failed + $(grep -c '^FAILED' "$folder/browsed")))
grep -B 20 '^FAILED' "$folder/browsed" | grep -E '^(FAILED|  )'
grep -q '^ok ' "$folder/browsed" || { failed=$((failed + 1)); cat "$folder/browsed"; }
echo "$passed passed, $failed failed"
((failed == 0))
