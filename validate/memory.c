/* Says how much memory may be taken. The least of three limits: what the system can give without
 * swapping, what the control group has left, and the process's own limit. */
#include "validate/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
enum { UNITS = sizeof units / sizeof *units };

/* The number behind `key` in a file of lines; NAN without one. An empty key: the first line's. */
static double number_of(const char *file, const char *key)
{
    char line[160];
    double value = NAN;
    FILE *stream = fopen(file, "re");
    while (stream && isnan(value) && fgets(line, sizeof line, stream)) {
        char *end = line;
        const char *text = line + strlen(key);
        if (strncmp(line, key, strlen(key)) == 0)
            value = strtod(text, &end);
        value = end == text || end == line ? NAN : value;
    }
    if (stream)
        (void)fclose(stream);
    return value;
}

/* What a control group may still take; the second version's files, then the first's. */
static double group_available(void)
{
    static const char *const files[][2] = {
        {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"},
        {"/sys/fs/cgroup/memory/memory.limit_in_bytes",
         "/sys/fs/cgroup/memory/memory.usage_in_bytes"},
    };
    for (int i = 0; i < 2; i++) {
        double most = number_of(files[i][0], ""), used = number_of(files[i][1], "");
        if (isfinite(most) && isfinite(used))
            return fmax(most - used, 0);
    }
    return INFINITY;
}

static double system_available(void)
{
    double kib = number_of("/proc/meminfo", "MemAvailable:");
    return isfinite(kib) ? kib * 1024 : INFINITY;
}

static double process_available(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return INFINITY;
    return (double)limit.rlim_cur;
}

double memory_available(void)
{
    return fmin(fmin(system_available(), group_available()), process_available());
}

static const char *size_text(double bytes, char text[24])
{
    int unit = 0;
    for (; bytes >= 1024 && unit + 1 < UNITS; unit++)
        bytes /= 1024;
    (void)snprintf(text, 24, "%.3g %s", bytes, units[unit]);
    return text;
}

enum status memory_require(const char *contents, double bytes, struct error *error)
{
    char needed[24], there[24];
    double available = memory_available();
    if (bytes <= available)
        return STATUS_OK;
    return error_set(error, STATUS_NO_MEMORY, "%s need %s, %s are available", contents,
                     size_text(bytes, needed), size_text(available, there));
}

float *memory_floats(int64_t rows, int64_t columns)
{
    enum { LINE_BYTES = 64 };
    size_t bytes = (size_t)rows * (size_t)columns * sizeof(float);
    return aligned_alloc(LINE_BYTES, bytes + (-bytes & (LINE_BYTES - 1)));
}
