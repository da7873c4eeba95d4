#!/usr/bin/env bash
# The library that users link, as installed: header, archive and pkg-config file suffice for a program
# in C and one in C++, and the archive has no global name but those of the header.
#
#   tests/runtime/test_install_sgemm.sh AUTOTUNE SOURCE_DIR
. "$(dirname "$0")/../support/script.sh"
unset AUTOTUNE_CONFIGS XDG_CONFIG_HOME
build=$(dirname "$autotune")
[[ -f $build/libautotune_sgemm.a ]] || skip "no $build/libautotune_sgemm.a"

flags() { PKG_CONFIG_PATH=$(dirname "$pc") pkg-config "$@" autotune_sgemm; }

# What it names lies where the file lies, and nowhere else: after --prefix, DESTDIR and a move.
points_into() { # folder
    local folder=$1 said
    PKG_CONFIG_PATH=$(dirname "$(find "$folder" -name autotune_sgemm.pc)")
    export PKG_CONFIG_PATH
    said=$(pkg-config --variable=libdir autotune_sgemm) && [[ $said -ef $PKG_CONFIG_PATH/.. ]] &&
        said=$(pkg-config --variable=includedir autotune_sgemm) && [[ $said/autotune_sgemm.h -ef $folder/include/autotune_sgemm.h ]]
}

stage() { DESTDIR=$work/stage cmake --install "$build" --prefix /opt/a/b && mv "$work/stage/opt/a/b" "$work/moved"; }

# The first block of commands in docs/runtime.md, in a folder like the source's with this build.
recipe() {
    mkdir -p "$work/tree" "$work/home" && ln -s "$build" "$work/tree/build" &&
        ln -s "$source_dir/docs" "$work/tree/docs" && cd "$work/tree" &&
        sed -n '/^```sh$/,/^```$/{/^```/d; p}; /^```$/q' "$source_dir/docs/runtime.md" >"$work/recipe" &&
        env -u AUTOTUNE_CONFIGS -u XDG_CONFIG_HOME -u DESTDIR -u PKG_CONFIG_PATH HOME="$work/home" \
            bash -eu -o pipefail "$work/recipe" && [[ $(wc -l <table.csv) -ge 6 ]]
}

runs() { # program
    "$1" "$source_dir/docs/examples/sgemm-table.csv" | grep -qx 'C ends with 600'
}

only_public_names() {
    local names
    names=$(nm --defined-only -g "$build/libautotune_sgemm.a" | awk 'NF == 3 { print $3 }')
    [[ $(wc -w <<<"$names") -eq 5 ]] && ! grep -v '^autotune_sgemm' <<<"$names"
}

builds() { # compiler, language, output
    # shellcheck disable=SC2046
    "$1" $sanitize -x "$2" -Wall -Wextra -Werror "$source_dir/docs/examples/sgemm_example.c" -x none -o "$3" $(flags --cflags --libs)
}

sanitize=
grep -q 'AUTOTUNE_SANITIZE:BOOL=ON' "$build/CMakeCache.txt" && sanitize='-fsanitize=address,undefined'
check 'cmake --install' env DESTDIR= cmake --install "$build" --prefix "$work/usr"
pc=$(find "$work/usr" -name autotune_sgemm.pc)
check 'pkg-config finds it' flags --exists
check 'it points to where it was installed' points_into "$work/usr"
check 'cmake --install for a package' stage
check 'it points to where it was moved' points_into "$work/moved"
check 'global names are those of the header' only_public_names
check 'a program in C builds' builds "${CC:-cc}" c "$work/example"
check 'and runs' runs "$work/example"
if ! command -v "${CXX:-c++}" >/dev/null; then
    echo 'no C++ compiler: the header is not tried from C++'
    finish
fi
check 'the header alone, as C++' "${CXX:-c++}" -std=c++11 -Wall -Wextra -Werror -pedantic -fsyntax-only -x c++ "$source_dir/runtime/autotune_sgemm.h"
cat >"$work/main.cpp" <<'CPP'
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
check 'a program in C++ builds' "${CXX:-c++}" $sanitize "$work/main.cpp" -o "$work/main" $(flags --cflags --libs)
check 'and computes' "$work/main"
[[ -n $sanitize ]] || check 'the recipe of docs/runtime.md' recipe
finish
