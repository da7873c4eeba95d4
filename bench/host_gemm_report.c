/* Prints the comparison. The same rows three times: as they are measured, as a summary, and as
 * JSON. A ratio is the best library's median over ours; ratios are averaged geometrically, so that
 * it does not matter which way round they are taken. */
#include "bench/host_gemm.h"

#include "core/host.h"
#include "validate/loops.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* The libraries that a ratio is about: the goal's two, and all. */
static const struct against {
    const char *key, *title;
    int last;
} against[] = {
    {"openblas_blis", "OpenBLAS and BLIS", LIBRARY_BLIS},
    {"all", "all three", LIBRARY_COUNT - 1},
};

static const char *const sources[] = {"exact", "nearest", "default"};

/* The shortest median of the libraries up to `last`; 0 without any. */
static double best_library_ns(const struct gemm_row *row, int last)
{
    double best = 0;
    for (int l = 0; l <= last; l++)
        if (row->timings[l].median_ns > 0 && (best == 0 || row->timings[l].median_ns < best))
            best = row->timings[l].median_ns;
    return best;
}

static double ratio(const struct gemm_row *row, const struct against *whom)
{
    return best_library_ns(row, whom->last) / row->timings[GEMM_OURS].median_ns;
}

static double gflops(const struct gemm_row *row)
{
    return 2.0 * (double)row->m * (double)row->k * (double)row->n /
           row->timings[GEMM_OURS].median_ns;
}

static double worst_error(const struct gemm_row *row)
{
    double worst = 0;
    for (int i = 0; i < GEMM_CONTENDERS; i++)
        worst = fmax(worst, row->error[i]);
    return worst;
}

struct summary {
    int count, won;
    double mean, least; /* geometric */
};

static struct summary summarise(const struct gemm_results *results, const struct against *whom)
{
    struct summary s = {.least = INFINITY};
    double logs = 0;
    for (int i = 0; i < results->count; i++) {
        double r = ratio(&results->rows[i], whom);
        if (!(r > 0))
            continue;
        s.count++;
        s.won += r >= 1;
        s.least = fmin(s.least, r);
        logs += log(r);
    }
    s.mean = s.count ? exp(logs / s.count) : 0;
    return s;
}

static void read_cpu(char name[128])
{
    char line[256];
    FILE *file = fopen("/proc/cpuinfo", "re");
    snprintf(name, 128, "unknown processor");
    while (file && fgets(line, sizeof line, file)) {
        const char *value = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || !value)
            continue;
        snprintf(name, 128, "%.*s", (int)strcspn(value + 2, "\n"), value + 2);
        break;
    }
    if (file)
        fclose(file);
}

static void print_library(const struct library *library)
{
    char text[512];
    library_describe(library, text, sizeof text);
    printf("# %s: %s\n", library->name, text);
}

void gemm_print_head(const struct gemm_results *results)
{
    char cpu[128];
    read_cpu(cpu);
    printf("# %s, kernels for %s, %d thread%s\n", cpu, host_isa_name(host_isa_best()),
           results->threads, results->threads > 1 ? "s" : "");
    printf("# noise: spread %.1f %%, %.0f %% of samples dropped\n", 100 * results->noise.spread,
           100 * results->noise.dropped);
    printf("# tilings: %s\n", results->table ? results->table : "default ones, no table");
    for (int l = 0; l < LIBRARY_COUNT; l++)
        print_library(&results->libraries[l]);
    printf("# us: median of interleaved rounds, +- half the distance of the quartiles");
    if (results->runs > 1)
        printf("; of %d runs the middle one", results->runs);
    putchar('\n');
    printf("%-15s %11s %6s", "shape", "ours us", "+-%");
    for (int l = 0; l < LIBRARY_COUNT; l++)
        printf(" %11s %6s", results->libraries[l].name, "+-%");
    printf(" %8s %6s %6s %8s %9s %-8s %s\n", "GFLOP/s", "ratio", "of all", "error", "lookup ns",
           "entry", "tiling");
}

static void print_time(const struct timing *timing)
{
    if (timing->median_ns > 0)
        printf(" %11.2f %6.1f", timing->median_ns / 1e3, 100 * timing->spread);
    else
        printf(" %11s %6s", "-", "-");
}

void gemm_print_row(const struct gemm_row *row)
{
    char shape[64];
    snprintf(shape, sizeof shape, "%lldx%lldx%lld", (long long)row->m, (long long)row->k,
             (long long)row->n);
    printf("%-15s", shape);
    print_time(&row->timings[GEMM_OURS]);
    for (int l = 0; l < LIBRARY_COUNT; l++)
        print_time(&row->timings[l]);
    printf(" %8.1f %6.3f %6.3f %8.1e %9.0f %-8s %s\n", gflops(row), ratio(row, &against[0]),
           ratio(row, &against[1]), worst_error(row), row->lookup_ns, sources[row->plan.source],
           row->plan.tiling);
    fflush(stdout);
}

void gemm_print_summary(const struct gemm_results *results)
{
    for (int i = 0; i < (int)(sizeof against / sizeof *against); i++) {
        struct summary s = summarise(results, &against[i]);
        if (s.count)
            printf("# better of %s over ours: geometric mean %.3f, least %.3f, at least 1.00 for "
                   "%d of %d\n",
                   against[i].title, s.mean, s.least, s.won, s.count);
    }
}

static json_t *timing_json(const struct gemm_row *row, int i)
{
    const struct timing *timing = &row->timings[i];
    if (!(timing->median_ns > 0))
        return json_null();
    return json_pack("{s:f, s:f, s:i, s:i, s:f}", "median_ns", timing->median_ns, "spread",
                     timing->spread, "samples", timing->samples, "dropped", timing->dropped,
                     "max_error", row->error[i]);
}

static json_t *row_json(const struct gemm_results *results, const struct gemm_row *row)
{
    json_t *times = json_object(), *ratios = json_object();
    json_object_set_new(times, "ours", timing_json(row, GEMM_OURS));
    for (int l = 0; l < LIBRARY_COUNT; l++)
        json_object_set_new(times, results->libraries[l].name, timing_json(row, l));
    for (int i = 0; i < (int)(sizeof against / sizeof *against); i++)
        if (best_library_ns(row, against[i].last) > 0)
            json_object_set_new(ratios, against[i].key, json_real(ratio(row, &against[i])));
    return json_pack("{s:I, s:I, s:I, s:s, s:s, s:f, s:f, s:o, s:o}", "m", (json_int_t)row->m, "k",
                     (json_int_t)row->k, "n", (json_int_t)row->n, "entry",
                     sources[row->plan.source], "tiling", row->plan.tiling, "gflops", gflops(row),
                     "lookup_ns", row->lookup_ns, "times", times, "ratios", ratios);
}

static json_t *library_json(const struct library *library)
{
    if (!library->present)
        return json_pack("{s:s, s:s}", "name", library->name, "absent", library->absent);
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:i, s:f}", "name", library->name, "file",
                     library->file, "core", library->core, "own_core", library->own_core, "setting",
                     library->setting, "cores_tried", library->cores_tried, "own_ratio",
                     library->own_ratio);
}

static json_t *summary_json(const struct summary *s)
{
    return json_pack("{s:i, s:i, s:f, s:f}", "shapes", s->count, "at_least_1", s->won,
                     "geometric_mean", s->mean, "least", s->count ? s->least : 0);
}

void gemm_print_json(const struct gemm_results *results)
{
    char cpu[128];
    json_t *libraries = json_array(), *shapes = json_array(), *summaries = json_object();
    read_cpu(cpu);
    for (int l = 0; l < LIBRARY_COUNT; l++)
        json_array_append_new(libraries, library_json(&results->libraries[l]));
    for (int i = 0; i < results->count; i++)
        json_array_append_new(shapes, row_json(results, &results->rows[i]));
    for (int i = 0; i < (int)(sizeof against / sizeof *against); i++) {
        struct summary s = summarise(results, &against[i]);
        json_object_set_new(summaries, against[i].key, summary_json(&s));
    }
    json_t *all = json_pack("{s:s, s:s, s:i, s:i, s:f, s:o, s:o, s:o}", "cpu", cpu, "isa",
                            host_isa_name(host_isa_best()), "threads", results->threads, "runs",
                            results->runs, "noise", results->noise.spread, "libraries", libraries,
                            "shapes", shapes, "ratios", summaries);
    json_dumpf(all, stdout, JSON_INDENT(2));
    putchar('\n');
    json_decref(all);
}
