/* Loads and calls other libraries' products. Each library is a row of a table: where its file may
 * be, which symbols it has, how it is told its threads and which core's kernels to use. By dlopen.
 * Which kernels are fastest is tried in child processes, since a library decides once and for all
 * when it is loaded, and kernels for another processor end whoever calls them; the best of several
 * rounds counts, in the library's favour. */
#include "bench/libraries.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
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

enum { MAX_FILES = 3, MAX_CORES = 32 };

static const struct kind {
    const char *name, *package, *file_variable;
    const char *files[MAX_FILES];
    const char *multiply;
    core_of_library *core;
    void (*set_threads)(void *handle, int threads);
    const char *core_variable;    /* what asks for another core's kernels; NULL: nothing */
    const char *cores[MAX_CORES]; /* what may be asked for; those that do not run are found out */
} kinds[LIBRARY_COUNT] = {
    [LIBRARY_OPENBLAS] = {"OpenBLAS",
                          "libopenblas0-openmp",
                          "AUTOTUNE_OPENBLAS",
                          {DEBIAN "openblas-openmp/libopenblas.so.0", "libopenblas.so.0"},
                          "cblas_sgemm",
                          openblas_core,
                          openblas_threads,
                          "OPENBLAS_CORETYPE",
                          {"Prescott", "Nehalem", "Sandybridge", "Haswell", "Zen", "SkylakeX",
                           "Cooperlake", "SapphireRapids", "ARMV8", "NEOVERSEN1", "NEOVERSEV1",
                           "NEOVERSEN2"}},
    [LIBRARY_BLIS] = {"BLIS",
                      "libblis4-openmp",
                      "AUTOTUNE_BLIS",
                      {DEBIAN "blis-openmp/libblis.so.4", "libblis.so.4"},
                      "cblas_sgemm",
                      blis_core,
                      blis_threads,
                      "BLIS_ARCH_TYPE", /* positions in a list that versions lengthen */
                      {"0",  "1",  "2",  "3",  "4",  "5",  "6",  "7",  "8",  "9",
                       "10", "11", "12", "13", "14", "15", "16", "17", "18", "19",
                       "20", "21", "22", "23", "24", "25", "26", "27"}},
    /* Debian has an archive only; bench/CMakeLists.txt makes the shared library of it. */
    [LIBRARY_LIBXSMM] = {"libxsmm",
                         "libxsmm-dev",
                         "AUTOTUNE_LIBXSMM",
                         {LIBXSMM_FILE, "libxsmm.so"},
                         "libxsmm_smmdispatch",
                         xsmm_core,
                         xsmm_threads,
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

/* ---- the core whose kernels are fastest ---- */

/* One core, asked for or (setting NULL) what the library takes as it is started. */
struct trial {
    const char *setting;
    char core[32]; /* as the library calls it */
    double ns;     /* of a product; 0: it does not run here */
};

enum { TRIAL_EDGE = 256, TRIAL_RUNS = 7, TRIAL_ROUNDS = 3, TRIAL_SECONDS = 20 };

static double now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return 1e9 * (double)now.tv_sec + (double)now.tv_nsec;
}

/* The least time of some products; 0 where they are wrong. The least is in the library's favour. */
static double time_products(void (*multiply)(void))
{
    static float a[TRIAL_EDGE * TRIAL_EDGE], b[TRIAL_EDGE * TRIAL_EDGE], c[TRIAL_EDGE * TRIAL_EDGE];
    struct library library = {.multiply = multiply};
    struct product product = {TRIAL_EDGE, TRIAL_EDGE, TRIAL_EDGE, a, b, c};
    struct library_call call = {.library = &library, .product = &product};
    double least_ns = 0;
    for (int i = 0; i < TRIAL_EDGE * TRIAL_EDGE; i++) {
        a[i] = 0.5F;
        b[i] = 2;
    }
    for (int run = 0; run < TRIAL_RUNS; run++) {
        double begin_ns = now_ns();
        library_run(&call);
        double ns = now_ns() - begin_ns;
        least_ns = run == 0 || ns < least_ns ? ns : least_ns;
    }
    for (int i = 0; i < TRIAL_EDGE * TRIAL_EDGE; i++)
        if (c[i] != TRIAL_EDGE)
            return 0;
    return least_ns;
}

/* The body of a child. Kernels for another processor end it, and nobody is to hear of it. */
static void try_here(const struct kind *kind, struct trial *trial)
{
    char file[256];
    const struct rlimit none = {0, 0};
    (void)setrlimit(RLIMIT_CORE, &none);
    (void)alarm(TRIAL_SECONDS);
    if (!freopen("/dev/null", "w", stderr) || !freopen("/dev/null", "w", stdout))
        return;
    if (kind->core_variable && trial->setting)
        setenv(kind->core_variable, trial->setting, 1);
    void *handle = load(kind, file);
    if (!handle)
        return;
    kind->set_threads(handle, 1);
    snprintf(trial->core, sizeof trial->core, "%s", kind->core(handle));
    if (kind->core_variable && find(handle, kind->multiply))
        trial->ns = time_products(find(handle, kind->multiply));
}

/* In a child process, since a library decides once. The least of all its times counts. */
static void try_core(const struct kind *kind, struct trial *trial)
{
    int ends[2];
    struct trial found = {.setting = trial->setting};
    if (pipe(ends) != 0)
        return;
    (void)fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        try_here(kind, &found);
        _exit(write(ends[1], &found, sizeof found) == (ssize_t)sizeof found ? 0 : 1);
    }
    close(ends[1]);
    bool whole = child > 0 && read(ends[0], &found, sizeof found) == (ssize_t)sizeof found;
    close(ends[0]);
    if (child > 0)
        waitpid(child, NULL, 0);
    if (!whole)
        return;
    memcpy(trial->core, found.core, sizeof trial->core);
    if (found.ns > 0 && (trial->ns <= 0 || found.ns < trial->ns))
        trial->ns = found.ns;
}

static bool is_known(const struct trial *trials, int count, const char *core)
{
    for (int i = 0; i < count; i++)
        if (strcmp(trials[i].core, core) == 0)
            return true;
    return false;
}

/* What it takes anyway first, then all others that run here; returns how many. */
static int try_cores(const struct kind *kind, struct trial trials[MAX_CORES + 1])
{
    int count = 1;
    trials[0] = (struct trial){.setting = NULL};
    try_core(kind, &trials[0]);
    if (trials[0].ns <= 0)
        return count;
    for (int i = 0; i < MAX_CORES && kind->cores[i]; i++) {
        struct trial trial = {.setting = kind->cores[i]};
        try_core(kind, &trial);
        if (trial.ns > 0 && !is_known(trials, count, trial.core))
            trials[count++] = trial;
    }
    for (int round = 1; round < TRIAL_ROUNDS; round++)
        for (int i = 0; i < count; i++)
            try_core(kind, &trials[i]);
    return count;
}

/* Tells the library to use the kernels that are fastest here, whatever the environment says: a
 * comparison with others flatters. */
static void choose_core(const struct kind *kind, struct library *library)
{
    struct trial trials[MAX_CORES + 1];
    int best = 0;
    library->cores_tried = try_cores(kind, trials);
    snprintf(library->own_core, sizeof library->own_core, "%s", trials[0].core);
    for (int i = 1; i < library->cores_tried; i++)
        if (trials[i].ns < trials[best].ns)
            best = i;
    library->own_ratio = best ? trials[0].ns / trials[best].ns : 1;
    if (best == 0)
        return;
    setenv(kind->core_variable, trials[best].setting, 1);
    snprintf(library->setting, sizeof library->setting, "%s=%s", kind->core_variable,
             trials[best].setting);
}

static void open_one(const struct kind *kind, struct library *library, int threads)
{
    *library = (struct library){.name = kind->name, .package = kind->package};
    choose_core(kind, library);
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

void library_describe(const struct library *library, char *text, size_t size)
{
    int length;
    if (!library->present) {
        (void)snprintf(text, size, "%s", library->absent);
        return;
    }
    length = snprintf(text, size, "core %s", library->core);
    if (length < (int)size && library->setting[0])
        length += snprintf(text + length, size - (size_t)length,
                           " by %s (otherwise %s, %.2f times "
                           "as long)",
                           library->setting, library->own_core, library->own_ratio);
    if (length < (int)size && library->cores_tried > 1)
        length += snprintf(text + length, size - (size_t)length, ", the fastest of %d that run",
                           library->cores_tried);
    if (length < (int)size)
        (void)snprintf(text + length, size - (size_t)length, ", %s", library->file);
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
