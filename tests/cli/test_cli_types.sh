#!/usr/bin/env bash
# Element types from end to end, on chips that price them: what is tuned is explained, its
# program is safe and takes that time, and every form that it is exported to says its types and is
# read back as the same kernel, parts of k too. So are weights of 8 and 4 bits. A type without a price
# is the description's lack, by name.
#
#   tests/cli/test_cli_types.sh AUTOTUNE SOURCE_DIR
. "$(dirname "$0")/../support/script.sh"
needs jq
demo=$source_dir/docs/examples/demo-chip.ini

first() { # member, FILE: its first value in an answer
    sed -nE "s/^ *\"$1\": \"?([^\",]*)\"?,?\$/\1/p" "$2" | head -n 1
}

axes_of() { # file: the first tiling of an answer or a table
    jq -c 'first(.. | objects | select(has("tiling")) | .tiling)' "$1"
}

# ------------------------------------------------------------------ one problem on one chip

problem=()
shape=32x1024x32 # few blocks: k is split where the form has words for it
split_rows=0
hw=''
time_ns=''

read_back() { # FILE: takes the time that was tuned
    "$autotune" evaluate "$1" --hw "$hw" --json >back.json 2>err
    equal "evaluate $1 on $hw ($(cat err))" "$time_ns" "$(first predicted_ns back.json)"
}

says() { # FILE MEMBER VALUE
    check "$1 says $2 $3" grep -qE "\"$2\": ?\"?$3\"?([,}]|\$)" "$1"
}

tune() { # TYPE RESULT: into best.json; the tiling is explained, and its program is it
    "$autotune" "${problem[@]}" --json >best.json 2>err
    equal "type on $hw" "$1" "$(first dtype best.json)"
    says best.json optimal true
    time_ns=$(first time_ns best.json)
    local tiling cores
    tiling=$(tiling_of best.json)
    cores=$(sed -E 's/.*cores=([0-9]+).*/\1/' <<<"$tiling")
    "$autotune" explain "${problem[@]}" --set "$tiling" --json >explained.json
    equal "explain on $hw" "$time_ns" "$(first time_ns explained.json)"
    "$autotune" program "${problem[@]}" --set "$tiling" >kernel.txt
    check "products in $1 on $hw" grep -q "mmad .* type=$1 " kernel.txt
    check "check on $hw" "$autotune" check kernel.txt --hw "$hw" -o check.out
    "$autotune" simulate kernel.txt --hw "$hw" --cores "$cores" --json >simulated.json
    equal "simulate on $hw" "$time_ns" "$(first time_ns simulated.json)"
    [ "$1" = "$2" ] || return
    check "results in $2 on $hw" grep -q "cast=f32:$2" kernel.txt
}

# Numbers of ge::DataType for the runtime, names for the others.
export_all() { # TYPE NUMBER NAME RESULT-NUMBER RESULT-NAME SUMS-NAME
    local rows=kernel.jsonl
    "$autotune" "${problem[@]}" --space tcube --json >best.json # where these forms search
    time_ns=$(first time_ns best.json)
    "$autotune" "${problem[@]}" --format runtime_kb -q -o $rows
    local form=0
    [ "$(first split_k best.json)" = 1 ] || form=3
    says $rows tilingEnable $form
    split_rows=$((split_rows + form / 3))
    says $rows a_dtype "$2"
    says $rows b_dtype "$2"
    says $rows out_dtype "$4"
    check "rows fit $hw" "$autotune" check --runtime-kb $rows --hw "$hw" -o check.out
    read_back $rows
    "$autotune" "${problem[@]}" --format tcubetiling -q -o kernel.h
    says kernel.json a_dtype "$3"
    says kernel.json out_dtype "$5"
    check "types in the header" grep -q "/\* operands in $1, results in " kernel.h
    check "the header compiles" "${CC:-cc}" -fsyntax-only -Wall -Werror -x c kernel.h
    read_back kernel.json
    # a static bank has blocks only, and words for the order of loops of this one's best
    problem+=(--shape 64x128x64 --a-layout nz --b-layout nz --c-layout nz)
    "$autotune" "${problem[@]}" --space static --json >best.json
    time_ns=$(first time_ns best.json)
    rm -f bank.json
    "$autotune" "${problem[@]}" --format static_bank -q -o bank.json
    says bank.json A_dtype "$3"
    says bank.json B_dtype "$3"
    says bank.json C_dtype "$5"
    says bank.json mad_dtype "$6"
    read_back bank.json
}

# ------------------------------------------------------------------ the chips

on_chip() { # HW TYPE RESULT [arguments…]
    hw=$1
    problem=(--op matmul --shape "$shape" --hw "$1" --dtype "$2" "${@:4}")
    tune "$2" "$3"
}

# HF32 is FP32 at twice the rate: the same files, read back on a chip in the same mode.
hf32() {
    local plain_ns
    shape=512x1024x512
    on_chip ascend910b2 f32 ''
    plain_ns=$time_ns
    "$autotune" "${problem[@]}" --set-hw matrix.f32.block_cycles=1 --format runtime_kb -q -o hf32.jsonl
    "$autotune" "${problem[@]}" --set-hw matrix.f32.block_cycles=1 --space tcube --json >best.json
    time_ns=$(first time_ns best.json)
    says hf32.jsonl a_dtype 0
    check "HF32 is faster: $time_ns of $plain_ns" \
        awk "BEGIN { exit !($time_ns < $plain_ns && $time_ns > $plain_ns / 2) }"
    "$autotune" evaluate hf32.jsonl --hw ascend910b2 --set-hw matrix.f32.block_cycles=1 --json >back.json
    equal 'HF32 comes back' "$time_ns" "$(first predicted_ns back.json)"
}

# On 910Bs, and on chips of which nothing is known but their platform file.
split_chips="ascend910b2 ascend910b4 split.ini large.ini"
sed 's/^cube_vector_combine=.*/&split/' "$demo" >split.ini
sed -E 's/^(aiCoreCnt)=.*/\1=20/; s/^(cubeFreq)=.*/\1=1700/; s/^(l0[AB]Size|l0CSize)=.*/\1=131072/
    s/^(l1Size)=.*/\1=786432/; s/^(l2_rate)=.*/\1=128/' split.ini >large.ini

integers() {
    local chip
    on_chip ascend910 i8 i32
    for chip in ascend910b1 ascend910b3; do
        on_chip $chip i8 i32
        check "nothing converts i32" test -z "$(grep cast= kernel.txt)"
        export_all i8 2 int8 3 int32 int32
    done
    for chip in $split_chips; do
        on_chip $chip i8 '' --out-type f16
        check "FIXP makes reals on $chip" grep -q 'cast=i32:f16' kernel.txt
        export_all i8 2 int8 1 float16 int32
        on_chip $chip i8 '' --out-type same
        check "FIXP makes 8 bits on $chip" grep -q 'cast=i32:i8' kernel.txt
        bad 'path l0c->gm with cast i32:bf16' \
            --op matmul --shape 64x64x64 --hw $chip --dtype i8 --out-type bf16
    done
    bad '--out-type f16: space thesis has no scales to make reals of sums of i8 by' \
        --op matmul --shape 64x64x64 --hw ascend910 --dtype i8 --out-type f16
    bad '--out-type i8: space thesis has no scales to make 8 bits of sums of i8 by' \
        --op matmul --shape 64x64x64 --hw ascend910 --dtype i8 --out-type same
    bad "entry of the path's \`casts\`" \
        --op matmul --shape 64x64x64 --hw ascend910b1 --dtype i8 --out-type bf16
    for chip in ascend910 ascend910b1; do
        problem=(--op matmul --shape 64x64x64 --hw "$chip" --dtype i8)
        for name in accumulator i32 I32; do
            "$autotune" "${problem[@]}" --out-type $name --json >named.json
            "$autotune" "${problem[@]}" --json >bare.json
            equal "--out-type $name" "$(first time_ns bare.json)" "$(first time_ns named.json)"
        done
        for name in f32 u32 int8 ''; do
            bad "--out-type $name: expected same (i8) or accumulator (i32) or f16 or bf16" \
                "${problem[@]}" --out-type "$name"
        done
    done
}

# Scales of rows and columns, by the vector unit: the chips that can, and what does not fit.
scales() {
    local chip kernel=(--kernel quant_matmul --shape 16x64x32)
    for chip in ascend910b1 ascend910b3; do
        hw=$chip
        problem=("${kernel[@]}" --hw "$chip" --dtype i8 --out-type bf16 --tokens 1)
        tune i8 bf16
    done
    hw=ascend910 problem=("${kernel[@]}" --hw ascend910 --dtype i8 --out-type f16 --tokens 1)
    tune i8 f16
    for hw in ascend310 ascend910; do # by products of f16
        problem=("${kernel[@]}" --hw $hw --tokens 1)
        tune f16 ''
    done
    bad_text "a product in i8: the description of Ascend 310 lacks the price of this type" \
        "${kernel[@]}" --hw ascend310 --dtype i8 --out-type f16
    bad_text 'cast of f32 to bf16: Ascend 910 converts' \
        "${kernel[@]}" --hw ascend910 --dtype i8 --out-type bf16
    "$autotune" "${kernel[@]}" --hw ascend910 --dtype i8 --json >out 2>err
    equal 'quant_matmul of whole results' 1 $?
    check "$(cat out)" grep -q 'is(result, f16); result is i32: --out-type f16' out
    bad '--out-type f32: expected same (i8) or accumulator (i32) or f16 or bf16' \
        "${kernel[@]}" --hw ascend910b2 --dtype i8 --out-type f32
    for type in i8 f16; do # results in i32; operands in f16
        "$autotune" "${kernel[@]}" --hw ascend910b2 --dtype $type --json >out 2>err
        equal "quant_matmul of $type alone" 1 $?
        check "$(cat out)" grep -qE '\"reason\": \".*line 23: require is\((dtype, i8\); dtype is f16: --dtype i8|result, f16\) or is\(result, bf16\); result is i32: --out-type f16.*)\"' out
    done
    printf '\x93NUMPY\x01\x00\x46\x00%-69s\n' \
        "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }" >three.npy
    printf '\x00\x00\x80\x3f%.0s' 1 2 3 >>three.npy
    for tensor in S T; do
        bad "three.npy: an array of 3 elements, expected $([ $tensor = S ] && echo 32 || echo 16) for tensor $tensor" \
            run "${kernel[@]}" --hw ascend910b2 --dtype i8 --out-type f16 --tokens 1 --in $tensor=three.npy
    done
}

# A store's table says the type and the results' by name, whatever they were called.
tables() {
    problem=(--op matmul --shape 64x64x64 --hw ascend910b1 -q)
    "$autotune" "${problem[@]}" --dtype i8 --out-type accumulator --db types.db >out
    "$autotune" "${problem[@]}" --out-type accumulator --db types.db >out
    "$autotune" table --db types.db --format runtime_kb -q -o types.jsonl
    equal 'rows of a table' '1 0 2 3' \
        "$(sed -E 's/.*"a_dtype":([0-9]+),.*"out_dtype":([0-9]+),.*/\1 \2/' types.jsonl | sort |
            tr '\n' ' ' | sed 's/ $//')"
    "$autotune" table --db types.db --format json -q -o types.json
    says types.json dtype i8
    says types.json out-type f32
    check 'the results of i8 go without saying' test -z "$(grep -E 'out-type.*i32' types.json)"
}

# What a description lacks is named, and with it the type is tuned as any other.
price() { # TYPE BLOCK_K CHIP NAME: a copy of a chip with a price
    awk -v type="$1" -v k="$2" '
        /type = "f16"/ && !done {
            print "type = \"" type "\"; accumulator = \"f32\"; pipe = \"M\"; block_m = 16;"
            print "block_k = " k "; block_n = 16; block_flop = " 512 * k "; gflops = 8192.0;"
            print "source = \"assumed: for this test\"; }, {"
            done = 1
        }
        1' "$AUTOTUNE_CONFIGS/hardware/$3.cfg" >"$4"
}

price_cast() { # FILE: in place
    awk '/cast = "f32:f16"/ {
             print "cast = \"f32:bf16\"; bandwidth_gbps = 174.09; source = \"assumed: as f16\"; }, {"
         }
         1' "$1" >priced && mv priced "$1"
}

reals() {
    local chip type
    for chip in ascend310 ascend910; do
        for type in bf16 f32; do
            bad "lacks the price of this type, an entry of \`matrix\` with type = \"$type\"; add one\
 to a copy of $AUTOTUNE_CONFIGS/hardware/$chip.cfg, docs/hardware.md says how" \
                --op matmul --shape 64x64x64 --hw $chip --dtype $type
        done
    done
    price bf16 16 ascend310 310.cfg
    bad 'path l0c->ub with cast f32:bf16' --op matmul --shape 64x64x64 --hw 310.cfg --dtype bf16
    price_cast 310.cfg
    on_chip 310.cfg bf16 bf16
    for chip in $split_chips; do
        on_chip $chip bf16 bf16
        export_all bf16 27 bfloat16 27 bfloat16 float32
        on_chip $chip bf16 f32 --out-type accumulator
        export_all bf16 27 bfloat16 0 float32 float32
        on_chip $chip f32 ''
        export_all f32 0 float32 0 float32 float32
    done
    check "rows that split k: $split_rows" test $split_rows -ge 6
}

# Weights of 8 and 4 bits. No library's table has such a kernel: what is carried away are lines of a
# store, which another store takes, and tables of it.
weights() {
    local chip options
    for chip in $split_chips; do
        for options in '--dtype f16 --bits 8' '--dtype bf16 --bits 4'; do
            hw=$chip
            # shellcheck disable=SC2086 # options are words
            problem=(--kernel weight_quant_matmul --shape 16x256x64 --hw $chip $options)
            tune "$(cut -d ' ' -f 2 <<<"$options")" ''
            rm -f first.db second.db
            "$autotune" "${problem[@]}" -q --db first.db >out
            "$autotune" store export first.db -o first.jsonl
            "$autotune" store import second.db first.jsonl >out
            "$autotune" store export second.db -o second.jsonl
            check "weights of $hw in another store" cmp first.jsonl second.jsonl
            "$autotune" table --db second.db --format json -q -o table.json
            equal "weights of $hw in a table" "$time_ns" "$(first time_ns table.json)"
            equal "their tiling" "$(axes_of best.json)" "$(axes_of table.json)"
            "$autotune" table --db second.db --format c -q -o table.h
            check "their header compiles" "${CC:-cc}" -fsyntax-only -Wall -Werror -x c table.h
        done
    done
    bad 'hold tilings of matmul' "${problem[@]}" --format runtime_kb
    for hw in ascend310 ascend910; do # of 8 bits alone
        problem=(--kernel weight_quant_matmul --shape 16x256x64 --hw $hw)
        tune f16 ''
        "$autotune" "${problem[@]}" --bits 4 --json >out 2>err
        equal "weights of 4 bits on $hw" 1 $?
        check "$(cat out)" grep -q 'require bits == 8' out
    done
}

integers
scales
tables
reals
hf32
weights
finish
