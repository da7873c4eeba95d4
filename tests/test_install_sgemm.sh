#!/usr/bin/env bash
# The library that users link, as installed: header, archive and pkg-config file suffice for a program
# in C and one in C++, and the archive has no global name but those of the header.
#
#   tests/test_install_sgemm.sh AUTOTUNE SOURCE_DIR
set -u
export LC_ALL=C
build=$(dirname "$(realpath "$1")")
source=$(realpath "$2")
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
passed=0
failed=0

check() { # what command…
    local what=$1
    shift
    if "$@" >"$scratch/log" 2>&1 </dev/null; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED $what"
        sed 's/^/    /' "$scratch/log"
    fi
}

flags() { PKG_CONFIG_PATH=$(dirname "$pc") pkg-config --define-variable=prefix="$scratch/usr" "$@" autotune_sgemm; }

runs() { # program
    "$1" "$source/docs/examples/sgemm-table.csv" | grep -qx 'C ends with 600'
}

only_public_names() {
    local names
    names=$(nm --defined-only -g "$build/libautotune_sgemm.a" | awk 'NF == 3 { print $3 }')
    [[ $(wc -w <<<"$names") -eq 4 ]] && ! grep -v '^autotune_sgemm' <<<"$names"
}

builds() { # compiler, language, output
    # shellcheck disable=SC2046
    "$1" $sanitize -x "$2" -Wall -Wextra -Werror "$source/docs/examples/sgemm.c" -x none -o "$3" $(flags --cflags --libs)
}

[[ -f $build/libautotune_sgemm.a ]] || { echo "skipped: no $build/libautotune_sgemm.a"; exit 77; }
sanitize=
grep -q 'AUTOTUNE_SANITIZE:BOOL=ON' "$build/CMakeCache.txt" && sanitize='-fsanitize=address,undefined'
check 'cmake --install' env DESTDIR= cmake --install "$build" --prefix "$scratch/usr"
pc=$(find "$scratch/usr" -name autotune_sgemm.pc)
check 'pkg-config finds it' flags --exists
check 'global names are those of the header' only_public_names
check 'the header alone, as C++' "${CXX:-c++}" -std=c++11 -Wall -Wextra -Werror -pedantic -fsyntax-only -x c++ "$source/runtime/autotune_sgemm.h"
check 'a program in C builds' builds "${CC:-cc}" c "$scratch/example"
check 'and runs' runs "$scratch/example"
cat >"$scratch/main.cpp" <<'CPP'
#include <autotune_sgemm.h>
int main()
{
    float a[6] = {1, 2, 3, 4, 5, 6}, b[3] = {1, 1, 1}, c[2] = {0, 0};
    struct autotune_sgemm *sgemm = autotune_sgemm_open(nullptr, 1, nullptr, 0);
    bool right = sgemm && autotune_sgemm(sgemm, 2, 3, 1, a, b, c) == AUTOTUNE_SGEMM_OK &&
                 c[0] == 6 && c[1] == 15;
    autotune_sgemm_close(sgemm);
    return right ? 0 : 1;
}
CPP
# shellcheck disable=SC2046
check 'a program in C++ builds' "${CXX:-c++}" $sanitize "$scratch/main.cpp" -o "$scratch/main" $(flags --cflags --libs)
check 'and computes' "$scratch/main"
echo "$passed passed, $failed failed"
((failed == 0))
