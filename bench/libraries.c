#include "bench/libraries.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define DEBIAN "/usr/lib/" LIBRARY_ARCHITECTURE "/"

/* As in cblas.h; libraries built for 64-bit integers have other names and are not looked for. */
enum { CBLAS_ROW_MAJOR = 101, CBLAS_NO_TRANSPOSE = 111 };
typedef void cblas_sgemm_call(int order, int transpose_a, int transpose_b, int m, int n, int k,
                              float alpha, const float *a, int lda, const float *b, int ldb,
                              float beta, float *c, int ldc);
/* As in libxsmm.h of version 1.17; all column-major. */
typedef void xsmm_kernel(const float *a, const float *b, float *c, ...);
typedef xsmm_kernel *xsmm_dispatch(int m, int n, int k, const int *lda, const int *ldb,
                                   const int *ldc, const float *alpha, const float *beta,
                                   const int *flags, const int *prefetch);
/* Above this volume libxsmm itself hands products to a BLAS (LIBXSMM_MAX_MNK). */
static const int64_t xsmm_volume = (int64_t)64 * 64 * 64;

typedef void function(void);

static function *find(void *handle, const char *name)
{
    void *symbol = dlsym(handle, name);
    function *found;
    memcpy(&found, &symbol, sizeof found); /* C has no conversion between the two */
    return found;
}

typedef const char *core_of_library(void *handle);

static const char *openblas_core(void *handle)
{
    char *(*name)(void) = (char *(*)(void))find(handle, "openblas_get_corename");
    return name ? name() : "unknown";
}

static const char *blis_core(void *handle)
{
    function *init = find(handle, "bli_init"); /* it looks at $BLIS_ARCH_TYPE in its tables */
    if (init)
        init();
    int (*query)(void) = (int (*)(void))find(handle, "bli_arch_query_id");
    char *(*name)(int) = (char *(*)(int))find(handle, "bli_arch_string");
    return query && name ? name(query()) : "unknown";
}

static const char *xsmm_core(void *handle)
{
    const char *(*name)(void) = (const char *(*)(void))find(handle, "libxsmm_get_target_arch");
    return name ? name() : "unknown";
}

static void openblas_threads(void *handle, int threads)
{
    void (*set)(int) = (void (*)(int))find(handle, "openblas_set_num_threads");
    if (set)
        set(threads);
}

static void blis_threads(void *handle, int threads)
{
    void (*set)(long) = (void (*)(long))find(handle, "bli_thread_set_num_threads");
    if (set)
        set(threads);
}

static void xsmm_threads(void *handle, int threads)
{
    (void)handle;
    (void)threads; /* kernels run on the thread that calls them */
}

enum { MAX_FILES = 3, MAX_WIDE = 5 };

static const struct kind {
    const char *name, *package, *file_variable;
    const char *files[MAX_FILES];
    const char *multiply;
    core_of_library *core;
    void (*set_threads)(void *handle, int threads);
    const char *core_variable, *wide_core; /* what asks for kernels with AVX-512 */
    const char *wide[MAX_WIDE];            /* cores whose kernels have it */
} kinds[LIBRARY_COUNT] = {
    [LIBRARY_OPENBLAS] = {"OpenBLAS",
                          "libopenblas0-openmp",
                          "AUTOTUNE_OPENBLAS",
                          {DEBIAN "openblas-openmp/libopenblas.so.0", "libopenblas.so.0"},
                          "cblas_sgemm",
                          openblas_core,
                          openblas_threads,
                          "OPENBLAS_CORETYPE",
                          "SkylakeX",
                          {"SkylakeX", "Cooperlake", "SapphireRapids"}},
    [LIBRARY_BLIS] = {"BLIS",
                      "libblis4-openmp",
                      "AUTOTUNE_BLIS",
                      {DEBIAN "blis-openmp/libblis.so.4", "libblis.so.4"},
                      "cblas_sgemm",
                      blis_core,
                      blis_threads,
                      "BLIS_ARCH_TYPE",
                      "0", /* skx, the first of BLIS' list */
                      {"skx", "knl", "zen4"}},
    /* Debian has an archive only; bench/CMakeLists.txt makes the shared library of it. */
    [LIBRARY_LIBXSMM] = {"libxsmm",
                         "libxsmm-dev",
                         "AUTOTUNE_LIBXSMM",
                         {LIBXSMM_FILE, "libxsmm.so"},
                         "libxsmm_smmdispatch",
                         xsmm_core,
                         xsmm_threads,
                         NULL,
                         NULL,
                         {NULL}},
};

static void *load(const struct kind *kind, char file[256])
{
    const char *named = getenv(kind->file_variable);
    void *handle = NULL;
    if (named) {
        snprintf(file, 256, "%s", named);
        return dlopen(named, RTLD_LAZY | RTLD_LOCAL);
    }
    for (int i = 0; i < MAX_FILES && kind->files[i] && !handle; i++) {
        snprintf(file, 256, "%s", kind->files[i]);
        handle = kind->files[i][0] ? dlopen(kind->files[i], RTLD_LAZY | RTLD_LOCAL) : NULL;
    }
    return handle;
}

/* What the library takes this processor for when nobody tells it, asked in a child process, since
 * it decides once. Empty where it cannot be loaded. */
static void ask_own_core(const struct kind *kind, char core[32])
{
    int ends[2];
    core[0] = '\0';
    if (pipe(ends) != 0)
        return;
    pid_t child = fork();
    if (child == 0) {
        char file[256];
        if (kind->core_variable)
            unsetenv(kind->core_variable);
        void *handle = load(kind, file);
        const char *name = handle ? kind->core(handle) : "";
        _exit(write(ends[1], name, strlen(name)) < 0 ? 1 : 0);
    }
    close(ends[1]);
    ssize_t length = child > 0 ? read(ends[0], core, 31) : 0;
    core[length > 0 ? length : 0] = '\0';
    close(ends[0]);
    if (child > 0)
        waitpid(child, NULL, 0);
}

static bool is_wide(const struct kind *kind, const char *core)
{
    for (int i = 0; i < MAX_WIDE && kind->wide[i]; i++)
        if (strcmp(kind->wide[i], core) == 0)
            return true;
    return false;
}

static bool processor_is_wide(void)
{
#if defined __x86_64__
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
#else
    return false;
#endif
}

static void tell_core(const struct kind *kind, struct library *library)
{
    if (!kind->core_variable || getenv(kind->core_variable) || !processor_is_wide() ||
        is_wide(kind, library->own_core))
        return;
    setenv(kind->core_variable, kind->wide_core, 0);
    snprintf(library->setting, sizeof library->setting, "%s=%s", kind->core_variable,
             kind->wide_core);
}

static void open_one(const struct kind *kind, struct library *library, int threads)
{
    *library = (struct library){.name = kind->name, .package = kind->package};
    ask_own_core(kind, library->own_core);
    tell_core(kind, library);
    void *handle = load(kind, library->file);
    if (!handle) {
        snprintf(library->absent, sizeof library->absent, "not installed (Debian: %s)",
                 kind->package);
        return;
    }
    library->multiply = find(handle, kind->multiply);
    library->present = library->multiply != NULL;
    if (!library->present)
        snprintf(library->absent, sizeof library->absent, "has no %s", kind->multiply);
    snprintf(library->core, sizeof library->core, "%s", kind->core(handle));
    kind->set_threads(handle, threads);
}

void libraries_open(struct library list[LIBRARY_COUNT], int threads)
{
    for (int i = 0; i < LIBRARY_COUNT; i++)
        open_one(&kinds[i], &list[i], threads);
}

/* Row-major C = A·B is column-major Cᵀ = Bᵀ·Aᵀ. */
static function *xsmm_find(const struct library *library, const struct product *product)
{
    int m = (int)product->m, k = (int)product->k, n = (int)product->n;
    const float one = 1, zero = 0;
    xsmm_dispatch *dispatch = (xsmm_dispatch *)library->multiply;
    return (function *)dispatch(n, m, k, &n, &k, &n, &one, &zero, NULL, NULL);
}

bool library_prepare(const struct library *library, const struct product *product,
                     struct library_call *call)
{
    *call = (struct library_call){.library = library, .product = product};
    if (!library->present || product->m > INT_MAX || product->k > INT_MAX || product->n > INT_MAX)
        return false;
    if (strcmp(library->name, kinds[LIBRARY_LIBXSMM].name) != 0)
        return true;
    if ((double)product->m * (double)product->k * (double)product->n > (double)xsmm_volume)
        return false;
    call->kernel = xsmm_find(library, product);
    return call->kernel != NULL;
}

void library_run(void *context)
{
    const struct library_call *call = context;
    const struct product *p = call->product;
    if (call->kernel) {
        ((xsmm_kernel *)call->kernel)(p->b, p->a, p->c);
        return;
    }
    ((cblas_sgemm_call *)call->library->multiply)(
        CBLAS_ROW_MAJOR, CBLAS_NO_TRANSPOSE, CBLAS_NO_TRANSPOSE, (int)p->m, (int)p->n, (int)p->k, 1,
        p->a, (int)p->k, p->b, (int)p->n, 0, p->c, (int)p->n);
}
