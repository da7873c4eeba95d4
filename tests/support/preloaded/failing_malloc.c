/* Loaded before the C library: allocation number $FAIL_AT of a process fails. How many there were
 * is written to the file $COUNT_TO at its end. Those of libconfig, which looks at none, and of
 * libgomp, which ends the program in its own way, are not counted: files are untouched then. */
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *old, size_t bytes);

static atomic_long allocations;
static long fail_at;

__attribute__((constructor)) static void begin(void)
{
    const char *text = getenv("FAIL_AT");
    fail_at = text ? atol(text) : 0;
    atomic_store(&allocations, 0);
}

__attribute__((destructor)) static void end(void)
{
    long count = atomic_load(&allocations);
    const char *name = getenv("COUNT_TO");
    FILE *file = name ? fopen(name, "w") : NULL;
    if (!file)
        return;
    fprintf(file, "%ld\n", count);
    fclose(file);
}

/* `caller` is an address in whoever asks. */
static int fails(const void *caller)
{
    Dl_info info;
    if (dladdr(caller, &info) && info.dli_fname &&
        (strstr(info.dli_fname, "libconfig") || strstr(info.dli_fname, "libgomp")))
        return 0;
    if (atomic_fetch_add(&allocations, 1) + 1 != fail_at)
        return 0;
    errno = ENOMEM;
    return 1;
}

void *malloc(size_t bytes)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_malloc(bytes);
}

void *calloc(size_t count, size_t bytes)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_calloc(count, bytes);
}

void *realloc(void *old, size_t bytes)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_realloc(old, bytes);
}
