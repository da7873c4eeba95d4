#!/usr/bin/env bash
# An operator is its folder and one row: a copy of the sources without Cube-fx's folder, its row in
# kernels/registry.c and its own tests builds, passes its tests and answers about the others as ever.
#
#   tests/whole/test_operator_removed.sh AUTOTUNE SOURCE_DIR
set -u
export LC_ALL=C
if [[ ${AUTOTUNE_SLOW:-} ]]; then
    echo 'skipped: it builds the program anew, which a slow build need not'
    exit 77
fi
autotune=$(realpath "$1")
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
passed=0
failed=0

expect() { # what, command…
    local what=$1
    shift
    if "$@" >"$copy/said" 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf 'FAILED %s\n' "$what"
        grep -E "error|FAIL|Fail|^[<>]" "$copy/said" | tail -n 20
    fi
}

remove() { # operator
    rm -r "kernels/$1" "tests/kernels/$1" &&
        sed -i "/kernels\/$1\//d; /&$1_operator/d" kernels/registry.c &&
        ! grep "$1" kernels/registry.c
}

same_answer() { # arguments…
    build/autotune "$@" --json >ours.json && "$autotune" "$@" --json >theirs.json &&
        diff <(jq 'del(.search.seconds, .hardware_file)' ours.json) <(jq 'del(.search.seconds, .hardware_file)' theirs.json)
}

unknown() { # operator
    ! build/autotune --op "$1" --shape 4096 2>message && grep -q 'expected one of matmul, knn' message
}

tar -C "$2" --exclude='./build*' --exclude=./.git -cf - . | tar -C "$copy" -xf -
cd "$copy" || exit 2
expect 'remove its folder, its row and its tests' remove cubefx
expect 'configure' cmake -B build -DCMAKE_BUILD_TYPE=Debug
mapfile -t tests < <(grep -rlE 'include "(kernels|jobs)/' --include='test_*.c' tests | xargs -n 1 basename -s .c)
expect 'build' cmake --build build --parallel "$(nproc)" --target autotune "${tests[@]}"
expect 'tests' ctest --test-dir build --output-on-failure -LE slow -R "^($(IFS='|' && echo "${tests[*]}"))\$"
expect 'it is gone' unknown cubefx
expect 'matmul as ever' same_answer --op matmul --shape 512x1024x512
expect 'knn as ever' same_answer --op knn --shape 256x128x2048 --k 8
echo "$passed passed, $failed failed"
((failed == 0))
