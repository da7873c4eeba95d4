/* Prints the contention monitor's sweeps (contention.h) as tables: times point by point, then the
 * segments fitted to them. */
#include "hardware/load.h"
#include "tools/contention_sweep.h"

#include <argp.h>
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct options {
    const char *hw_name;
    int64_t nops, fixed_bytes, step_bytes, max_bytes;
};

static const struct argp_option options_list[] = {
    {"hw", 'w', "NAME|FILE", 0, "hardware description (default ascend310)", 0},
    {"nops", 'n', "N", 0, "scalar no-operations that make up T_s (default 50)", 0},
    {"fixed", 'f', "BYTES", 0, "S_f, the fixed transfer (default 65536)", 0},
    {"step", 's', "BYTES", 0, "S_e grows by this (default 4096)", 0},
    {"max", 'm', "BYTES", 0, "S_e grows up to this (default 245760)", 0},
    {0},
};

static int64_t parse_number(struct argp_state *state, const char *text, int64_t least)
{
    char *end;
    long long value = strtoll(text, &end, 10);
    if (*end || end == text || value < least || value > 1LL << 40)
        argp_error(state, "'%s', expected a whole number from %lld to 2^40", text,
                   (long long)least);
    return value;
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct options *options = state->input;
    switch (key) {
    case 'w':
        options->hw_name = argument;
        return 0;
    case 'n':
        options->nops = parse_number(state, argument, 0);
        return 0;
    case 'f':
        options->fixed_bytes = parse_number(state, argument, 0);
        return 0;
    case 's':
        options->step_bytes = parse_number(state, argument, 1);
        return 0;
    case 'm':
        options->max_bytes = parse_number(state, argument, 1);
        return 0;
    case ARGP_KEY_END:
        if (options->max_bytes < options->step_bytes ||
            options->max_bytes / options->step_bytes >= CONTENTION_MAX_POINTS)
            argp_error(state, "--max must be 1 to %d steps", CONTENTION_MAX_POINTS - 1);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* A flat line's slope comes out as some -1e-17. */
static double without_sign_of_zero(double value)
{
    return fabs(value) < 5e-7 ? 0 : value;
}

/* With a sweep too short for three segments, which ones it saw is for the reader to say. */
static const char *const segment_names[CONTENTION_SEGMENTS][CONTENTION_SEGMENTS] = {
    {"all"}, {"first", "second"}, {"before", "during", "after"}};

static void print_segments(const char *name, const struct contention_fit *fit, double max_bytes)
{
    assert(fit->segments >= 1 && fit->segments <= CONTENTION_SEGMENTS);
    for (int s = 0; s < fit->segments; s++) {
        double from = s > 0 ? fit->breakpoint_bytes[s - 1] : 0;
        double to = s + 1 < fit->segments ? fit->breakpoint_bytes[s] : max_bytes;
        printf("%s\t%s\t%.2f\t%.2f\t%.6f\n", name, segment_names[fit->segments - 1][s], from, to,
               without_sign_of_zero(fit->slope_ns_per_byte[s] * 1024));
    }
}

static void print_sweep(const struct contention_sweep *sweep, const struct contention_point *points)
{
    size_t count = contention_count(sweep);
    struct contention_fit grown, fixed;
    contention_fit(points, count, CONTENTION_GROWN, &grown);
    contention_fit(points, count, CONTENTION_FIXED, &fixed);
    printf("\n# %s: S_e bytes by %s, %lld nops, then S_f = %lld bytes by %s\n", sweep->what->name,
           sweep->what->growing, (long long)sweep->nops, (long long)sweep->fixed_bytes,
           sweep->what->fixed);
    printf("S_e bytes\tT_e ns\tT_f ns\n");
    for (size_t i = 0; i < count; i++)
        printf("%.0f\t%.6f\t%.6f\n", points[i].grown_bytes, points[i].grown_ns, points[i].fixed_ns);
    printf("\ntime\tsegment\tfrom S_e bytes\tto S_e bytes\tslope ns/KiB\n");
    print_segments("T_e", &grown, points[count - 1].grown_bytes);
    print_segments("T_f", &fixed, points[count - 1].grown_bytes);
}

static enum status run(const struct options *options, struct contention_point *points,
                       struct error *error)
{
    struct hardware hw;
    enum status status = hardware_load(options->hw_name, NULL, &hw, error);
    if (status != STATUS_OK)
        return status;
    printf("# build/contention_monitor --hw %s --nops %lld --fixed %lld --step %lld --max %lld\n",
           options->hw_name, (long long)options->nops, (long long)options->fixed_bytes,
           (long long)options->step_bytes, (long long)options->max_bytes);
    printf("# Simulated on one core of %s. T_e, T_f: busy time of the two pipes, issue included.\n",
           hw.name);
    for (int c = 0; c < CONTENTION_CASES && status == STATUS_OK; c++) {
        const struct contention_sweep sweep = {&hw,
                                               &contention_cases[c],
                                               options->nops,
                                               options->fixed_bytes,
                                               options->step_bytes,
                                               options->max_bytes};
        status = contention_play(&sweep, points, error);
        if (status == STATUS_OK)
            print_sweep(&sweep, points);
    }
    hardware_clear(&hw);
    return status;
}

int main(int argc, char **argv)
{
    static const struct argp argp = {
        .options = options_list,
        .parser = parse,
        .doc = "Lets one transfer grow beside a fixed one, in the simulator, and shows when they "
               "slow each other down.",
    };
    struct options options = {"ascend310", 50, 65536, 4096, 245760};
    struct error error;
    argp_err_exit_status = 2;
    argp_parse(&argp, argc, argv, 0, NULL, &options);
    struct contention_point *points = calloc(CONTENTION_MAX_POINTS, sizeof *points);
    enum status status = points ? run(&options, points, &error) : error_memory(&error);
    free(points);
    if (status == STATUS_OK && (fflush(stdout) || ferror(stdout)))
        status = error_set(&error, STATUS_IO, "cannot write to standard output");
    if (status == STATUS_OK)
        return 0;
    fprintf(stderr, "contention_monitor: %s\n", error.text);
    return 2;
}
