#!/usr/bin/env bash
# Benchmarks compare with a library's fastest kernels: those of the core that is fastest here, found by running
# each. With a library made up for the purpose, whose cores are slow, fast, wrong, or end the process.
#
#   tests/whole/test_bench_cores.sh AUTOTUNE SOURCE_DIR
. "$(dirname "$0")/../support/script.sh"
unset OPENBLAS_CORETYPE
bench=$(dirname "$autotune")/bench/bench_host_gemm
[ -x "$bench" ] || skip "no $bench"
needs cc

cat >library.c <<'END'
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
cc -O3 -shared -fPIC -o library.so library.c || exit 1

run() { AUTOTUNE_OPENBLAS=$work/library.so AUTOTUNE_BLIS=/none AUTOTUNE_LIBXSMM=/none \
    "$bench" --seconds 0.01 "$@" 8x8x8; }

check 'it runs' run
run >table 2>messages
check fastest grep '^# OpenBLAS: core SkylakeX by OPENBLAS_CORETYPE=SkylakeX (otherwise Haswell, ' table
check counted grep 'the fastest of 3 that run' table
equal 'no messages' '' "$(cat messages)"
OPENBLAS_CORETYPE=Prescott run >table
check asked grep 'core SkylakeX by OPENBLAS_CORETYPE=SkylakeX (otherwise Prescott, ' table
run --json >json
check json grep '"cores_tried": 3' json
finish
