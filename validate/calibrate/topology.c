/* Asks the system about its processors. Processors come from hwloc, less those that the process
 * may not use; they are listed core by core, first siblings first. Quotas and limits of memory are
 * those of the control group, in the files of either version. Each gap has a second source:
 * sysconf for caches, then sizes that are common, and what is assumed says so. */
#include "validate/calibrate/topology.h"

#include <errno.h>
#include <hwloc.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CONTROL_GROUPS "/sys/fs/cgroup"

/* The processors that may be used, those of different cores first. */
struct processors {
    hwloc_topology_t hwloc;
    hwloc_bitmap_t allowed;
    hwloc_obj_t by_thread[HOST_MAX_THREADS];
    int count;
};

static bool is_here(const struct topology_source *source)
{
    return !source->synthetic && !source->xml_file;
}

static bool load(const struct topology_source *source, hwloc_topology_t hwloc)
{
    if (source->synthetic && hwloc_topology_set_synthetic(hwloc, source->synthetic) != 0)
        return false;
    if (source->xml_file && hwloc_topology_set_xml(hwloc, source->xml_file) != 0)
        return false;
    return hwloc_topology_load(hwloc) == 0;
}

/* Processors of the topology, less those that taskset and the like have taken away. */
static bool find_allowed(const struct topology_source *source, hwloc_topology_t hwloc,
                         hwloc_bitmap_t allowed)
{
    hwloc_bitmap_t bound = hwloc_bitmap_alloc();
    if (!bound || hwloc_bitmap_copy(allowed, hwloc_topology_get_allowed_cpuset(hwloc)) != 0) {
        hwloc_bitmap_free(bound);
        return false;
    }
    if (is_here(source) && hwloc_get_cpubind(hwloc, bound, HWLOC_CPUBIND_PROCESS) == 0 &&
        hwloc_bitmap_intersects(allowed, bound))
        hwloc_bitmap_and(allowed, allowed, bound);
    hwloc_bitmap_free(bound);
    return true;
}

static hwloc_obj_t core_of(hwloc_obj_t processor)
{
    hwloc_obj_t up = processor;
    while (up && up->type != HWLOC_OBJ_CORE)
        up = up->parent;
    return up ? up : processor; /* a system that tells nothing of cores */
}

/* How many allowed processors of its core stand before this one? */
static int sibling_number(const struct processors *p, hwloc_obj_t processor)
{
    hwloc_obj_t core = core_of(processor), other = NULL;
    int number = 0;
    while ((other = hwloc_get_next_obj_inside_cpuset_by_type(p->hwloc, core->cpuset, HWLOC_OBJ_PU,
                                                             other)) != NULL &&
           other != processor)
        number += hwloc_bitmap_isset(p->allowed, other->os_index) != 0;
    return number;
}

/* The allowed ones that are the n-th of their core; returns how many. */
static int add_siblings(struct processors *p, int number)
{
    hwloc_obj_t processor = NULL;
    int found = 0;
    while ((processor = hwloc_get_next_obj_by_type(p->hwloc, HWLOC_OBJ_PU, processor)) != NULL) {
        if (!hwloc_bitmap_isset(p->allowed, processor->os_index) ||
            sibling_number(p, processor) != number)
            continue;
        if (p->count < HOST_MAX_THREADS)
            p->by_thread[p->count++] = processor;
        found++;
    }
    return found;
}

/* The first line of a file; false without one. */
static bool first_line(const char *folder, const char *name, char *line, int size)
{
    char path[512];
    if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path)
        return false;
    FILE *file = fopen(path, "r");
    bool good = file && fgets(line, size, file);
    if (file)
        fclose(file);
    return good;
}

static double positive(const char *text)
{
    double number = strtod(text, NULL);
    return isfinite(number) && number > 0 ? number : 0;
}

/* "400000 100000" of version 2, or "400000" and "100000" in two files of version 1: 4 processors.
 * "max" and -1 are no limit. */
static double read_quota(const char *folder)
{
    char line[128], period[128];
    double quota = 0, per = 0;
    if (first_line(folder, "cpu.max", line, sizeof line)) {
        const char *blank = strchr(line, ' ');
        quota = positive(line);
        per = blank ? positive(blank) : 0;
    } else if (first_line(folder, "cpu/cpu.cfs_quota_us", line, sizeof line) &&
               first_line(folder, "cpu/cpu.cfs_period_us", period, sizeof period)) {
        quota = positive(line);
        per = positive(period);
    }
    return quota > 0 && per > 0 ? quota / per : 0;
}

static int whole_within(double quota, int most)
{
    return quota > 0 && quota < most ? (int)fmax(quota, 1) : most;
}

int topology_processors(const char *groups)
{
    cpu_set_t sets[16]; /* of 1024 processors each */
    int allowed = sched_getaffinity(0, sizeof sets, sets) == 0 ? CPU_COUNT_S(sizeof sets, sets)
                                                               : (int)sysconf(_SC_NPROCESSORS_ONLN);
    return whole_within(read_quota(groups ? groups : CONTROL_GROUPS), allowed);
}

/* What is free now, within the limit of a control group. */
static int64_t read_memory(const char *folder)
{
    char line[128];
    double bytes = (double)sysconf(_SC_AVPHYS_PAGES) * (double)sysconf(_SC_PAGESIZE), limit = 0;
    if (first_line(folder, "memory.max", line, sizeof line) ||
        first_line(folder, "memory/memory.limit_in_bytes", line, sizeof line))
        limit = positive(line);
    if (limit > 0 && limit < bytes)
        bytes = limit;
    return bytes > 0 && bytes < 9e18 ? (int64_t)bytes : 0;
}

/* Of the threads that work, how many are below this object? */
static int threads_below(const struct processors *p, int threads, hwloc_obj_t object)
{
    int count = 0;
    for (int t = 0; t < threads; t++)
        count += hwloc_bitmap_isset(object->cpuset, p->by_thread[t]->os_index) != 0;
    return count;
}

/* A level that is not larger than the one before says nothing. */
static void add_cache(struct topology *topology, int depth, int64_t bytes, int line_bytes,
                      int threads)
{
    int count = topology->cache_count;
    if (count == TOPOLOGY_MAX_CACHES || bytes < 1 ||
        (count > 0 && bytes <= topology->caches[count - 1].bytes))
        return;
    struct topology_cache *cache = &topology->caches[topology->cache_count++];
    snprintf(cache->name, sizeof cache->name, "L%d", depth);
    cache->bytes = bytes;
    cache->line_bytes = line_bytes > 0 && line_bytes <= 65536 ? line_bytes : 0;
    cache->threads = threads;
}

static void find_caches(const struct processors *p, struct topology *topology)
{
    for (hwloc_obj_t up = p->by_thread[0]; up; up = up->parent)
        if (hwloc_obj_type_is_dcache(up->type) && up->attr->cache.size <= INT64_MAX / 2)
            add_cache(topology, (int)up->attr->cache.depth, (int64_t)up->attr->cache.size,
                      (int)up->attr->cache.linesize, threads_below(p, topology->threads, up));
}

/* Without hwloc: what the C library knows, for the L3 taken to be shared by all. */
static void ask_sysconf(struct topology *topology)
{
    static const struct {
        int size, line;
        bool shared;
    } levels[] = {{_SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL1_DCACHE_LINESIZE, false},
                  {_SC_LEVEL2_CACHE_SIZE, _SC_LEVEL2_CACHE_LINESIZE, false},
                  {_SC_LEVEL3_CACHE_SIZE, _SC_LEVEL3_CACHE_LINESIZE, true}};
    for (int l = 0; l < (int)(sizeof levels / sizeof *levels); l++)
        add_cache(topology, l + 1, sysconf(levels[l].size), (int)sysconf(levels[l].line),
                  levels[l].shared ? topology->threads : 1);
}

/* Sizes that most processors of servers have at least. */
static void assume_caches(struct topology *topology)
{
    add_cache(topology, 1, 32 << 10, 64, 1);
    add_cache(topology, 2, 512 << 10, 64, 1);
    topology->assumed = true;
}

static void find_name(hwloc_topology_t hwloc, struct topology *topology)
{
    hwloc_obj_t package = hwloc_get_obj_by_type(hwloc, HWLOC_OBJ_PACKAGE, 0);
    const char *name = package ? hwloc_obj_get_info_by_name(package, "CPUModel") : NULL;
    if (!name)
        name = hwloc_obj_get_info_by_name(hwloc_get_root_obj(hwloc), "CPUModel");
    if (!name)
        name = hwloc_obj_get_info_by_name(hwloc_get_root_obj(hwloc), "Architecture");
    size_t length = 0;
    for (; name && *name && length + 1 < sizeof topology->cpu; name++)
        if (*name >= ' ' && *name < 127 && !(*name == ' ' && (length == 0 || name[1] == ' ')))
            topology->cpu[length++] = *name;
    while (length > 0 && topology->cpu[length - 1] == ' ')
        topology->cpu[--length] = '\0';
    if (length == 0)
        strcpy(topology->cpu, "a processor without a name");
}

static enum status choose_threads(const struct processors *p, int threads,
                                  struct topology *topology, struct error *error)
{
    int most = p->count < topology->cores ? p->count : topology->cores;
    most = whole_within(topology->quota, most);
    if (threads > p->count)
        return error_set(error, STATUS_INVALID,
                         "--threads %d: expected at most %d, the processors that this process may "
                         "run on",
                         threads, p->count);
    topology->threads = threads ? threads : most;
    for (int t = 0; t < topology->threads; t++) {
        unsigned index = p->by_thread[t]->os_index;
        int before = 0;
        for (int i = hwloc_bitmap_first(p->allowed); i >= 0 && (unsigned)i < index;
             i = hwloc_bitmap_next(p->allowed, i))
            before++;
        topology->processor_of[t] = before;
    }
    return STATUS_OK;
}

static enum status fill_topology(const struct topology_source *source, struct processors *p,
                                 int threads, struct topology *topology, struct error *error)
{
    const char *groups = source->cgroup ? source->cgroup : CONTROL_GROUPS;
    topology->allowed = hwloc_bitmap_weight(p->allowed);
    topology->processors = topology->allowed;
    if (is_here(source) && sysconf(_SC_NPROCESSORS_CONF) > topology->allowed)
        topology->processors = (int)sysconf(_SC_NPROCESSORS_CONF);
    topology->cores = add_siblings(p, 0);
    for (int number = 1; p->count < topology->allowed && add_siblings(p, number) > 0;)
        number++;
    if (p->count == 0)
        return error_set(error, STATUS_IO, "hwloc knows no processor that may be used");
    if (is_here(source) || source->cgroup) {
        topology->quota = read_quota(groups);
        topology->memory_bytes = read_memory(groups);
    }
    TRY(choose_threads(p, threads, topology, error));
    find_name(p->hwloc, topology);
    find_caches(p, topology);
    if (topology->cache_count == 0 && is_here(source))
        ask_sysconf(topology);
    if (topology->cache_count == 0)
        assume_caches(topology);
    return STATUS_OK;
}

static enum status read_loaded(const struct topology_source *source, struct processors *p,
                               int threads, struct topology *topology, struct error *error)
{
    if (is_here(source) && !hwloc_topology_is_thissystem(p->hwloc))
        return error_set(error, STATUS_INVALID,
                         "hwloc was given the topology of another machine, expected HWLOC_XMLFILE "
                         "and HWLOC_SYNTHETIC not to be set");
    p->allowed = hwloc_bitmap_alloc();
    bool is_found = p->allowed && find_allowed(source, p->hwloc, p->allowed);
    enum status status =
        is_found ? fill_topology(source, p, threads, topology, error) : error_memory(error);
    hwloc_bitmap_free(p->allowed);
    return status;
}

enum status topology_read(const struct topology_source *source, int threads,
                          struct topology *topology, struct error *error)
{
    struct processors processors = {.count = 0};
    memset(topology, 0, sizeof *topology);
    /* It would print of its own where /sys is missing or odd; what matters comes back as an error.
     */
    (void)setenv("HWLOC_HIDE_ERRORS", "2", 0);
    if (hwloc_topology_init(&processors.hwloc) != 0)
        return error_memory(error);
    enum status status =
        load(source, processors.hwloc)
            ? read_loaded(source, &processors, threads, topology, error)
            : error_set(error, STATUS_IO, "hwloc reads no topology: %s", strerror(errno));
    hwloc_topology_destroy(processors.hwloc);
    return status;
}
