#!/usr/bin/env bash
# The direction of the data through the folders: who may include whom, which foreign library stays
# where, who prints and exits, and that no source knows the place it was written in.
#
#   tests/whole/test_layers.sh AUTOTUNE SOURCE_DIR
. "$(dirname "$0")/../support/script.sh"
cd "$source_dir" || exit 2

# A folder, and the other folders of which it may include headers.
folders='
core
hardware   core
formats    core
costmodel  core
analysis   core formats costmodel
search     core costmodel analysis
validate   core costmodel
kernels    core formats costmodel analysis search validate
network    core formats costmodel analysis
results    core formats analysis network
runtime    core formats kernels
jobs       core hardware formats costmodel analysis search validate kernels network results
cli        core hardware formats costmodel analysis search validate kernels network results jobs
bench      core hardware formats costmodel analysis search validate kernels network results runtime
tools      core hardware formats costmodel analysis search validate kernels network results
tests      core hardware formats costmodel analysis search validate kernels network results runtime jobs cli tools
docs       core validate kernels
'

# Headers of foreign libraries by the beginning of their names, and the folders that may use them.
libraries='
libconfig  hardware jobs
sqlite3    results tests
xxhash     hardware kernels
jansson    formats kernels results jobs cli bench tests
omp.h      search kernels cli bench tests
hwloc      validate
gsl/       search validate kernels jobs bench tools tests
criterion  tests
argp.h     cli tools
onnx.pb-c  network tests
'

none() { equal "$1" '' "$2"; } # what, offending lines

# All sources of a folder.
sources() { # folder
    find "$1" -type f \( -name '*.c' -o -name '*.h' \) | sort
}

alternatives() { tr ' ' '|' <<<"$*"; }

# Every folder with sources has a row, and nothing but folders holds sources.
check_folders() {
    local known unknown
    known=$(awk 'NF { print $1 }' <<<"$folders")
    unknown=$(find . -path './build*' -prune -o -name '.?*' -prune -o \
        -type f \( -name '*.c' -o -name '*.h' \) -print |
        cut -d/ -f2 | sort -u | grep -vxF "$known")
    none 'a folder that is not in the table of tests/whole/test_layers.sh' "$unknown"
}

# Quoted includes start with a folder's name: "core/status.h", also within the folder.
check_includes() {
    local folder allowed
    while read -r folder allowed; do
        [[ -d ${folder:-/none} ]] || continue
        none "$folder/ may include $folder/ ${allowed:+and }${allowed// //, }${allowed:+/}" \
            "$(sources "$folder" | xargs grep -nE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' |
                grep -vE "include[[:space:]]*\"($(alternatives $folder $allowed))/")"
    done <<<"$folders"
}

# The link lists of CMakeLists.txt say the same as the table.
check_links() {
    local folder allowed linked wanted
    while read -r folder allowed; do
        linked=$(sed -nE "s/^add_layer\($folder(( [^)]*)?)\)/\1/p" CMakeLists.txt)
        grep -qE "^add_layer\($folder[ )]" CMakeLists.txt || continue
        linked=$(tr ' ' '\n' <<<"$linked" | grep -E '^[a-z]+$' | grep -vx m | sort | xargs)
        wanted=$(tr ' ' '\n' <<<"$allowed" | sort | xargs)
        none "CMakeLists.txt links $folder with '$linked', the table says '$wanted'" \
            "$([[ $linked == "$wanted" ]] || echo "add_layer($folder …)")"
    done <<<"$folders"
}

check_libraries() {
    local library allowed folder rest
    while read -r library allowed; do
        [[ $library ]] || continue
        while read -r folder rest; do
            [[ -d ${folder:-/none} && ! " $allowed " == *" $folder "* ]] || continue
            none "$folder/ may not use <$library…>, only: $allowed" \
                "$(sources "$folder" | xargs grep -nE "#[[:space:]]*include[[:space:]]*[<\"]$library")"
        done <<<"$folders"
    done <<<"$libraries"
}

# The sources named on standard input without comments and with empty texts, each line behind its
# file and number.
code() {
    xargs awk '
        FNR == 1 { within = 0 }
        {
            line = $0
            gsub(/\\./, "", line)
            gsub(/\047"\047/, "", line)
            code = ""
            while (length(line)) {
                if (within) {
                    at = index(line, "*/")
                    if (!at) break
                    line = substr(line, at + 2)
                    within = 0
                } else if (match(line, /"[^"]*"|\/\*|\/\//)) {
                    code = code substr(line, 1, RSTART - 1)
                    mark = substr(line, RSTART, 2)
                    line = substr(line, RSTART + RLENGTH)
                    if (mark == "//") break
                    if (mark == "/*") within = 1
                    else code = code "\"\""
                } else {
                    code = code line
                    break
                }
            }
            print FILENAME ":" FNR ": " code " "
        }'
}

# Only cli/ prints and exits; results/ writes to the stream it is given, and the child processes of
# validate/worker.c end by themselves.
check_silence() {
    local folder
    local ends='[^A-Za-z0-9_](exit|_exit|_Exit|quick_exit|abort|perror|err|errx|warn|warnx) *\('
    local prints='[^A-Za-z0-9_]((printf|vprintf|puts|putchar) *\(|stdout[^A-Za-z0-9_]|stderr[^A-Za-z0-9_])'
    for folder in core hardware formats costmodel analysis search validate kernels network results runtime; do
        [[ -d $folder ]] || continue
        none "$folder/ may not print or exit" "$(sources "$folder" | code |
            grep -vE '__attribute__ *\(\(format|^validate/worker\.c:.*_exit *\(' |
            grep -E "$ends|$prints")"
    done
}

# Nobody asks which operator it is; but calibration runs products, the runtime is one, and the
# simulator's published figures are of one.
check_operators() {
    local known='^(runtime/|jobs/calibrate/calibrate_overlap\.c|jobs/reproduce/reproduce_(simulator|apart)\.c)'
    local folders='analysis cli core costmodel formats hardware jobs results runtime search validate'
    # shellcheck disable=SC2086
    none 'who asks for one operator' "$(grep -rnE '"kernels/[a-z]+/' --include='*.[ch]' $folders |
        grep -vE "$known")"
    none 'who compares with one operator' "$(grep -rnE \
        '[!=]= *&(matmul|knn|cubefx)_|&(matmul|knn|cubefx)_[a-z_]+ *[!=]=' --include='*.[ch]' \
        $folders kernels/*.[ch])"
}

# What the README says of kernels/: costmodel/ is included by what explains an answer and by the roofline
# of a text, search/ by k-NN, Cube-fx and what adds to answers; neither knows a kernel.
check_kernels() {
    none 'who of kernels/ includes costmodel/' "$(grep -rlE 'include "costmodel/' --include='*.[ch]' kernels |
        grep -vE '^kernels/(details\.c|text/(picture/|space/kernel_roofline\.c))')"
    none 'who of kernels/ includes search/' "$(grep -rlE 'include "search/' --include='*.[ch]' kernels |
        grep -vE '^kernels/((details|chapter)\.h|knn/|cubefx/)')"
    none 'who of costmodel/ and search/ includes kernels/' "$(grep -rlE 'include "kernels/' --include='*.[ch]' costmodel search)"
}

# No tracked text names the machine it was written on or a place that packages come from.
check_outside() {
    local slash=/ hosts
    hosts='(deb|security|archive|snapshot|ports)\.(debian|ubuntu)\.(org|com)|pypi\.org|npmjs\.(org|com)'
    hosts+='|proxy\.golang\.org|crates\.io|docker\.io|ghcr\.io|pkg\.dev|artifactory'
    none 'a path or host of the outside world' \
        "$(find . -path './build*' -prune -o -path ./.git -prune -o -type f \
            ! -name test_layers.sh -print0 |
            xargs -0 grep -nIE "${slash}work${slash}|shared${slash}(spec|design|data|papers)|$hosts")"
}

check_folders
check_includes
check_links
check_libraries
check_silence
check_operators
check_kernels
check_outside
finish
