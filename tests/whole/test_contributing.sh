#!/usr/bin/env bash
# What CONTRIBUTING.md says about adding something is true. Each answer has at most ten lines and
# names files that there are. In a copy of the sources a strategy and an export format are added by
# touching the files that it names, and no other; and an operator is taken away by the reverse of
# what it says: without Cube-fx's folder, its row and its own tests the copy builds, passes its
# tests and answers about the others as ever.
#
#   tests/whole/test_contributing.sh AUTOTUNE SOURCE_DIR           what the page names
#   tests/whole/test_contributing.sh AUTOTUNE SOURCE_DIR --build   and all of it, which takes minutes
. "$(dirname "$0")/../support/script.sh"
copy=$work
things=('an operator in C' 'a kernel as text' 'a program as text' 'a chip' 'a strategy' 'a format' 'a type' 'a command')

section() { # of what is added
    awk -v title="### $1" '/^##/ { inside = $0 == title; next } inside && NF' "$source_dir/CONTRIBUTING.md"
}

is_short() { # of what is added
    local lines
    lines=$(section "$1" | wc -l)
    ((lines > 0 && lines <= 10)) && ! section "$1" | grep -E '.{121}'
}

named_files() { # of what is added
    # shellcheck disable=SC2016 # quotes of Markdown
    section "$1" | grep -oE '`[a-z_]+/[A-Za-z0-9_./-]+\.(c|h|md|sh|cfg|tsv|txt|1)' | tr -d '\`'
}

names_what_there_is() { # of what is added
    local file
    for file in $(named_files "$1" | grep -v NAME); do
        [[ -e $source_dir/$file ]] || { echo "error: no $file" && return 1; }
    done
}

for thing in "${things[@]}"; do
    check "$thing: at most ten lines" is_short "$thing"
    check "$thing: files that there are" names_what_there_is "$thing"
done
[[ ${3-} == --build ]] || finish

# The files that were touched since the last call: are all of them named?
touches_what_it_names() { # of what is added, name
    local file
    for file in $(find . -newer "$copy/mark" -type f -name '*.[ch]' | sed "s|^\./||; s|_$2\.c|_NAME.c|"); do
        named_files "$1" | grep -qxF "$file" || { echo "error: $file is not named" && return 1; }
    done
    sleep 0.01
    touch "$copy/mark"
}

add_strategy() {
    sed 's/strategy_exhaustive/strategy_every/; s/"exhaustive"/"every"/' \
        search/strategy_exhaustive.c >search/strategy_every.c &&
        sed -i 's/^extern const struct search_strategy .*/&\nextern const struct search_strategy strategy_every;/' \
            search/strategy.h &&
        sed -i 's/&strategy_bound,/& \&strategy_every,/' search/strategy.c
}

add_format() {
    cat >results/tune_shortly.c <<'EOF' &&
#include "results/tune.h"

enum status tune_write_shortly(const struct tune_answer *answer, const struct style *style, FILE *out,
                               struct error *error)
{
    char title[PROBLEM_TITLE_SIZE];
    (void)style, (void)error;
    fprintf(out, "%s: %d found\n", problem_title(answer->problem, title), answer->search->count);
    return STATUS_OK;
}
EOF
        sed -i 's/^tune_writer tune_write_table/tune_writer tune_write_shortly;\n&/' results/tune.h &&
        sed -i 's/^    {NULL},/    {"shortly", "one line", .tune = tune_write_shortly},\n&/' results/format.c
}

# Chapters that set it beside another chip go with it, and their places in the list.
remove() { # operator
    grep -l "kernels/$1/" jobs/reproduce/*.c | xargs -r rm &&
        sed -i 's/&apart_chapter, *&audio_chapter, *//' jobs/reproduce/reproduce.c &&
        touch -r CMakeLists.txt jobs/reproduce/reproduce.c &&
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

by_another_strategy() {
    local job=(--op matmul --shape 128x256x128 --json)
    build/autotune list strategies | grep -q every &&
        diff <(build/autotune "${job[@]}" --strategy every | jq '.best.tiling, .search.optimal') \
            <("$autotune" "${job[@]}" | jq '.best.tiling, .search.optimal')
}

in_another_format() {
    build/autotune list formats | grep -q shortly &&
        [[ $(build/autotune --op matmul --shape 128x256x128 --format shortly) == 'matmul 128x256x128: 1 found' ]]
}

tar -C "$source_dir" --exclude='./build*' --exclude=./.git -cf - . | tar -C "$copy" -xf -
sleep 0.01
touch mark
check 'add a strategy' add_strategy
check 'a strategy: the files that are named' touches_what_it_names 'a strategy' every
check 'add a format' add_format
check 'a format: the files that are named' touches_what_it_names 'a format' shortly
check 'remove an operator: its folder, its row and its tests' remove cubefx
check 'an operator in C: the files that are named' touches_what_it_names 'an operator in C' cubefx
check 'configure' cmake -B build -DCMAKE_BUILD_TYPE=Debug
mapfile -t suites < <(grep -rlE 'include "(kernels|jobs)/' --include='test_*.c' tests)
mapfile -t programs < <(printf '%s\n' "${suites[@]}" | xargs -n 1 dirname | sort -u | tr / _)
mapfile -t tests < <(printf '%s\n' "${suites[@]}" | xargs -n 1 basename -s .c)
check 'build' cmake --build build --parallel "$(nproc)" --target autotune "${programs[@]}"
check 'tests' ctest --test-dir build --output-on-failure -LE slow -R "^($(IFS='|' && echo "${tests[*]}"))\$"
check 'it is gone' unknown cubefx
check 'matmul as ever' same_answer --op matmul --shape 512x1024x512
check 'knn as ever' same_answer --op knn --shape 256x128x2048 --k 8
check 'a search by the strategy' by_another_strategy
check 'an answer in the format' in_another_format
finish
