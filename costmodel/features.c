/* Times, bytes and sizes enter as logarithms, busy times as shares of the whole. One walk over the
 * program sums up each path; a path that nothing moves over is not listed, which is 0. Alignments
 * are exponents of the largest power of two, up to 512 bytes, in what an edge of a matrix takes:
 * moves cost by whole lines. */
#include "costmodel/features.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LINE_BYTES = 512 };

/* "WHAT NAME", or WHAT alone. */
static void put(struct features *features, const char *what, const char *name, double value)
{
    if (features->count == FEATURES_MAX)
        return;
    snprintf(features->name[features->count], FEATURE_NAME_SIZE, "%s%s%.28s", what,
             *name ? " " : "", name);
    features->value[features->count++] = isfinite(value) ? value : 0;
}

static double ln(double value)
{
    return value > 0 ? log(value) : 0;
}

static double alignment(int64_t bytes)
{
    int exponent = 0;
    while (bytes > 0 && bytes % 2 == 0 && 1 << exponent < LINE_BYTES) {
        bytes /= 2;
        exponent++;
    }
    return exponent;
}

/* ------------------------------------------------------------------ the program */

struct path_sum {
    double bytes, moves, pieces, burst_fs;
    double least_align; /* exponent */
};

struct program_sum {
    struct path_sum paths[HARDWARE_MAX_PATHS];
    double matrices, blocks;
};

static void add_move(const struct instruction *in, double times, struct path_sum *sum)
{
    double align = in->align_bytes ? alignment(in->align_bytes) : alignment(LINE_BYTES);
    sum->least_align = sum->moves > 0 ? fmin(sum->least_align, align) : align;
    sum->bytes += times * (double)in->bytes;
    sum->moves += times;
    sum->pieces += times * (double)(in->bursts > 1 ? in->bursts : 1);
    sum->burst_fs += times * (double)in->burst_fs;
}

static void sum_up(const struct program *program, struct program_sum *sum)
{
    struct repetition repetition = {.times = {1}};
    *sum = (struct program_sum){0};
    for (int32_t i = 0; i < program->count; i++) {
        const struct instruction *in = &program->items[i];
        double times = (double)repetition_step(&repetition, in);
        if (in->kind == INSTRUCTION_MOVE) {
            add_move(in, times, &sum->paths[in->what]);
        } else if (in->kind == INSTRUCTION_MATRIX) {
            sum->matrices += times;
            sum->blocks += times * (double)in->units;
        }
    }
}

static void put_paths(const struct simulated_kernel *kernel, const struct program_sum *sum,
                      struct features *features)
{
    const struct hardware *hw = kernel->space->hw;
    char name[2 * HARDWARE_NAME_SIZE + 3];
    for (int p = 0; p < hw->path_count; p++) {
        const struct path_sum *path = &sum->paths[p];
        if (!(path->moves > 0))
            continue;
        hardware_path_name(hw, p, name);
        put(features, "bytes", name, ln(path->bytes));
        put(features, "moves", name, ln(path->moves));
        put(features, "bytes a move", name, ln(path->bytes / path->moves));
        put(features, "bytes a piece", name, ln(path->bytes / path->pieces));
        put(features, "pieces' share", name, path->burst_fs / FS_PER_NS / kernel->time_ns);
        put(features, "alignment", name, path->least_align);
    }
}

/* Of what is read from external memory, the share that misses the cache. */
static double missed(const struct hardware *hw, const struct program_sum *sum)
{
    double hit = 0, miss = 0;
    for (int p = 0; p < hw->path_count && hw->cache.behind >= 0; p++) {
        if (hw->paths[p].source == hw->cache.buffer)
            hit += sum->paths[p].bytes;
        else if (hw->paths[p].source == hw->cache.behind)
            miss += sum->paths[p].bytes;
    }
    return miss > 0 ? miss / (hit + miss) : 0;
}

/* ------------------------------------------------------------------ the question */

static void put_problem(const struct problem *problem, struct features *features)
{
    const struct operator* op = problem->op;
    int bytes = dtype_bytes(problem->type);
    for (int i = 0; i < op->size_count; i++) {
        put(features, "size", op->size_names[i], ln((double)problem->size[i]));
        put(features, "size alignment", op->size_names[i], alignment(problem->size[i] * bytes));
        put(features, "size beyond a line", op->size_names[i],
            (double)(problem->size[i] * bytes % LINE_BYTES));
    }
    for (int i = 0; i < op->choice_count; i++)
        put(features, "choice", op->choices[i].name, problem->choice[i]);
    put(features, "bytes an element", "", bytes);
}

/* As it stands for all that mean the same kernel. */
static void put_tiling(const struct simulated_kernel *kernel, struct features *features)
{
    const struct space *space = kernel->space;
    struct tiling tiling = *kernel->tiling;
    if (space->kind->agree)
        space->kind->agree(space, &tiling);
    for (int a = 0; a < space->axis_count; a++) {
        double value = (double)tiling.value[a];
        put(features, "tiling", space->axes[a].name,
            space->axes[a].value_names ? value : ln(value));
    }
}

/* ------------------------------------------------------------------ all of it */

static void put_times(const struct simulated_kernel *kernel, struct features *features)
{
    const struct hardware *hw = kernel->space->hw;
    double sum = 0, most = 0;
    put(features, "time", "", ln(kernel->time_ns));
    put(features, "cores", "", kernel->cores);
    put(features, "launch share", "",
        (double)hardware_start_fs(hw, kernel->cores) / FS_PER_NS / kernel->time_ns);
    for (int p = 0; p < hw->pipe_count; p++) {
        double share = kernel->busy_ns[p] / kernel->time_ns;
        put(features, "busy", hw->pipes[p].name, share);
        sum += share;
        most = fmax(most, share);
    }
    put(features, "busy pipes", "", sum);
    put(features, "busiest pipe", "", most);
}

static void put_work(const struct simulated_kernel *kernel, const struct program_sum *sum,
                     struct features *features)
{
    const struct space *space = kernel->space;
    const struct hardware *hw = space->hw;
    const struct problem *problem = kernel->problem;
    double operations = problem->op->operations ? problem->op->operations(problem, hw) : 0;
    const struct matrix_type *type = hardware_matrix_type(hw, problem->type);
    double block = type ? 2.0 * type->block_m * type->block_k * type->block_n : 0;
    put(features, "operations", "", ln(operations));
    put(features, "operations a ns", "", ln(operations / kernel->time_ns));
    put(features, "useful share", "", operations / (sum->blocks * block * kernel->cores));
    put(features, "matrices", "", ln(sum->matrices));
    put(features, "blocks a matrix", "", ln(sum->blocks / sum->matrices));
    put(features, "missed share", "", missed(hw, sum));
    if (space->kind->roofline_ns)
        put(features, "roofline share", "", space->kind->roofline_ns(space) / kernel->time_ns);
}

void features_of(const struct simulated_kernel *kernel, struct features *features)
{
    struct program_sum sum;
    features->count = 0;
    sum_up(kernel->program, &sum);
    put(features, FEATURE_OWN_CHIP, "", 1);
    put_times(kernel, features);
    put_work(kernel, &sum, features);
    put_problem(kernel->problem, features);
    put_tiling(kernel, features);
    put_paths(kernel, &sum, features);
}
