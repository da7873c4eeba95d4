/* Loaded before the C library: allocation number $FAIL_AT of a process fails. How many there were
 * is written to the file $COUNT_TO at its end. With $FAIL_PLACES set only the first of each place
 * in the code counts, so that all places which ask for memory can be tried. Those of libconfig,
 * which looks at none, and of libgomp, which ends the program in its own way, are not counted:
 * files are untouched then. */
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *old, size_t bytes);

enum { MOST_PLACES = 1 << 24 };

static atomic_long allocations;
static atomic_bool seen[MOST_PLACES]; /* by how far into its library a place is */
static bool places;
static long fail_at;

__attribute__((constructor)) static void begin(void)
{
    const char *text = getenv("FAIL_AT");
    fail_at = text ? atol(text) : 0;
    places = getenv("FAIL_PLACES") != NULL;
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
    bool known = dladdr(caller, &info) && info.dli_fname;
    if (known && (strstr(info.dli_fname, "libconfig") || strstr(info.dli_fname, "libgomp")))
        return 0;
    uintptr_t place = (uintptr_t)caller - (known ? (uintptr_t)info.dli_fbase : 0);
    if (places && atomic_exchange(&seen[place % MOST_PLACES], true))
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
