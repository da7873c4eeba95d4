#!/usr/bin/env bash
# A kernel's text as an operator: where it is found, every command about jobs with it, what a store
# knows it by, its sizes and types as options, the text to begin with, and what is refused.
#
#   tests/cli/test_cli_kernel.sh AUTOTUNE SOURCE_DIR
. "$(dirname "$0")/../support/script.sh"
needs jq
library=$source_dir/kernels/library

# ------------------------------------------------------------------ one text, all commands

try_new() {
    answer 0 kernel new scale
    check 'where it is' grep -q '^wrote scale.kernel; autotune --kernel scale.kernel ' messages
    bad_text 'scale.kernel: it is there' kernel new scale
    bad_text 'scale.kernel: it is there' kernel new other -o scale.kernel
    answer 0 kernel new scale -o -
    check 'the same text' cmp -s answer scale.kernel
    check 'comments on most lines' test "$(grep -c '#' scale.kernel)" -ge 10
    cases bad_text <<'END'
1:8: 'for' is a word of the language  kernel new for
an operator has this name             kernel new matmul
expected a name                       kernel new a/b
1:8:                                  kernel new 7up
expected new NAME                     kernel
expected new NAME                     kernel old x
expected a name                       kernel new
END
    check 'no other file' test "$(ls ./*.kernel)" = ./scale.kernel
}

try_commands() {
    local job=(--kernel scale.kernel --shape 4096)
    answer 0 "${job[@]}" --top 3 --json --report page.html --landscape map.json --landscape-axes t,bufs
    holds '.op == "scale"' '.shape == {"N": 4096}' '.space == "tile"' '.dtype == "f16"' \
        '.kernel | test("^[0-9a-f]{32}$")' '.search.optimal' '.top | length == 3' \
        '.best.tiling | keys == ["bufs", "cores", "t"]' '.choices == null'
    tiling=$(tiling_of answer)
    time=$(jq .best.time_ns answer)
    check 'a page' grep -q 'scale 4096' page.html
    check 'a map' test -s map.json
    answer 0 "${job[@]}"
    said 'next         autotune program --kernel scale.kernel '
    answer 0 "${job[@]}" --format csv
    check 'rows of csv' test "$(sed -n 1p answer | cut -d, -f 1-4)" = rank,t,bufs,cores
    answer 0 program "${job[@]}"
    cp answer program.txt
    answer 0 program "${job[@]}" --set "$tiling"
    check 'the best is that of the search' cmp -s answer program.txt
    answer 0 check program.txt
    answer 0 simulate program.txt --json
    answer 0 explain "${job[@]}" --set "$tiling" --json
    holds '.legal' ".time_ns == $time"
    answer 0 "${job[@]}" --dtype f32 --json
    holds '.dtype == "f32"'
    answer 0 "${job[@]}" --cores 1 --strategy exhaustive --json
    holds ".best.cores_used == 1" '.cores == 1'
    cases bad_text <<'END'
has no kernels for a processor                              "${job[@]}" --hw "$source_dir/tests/support/host-loops.cfg" --validate 0
expected --hw host                                          "${job[@]}" --validate 3
--kernel scale.kernel: expected it or --op matmul, not both  "${job[@]}" --op matmul
--space thesis: expected one of tile                        "${job[@]}" --space thesis
--compare: scale has none                                   "${job[@]}" --compare
--transpose: scale has none                                 "${job[@]}" --transpose a
--shape is missing, expected N                              --kernel scale.kernel
--shape 4x4: expected N                                     --kernel scale.kernel --shape 4x4
expected a file of its own                                  "${job[@]}" -o scale.kernel
END
}

# The text is one that comes from a pipe, once.
try_input() {
    "$autotune" --kernel - --shape 4096 --json <scale.kernel >answer
    what='autotune --kernel -'
    holds '.op == "scale"'
}

# Sizes with defaults and types that are asked for.
try_options() {
    cat >sized.kernel <<'END'
kernel sized
size heads = 3
size N pad 16
size B = 7
tensor X[B,heads,N] dtype, Y[B,heads,N] result
axis t = slices(N)
axis l = 1, 2
cores N
for b in B by 1
  for h in heads by l
    for i in N by t
      tile x: ub[i] dtype
      tile y: ub[i] result
      for g in h by 1
        load x <- X
        cast y <- x
        store Y <- y
END
    answer 0 --kernel sized.kernel --shape 64 --json
    holds '.shape == {"N": 64, "heads": 3, "B": 7}' '.choices == {"out-type": "f16"}'
    answer 0 --heads 5 --kernel=sized.kernel --shape 64 --B=2 --out-type accumulator --json
    holds '.shape == {"N": 64, "heads": 5, "B": 2}' '.choices == {"out-type": "f32"}'
    answer 0 --kernel sized.kernel --shape 64 --heads 5 --B 7 --out-type f32
    said 'sized 64 heads 5 out-type f32 in f16'
    said '--heads 5'
    cases bad_text <<'END'
unknown option --head                       --kernel sized.kernel --shape 64 --head 5
--heads 0: expected a whole number from 1   --kernel sized.kernel --shape 64 --heads 0
--dtype f32: add_relu has types of its own  --kernel add_relu --shape 64 --dtype f32
--out-type: add_relu has none               --kernel add_relu --shape 64 --out-type f32
END
    sed 's/heads/json/g' sized.kernel >json.kernel
    bad_text 'its size json would be an option that there is' --kernel json.kernel --shape 64
    sed 's/heads/threads/g' sized.kernel >threads.kernel
    bad_text 'its size threads would be an option that there is' --kernel threads.kernel --shape 64
    printf 'op,kernel,shape,heads\n,sized.kernel,64,2\n,threads.kernel,64,\n' >sizes.csv
    answer 2 sweep sizes.csv --db sizes.db
    check 'a sweep says so too' grep -q 'threads.kernel: its size threads would be an option' messages
}

# Allowed, and hardly meant: rows that become columns, a product's sources in the wrong order.
try_warnings() {
    cat >product.kernel <<'END'
kernel product
size M K N pad 16
tensor A[M,K] f16, B[N,K] f16, C[M,N] f16
axis tm = slices(M)
axis tn = slices(N)
for i in M by tm
  for j in N by tn
    tile a1: l1[i,K] f16
    tile b1: l1[j,K] f16
    tile a0: l0a[i,K] f16
    tile b0: l0b[K,j] f16
    tile acc: l0c[i,j] f32
    tile c: ub[i,j] f16
    load a1 <- A
    load b1 <- B
    load a0 <- a1
    load b0 <- b1 transpose=1
    mmad acc <- a0, b0
    move c <- acc
    store C <- c
END
    local job=(--shape 32x32x32 --hw ascend310 --json)
    answer 0 --kernel product.kernel "${job[@]}"
    holds '.warnings == null'
    sed 's/ transpose=1//' product.kernel >turned.kernel
    answer 0 --kernel turned.kernel "${job[@]}"
    holds '.warnings | keys == ["line 17"]' '.warnings["line 17"] | test("transpose=1 turns")'
    answer 0 explain --kernel turned.kernel "${job[@]}" --set tm=16
    holds '.picture.warnings | keys == ["line 17"]'
    sed 's/a0, b0/b0, a0/; s/a0: l0a/a0: l0b/; s/b0: l0b/b0: l0a/' product.kernel >swapped.kernel
    answer 0 --kernel swapped.kernel "${job[@]}"
    holds '.warnings | keys == ["line 18"]' '.warnings["line 18"] | test("in the other order")'
    answer 0 explain --kernel swapped.kernel --shape 32x32x64 --hw ascend310 --set tm=32,tn=64
    said 'as they are with its sources in the other order'
}

# ------------------------------------------------------------------ where texts are

try_names() {
    mkdir -p path/deep user/autotune/kernels
    sed 's/kernel scale/kernel mine/' scale.kernel >path/mine.kernel
    sed 's/kernel scale/kernel mine/; s/X + Y/user/' scale.kernel >user/autotune/kernels/mine.kernel
    sed 's/kernel scale/kernel owned/' scale.kernel >user/autotune/kernels/owned.kernel
    sed 's/kernel scale/kernel add_relu/' scale.kernel >path/add_relu.kernel
    bad_text '--kernel mine: expected a file, or one of add_relu, ' --kernel mine --shape 64
    bad_text 'did you mean add_relu?' --kernel add_rulu --shape 64
    XDG_CONFIG_HOME=$work/user answer 0 list kernels mine
    said 'user, element by element'
    XDG_CONFIG_HOME=$work/user answer 0 list kernels mine --kernel-path path/deep:path
    said 'X + Y, element by element'
    check 'as it stands in the file' cmp -s answer path/mine.kernel
    XDG_CONFIG_HOME=$work/user answer 0 --kernel mine --kernel-path path --shape 64
    said '--kernel mine --shape 64 --kernel-path path'
    XDG_CONFIG_HOME=$work/user answer 0 --kernel-path=path --kernel owned --shape 64
    answer 0 list kernels add_relu --kernel-path path
    check 'shipped ones come first' cmp -s answer "$library/add_relu.kernel"
    XDG_CONFIG_HOME=$work/user answer 0 list kernels --kernel-path path --json
    holds '[.[] | select(.name == "mine")] | length == 1 and (.[0].title | endswith("path/mine.kernel"))' \
        '[.[] | select(.name == "add_relu")] | length == 1' 'map(.name) | index("owned") > index("mine")' \
        '.[] | select(.name == "softmax_rows").title | test("--shape RxC; .*/softmax_rows.kernel(;|$)")'
    answer 0 list kernels add_relu --json
    holds '.name == "add_relu"' '.text | startswith("kernel add_relu")' '.kernel | length == 32'
    mkdir -p path/split
    sed 's/kernel scale/kernel mine/; s/X + Y/apart/' scale.kernel >path/split/mine.kernel
    answer 0 list kernels mine --kernel-path path --hw ascend910b2
    check 'cube and vector cores are apart there' cmp -s answer path/split/mine.kernel
    answer 0 list kernels mine --kernel-path path --hw ascend910
    check 'and not there' cmp -s answer path/mine.kernel
    answer 0 list kernels --kernel-path path --json
    holds '[.[] | select(.name == "mine")] | length == 1 and (.[0].title | endswith("apart path/split/mine.kernel"))'
    printf 'kernel,shape,hw\nmine,64,ascend310\nmine,64,ascend910b2\n' >apart.csv
    answer 0 sweep apart.csv --db apart.db --kernel-path path
    answer 0 store ls apart.db --kernel mine --kernel-path path --json
    holds 'length == 2'
    sed 's/kernel scale/kernel matmul/' scale.kernel >path/matmul.kernel
    bad_text '--kernel matmul: an operator has this name' --kernel matmul --kernel-path path --shape 64
    bad_text '--kernel MatMul: an operator has this name' --kernel MatMul --shape 64
    answer 0 --kernel path/matmul.kernel --shape 64 --json
    holds '.op == "matmul"' '.kernel | length == 32'
    cp path/mine.kernel path/yours.kernel
    bad_text 'path/yours.kernel: it has kernel mine, expected yours' --kernel yours --kernel-path path \
        --shape 64
    cp path/mine.kernel plain
    answer 0 --kernel plain --shape 64
    mkdir docs
    bad_text '--kernel docs: expected a file, or one of' --kernel docs --shape 64
    bad_text '--kernel-path nowhere: expected a folder' --kernel add_relu --kernel-path nowhere --shape 64
    answer 0 list kernels add_relu -o new.kernel
    bad_text 'expected a file of its own' list kernels add_relu -o "$library/add_relu.kernel"
    answer 0 --complete --kernel ad --
    what=completion
    "$autotune" --complete --kernel add_ >answer 2>&1
    said add_relu
    "$autotune" --complete --kernel sized.kernel --hea >answer 2>&1
    said --heads
}

# ------------------------------------------------------------------ stores, sweeps, tables

try_stores() {
    { echo '# another file'; sed 's/  *#.*//' scale.kernel; } >copy.txt
    sed 's/slices(N)/divisors(N)/' scale.kernel >changed.kernel
    answer 0 --kernel scale.kernel --shape 4096 --db a.db --json
    holds '.from_store == false'
    first=$(jq -r .kernel answer)
    answer 0 --kernel ./copy.txt --shape 4096 --db a.db --json
    holds '.from_store' ".kernel == \"$first\""
    answer 0 --kernel changed.kernel --shape 4096 --db a.db --json
    holds '.from_store == false' ".kernel != \"$first\""
    answer 0 store ls a.db
    said "scale ${first:0:8} "
    said '2 results'
    answer 0 store ls a.db --kernel copy.txt --json
    holds '.results | length == 1' ".results[0].query | endswith(\" kernel=$first\")"
    answer 0 store show a.db --kernel scale.kernel
    said "kernel=$first"
    bad_text 'expected a file, or one of' store ls a.db --kernel nope
    bad_text 'of a text that is not found by its name, expected --kernel FILE' table --db a.db
    answer 0 table --db a.db --kernel changed.kernel --json
    holds '.tables | length == 1' ".tables[0].kernel != \"$first\"" '.tables[0].op == "scale"'
    answer 0 table --db a.db --kernel scale.kernel --format csv
    said ",N=4096,kernel=$first,f16,tile,"
    answer 0 table --db a.db --kernel scale.kernel
    said "## scale, f16 (space tile, kernel $first)"
    answer 0 table --db a.db --kernel scale.kernel --format c -o scale.h
    check 'a header compiles' cc -std=c99 -Wall -Wextra -Werror -Wno-unused-function -fsyntax-only \
        scale.h
    answer 0 store export a.db -o a.jsonl
    answer 0 store import b.db a.jsonl
    answer 0 store diff a.db b.db
    answer 0 --kernel add_relu --shape 64 --db c.db
    answer 0 table --db c.db
    said '## add_relu, f16 (space tile, kernel '
}

try_sweeps() {
    cat >jobs.csv <<'END'
heads,kernel,shape,B
2,sized.kernel,64,
,add_relu,128,
,add_relu,128,
,add_relu,256,9
,nope,1,
END
    answer 2 sweep jobs.csv --db jobs.db
    check 'a size of another kernel' grep -q 'jobs.csv:5: --B: add_relu has none' messages
    check 'no such kernel' grep -q 'jobs.csv:6: --kernel nope: expected' messages
    answer 0 store ls jobs.db --json
    holds '.results | map([.op, .shape, .options]) | sort ==
        [["add_relu", "128", ""], ["sized", "64", "heads=2"]]'
    answer 2 sweep jobs.csv --db jobs.db
    check 'it goes on' grep -qE 'from store +2  searched before' answer
    cat >jobs.cfg <<'END'
jobs = (
  { kernel = "sized.kernel"; shapes = ( { N = [64, 128]; heads = [1, 2]; } ); B = [3, 4]; },
  { kernel = "mine"; shapes = [ "64" ]; } );
END
    answer 0 sweep jobs.cfg --db jobs.db --kernel-path path --dry-run --json
    holds '.jobs | length == 9'
    answer 0 sweep jobs.cfg --db jobs.db --kernel-path path
    answer 0 store ls jobs.db --kernel sized.kernel --json
    holds '.results | length == 9'
    echo 'kernel = "nope"; shapes = ( { N = 1; } );' >bad.cfg
    bad_text 'bad.cfg:1: ' sweep bad.cfg --db jobs.db
    echo 'kernel = "sized.kernel"; shapes = ( { N = 1; hands = 2; } );' >bad.cfg
    answer 2 sweep bad.cfg --db jobs.db
    check 'no size of it' grep -q -- '--hands: sized has none' messages
    answer 0 sweep jobs.cfg --db one.db --kernel-path path --shard 1/2
    answer 0 sweep jobs.cfg --db two.db --kernel-path path --shard 2/2
    answer 0 merge both.db one.db two.db --sweep jobs.cfg --kernel-path path
}

# ------------------------------------------------------------------ bad input

# A text of so many lines, each printed with its number.
lines() { # count format
    # shellcheck disable=SC2059 # the format is the caller's
    for ((n = 1; n <= $1; n++)); do printf "$2\n" "$n"; done
}

nested() { # depth
    local deep=''
    echo 'kernel nested'
    echo 'size N'
    echo 'tensor X[N] f16, Z[N] f16'
    echo 'axis t = slices(N)'
    for ((n = 1; n <= $1; n++)); do
        echo "${deep}for r$n in $( ((n == 1)) && echo N || echo "r$((n - 1))") by t"
        deep+='  '
    done
    printf '%s%s\n' "$deep" "tile x: ub[r$1] f16" "$deep" 'load x <- X' "$deep" 'store Z <- x'
}

try_bad() {
    for size in 0 00 -1 x '' 9223372036854775808; do
        bad_text 'expected N with positive whole numbers' --kernel scale.kernel --shape "$size"
    done
    cases bad_text <<'END'
N = 4611686018427387904, expected less than 2^31  --kernel scale.kernel --shape 4611686018427387904
the sizes' product is 4e+18                       --kernel softmax_rows --shape 2000000000x2000000000
No such file                                      --kernel missing.kernel --shape 64
No such file                                      --kernel path/missing --shape 64
path/deep: Is a directory                         --kernel path/deep --shape 64
: Is a directory                                  --kernel ./ --shape 64
END
    cp scale.kernel closed.kernel && chmod 0 closed.kernel
    if [ -r closed.kernel ]; then
        echo 'every file can be read: a closed one is left out'
    else
        bad_text 'closed.kernel: Permission denied' --kernel closed.kernel --shape 64
    fi
    head -c 100000000 /dev/zero | tr '\0' '#' >large.kernel
    bad_text 'large.kernel: larger than 1048576 bytes' --kernel large.kernel --shape 64
    sed '/^ *store /d; /tile z/d; s/vadd z/vadd x/' scale.kernel >storeless.kernel
    bad_text 'storeless.kernel:' --kernel storeless.kernel --shape 64
    check 'no store' grep -q 'store' messages
    sed '/^cores/d; s/load y <- Y/& if not first(i)/' scale.kernel >unwritten.kernel
    bad_text "unwritten.kernel:17:3: reads elements of tile 'y' that nothing wrote in its life" \
        --kernel unwritten.kernel --shape 64
    check 'its line' grep -q 'vadd z <- x, y' messages
    # of some tilings only: those are no answer
    sed '/^cores/d; s/load y <- Y/& if first(i)/' scale.kernel >later.kernel
    answer 0 --kernel later.kernel --shape 64 --json
    holds '.best.tiling.t == 64'
    answer 0 explain --kernel later.kernel --shape 64 --set t=16,bufs=1,cores=1 --json
    holds '.legal == false' '.nearest.t == 64'
    sed 's/^cores N/cores N by 4/' scale.kernel >shares.kernel
    bad_text 'shares.kernel:9:7: 4 shares on 2 cores, expected 1 to as many as there are' \
        --kernel shares.kernel --shape 64
    sed 's/tile x: ub.i./tile x: ub[i,i]/' scale.kernel >square.kernel
    answer 1 --kernel square.kernel --shape 64
    said "16:3: 16 elements of 'X' into"
    { sed -n '1,/^axis bufs/p' scale.kernel && lines 10000 'axis a%d = 1, 2'; } >axes.kernel
    bad_text "an axis 'a18' too many, expected at most 19" --kernel axes.kernel --shape 64
    nested 12 >twelve.kernel
    answer 0 --kernel twelve.kernel --shape 4
    nested 13 >thirteen.kernel
    bad_text 'loops nested deeper than 12' --kernel thirteen.kernel --shape 4
    printf 'let a = a + 1\n' | cat <(sed -n 1,3p scale.kernel) - >recursive.kernel
    bad_text 'recursive.kernel:4:' --kernel recursive.kernel --shape 64
    { sed -n '1,/^axis bufs/p' scale.kernel && lines 15 'axis a%d = multiples(1, 65536)' &&
        echo 'require N < a1+a2+a3+a4+a5+a6+a7+a8+a9+a10+a11+a12+a13+a14+a15' &&
        sed -n '/^cores/,$p' scale.kernel; } >overflow.kernel
    bad_text 'more than 2^60 tilings' --kernel overflow.kernel --shape 65536
    printf 'kernel a\n\377\n' >bytes.kernel
    bad_text 'bytes.kernel:2' --kernel bytes.kernel --shape 64
    : >empty.kernel
    bad_text 'empty.kernel:1:1: no kernel' --kernel empty.kernel --shape 64
    bad_text 'its value is missing' --kernel
}

# ------------------------------------------------------------------ numbers

array() { # file descr shape: of format 1.0; its elements are the input
    local header="{'descr': '$2', 'fortran_order': False, 'shape': $3, }"
    printf '\x93NUMPY\x01\x00%b' "$(printf '\\x%02x\\x00' ${#header})" >"$1"
    { printf '%s' "$header" && cat; } >>"$1"
}

try_numbers() {
    echo text >adding.kernel
    printf '\0\0\200\77\0\0\0\300\0\0\0\100' | array three.npy '<f4' '(3,)' # 1 -2 2
    answer 0 run --kernel add_relu --shape 3 --in X=three.npy --in Y=three.npy -o out --json
    holds '.cores == 1' '.steps > 0' '.tensors | length == 3' \
        '.tensors[0] | .tensor == "X" and .given == "three.npy" and .least == -2 and .most == 2' \
        '.tensors[2] | .role == "out" and .least == 0 and .most == 4 and .mean == 2
            and .not_stored == 0 and .file == "out/Z.npy"'
    check 'halves 2, 0 and 4' test "$(tail -c 6 out/Z.npy | od -An -tx1)" = ' 00 40 00 00 00 44'
    cp out/Z.npy z.npy
    answer 0 run --kernel add_relu --shape 3 --in X=three.npy --in Y=three.npy -o out \
        --set t=16,bufs=2,cores=1
    said 'ran     5 steps on 1 core'
    check 'the same for another tiling' cmp -s out/Z.npy z.npy
    answer 0 run --kernel add_relu --shape 100 --seed 1 -o one
    answer 0 run --kernel add_relu --shape 100 --seed 2 -o two
    check 'other numbers' test "$(cmp -s one/Z.npy two/Z.npy; echo $?)" = 1
    answer 1 run --kernel add_relu --shape 500000 --set t=500000,bufs=2,cores=1
    said 'illegal'
    cases bad_text <<'END'
three.npy: an array of 3 elements, expected 4 for tensor X  run --kernel add_relu --shape 4 --in X=three.npy
--in W=three.npy: no such tensor, expected one of X, Y, Z   run --kernel add_relu --shape 3 --in W=three.npy
--in =three.npy: no such tensor, expected one of X, Y, Z    run --kernel add_relu --shape 3 --in =three.npy
three.npy: an array of 3 elements, expected 4 for tensor S  run --kernel weight_quant_matmul --hw ascend910b2 --shape 8x8x4 --in S=three.npy
20/8 in an extent of tensor 'P', expected no rest           --kernel weight_quant_matmul --hw ascend910b2 --shape 8x8x5 --bits 4
5/2 in an extent of tensor 'X', expected no rest            --kernel rotary --shape 2x3x5
END
    answer 1 --kernel weight_quant_matmul --hw ascend910b2 --shape 8x8x8 --bits 5
    said 'line 23: require bits in (4,'
    cases bad_text <<'END'
--in X: expected NAME=FILE       run --kernel add_relu --shape 3 --in X
none.npy: No such file           run --kernel add_relu --shape 3 --in X=none.npy
expected an array of NumPy       run --kernel add_relu --shape 3 --in X=adding.kernel
-o three.npy: expected a folder  run --kernel add_relu --shape 3 -o three.npy
space cann                       run --op matmul --space cann --hw ascend910b1 --shape 64x64x64
elements of tensors, at most     run --kernel add_relu --shape 1000000000
END
    sed 's/load y <- Y/load y <- Y[i from ?]/' "$library/add_relu.kernel" >decided.kernel
    bad_text 'data decide where this part begins' run --kernel decided.kernel --shape 64
    cp three.npy out/Z.npy
    bad_text 'out/Z.npy' run --kernel add_relu --shape 3 --in X=out/Z.npy -o out
    check 'which is as it was' cmp -s three.npy out/Z.npy
}

# ------------------------------------------------------------------ what FIXP does on its way

try_fixp() {
    local split=(--hw ascend910b2 --json) quantised=(--kernel matmul_epilogue --scale 1 --bias 1 --quantise 1)
    answer 0 "${quantised[@]}" --dtype i8 --shape 64x64x128 "${split[@]}"
    holds '.best.tiling.where == "fixp"' '.search.optimal'
    answer 0 --kernel matmul_epilogue --activation 2 --shape 64x64x128 "${split[@]}"
    holds '.best.tiling.where == "vector"'
    printf '%s\n' 'kernel p' 'size M K N pad 16' 'tensor A[M,K] f16, B[K,N] f16, C[M,N] f16' \
        'tile a: l0a[M,K] f16' 'tile b: l0b[K,N] f16' 'tile s: l0c[M,N] f32' 'tile c: ub[M,N] f16' \
        'load a <- A' 'load b <- B' 'mmad s <- a, b' 'move c <- s relu=1' 'store C <- c' >relu.kernel
    bad_text 'relu.kernel:11:1: relu=1: Ascend 310 has no ReLU on its way l0c->ub' \
        --kernel relu.kernel --shape 16x16x16
    sed -e 's/^move .*/move c <- s, f/' -e 's/^load a .*/&\ntile f: l1[N] f32\nload f <- F/' \
        -e 's/^tensor .*/&, F[N] f32/' relu.kernel >factors.kernel
    bad_text "Ascend 310 takes no factors 'f' on its way l0c->ub from f32 to f16" \
        --kernel factors.kernel --shape 16x16x16
}

# ------------------------------------------------------------------ vector cores of split chips

try_vector_cores() {
    local split=(--hw ascend910b2)
    answer 0 --kernel add_relu --shape 10000000 "${split[@]}" --json
    holds '.cores == 48' '.best.cores_used > 24' '.search.optimal'
    answer 0 --kernel batched_matmul --shape 30x64x64x64 "${split[@]}" --json
    holds '.cores == 24'
    answer 0 --kernel add_relu --shape 10000000 "${split[@]}" --cores 30 --json
    holds '.cores == 30' '.best.cores_used <= 30'
    bad_text '--cores 49: expected at most 48, all of Ascend 910B2' \
        --kernel add_relu --shape 1000 "${split[@]}" --cores 49
    bad_text '--cores 25: expected at most 24' \
        --kernel batched_matmul --shape 30x64x64x64 "${split[@]}" --cores 25
    answer 0 program --kernel add_relu --shape 10000000 "${split[@]}"
    cp answer vector.txt
    answer 0 simulate vector.txt "${split[@]}" --json
    holds '.cores == 48'
    answer 0 simulate vector.txt "${split[@]}" --cores 40 --json
    holds '.cores == 40'
    answer 0 --op matmul --shape 64x64x64 --hw ascend910b2 --json
    holds '.cores == 24'
    answer 0 --kernel add_relu --shape 1000 --json
    holds '.cores == 2'
}

# ------------------------------------------------------------------ sizes and axes that may be 0

try_zero() {
    cat >border.kernel <<'KERNEL'
kernel border
title "Z = X between zeros"
size N pad 16
size border = 0
tensor X[N] f16, Z[N+2*border] f16
axis late = 0, 1
axis t = slices(N)
for i in N+2*border by t
  tile x: ub[i] f16 x late+1
  load x <- X[i from begin(i)-border]
  store Z[i] <- x
KERNEL
    answer 0 --kernel border.kernel --shape 40 --json
    holds '.shape.border == 0' '.best.tiling.late | IN(0, 1)'
    answer 0 --kernel border.kernel --shape 40 --border 3 --json
    holds '.shape.border == 3'
    answer 0 run --kernel border.kernel --shape 40 --border 3 --set late=0,t=16,cores=1 --json
    holds '.tensors[1] | .shape == "46" and .not_stored == 0'
    answer 0 explain --kernel border.kernel --shape 40 --border 0 --set late=0,t=16,cores=1
    bad_text '--border -1: expected a whole number from 0' \
        --kernel border.kernel --shape 40 --border -1
    bad_text '--set t=0: expected' \
        explain --kernel border.kernel --shape 40 --set late=0,t=0,cores=1
    sed 's/in N+2[*]border/in border/' border.kernel >nothing.kernel
    bad_text "nothing.kernel:8:10: size 'border' may be 0" --kernel nothing.kernel --shape 40
    answer 0 --kernel border.kernel --shape 40 --border 3 --db border.db
    answer 0 --kernel border.kernel --shape 40 --border 0 --db border.db
    answer 0 store ls border.db
    said 'border=3'
}

# An axis that no value is left of: every command says so, and a sweep goes on.
try_empty() {
    cat >empty.kernel <<'KERNEL'
kernel empty
size N pad 16
tensor X[N] f16, Y[N] f16
axis t = powers(256, N)
cores N
for i in N by t
  tile x: ub[i] f16
  load x <- X
  relu x <- x
  store Y <- x
KERNEL
    local job=(--kernel empty.kernel --shape 16)
    for strategy in bound exhaustive random; do
        answer 1 "${job[@]}" --strategy $strategy --report page.html
        said "  none legal   axis 't' has no value"
    done
    answer 1 "${job[@]}" --json
    holds '.reason == "axis '"'t'"' has no value"' '.best == null'
    for command in program explain run; do
        answer 1 $command "${job[@]}"
        said "no tiling of this space is legal: axis 't' has no value"
    done
    answer 1 "${job[@]}..600" --regret 5%
    answer 1 --kernel causal_attention --shape 2x128x64
    said "  none legal   axis 'block' has no value"
    printf 'kernel,shape\nempty.kernel,16\nempty.kernel,512\n' >empty.csv
    answer 1 sweep empty.csv --db empty.db
    said '  none legal            1  of these: no tiling fits'
}

# A loop that has no rounds is none.
try_no_rounds() {
    cat >no-rounds.kernel <<'END'
kernel no_rounds
size N pad 16
tensor X[N] f16, Z[N] f16
axis t = slices(N)
for i in N by t
  tile x: ub[i] f16
  load x <- X
  for k in N - 16 by 16
    relu x <- x
  store Z <- x
END
    for size in 16 32 512; do
        answer 0 --kernel no-rounds.kernel --shape $size --json
        holds .search.optimal ".best.tiling.t == $size"
        best=$(jq .best.time_ns answer)
        answer 0 --kernel no-rounds.kernel --shape $size --strategy exhaustive --json
        holds ".best.time_ns == $best"
        answer 0 explain --kernel no-rounds.kernel --shape $size --set t=$size --json
        holds .legal ".time_ns == $best"
    done
}

# Illegal tilings are counted by what they break.
try_reasons() {
    answer 1 --kernel quant_matmul --shape 64x64x64 --hw ascend910b2 --json
    holds '.illegal.looked_at == .search.candidates' '.illegal.reasons | length == 1' \
        '.illegal.reasons[0] | .limit == "line 23" and (.text | test("dtype is f16: --dtype i8"))' \
        '.illegal.reasons[0].tilings == .search.candidates'
    answer 0 --kernel scale.kernel --shape 4096 --set-hw buffers.ub.capacity_bytes=8192 --json
    holds '.illegal.looked_at == .search.candidates' '.illegal.reasons[0].limit == "ub"' \
        '([.illegal.reasons[].tilings] | add) == .search.candidates - .search.feasible'
    answer 0 --kernel scale.kernel --shape 4096 --set-hw buffers.ub.capacity_bytes=8192
    said ' by ub'
    answer 0 --op matmul --shape 512x1024x512 --json
    holds '.illegal.looked_at == 256' '([.illegal.reasons[].tilings] | add) < 256' \
        '[.illegal.reasons[].tilings] | . == (sort | reverse)'
}

# Which kernels run on which chip, and what is missing.
try_chips() {
    answer 0 list kernels
    check 'what is missing' grep -q \
        "^softmax_rows .*; not on ascend310, .*: [0-9]*:5: Ascend 310 has no vector operation 'reduceSum'" answer
    check 'nothing is' bash -c "grep '^gelu ' answer | grep -vq 'not on'"
    check 'one text for each kind' bash -c "grep '^column_sum ' answer | grep -vq 'not on'"
    answer 0 list kernels --json
    holds 'map(.name) | index("matmul_thesis") != null'
}

# Values that no axis has, and values that are left to the tool.
try_values() {
    local job=(--kernel maximum --shape 98432) best
    answer 0 explain "${job[@]}" --set slice=2048,copies=2
    said 'legal: slice=2048,copies=2,cores=2'
    said '  no search tries it: slice=2048 is on no axis of the kernel'
    answer 0 explain "${job[@]}" --set slice=2048,copies=2 --json
    holds .legal '.offered == false' '.tiling == {slice: 2048, copies: 2, cores: 2}' '.time_ns > 0'
    time=$(jq .time_ns answer)
    answer 0 program "${job[@]}" --set slice=2048,copies=2
    cp answer own.txt
    answer 0 check own.txt
    answer 0 simulate own.txt --json
    holds ".time_ns == $time"
    answer 0 run "${job[@]}" --set slice=2048,copies=2
    answer 0 explain "${job[@]}" --set slice=2040,copies=2
    said 'slice=2040, expected a multiple of 16, which the kernel relies on'
    said 'nearest legal: --set slice='
    answer 0 explain "${job[@]}" --set slice=1000000,copies=2
    said 'illegal: slice=1000000,copies=2,cores=2'
    said '  ub: '
    said 'nearest legal: --set slice='
    answer 0 "${job[@]}" --strategy exhaustive --top 100000 --json
    best=$(jq '[.top[] | select(.tiling.copies == 1) | .time_ns] | min' answer)
    answer 0 explain "${job[@]}" --set copies=1 --json
    holds .offered ".time_ns == $best" '.tiling.copies == 1'
    answer 0 explain "${job[@]}" --set slice=2048 --json
    holds '.tiling.slice == 2048' '.offered == false'
    answer 0 explain --op matmul --shape 512x512x512 --hw ascend910b2 --set base_k=128 --json
    holds .offered '.tiling.base_k == 128'
    answer 1 program --kernel scale.kernel --shape 64 --set t=1024,bufs=3 --hw ascend310 --set-hw buffers.ub.capacity_bytes=64
    said 'no tiling of this space is legal'
}

# Bytes from memory cost a text what they cost --op matmul, in a cold cache, beyond a warm one's room
# and in pieces; windows of 3 %.
try_memory() {
    local text=matmul_epilogue shape cache ns
    while read -r shape cache; do
        local job=(--shape "$shape" --hw ascend910b2 --cache "$cache" --json)
        answer 0 --op matmul "${job[@]}"
        ns=$(jq .best.time_ns answer)
        answer 0 --kernel $text "${job[@]}"
        holds ".best.time_ns > $ns * 0.97 and .best.time_ns < $ns * 1.03" '.search.optimal'
    done <<'END'
64x3584x37888 cold
16x8192x65536 warm
128x4096x32000 cold
4096x4096x1024 warm
END
    answer 0 explain --kernel $text --shape 64x3584x37888 --hw ascend910b2 --cache cold
    said ' bytes in 256 bursts that miss '
    answer 0 --kernel $text --shape 512x512x512 --hw ascend910b2 --strict
    answer 1 --kernel rotary --shape 8x512x128 --hw ascend910b2 --strict
    said 'gm->ub  no price for short pieces, here of 128 bytes'
    answer 1 --kernel rotary --shape 8x512x128 --hw ascend910b2 --strict --format csv
    answer 2 --kernel rotary --shape 8x1..512x128 --hw ascend910b2 --strict --regret 10%
    answer 0 --kernel rotary --shape 8x512x128 --hw ascend910b2 --json
    holds '.left_out | keys == ["gm->ub", "ub->gm"]'
}

try_new
try_empty
try_memory
try_values
try_chips
try_reasons
try_no_rounds
try_numbers
try_zero
try_fixp
try_vector_cores
try_commands
try_input
try_options
try_warnings
try_names
try_stores
try_sweeps
try_bad
finish
