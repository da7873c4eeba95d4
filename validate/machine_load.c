/* Reads how busy the machine is with other work. Two readings of counters are subtracted: busy and
 * stolen ticks of the processors that this thread may use (proc(5)), the CPU time of this process
 * and its children, pressure stalls and throttling of the control group. What is busy and not ours
 * is other work; ticks that may have begun before are taken off. */
#include "validate/machine_load.h"

#include "validate/timing.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static const struct load_source system_source = {"/proc", "/sys/fs/cgroup"};

static FILE *open_file(const char *folder, const char *name)
{
    char path[512];
    return snprintf(path, sizeof path, "%s/%s", folder, name) < (int)sizeof path ? fopen(path, "re")
                                                                                 : NULL;
}

static double seconds_of(const struct timeval *time)
{
    return (double)time->tv_sec + 1e-6 * (double)time->tv_usec;
}

static double own_seconds(void)
{
    static const int whose[] = {RUSAGE_SELF, RUSAGE_CHILDREN};
    double sum = 0;
    for (int i = 0; i < 2; i++) {
        struct rusage usage = {0};
        if (getrusage(whose[i], &usage) == 0)
            sum += seconds_of(&usage.ru_utime) + seconds_of(&usage.ru_stime);
    }
    return sum;
}

/* "cpu3 user nice system idle iowait irq softirq steal guest guest_nice", proc(5); user has guest
 * in it. False for other lines. */
static bool read_processor(const char *line, int64_t *number, double *busy, double *steal)
{
    enum { IDLE = 3, WAIT = 4, STEAL = 7, TIMES = 8 };
    const char *at = line + strlen("cpu");
    char *end;
    if (strncmp(line, "cpu", strlen("cpu")) != 0 || *at < '0' || *at > '9')
        return false;
    *number = strtoll(at, &end, 10);
    *busy = *steal = 0;
    for (int i = 0; i < TIMES; i++) {
        at = end;
        double time = strtod(at, &end);
        if (end == at || !(time >= 0))
            return false;
        if (i == STEAL)
            *steal = time;
        else if (i != IDLE && i != WAIT)
            *busy += time;
    }
    return true;
}

static void read_stat(const char *proc, struct load_reading *reading)
{
    struct timing_processors may;
    char line[512];
    int there = 0;
    int64_t number;
    double busy, steal, ticks = (double)sysconf(_SC_CLK_TCK);
    bool known = sched_getaffinity(0, sizeof may.sets, may.sets) == 0;
    FILE *file = open_file(proc, "stat");
    while (file && fgets(line, sizeof line, file)) {
        if (!read_processor(line, &number, &busy, &steal))
            continue;
        there++;
        if (known && !(number >= 0 && number < (int64_t)sizeof may.sets * 8 &&
                       CPU_ISSET_S((size_t)number, sizeof may.sets, may.sets)))
            continue;
        reading->processors++;
        reading->busy_s += busy / ticks;
        reading->steal_s += steal / ticks;
    }
    if (file)
        (void)fclose(file);
    reading->all = reading->processors == there;
}

/* The number behind `key` in a file; 0 without one. */
static double number_behind(const char *folder, const char *name, const char *key)
{
    char line[256];
    double number = 0;
    FILE *file = open_file(folder, name);
    while (file && number == 0 && fgets(line, sizeof line, file)) {
        const char *at = strstr(line, key);
        if (at)
            number = strtod(at + strlen(key), NULL);
    }
    if (file)
        (void)fclose(file);
    return isfinite(number) && number > 0 ? number : 0;
}

/* "0.10 0.20 0.30 3/171 4711": 3 tasks run, this one among them. */
static int other_tasks(const char *proc)
{
    char line[128] = "";
    FILE *file = open_file(proc, "loadavg");
    bool read = file && fgets(line, sizeof line, file);
    if (file)
        (void)fclose(file);
    const char *end = read ? strchr(line, '/') : NULL, *begin = end;
    while (begin && begin > line && begin[-1] != ' ')
        begin--;
    long running = begin ? strtol(begin, NULL, 10) : 0;
    return running > 1 && running < 1 << 30 ? (int)running - 1 : 0;
}

void load_read(const struct load_source *source, struct load_reading *reading)
{
    const struct load_source *from = source ? source : &system_source;
    *reading = (struct load_reading){.at_s = timing_now_ns() * 1e-9, .own_s = own_seconds()};
    read_stat(from->proc, reading);
    reading->waiting_s = 1e-6 * number_behind(from->proc, "pressure/cpu", "total=");
    reading->throttled_s = 1e-6 * number_behind(from->cgroup, "cpu.stat", "throttled_usec ") +
                           1e-9 * number_behind(from->cgroup, "cpu/cpu.stat", "throttled_time ");
    reading->running = other_tasks(from->proc);
}

struct load load_between(const struct load_reading *before, const struct load_reading *after)
{
    double seconds = after->at_s - before->at_s;
    struct load load = {.processors = after->processors, .running = after->running};
    if (!(seconds > 0) || before->processors != after->processors)
        return load;
    /* A tick of each processor may have begun before, or be ours in part. */
    double ticks_s = load.processors / (double)sysconf(_SC_CLK_TCK);
    double own_s = after->own_s - before->own_s + ticks_s;
    load.others = fmin(fmax(after->busy_s - before->busy_s - own_s, 0) / seconds, load.processors);
    load.steal = fmax(after->steal_s - before->steal_s - ticks_s, 0) / seconds;
    load.throttled = fmax(after->throttled_s - before->throttled_s, 0) / seconds;
    if (after->all) /* else they may have waited for processors that are not ours */
        load.waiting = fmin(fmax(after->waiting_s - before->waiting_s, 0) / seconds, 1);
    return load;
}

/* A tenth of the machine, as hundredths of a second are counted: 0.2 of a processor at least; or
 * less where every processor is to work. */
bool load_disturbs(const struct load *load, int threads)
{
    double most = fmax(0.1 * load->processors, 0.2), spare = load->processors - threads;
    return load->others > most || load->others > fmax(spare, 0) + 0.25 ||
           load->steal > 0.02 * load->processors || load->waiting > 0.1 || load->throttled > 0;
}

void load_text(const struct load *load, char *text, size_t size)
{
    enum { PARTS = 5 };
    char parts[PARTS][96] = {""};
    size_t length = 0;
    if (load->others >= 0.05)
        (void)snprintf(parts[0], sizeof parts[0], "other work keeps %.1f of %d processor%s busy",
                       load->others, load->processors, load->processors == 1 ? "" : "s");
    if (load->steal >= 0.005)
        (void)snprintf(parts[1], sizeof parts[1], "the hypervisor gives %.2f of them to others",
                       load->steal);
    if (load->waiting >= 0.05)
        (void)snprintf(parts[2], sizeof parts[2], "tasks wait for a processor %.0f %% of the time",
                       100 * load->waiting);
    if (load->throttled > 0)
        (void)snprintf(parts[3], sizeof parts[3], "a quota stops this process %.0f %% of the time",
                       100 * load->throttled);
    if (load->running > load->processors)
        (void)snprintf(parts[4], sizeof parts[4], "%d other tasks run", load->running);
    *text = '\0';
    for (int i = 0; i < PARTS && length < size; i++)
        if (parts[i][0])
            length += (size_t)snprintf(text + length, size - length, "%s%s", length ? ", " : "",
                                       parts[i]);
}
