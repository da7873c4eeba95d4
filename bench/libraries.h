/* Libraries that users multiply matrices with, loaded while running: none is needed to build, and
 * one that is not installed is named and left out.
 *
 *   libraries_open(list, threads)                     before anything starts threads
 *   library_prepare(&list[i], &product, &call) → timing_subject {library_run, &call}
 *
 * Distributions' builds take processors that are newer than themselves for old ones, and run
 * kernels that are not their fastest. So a library is tried with each core's kernels that run here,
 * each in a process of its own, and told to use the fastest (`setting`), whatever the environment
 * asks for; both names are kept, for printing beside every ratio.
 * Libraries stay loaded until the program ends: their threads do not survive being unloaded. */
#ifndef AUTOTUNE_BENCH_LIBRARIES_H
#define AUTOTUNE_BENCH_LIBRARIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum library_name { LIBRARY_OPENBLAS, LIBRARY_BLIS, LIBRARY_LIBXSMM, LIBRARY_COUNT };

struct library {
    const char *name;    /* "OpenBLAS" */
    const char *package; /* that installs it on Debian */
    bool present;
    char absent[160];       /* why it is not, in one line */
    char file[256];         /* that was loaded */
    char core[32];          /* whose kernels it runs: "SkylakeX" */
    char own_core[32];      /* whose it would have taken, by itself or by the environment */
    char setting[64];       /* "OPENBLAS_CORETYPE=SkylakeX" where it was told; "" otherwise */
    int cores_tried;        /* that run here */
    double own_ratio;       /* own_core's time over that of the core whose kernels it runs */
    void (*multiply)(void); /* cblas_sgemm, or what finds a kernel; called by library_run */
};

/* C = A·B in FP32, all row-major and dense: m×k, k×n, m×n. */
struct product {
    int64_t m, k, n;
    const float *a, *b;
    float *c;
};

struct library_call {
    const struct library *library;
    const struct product *product;
    void (*kernel)(void); /* of libxsmm, written for this shape */
};

/* Loads what is there, for `threads` threads. A library is looked for where Debian puts its build
 * with OpenMP, whose threads all libraries and our kernels then share, then where the system finds
 * it; $AUTOTUNE_OPENBLAS, $AUTOTUNE_BLIS and $AUTOTUNE_LIBXSMM name other files. */
void libraries_open(struct library list[LIBRARY_COUNT], int threads);

/* "core SkylakeX by OPENBLAS_CORETYPE=SkylakeX (otherwise Haswell, 1.31 times as long), …", or why
 * it is not there. */
void library_describe(const struct library *library, char *text, size_t size);

/* Does the library multiply such a product (libxsmm: small ones, on the calling thread)? *call then
 * refers to both until it is dropped. */
bool library_prepare(const struct library *library, const struct product *product,
                     struct library_call *call);

/* C = A·B, once; the context is a struct library_call. */
void library_run(void *context);

#endif
