/* Rates of a level come from one curve, that of n threads that read at once: writing and streaming
 * are taken to suffer from company as reading does. What is least is a running minimum from the
 * memory inwards. */
#include "core/host.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char *const isa_names[HOST_ISA_COUNT] = {"portable", "neon", "avx2", "avx512"};

int host_loop(const struct host *host, const char *name)
{
    for (int i = 0; i < host->loop_count; i++)
        if (strcmp(host->loops[i].name, name) == 0)
            return i;
    return -1;
}

int host_level_of(const struct host *host, double bytes, int sharers, double fill)
{
    int last = host->level_count - 1;
    for (int l = 0; l < last; l++) {
        const struct host_level *level = &host->levels[l];
        int together = sharers < level->threads ? sharers : level->threads;
        if (bytes * together <= fill * (double)level->capacity_bytes)
            return l;
    }
    return last;
}

double host_read_rate(const struct host *host, int level, int threads)
{
    const struct host_level *l = &host->levels[level];
    if (l->shared_count == 0)
        return l->read_gbps;
    int n = threads < l->shared_count ? threads : l->shared_count;
    double share = l->shared_gbps[n - 1] / threads;
    return share < l->read_gbps ? share : l->read_gbps;
}

/* What a thread keeps of its rate alone, by the curve of reading. */
static double share_of(const struct host *host, int level, int threads)
{
    return host_read_rate(host, level, threads) / host->levels[level].read_gbps;
}

double host_write_rate(const struct host *host, int level, int threads)
{
    return share_of(host, level, threads) * host->levels[level].write_gbps;
}

double host_stream_rate(const struct host *host, int threads)
{
    int memory = host->level_count - 1;
    const struct host_level *l = &host->levels[memory];
    return share_of(host, memory, threads) * (l->stream_gbps > 0 ? l->stream_gbps : l->write_gbps);
}

/* Data may always be fetched from further out, where that is faster. */
static void find_least(const struct host *host, int threads,
                       double (*rate)(const struct host *host, int level, int threads),
                       double ns[HOST_MAX_LEVELS])
{
    double least = INFINITY;
    for (int l = host->level_count - 1; l > 0; l--)
        ns[l] = least = fmin(least, 1 / rate(host, l, threads));
    ns[0] = 0;
}

void host_least_read_ns(const struct host *host, int threads, double ns[HOST_MAX_LEVELS])
{
    find_least(host, threads, host_read_rate, ns);
}

void host_least_write_ns(const struct host *host, int threads, double ns[HOST_MAX_LEVELS])
{
    find_least(host, threads, host_write_rate, ns);
}

int host_component_count(const struct host *host)
{
    return host->level_count + 1;
}

const char *host_component_name(const struct host *host, int component)
{
    if (component == 0)
        return "compute";
    return component < host->level_count ? host->levels[component].name : "calls";
}

const char *host_isa_name(enum host_isa isa)
{
    return isa_names[isa];
}

int host_isa_find(const char *name)
{
    for (int i = 0; i < HOST_ISA_COUNT; i++)
        if (strcasecmp(isa_names[i], name) == 0)
            return i;
    return -1;
}

static bool is_there(int isa)
{
    const bool there[HOST_ISA_COUNT] = {
        [HOST_PORTABLE] = true,
#if defined __aarch64__
        [HOST_NEON] = true, /* on all of them */
#elif defined __x86_64__
        [HOST_AVX2] = __builtin_cpu_supports("fma") && __builtin_cpu_supports("avx2"),
        [HOST_AVX512] = __builtin_cpu_supports("fma") && __builtin_cpu_supports("avx512f") &&
                        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
                        __builtin_cpu_supports("avx512dq"),
#endif
    };
    return there[isa];
}

enum host_isa host_isa_best(void)
{
    const char *wanted = getenv("AUTOTUNE_ISA");
    int asked = wanted ? host_isa_find(wanted) : -1;
    int best = asked >= 0 ? asked : HOST_ISA_COUNT - 1;
    while (!is_there(best))
        best--;
    return (enum host_isa)best;
}

bool host_isa_has(enum host_isa isa)
{
    return is_there(isa) && isa <= host_isa_best();
}
