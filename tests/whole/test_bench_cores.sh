#!/bin/bash
# Benchmarks compare with a library's fastest kernels: those of the core that is fastest here, found by running
# each. With a library made up for the purpose, whose cores are slow, fast, wrong, or end the process.
bench=$(dirname "$1")/bench/bench_host_gemm
unset OPENBLAS_CORETYPE
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
passed=0 failed=0
pass() { passed=$((passed + 1)); }
fail() {
    failed=$((failed + 1))
    echo "FAILED: $*"
}
expect() { # NAME FILE PATTERN
    if grep -q -- "$3" "$2"; then pass; else
        fail "$1: expected $3"
        cat "$2"
    fi
}

if [ ! -x "$bench" ] || ! command -v cc >/dev/null; then
    echo "no $bench or no compiler: skipped"
    exit 77
fi

cat >"$work/library.c" <<'END'
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static const char *core(void)
{
    static const char *const known[] = {"Prescott", "SkylakeX", "Zen", "SapphireRapids", "Cooperlake"};
    const char *asked = getenv("OPENBLAS_CORETYPE");
    for (int i = 0; asked && i < 5; i++)
        if (strcmp(asked, known[i]) == 0)
            return known[i];
    return "Haswell"; /* by itself, and whatever is not known */
}
char *openblas_get_corename(void) { return (char *)core(); }
void openblas_set_num_threads(int n) { (void)n; }
void cblas_sgemm(int o, int ta, int tb, int m, int n, int k, float alpha, const float *a, int lda, const float *b,
                 int ldb, float beta, float *c, int ldc)
{
    (void)o, (void)ta, (void)tb, (void)alpha, (void)beta;
    if (strcmp(core(), "SapphireRapids") == 0)
        raise(SIGILL);
    if (strcmp(core(), "Cooperlake") == 0)
        exit(0);
    if (strcmp(core(), "Zen") == 0)
        return;
    if (strcmp(core(), "SkylakeX") != 0)
        usleep(40000);
    for (int i = 0; i < m; i++) {
        memset(c + (long)i * ldc, 0, sizeof *c * (unsigned long)n);
        for (int p = 0; p < k; p++)
            for (int j = 0; j < n; j++)
                c[(long)i * ldc + j] += a[(long)i * lda + p] * b[(long)p * ldb + j];
    }
}
END
cc -O3 -shared -fPIC -o "$work/library.so" "$work/library.c" || exit 1

run() { AUTOTUNE_OPENBLAS=$work/library.so AUTOTUNE_BLIS=/none AUTOTUNE_LIBXSMM=/none \
    "$bench" --seconds 0.01 "$@" 8x8x8; }

run >"$work/table" 2>"$work/messages" || fail "status $?"
expect fastest "$work/table" '^# OpenBLAS: core SkylakeX by OPENBLAS_CORETYPE=SkylakeX (otherwise Haswell, '
expect counted "$work/table" 'the fastest of 3 that run'
if [ -s "$work/messages" ]; then fail "messages: $(cat "$work/messages")"; else pass; fi
OPENBLAS_CORETYPE=Prescott run >"$work/table" || fail "status $?"
expect asked "$work/table" 'core SkylakeX by OPENBLAS_CORETYPE=SkylakeX (otherwise Prescott, '
run --json >"$work/json" || fail "status $?"
expect json "$work/json" '"cores_tried": 3'
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
