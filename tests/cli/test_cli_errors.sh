#!/usr/bin/env bash
# Wrong command lines and broken streams. Every error is one line on standard error that begins
# with "autotune: ", nothing on standard output, exit status 2, and no trace in the file system;
# what is no error (a reader that leaves, a closed output) is none.
#
#   tests/cli/test_cli_errors.sh AUTOTUNE SOURCE_DIR
# shellcheck disable=SC2016,SC2086 # command lines for bash -c; lists of arguments
. "$(dirname "$0")/../support/script.sh"
profile=$source_dir/tests/golden/cli/op_summary.csv
mkdir "$work/here" # what lies there is what the program has left
cd here || exit 2

product=(--op matmul --shape 64x64x64)
tiling=m_slice=64,k_slice=64,n_slice=64,buffers=1,resident=both

words() {
    bad 'autotune --help'
    cases bad <<'END'
unknown command ''                                          ''
unknown command 'bogus', expected one of tune,              bogus
unknown command 'tun'                                       tun
unknown command 'advice'                                    advice plan.cfg
tune: expected nothing here                                 tune tune
extra: expected nothing here                                "${product[@]}" extra
--op: expected nothing here                                 -- "${product[@]}"
expected ops, kernels, hw, spaces, strategies, formats or sweeps  list
list nope: expected ops, kernels, hw                        list nope
list ops nope: there is none                                list ops nope
three: expected nothing here                                list ops matmul three
no hardware description is called "nope"                    list hw nope
a program file is missing                                   simulate
a program file is missing                                   check
a program file is missing                                   analyse
a program file is missing                                   advise
unknown strategy 'nope'                                     advise /dev/null --apply nope
of which change                                             advise /dev/null --format diff
OP (operator fusion                                         advise /dev/null --apply op
at most 16 strategies                                       advise /dev/null --apply={RUS,RUS,RUS,RUS}{,}{,} --apply RUS
expected one of them                                        check x --runtime-kb y
/nowhere/x: cannot open it                                  check --runtime-kb /nowhere/x
END
    echo 'no table' >table
    cases bad <<'END'
table:1:                                        check --runtime-kb table
a table of calls is missing                     network
/nowhere/x: cannot open it                      network /nowhere/x
table:1: expected the head of a table of calls  network table
/dev/null: expected a regular file              network /dev/null
expected --graph with them                      network table --subset l
--cores: expected                               network table --cores 2
/nowhere/g: cannot open it                      network "$source_dir/docs/examples/network.csv" --graph /nowhere/g
a bank is missing                               evaluate
/nowhere/x: cannot open it                      evaluate /nowhere/x
table:1: expected a bank                        evaluate table
table:1:                                        evaluate table --bank-format repository
--bank-format nope: expected repository,        evaluate table --bank-format nope
more: expected nothing here                     evaluate table more
--worst 0: expected a whole number              evaluate table --worst 0
--threads 0: expected a whole number            evaluate table --threads 0
--keep-going=1: takes no value                  evaluate table --keep-going=1
--seed 0: expected a whole number               evaluate table --ranking --seed 0
--seed: expected --ranking                      evaluate table --seed 2
--ranking: the csv has no place                 evaluate table --ranking --format csv
runtime_kb: expected one of table, json, csv    evaluate table --format runtime_kb
the space cann, not of thesis                   "${product[@]}" --format runtime_kb
not of selb                                     --op knn --shape 64x32x256 --k 2 --format tcubetiling
END
    rm table
    cases bad <<'END'
expected nothing here                     simulate a b
unknown command 'xxxx                     "$(head -c 100000 /dev/zero | tr '\0' x)"
unknown command                           $'a\nb\033[31mc\rd'
--op a?b?[31mc?d: expected one of matmul  --op $'a\nb\033[31mc\rd' --shape 1x1x1
END
}

options() {
    cases bad <<'END'
unknown option --bogus    --bogus
unknown option --bogus    --bogus "${product[@]}"
unknown option --bogus=3  "${product[@]}" --bogus=3
unknown option -z         "${product[@]}" -z
unknown option -z         "${product[@]}" -qz
unknown option --top      explain "${product[@]}" --top 3
unknown option --threads  program "${product[@]}" --threads 3
unknown option --set;     "${product[@]}" --set m_slice=3
unknown option --op       check x "${product[@]}"
unknown option --js       "${product[@]}" --js
END
    for name in op shape batch dtype space strategy top threads time-limit hw hw-path set-hw cores format; do
        bad "--$name: its value is missing" "${product[@]}" --$name
    done
    bad '-o: its value is missing' "${product[@]}" -o
    bad '--set: its value is missing' explain "${product[@]}" --set
    bad '--trace: its value is missing' simulate x --trace
    for name in active-ratio utilisation utilisation-cube; do
        bad "--$name: its value is missing" analyse x --$name
        for value in 0 -1 1.01 nan inf abc '' 0.5x 80%; do
            bad "--$name $value: expected a number more than 0 and at most 1" \
                analyse /dev/null "--$name" "$value"
        done
    done
    bad '--json=1: takes no value' "${product[@]}" --json=1
    bad '--quiet=yes: takes no value' "${product[@]}" --quiet=yes
    for name in seed slurm shard runtime-kb; do # not built
        bad "unknown option --$name" "${product[@]}" --$name 1
    done
}

# Options that only some operators have.
operator_options() {
    points=(--op knn --shape 64x32x256)
    inputs=(--op cubefx --shape 4096)
    polynomials=("${inputs[@]}" --order 8 --functions 3)
    for name in k order functions; do
        bad "--$name: matmul has none" "${product[@]}" --$name 1
    done
    bad '--function: matmul has none' "${product[@]}" --function sin
    bad '--function: knn has none' "${points[@]}" --k 2 --function sin
    for name in batch order functions; do
        bad "--$name: knn has none" "${points[@]}" --k 2 --$name 1
    done
    for name in batch k loop vec-compare index steps; do
        bad "--$name: cubefx has none" "${polynomials[@]}" --$name 1
    done
    cases bad <<'END'
--k is missing, expected a whole number from 1 to      "${points[@]}"
--order is missing, expected a whole number from 1 to  "${inputs[@]}" --functions 3
--order is missing                                     "${inputs[@]}" --function sin
--functions is missing                                 "${inputs[@]}" --order 3
END
    for value in 0 -1 abc '' 1.5 ' 1' '1 ' +1 1e0 0x1 nan 2147483648 99999999999999999999; do
        bad "--k $value: expected a whole number from 1 to 2147483647" "${points[@]}" --k "$value"
        for name in order functions; do
            bad "--$name $value: expected a whole number from 1 to 2147483647" \
                "${polynomials[@]}" --$name "$value"
        done
        bad "--mac $value: expected a whole number from 1 to 4096" "${polynomials[@]}" --mac "$value"
    done
    cases bad <<'END'
--mac 4097                               "${polynomials[@]}" --mac 4097
--k 257: expected at most n = 256        "${points[@]}" --k 257
--k 4097: expected at most 4096          --op knn --shape 64x32x8192 --k 4097
order = 257, expected at most 256        "${inputs[@]}" --order 257 --functions 1
functions = 4097, expected at most 4096  "${inputs[@]}" --order 1 --functions 4097
expected at most 64 functions            "${inputs[@]}" --order 1 --function "$(yes sin | head -5000 | paste -sd,)"
m = 2147483648, expected less than 2^31  --op knn --shape 2147483648x1x1 --k 1
multiplications, expected at most        --op knn --shape 2147483647x2147483647x2147483647 --k 1
multiplications, expected at most        --op cubefx --shape 2147483647 --order 256 --functions 4096
expected MxDxN                           --op knn --shape 64x32 --k 1
expected N with                          --op cubefx --shape 64x32 --order 1 --functions 1
entry of `matrix` with type = "f32"      "${polynomials[@]}" --dtype f32
END
    for value in '' hardwar relux '0' 'hardware '; do
        cases bad <<'END'
expected hardware or relu    "${points[@]}" --k 2 --vec-compare "$value"
expected hardware or vector  "${points[@]}" --k 2 --index "$value"
expected early or full       "${points[@]}" --k 2 --loop "$value"
expected mean or max         "${points[@]}" --k 2 --steps "$value"
END
    done
    bad '--compare=relu: takes no value' "${points[@]}" --k 2 --compare=relu
    for command in program explain; do
        bad 'unknown option --compare' $command "${points[@]}" --k 2 --compare
        bad 'unknown option --mac' $command "${polynomials[@]}" --mac 4
    done
    cases bad <<'END'
--part x: expected distance, idle, step, full              program "${points[@]}" --k 2 --part x
--part : expected distance                                 program "${points[@]}" --k 2 --part ''
--part full: expected kernel                               program "${product[@]}" --part full
'm_slice=3': expected name=value with name m1, n1, m2, n2  explain "${points[@]}" --k 2 --set m1=16,n1=16,m2=16,n2=16,m_slice=3
n2=0: expected a positive whole number                     explain "${points[@]}" --k 2 --set m1=16,n1=16,m2=16,n2=0
END
}

# What an answer adds: refused where it would say nothing.
details() {
    bad '--compare: matmul has none' "${product[@]}" --compare
    for option in '--mac 4' '--transfer-weight 1' '--expand-at 1'; do
        bad "${option% *}: matmul has none" "${product[@]}" $option
        bad "${option% *}: knn has none" "${points[@]}" --k 2 $option
        bad "${option% *}: knn has none" "${points[@]}" --k 2 $option --compare # in any order
    done
    for value in -1 nan inf 1e10 1e308 1e400 abc '' ' 1' '1 ' 1,5; do
        bad 'expected a number from 0 to 1000000000' "${polynomials[@]}" --transfer-weight "$value"
    done
    named=("${inputs[@]}" --order 8 --function "sin,tan,log1p")
    for value in nan inf -inf 1e400 abc '' ' 1' '1 ' 1,5; do
        bad 'expected a finite number' "${named[@]}" --expand-at "$value"
    done
    for value in 1e308 -65504 65504; do
        bad 'expected a number of -65503 to 65503' "${named[@]}" --expand-at "$value"
    done
    cases bad <<'END'
log1p has no Taylor series        "${named[@]}" --expand-at -1
tan has no Taylor series          "${named[@]}" --expand-at 1.5707963267948966
exp has no Taylor series          "${inputs[@]}" --order 8 --function exp --expand-at 60000
--expand-at: expected --function  "${polynomials[@]}" --expand-at 1
END
    for names in '' ',' 'sin,' ',sin' 'sin,,cos' nope 'sin cos' 'sin, cos' $'a\nb' ../sin; do
        bad 'expected one of sin, cos, tan' "${inputs[@]}" --order 8 --function "$names"
    done
    for count in 1 3; do
        bad "--functions $count: --function names 2" "${inputs[@]}" --order 8 --function sin,sin \
            --functions "$count"
    done
    for order in 66 256; do # longer than the series: not cut short in silence
        bad "--order $order: the series of --function have at most 65 terms" "${inputs[@]}" \
            --order $order --function sin
    done
    for option in missing/x "$work" /dev/full; do
        bad "$option: " "${points[@]}" --k 2 --compare -o $option
        bad "$option: " "${named[@]}" --json -o $option
        bad "$option: " program "${points[@]}" --k 2 -o $option
    done
    equal 'errors leave no file' '' "$(ls -A)"
    cases bad <<'END'
unknown option --op               reproduce "${points[@]}"
x: expected the source of a row   reproduce x
y: expected nothing here          reproduce T y
csv: expected one of table, json  reproduce --format csv
END
}

calibrations() {
    local header=kind,name,chip,x,value,unit_x,unit_value
    printf '%s\nmov,GM_TO_L1_c7,c7,1,9,KiB,GB/s(GiB)\n' $header >curves.csv
    printf '%s\nmov,GM_TO_L1_c7,c7,1\n' $header >short.csv
    printf 'kind,name\n' >columns.csv
    : >empty.csv
    cases bad <<'END'
--from FILE is missing                                    calibrate --hw ascend910b1
--hw NAME is missing                                      calibrate --from curves.csv
x: expected nothing here                                  calibrate --hw ascend910b1 --from curves.csv x
curves.csv:2: no curve of chip 910b1, expected one of c7  calibrate --hw ascend910b1 --from curves.csv
short.csv:2: 4 fields, expected 7                         calibrate --hw ascend910b1 --from short.csv
columns.csv:1: no column chip                             calibrate --hw ascend910b1 --from columns.csv
empty.csv:1: empty, expected a header                     calibrate --hw ascend910b1 --from empty.csv
missing.csv: cannot open it                               calibrate --hw ascend910b1 --from missing.csv
missing.jsonl:                                            calibrate --hw ascend910b1 --from missing.jsonl
END
    for share in 1 -0.1 x '' nan 0x0; do
        bad '--holdout' calibrate --hw ascend910b1 --from curves.csv --holdout "$share"
    done
    cases bad <<'END'
--rounds 0                 calibrate --hw ascend910b1 --from curves.csv --rounds 0
--time-limit 0             calibrate --hw ascend910b1 --from curves.csv --time-limit 0
--cores: expected nothing  calibrate --hw ascend910b1 --from curves.csv --cores 2
missing/x                  calibrate --hw ascend910b1 --chip c7 --from curves.csv -o missing/x
END
    rm -f curves.csv short.csv columns.csv empty.csv
    equal 'calibrate leaves no file' '' "$(ls -A)"
}

# A chip without vector comparison: what can do without does, what cannot says what is missing.
lacking() {
    sed '/^ *{$/{N;/"vec\(Cmp\|Sel\)"\|"vecCmp vecSel"/{N;N;d}}' "$AUTOTUNE_CONFIGS/hardware/ascend310.cfg" >lacking.cfg
    equal 'vecCmp and vecSel are gone' 0 "$(grep -c '"vecCmp"\|"vecSel"' lacking.cfg)"
    bad "needs the operation 'vecCmp'" "${points[@]}" --k 2 --hw ./lacking.cfg
    bad "needs the operation 'vecCmp'" "${points[@]}" --k 2 --hw ./lacking.cfg --index vector
    answer 0 "${points[@]}" --k 2 --hw ./lacking.cfg --vec-compare relu --index hardware --compare
    said 'knn 64x32x256 k 2 vec-compare relu in f16'
    said 'heap selection'
    rm -f lacking.cfg
}

shapes() {
    cases bad <<'END'
--op is missing, expected one of matmul  --shape 64x64x64
--shape is missing, expected MxKxN       --op matmul
--op nope: expected one of matmul        --op nope --shape 64x64x64
--op : expected one of matmul            --op '' --shape 64x64x64
END
    for shape in '' x xx xxx 1 1x1 1xx1 1x1x1x 1x1x1x1 x1x1x1 0x1x1 1x0x1 1x1x0 -1x1x1 1x-1x1 \
        +1x1x1 1e3x1x1 1.0x1x1 0x10x1x1 1X1X1 1,1,1 axbxc ' 1x1x1' '1 x1x1' '1x1x1 ' $'1x1x1\n' \
        9223372036854775808x1x1 1x18446744073709551616x1 18446744073709551617x1x1; do
        bad 'expected MxKxN with positive whole numbers' --op matmul --shape "$shape"
    done
    cases bad <<'END'
m = 9223372036854775807, expected less than 2^31  --op matmul --shape 9223372036854775807x1x1
n = 2147483648, expected less than 2^31           --op matmul --shape 1x1x2147483648
expected at most                                  --op matmul --shape 2147483647x2147483647x2147483647
expected at most                                  --op matmul --shape 2000000x10000x1000 --batch 10000
END
}

numbers() {
    for value in 0 -1 abc '' 1.5 ' 1' '1 ' +1 1e0 0x1 99999999999999999999; do
        for name in cores threads top batch; do
            bad "expected a whole number from 1 to" "${product[@]}" --$name "$value"
        done
    done
    cases bad <<'END'
--cores 3: expected at most 2, all of Ascend 310  "${product[@]}" --cores 3
--cores 3                                         simulate /dev/null --cores 3
--cores 3                                         analyse /dev/null --cores 3
--cores: how many cores ran is in the profile     analyse "$profile" --cores 1
--set-hw: expected --hw as well                   analyse "$profile" --set-hw cores=1
--top: /dev/null is a program                     analyse /dev/null --top 3
expected a whole number from 1 to                 analyse "$profile" --top 0
--threads 1025                                    "${product[@]}" --threads 1025
END
    for value in 0 -0 -1 nan NaN inf 1e400 1e-400 abc '' 5s '5 ' 0x 1,5; do
        bad 'expected seconds, more than 0' "${product[@]}" --time-limit "$value"
    done
    for value in xml '' jsonx 'json '; do
        bad 'expected one of table, json, csv' "${product[@]}" --format "$value"
    done
    for command in check simulate advise explain program list; do
        bad 'csv: expected one of table, json' $command --format csv
    done
    for value in f64 '' f16x float half; do
        bad 'expected f16, f32, bf16, i8, u8, i16, u16, i32 or u32' "${product[@]}" --dtype "$value"
    done
    for value in f32 i8 bf16; do # of the simulator, but without a price
        bad "lacks the price of this type, an entry of \`matrix\` with type = \"$value\"" \
            "${product[@]}" --dtype $value
    done
    cases bad <<'END'
--space nope: expected one of thesis                        "${product[@]}" --space nope
--robust: Ascend 310 says of no number how well it is known  "${product[@]}" --robust
--robust: a tiling of knn is several programs               --op knn --shape 64x32x256 --k 2 --robust
--robust: one tiling is the answer                          "${product[@]}" --robust --top 2
END
    local fitted=(--op matmul --shape 96x64x80 --hw "$source_dir/tests/golden/cli/fitted.cfg")
    local hand=k_slice=64,n_slice=16,buffers=1,resident=none,split=n
    cases bad <<'END'
--over: expected --robust with it                        "${fitted[@]}" --over "m_slice=32,$hand"
--over: 'm_slice' is missing                             "${fitted[@]}" --robust --over "$hand"
--over m_slice=huge: expected a positive whole number    "${fitted[@]}" --robust --over "m_slice=huge,$hand"
--over m_slice=4096,                                     "${fitted[@]}" --robust --over "m_slice=4096,$hand"
--strategy nope: expected bound or exhaustive or random  "${product[@]}" --strategy nope
END
}

hardware() {
    sed '/^cores *=/s/value = [0-9]*/value = 0/' "$AUTOTUNE_CONFIGS/hardware/ascend310.cfg" >no-cores.cfg
    sed 's/bandwidth_gbps/bandwith_gbps/' "$AUTOTUNE_CONFIGS/hardware/ascend310.cfg" >typo.cfg
    echo 'cores = ' >broken.cfg
    : >empty.cfg
    : >empty.ini
    printf '[SoCInfo]\nai_core_cnt=2\n[AICoreSpec]\ncube_freq=0\n[AICoreMemoryRates]\n' >zero.ini
    printf '[SoCInfo]\nai_core_cnt=2\nai_core_cnt=2\n' >twice.ini
    printf '[SoCInfo]\nai_core_cnt=2\n[AICoreSp' >cut.ini
    printf '[SoCInfo]\nai_core_cnt=\033[31m2\n' >escape.ini
    head -c 300000 /dev/zero | tr '\0' '#' >huge.ini
    for command in "tune ${product[*]}" 'simulate /dev/null' 'check /dev/null' 'list hw'; do
        case $command in
        list*) option= ;;
        *) option=--hw ;;
        esac
        cases bad <<'END'
no hardware description is called "nope", expected ascend310  $command $option nope
/none.cfg: cannot be read: No such file or directory        $command $option ./none.cfg
expected a regular file                                     $command $option /tmp
broken.cfg:                                                 $command $option broken.cfg
cores: 0, expected a whole number from 1 to                 $command $option no-cores.cfg
bandwith_gbps                                               $command $option typo.cfg
empty.cfg                                                   $command $option empty.cfg
empty.ini:1: ends without [SoCInfo]                         $command $option empty.ini
zero.ini:4: cube_freq: "0", expected a number from 1        $command $option zero.ini
twice.ini:3: ai_core_cnt: given twice                       $command $option twice.ini
cut.ini:3: a section without its end                        $command $option cut.ini
escape.ini:2: a control character                           $command $option escape.ini
huge.ini: 300000 bytes, expected at most                    $command $option huge.ini
none.ini: cannot be read: No such file                      $command $option ./none.ini
--hw-path ./none: expected a folder                         $command $option ascend310 --hw-path ./none
--hw-path : expected a folder                               $command $option ascend310 --hw-path .:
END
    done
    cases bad <<'END'
--hw-path: expected at most                      "${product[@]}" --hw-path "$(head -c 5000 /dev/zero | tr '\0' x)"
huge.ini: expected a folder                      "${product[@]}" --hw-path huge.ini
no hardware description is called ""             "${product[@]}" --hw ''
no hardware description is called "ascend 310x"  "${product[@]}" --hw 'ascend 310x'
is called "a?b"                                  "${product[@]}" --hw $'a\nb'
END
    if [ "$(id -u)" -ne 0 ]; then
        cp "$AUTOTUNE_CONFIGS/hardware/ascend310.cfg" secret.cfg
        chmod 0 secret.cfg
        bad 'secret.cfg: cannot be read: Permission denied' "${product[@]}" --hw ./secret.cfg
    fi
}

overrides() {
    l1=buffers.l1.capacity_bytes
    bad 'foo: unknown key' "${product[@]}" --set-hw foo=1
    bad 'foo: unknown key' simulate /dev/null --set-hw foo=1
    for value in foo '' issue_ns $l1; do
        bad 'expected key=value' "${product[@]}" --set-hw "$value"
    done
    cases bad <<'END'
unknown key  "${product[@]}" --set-hw =5
unknown key  "${product[@]}" --set-hw buffers.l1=5
unknown key  "${product[@]}" --set-hw buffers.l9.capacity_bytes=5
unknown key  "${product[@]}" --set-hw buses.interconnect.total_gbps.9=50
END
    for value in '' abc nan inf 5x '5 5' 0x; do
        bad 'expected a number' "${product[@]}" --set-hw "issue_ns=$value"
    done
    for value in 0 -5 1.5 1e99 9223372036854775808; do
        bad 'expected a whole number from 1 to 1099511627776 bytes' "${product[@]}" \
            --set-hw "$l1=$value"
    done
    cases bad <<'END'
expected a number from 0 to 1000000 ns  "${product[@]}" --set-hw issue_ns=-1
expected a number from 0 to 1000000 ns  "${product[@]}" --set-hw issue_ns=1e300
not below that for 1                    "${product[@]}" --set-hw buses.interconnect.total_gbps.2=1
expected                                "${product[@]}" --set-hw buses.interconnect.total_gbps.2=100
END
    many=()
    for i in $(seq 65); do many+=(--set-hw "issue_ns=$i"); done
    bad '--set-hw: at most 64' "${product[@]}" "${many[@]}"
}

tilings() {
    for command in explain program; do
        cases bad <<'END'
'': expected name=value         $command "${product[@]}" --set ''
'': expected name=value         $command "${product[@]}" --set ,,,
'foo=1': expected name=value    $command "${product[@]}" --set foo=1
'split' is given twice          $command "${product[@]}" --set $tiling,split=m,split=n
'buffers' is given twice        $command "${product[@]}" --set $tiling,split=m,buffers=1
split=q: expected m, n          $command "${product[@]}" --set $tiling,split=q
split=: expected m, n           $command "${product[@]}" --set $tiling,split=
'foo=1': expected name=value    $command "${product[@]}" --set $tiling,split=m,foo=1
'm_slice': expected name=value  $command "${product[@]}" --set m_slice
END
        for value in abc 0 -5 1e3 1.5 '' 99999999999999999999; do
            bad "m_slice=$value: expected a positive whole number" $command "${product[@]}" \
                --set "${tiling/m_slice=64/m_slice=$value},split=m"
        done
    done
}

programs() {
    printf '\0\1\2\377\n\0binary' >binary
    printf 'MTE2 gm->l1 bytes=4096\nbogus\n' >unknown
    printf 'loop 3\n' >open
    printf 'MTE2 gm->l1 bytes=99999999999999999999\n' >huge
    printf 'loop 100000\nloop 100000\nloop 100000\nbarrier\nend\nend\nend\n' >endless
    printf 'wait MTE2 MTE1 8\n' >register
    echo 'S branch count=9223372036854775807' >much
    printf 'loop 1000000000\nbarrier\nend\n' >many
    mkdir empty
    bad 'empty: no profile is in it, expected tables such as ' analyse empty
    for command in simulate check analyse advise; do
        bad 'none: No such file or directory' $command none
        [[ $command = analyse ]] || bad '/tmp: Is a directory' $command /tmp
        cases bad <<'END'
binary:1:                           $command binary
unknown:2: unknown pipe 'bogus'     $command unknown
open:1:                             $command open
huge:1: bytes=99999999999999999999  $command huge
endless                             $command endless
register:1:                         $command register
No such file                        $command ''
END
        if [ "$(id -u)" -ne 0 ]; then
            : >secret
            chmod 0 secret
            bad 'secret: Permission denied' $command secret
            rm -f secret
        fi
    done
    bad 'much: ' simulate much
    bad 'much: ' analyse much
    bad 'many: more than' advise many
    printf 'loop i 1000000000\nMTE2 gm->ub bytes=32 src=gm:0+32*i dst=ub:0\nMTE3 ub->gm bytes=32 src=ub:32 dst=gm:0+32*i\nend\n' >many
    bad 'many: rows of operands' check many
    rm -f much many binary unknown open huge endless register
}

# Odd input that is no error.
odd() {
    for text in 'loop 0\nend\n' 'loop 10000000000\nend\n' 'V vadd elements=128\n' \
        'MTE2 gm->ub bytes=0\n'; do # programs without operands
        printf '%b' "$text" >bare
        quiet 0 '"$1" advise bare --chain 0'
    done
    sed '2s/,420\.5,/,-0,/; 2s/,410,557600,.*/,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,/' "$profile" >zero.csv
    quiet 0 '"$1" analyse zero.csv --format csv'
    equal 'a time of -0 is 0' 0 "$(sed -n 2p "$work/answer" | cut -d , -f 4)"
    rm -f bare zero.csv
}

# What a sweep, a merge and a store of answers refuse.
sweeps() {
    rm -rf ./*
    cases bad <<'END'
sweep: expected a file                   sweep
more: expected nothing here              sweep jobs.csv more
jobs.csv: cannot open it: No such file   sweep jobs.csv
nosuchset: expected a file, or a set of  sweep nosuchset
END
    echo 'op,shape' >jobs.csv
    bad 'jobs.csv: no jobs' sweep jobs.csv
    echo 'op,colour' >jobs.csv
    bad "jobs.csv:1: column 'colour': expected op, shape" sweep jobs.csv
    printf 'op = "matmul";\nshapes = [];\n' >jobs.cfg
    bad 'jobs.cfg:2: shapes: empty' sweep jobs.cfg
    printf 'op,shape\nmatmul,8x8x8\n' >jobs.csv
    for value in 0/2 3/2 2 a/b 1/0 1/99999 -1/2 1/2/3; do
        bad '--shard' sweep jobs.csv --shard "$value"
    done
    cases bad <<'END'
--threads 0: expected             sweep jobs.csv --threads 0
--time-limit x: expected seconds  sweep jobs.csv --time-limit x
csv: expected one of table, json  sweep jobs.csv --format csv
missing/x.db:                     sweep jobs.csv --db missing/x.db
END
    bad "$work: " sweep jobs.csv --db "$work"
    cases bad <<'END'
jobs.csv:                               sweep jobs.csv --db jobs.csv
missing/x.db:                           "${product[@]}" --db missing/x.db
jobs.csv:                               "${product[@]}" --db jobs.csv
--fresh: expected --db                  "${product[@]}" --fresh
--landscape-axes: expected --landscape  "${product[@]}" --landscape-axes m_slice,n_slice
no axis 'x'                             "${product[@]}" --landscape map.json --landscape-axes m_slice,x
merge: expected a store to put into     merge all.db
none.db: there is no such store         merge all.db none.db
jobs.csv:                               merge all.db jobs.csv
END
    for value in '' :memory:; do
        bad "'$value': expected the name of a file" sweep jobs.csv --db "$value"
        bad "'$value': expected the name of a file" "${product[@]}" --db "$value"
    done
    bad 'jobs.csv: expected a store' sweep jobs.csv --db jobs.csv --dry-run
    equal 'refusals leave no store' 'jobs.cfg jobs.csv' "$(ls -A | xargs)"
    rm -f jobs.csv jobs.cfg
}

# Where no row is a job there is nothing to keep; what a sweep plans, it leaves undone.
plans() {
    local value
    printf 'op,shape\nmatmul,8x8\nmatmul,x\n' >jobs.csv
    for value in '--json 3' '--dry-run 3' '--shard 1/2 3' '--shard 2/2 1' '--db new.db 3'; do
        answer 2 sweep jobs.csv ${value% *}
        equal "no row is a job, $value: lines" "0 ${value##* }" \
            "$(wc -l <"$work/answer") $(wc -l <"$work/messages")"
        check "no row is a job, $value" grep -qx \
            'autotune: jobs.csv: none of its rows is a job, nothing was done' "$work/messages"
    done
    printf 'op,shape\nmatmul,8x8x8\n' >jobs.csv
    answer 0 sweep jobs.csv --dry-run
    equal 'and no store' 'jobs.csv' "$(ls -A | xargs)"

    # A table may be a pipe.
    mkfifo pipe.csv
    cat jobs.csv >pipe.csv &
    check 'a table from a pipe' "$autotune" sweep pipe.csv --dry-run -o "$work/answer"
    wait $!
    check 'has its job' grep -q '^1 job,' "$work/answer"

    answer 0 sweep jobs.csv --db new.db
    for value in '--db new.db 0' '--db new.db --fresh 1' '--db other.db 1'; do
        answer 0 sweep jobs.csv --dry-run ${value% *} --json
        equal "jobs left with ${value% *}" "${value##* }" "$(grep -c '"line"' "$work/answer")"
    done
    answer 0 sweep jobs.csv --db new.db --fresh --threads 1 -v
    check 'where the time went' grep -qEx \
        'searches: [0-9.]+ s of 1 x [0-9.]+ s; store and progress: [0-9.]+ s' "$work/messages"
    rm -f jobs.csv pipe.csv new.db
}

# With -o: no half answer, no temporary file, and on an error the old file as it was.
files() {
    rm -rf ./*
    for command in "tune ${product[*]}" 'simulate /dev/null' 'check /dev/null' 'analyse /dev/null' 'advise /dev/null' 'list ops' \
        "program ${product[*]}" "explain ${product[*]} --set $tiling,split=m"; do
        for option in -o '--output'; do
            bad 'missing/x: No such file or directory' $command $option missing/x
            bad "$work: Is a directory" $command $option "$work"
            bad 'an empty file name' $command $option ''
        done
        bad '/dev/full: No space left on device' $command -o /dev/full
    done
    cases bad <<'END'
/proc/version:                        "${product[@]}" -o /proc/version
Not a directory                       "${product[@]}" -o /dev/null/x
name                                  "${product[@]}" -o "$(head -c 300 /dev/zero | tr '\0' a)"
missing/x: No such file or directory  simulate /dev/null --trace missing/x
END
    bad "$work: Is a directory" simulate /dev/null --trace "$work"
    pages=()
    "$autotune" "${product[@]}" --report /dev/null >/dev/null 2>&1 && pages=(--report)
    for option in "${pages[@]}" --landscape --trace; do # no answer before what cannot follow
        bad 'missing/x: No such file or directory' "${product[@]}" $option missing/x
        bad "$work: Is a directory" "${product[@]}" $option "$work"
        bad 'an empty file name' "${product[@]}" $option ''
    done
    for option in "${pages[@]}"; do
        bad 'missing/x: No such file or directory' analyse /dev/null $option missing/x
        bad "$work: Is a directory" analyse "$profile" $option "$work"
    done
    equal 'errors leave no file' '' "$(ls -A)"

    echo old >answer
    bad '--top 0' "${product[@]}" -o answer --top 0
    bad 'none: No such file' simulate none -o answer
    bad 'missing/x' simulate /dev/null -o answer --trace missing/x
    equal 'an error leaves the old file' old "$(cat answer)"
    chmod 640 answer
    ln -s answer link
    "$autotune" "${product[@]}" --json -o link
    check 'the link stays' test -L link
    check 'its file is replaced' grep -q '"op": "matmul"' answer
    ln -s new dangling
    "$autotune" "${product[@]}" -o dangling
    check 'a link to nothing makes its file' test -L dangling -a -f new
    ln -s round round
    bad 'round: ' "${product[@]}" -o round
    rm -f dangling new round
    equal 'its mode stays' 640 "$(stat -c %a answer)"
    equal 'no file is left beside' 'answer link' "$(echo *)"
    if [ "$(id -u)" -ne 0 ]; then
        echo old >answer
        chmod 400 answer
        bad 'answer: Permission denied' "${product[@]}" -o answer
        mkdir locked
        chmod 500 locked
        bad 'locked/x: Permission denied' "${product[@]}" -o locked/x
    fi
    rm -rf ./*
    for i in 1 2 3 4; do "$autotune" "${product[@]}" --json -o same & done
    wait
    check 'files written by several at once are whole' test "$(tail -c 2 same)" = '}'
    equal 'no file is left beside' same "$(echo *)"
    rm -f same
}

# Runs a command line of bash and expects a status and a silent standard error.
quiet() { # expected status, command line
    bash -c "$2" _ "$autotune" >"$work/answer" 2>"$work/messages"
    status=$?
    equal "exit status of: $2" "$1" "$status"
    equal "messages of: $2" '' "$(cat "$work/messages")"
}

streams() {
    tune='"$1" --op matmul --shape 64x64x64'
    help='"$1" tune --help'
    for command in "$tune" "$tune --top 20 --json" "$help" '"$1" --help' '"$1" --version' \
        '"$1" list hw ascend310'; do
        quiet 0 "$command | head -1 >/dev/null; exit \${PIPESTATUS[0]}"
        quiet 0 "$command | true; exit \${PIPESTATUS[0]}"
        quiet 0 "$command <&-"
        quiet 0 "$command 2>&-"
        quiet 2 "$command <&- >&- 2>&-"
        bash -c "$command >/dev/full" _ "$autotune" >"$work/answer" 2>"$work/messages"
        equal "/dev/full: $command" '' "$(not_an_error $? 'standard output: No space left')"
        bash -c "$command 2>\"\$2\" >&-" _ "$autotune" "$work/messages" >"$work/answer"
        equal "closed: $command" '' "$(not_an_error $? 'standard output: Bad file descriptor')"
    done
    quiet 0 "$tune -o closed >&- 2>&- <&-"
    check 'closed streams do not spoil the file' grep -q 'optimal' closed
    rm -f closed
    quiet 0 "$tune -o /dev/stdout"
    check '-o /dev/stdout prints' grep -q '^  optimal' "$work/answer"
    quiet 0 "$tune -o -"
    check '-o - prints' grep -q '^  optimal' "$work/answer"
    quiet 0 "$tune -o /dev/stdout >>log; $tune -o /dev/stdout >>log"
    equal '-o /dev/stdout adds to what is there' 2 "$(grep -c '^  optimal' log)"
    quiet 0 "$tune -o /dev/null"
    check '/dev/null stays a device' test -c /dev/null
    quiet 0 "$tune -o >(cat >piped); wait \$!"
    check '-o to a pipe writes there' grep -q '^  optimal' piped
    mkfifo fifo
    cat fifo >from-fifo &
    reader=$!
    quiet 0 "$tune -o fifo"
    wait $reader
    check '-o to a named pipe writes there' grep -q '^  optimal' from-fifo
    check 'and leaves it' test -p fifo
    rm -f log piped fifo from-fifo
    "$autotune" simulate - <&- >"$work/answer" 2>"$work/messages" # no standard input
    equal 'no standard input' '' "$(not_an_error $? 'autotune: ')"
    equal 'nothing is left behind' '' "$(ls -A)"
}

# Off a terminal there are no escape sequences and no progress, whatever the environment says.
plain() {
    escape=$(printf '\033')
    search='--op matmul --shape 1024x1024x1024 --strategy exhaustive --time-limit 0.5 --top 5'
    for environment in TERM=xterm-256color NO_COLOR=1 'TERM=xterm CLICOLOR_FORCE=1' TERM=dumb -uTERM; do
        env $environment "$autotune" $search >"$work/answer" 2>"$work/messages"
        check "no escapes ($environment)" test "$(grep -c "$escape" "$work/answer")" = 0
        equal "no progress off a terminal ($environment)" '' "$(cat "$work/messages")"
    done
    "$autotune" simulate - -v <<<'MTE2 gm->l1 bytes=4096' >"$work/answer" 2>"$work/messages"
    check 'notes go to standard error' grep -q '^hardware: Ascend 310 from ' "$work/messages"
    check 'the answer goes to standard output' grep -q 'gm->l1  *4,096 bytes' "$work/answer"
    if ! command -v script >/dev/null || ! script -qec true /dev/null >/dev/null 2>&1; then
        return
    fi
    on_terminal() { # environment, arguments
        TERM=xterm script -qec "stty cols 40; env $1 '$autotune' $2" /dev/null </dev/null
    }
    check 'a terminal gets colours' test "$(on_terminal A=b "$search -q" | grep -c "$escape")" -gt 0
    equal 'NO_COLOR is respected' 0 "$(on_terminal NO_COLOR=1 "$search -q" | grep -c "$escape")"
    equal 'a dumb terminal is respected' 0 "$(on_terminal TERM=dumb "$search" | grep -c "$escape")"
    longest=$(on_terminal NO_COLOR=1 "$search -o /dev/null" | tr '\r' '\n' | grep -aE 'bounding|simulating' |
        sed "s/$escape\[K//g" | awk '{ if (length > most) most = length } END { print most + 0 }')
    check "progress fits a terminal of 40 columns ($longest)" \
        test "$longest" -gt 0 -a "$longest" -lt 40
}

# Locales, and getopt's and argp's own variables, do not change an answer.
environment() {
    expected=$("$autotune" "${product[@]}" --format csv --time-limit 1e2)
    for setting in LC_ALL=de_DE.UTF-8 LC_NUMERIC=de_DE LANG=tr_TR.UTF-8 LC_ALL=nonsense COLUMNS=1 \
        ARGP_HELP_FMT=rmargin=20 OMP_NUM_THREADS=1 OMP_DYNAMIC=true MALLOC_PERTURB_=85; do
        equal "$setting" "$expected" \
            "$(env "$setting" "$autotune" "${product[@]}" --format csv --time-limit 1e2 2>&1)"
    done
    HOME=/nonexistent answer 0 "${product[@]}"
    equal 'no home' '' "$(cat "$work/messages")"
}

# Measuring, and what a processor does not have; tests/cli/test_cli_host.sh runs the rest.
processors() {
    host=$source_dir/tests/support/host-loops.cfg
    for value in -1 abc '' 1.5 ' 1' +1 10001; do
        bad '--validate' "${product[@]}" --hw "$host" --validate "$value"
        bad 'expected a whole number from 1 to 10000' validate "${product[@]}" --sample "$value"
    done
    bad 'expected a whole number from 0 to' validate "${product[@]}" --seed -1
    bad 'expected a whole number from 1 to 10000' validate "${product[@]}" --sample 0
    for count in 0 1 8; do
        bad 'only this machine can be measured' "${product[@]}" --validate $count
    done
    cases bad <<'END'
only this machine can be measured  validate "${product[@]}" --hw ascend910b1
it was measured on                 "${product[@]}" --hw "$host"
it was measured on                 validate "${product[@]}" --hw "$host"
unknown option --validate          validate "${product[@]}" --validate 3
is for chips                       "${product[@]}" --hw "$host" --space thesis --validate 0
is for processors                  "${product[@]}" --space host
expected f32                       "${product[@]}" --hw "$host" --dtype f16 --validate 0
--cores 3: expected at most 2      "${product[@]}" --hw "$host" --cores 3 --validate 0
expected a chip                    "${product[@]}" --hw "$host" --validate 0 --robust
is a processor                     --op cubefx --shape 64 --order 3 --functions 2 --hw "$host" --validate 0 --compare
is a processor                     --op cubefx --shape 64 --order 3 --functions 2 --hw "$host" --validate 0 --mac 4
END
    for command in program 'simulate /dev/null' 'check /dev/null' reproduce; do
        [ "$command" = program ] && more=("${product[@]}") || more=()
        bad 'is a processor' $command "${more[@]}" --hw "$host"
    done
}

words
options
operator_options
processors
details
calibrations
lacking
shapes
numbers
hardware
overrides
tilings
programs
odd
files
sweeps
plans
streams
plain
environment
finish
