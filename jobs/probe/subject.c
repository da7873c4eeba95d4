/* Subjects are listed from the description's parts; their programs are a row of functions by kind.
 * Sizes that a kind has say how often an instruction stands and how much it does, so that times of
 * two programs differ by one number of the chip. */
#include "jobs/probe/subject.h"

#include "core/array.h"
#include "kernels/emit.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ the list */

struct lister {
    const struct hardware *hw;
    struct subject_list *list;
    bool out_of_memory;
    struct subject nowhere; /* takes what there is no memory for */
};

/* The next subject, named in capitals. */
static struct subject *add(struct lister *l, enum curve_kind kind, const struct instruction *one,
                           const char *format, ...) __attribute__((format(printf, 4, 5)));
static struct subject *add(struct lister *l, enum curve_kind kind, const struct instruction *one,
                           const char *format, ...)
{
    va_list arguments;
    if (!array_room(&l->list->items, l->list->count, sizeof *l->list->items)) {
        l->out_of_memory = true;
        return &l->nowhere;
    }
    struct subject *s = &l->list->items[l->list->count++];
    *s = (struct subject){.kind = kind, .one = *one, .other = -1};
    va_start(arguments, format);
    vsnprintf(s->name, sizeof s->name, format, arguments);
    va_end(arguments);
    for (char *c = s->name; *c; c++)
        *c = (char)toupper((unsigned char)*c);
    return s;
}

static struct instruction move_over(int path)
{
    return (struct instruction){.kind = INSTRUCTION_MOVE, .what = (int16_t)path};
}

/* "gm_TO_l1" */
static const char *path_curve(const struct hardware *hw, const struct path *path,
                              char text[2 * HARDWARE_NAME_SIZE + 4])
{
    snprintf(text, 2 * HARDWARE_NAME_SIZE + 4, "%s_TO_%s", hw->buffers[path->source].name,
             hw->buffers[path->destination].name);
    return text;
}

static void add_path(struct lister *l, int p)
{
    const struct path *path = &l->hw->paths[p];
    const char *from = l->hw->buffers[path->source].name;
    const char *to = l->hw->buffers[path->destination].name;
    struct instruction in = move_over(p);
    struct subject *s = add(l, CURVE_MOVES, &in, "%s_TO_%s", from, to);
    snprintf(s->key, sizeof s->key, "paths.%s->%s", from, to);
    if (path->transposed_price != path->price) {
        in.transpose = 1;
        s = add(l, CURVE_MOVES, &in, "%s_TO_%s_TRANSPOSED", from, to);
        snprintf(s->key, sizeof s->key, "paths.%s->%s", from, to);
        in.transpose = 0;
    }
    for (int c = 0; c < path->cast_count; c++) {
        in.type = path->casts[c].from;
        in.to_type = path->casts[c].to;
        const char *first = dtype_name((enum dtype)in.type);
        const char *second = dtype_name((enum dtype)in.to_type);
        s = add(l, CURVE_MOVES, &in, "%s_TO_%s_%s_%s", from, to, first, second);
        snprintf(s->key, sizeof s->key, "paths.%s->%s.casts.%s:%s", from, to, first, second);
    }
    in = move_over(p);
    if (l->hw->prices[path->price].burst_table >= 0) {
        s = add(l, CURVE_PIECES, &in, "%s_TO_%s", from, to);
        snprintf(s->key, sizeof s->key, "paths.%s->%s", from, to);
    }
}

/* Two paths that share a bus and not a pipe. */
static void add_pairs(struct lister *l, int p)
{
    const struct path *path = &l->hw->paths[p], *other = l->hw->paths;
    for (; other < l->hw->paths + l->hw->path_count; other++) {
        if (path->bus < 0 || other->bus != path->bus || other->pipe == path->pipe ||
            l->hw->pipes[other->pipe].per_core != l->hw->pipes[path->pipe].per_core)
            continue;
        const struct instruction in = move_over(p);
        char first[2 * HARDWARE_NAME_SIZE + 4], second[2 * HARDWARE_NAME_SIZE + 4];
        add(l, CURVE_PAIR, &in, "%s_AND_%s", path_curve(l->hw, path, first),
            path_curve(l->hw, other, second))
            ->other = (int)(other - l->hw->paths);
    }
}

static void add_operation(struct lister *l, int o)
{
    const struct operation *operation = &l->hw->operations[o];
    bool scalar = operation->class == OPERATION_SCALAR;
    struct instruction in = {.kind = scalar ? INSTRUCTION_SCALAR : INSTRUCTION_VECTOR,
                             .what = (int16_t)o};
    bool own[DTYPE_COUNT] = {false};
    for (int t = 0; t < operation->type_count; t++) {
        own[operation->types[t].type] = true;
        in.type = in.to_type = operation->types[t].type;
        const char *type = dtype_name((enum dtype)in.type);
        struct subject *s = add(l, CURVE_VECTORS, &in, "%s_%s", operation->name, type);
        snprintf(s->key, sizeof s->key, "operations.%s.types.%s", operation->name, type);
    }
    in.type = DTYPE_F16;
    while (in.type < DTYPE_COUNT - 1 && own[in.type])
        in.type++;
    in.to_type = in.type;
    struct subject *s = add(l, scalar ? CURVE_SCALARS : CURVE_VECTORS, &in, "%s", operation->name);
    snprintf(s->key, sizeof s->key, "operations.%s", operation->name);
}

static void add_product(struct lister *l, int t)
{
    const struct matrix_type *type = &l->hw->matrix_types[t];
    const struct instruction in = {.kind = INSTRUCTION_MATRIX, .type = type->type};
    const char *name = dtype_name((enum dtype)type->type);
    struct subject *s = add(l, CURVE_PRODUCTS, &in, "%s", name);
    snprintf(s->key, sizeof s->key, "matrix.%s", name);
}

/* An instruction that no other core holds up: a private move, or else a product. */
static bool find_private(const struct hardware *hw, struct instruction *in)
{
    for (int p = 0; p < hw->path_count; p++)
        if (hw->paths[p].bus < 0) {
            *in = move_over(p);
            return true;
        }
    *in = (struct instruction){.kind = INSTRUCTION_MATRIX, .type = hw->matrix_types[0].type};
    return hw->matrix_type_count > 0;
}

/* A move, and a pipe of the other kind of core, which a flag then crosses to. */
static void add_flag(struct lister *l)
{
    for (int p = 0; l->hw->core_flags && p < l->hw->path_count; p++)
        for (int pipe = 0; pipe < l->hw->pipe_count; pipe++) {
            const struct pipe *other = &l->hw->pipes[pipe];
            if (other->blocks_dispatch ||
                other->per_core == l->hw->pipes[l->hw->paths[p].pipe].per_core)
                continue;
            const struct instruction in = move_over(p);
            add(l, CURVE_FLAG, &in, "FLAG")->other = pipe;
            return;
        }
}

static void add_working_set(struct lister *l)
{
    const struct cache *cache = &l->hw->cache;
    for (int p = 0; cache->behind >= 0 && p < l->hw->path_count; p++) {
        int miss = hardware_path(l->hw, cache->behind, l->hw->paths[p].destination);
        if (l->hw->paths[p].source != cache->buffer || miss < 0)
            continue;
        const struct instruction in = move_over(p);
        add(l, CURVE_WORKING_SET, &in, "CACHE")->other = miss;
        return;
    }
}

enum status subjects_list(const struct hardware *hw, struct subject_list *list, struct error *error)
{
    struct lister l = {.hw = hw, .list = list};
    struct instruction in = move_over(0);
    *list = (struct subject_list){0};
    add(&l, CURVE_START, &in, "LAUNCH");
    if (find_private(hw, &in)) {
        add(&l, CURVE_SKEW, &in, "LAUNCH");
        add(&l, CURVE_ORDER, &in, "DISPATCH");
    }
    for (int p = 0; p < hw->path_count; p++)
        add_path(&l, p);
    for (int p = 0; p < hw->path_count; p++)
        add_pairs(&l, p);
    for (int t = 0; t < hw->matrix_type_count; t++)
        add_product(&l, t);
    for (int o = 0; o < hw->operation_count; o++)
        add_operation(&l, o);
    add_flag(&l);
    add_working_set(&l);
    return l.out_of_memory ? error_memory(error) : STATUS_OK;
}

void subjects_clear(struct subject_list *list)
{
    free(list->items);
    *list = (struct subject_list){0};
}

/* ------------------------------------------------------------------ programs */

/* The instruction with its sizes; *times: how often it stands in a row. */
static struct instruction sized(const struct subject *s, const int64_t size[], int64_t *times)
{
    struct instruction in = s->one;
    static const int bytes_at[] = {[CURVE_MOVES] = 2, [CURVE_PAIR] = 1, [CURVE_PIECES] = 1};
    *times = s->kind == CURVE_MOVES ? size[1] : s->kind == CURVE_PRODUCTS ? size[0] : 1;
    if (in.kind == INSTRUCTION_MATRIX) {
        bool products = s->kind == CURVE_PRODUCTS;
        in.m = products ? (int32_t)size[1] : 1;
        in.k = products ? (int32_t)size[2] : 1;
        in.n = products ? (int32_t)size[3] : 1;
    } else if (in.kind == INSTRUCTION_VECTOR) {
        in.elements = size[0];
    } else if (in.kind == INSTRUCTION_SCALAR) {
        in.count = size[0];
    } else {
        bool sized = s->kind == CURVE_MOVES || s->kind == CURVE_PAIR || s->kind == CURVE_PIECES;
        in.bytes = sized ? size[bytes_at[s->kind]] : 1;
        in.bursts = s->kind == CURVE_PIECES ? size[0] : 0;
        in.align_bytes = s->kind == CURVE_PIECES ? size[2] : 0;
    }
    return in;
}

static void emit_row(struct emitter *e, const struct subject *s, const int64_t size[])
{
    int64_t times;
    const struct instruction in = sized(s, size, &times);
    if (times > 1)
        emit_loop(e, "", times);
    emit(e, &in);
    if (times > 1)
        emit_end(e);
}

static void emit_pair(struct emitter *e, const struct subject *s, const int64_t size[])
{
    int64_t times;
    struct instruction in = sized(s, size, &times);
    emit(e, &in);
    in.what = (int16_t)s->other;
    in.bytes = size[2];
    emit(e, &in);
}

static void emit_order(struct emitter *e, const struct subject *s, const int64_t size[])
{
    const struct instruction barrier = {.kind = INSTRUCTION_BARRIER, .pipe = PROGRAM_PIPE_ALL};
    int64_t times;
    const struct instruction in = sized(s, size, &times);
    emit_loop(e, "", size[0]);
    emit(e, &barrier);
    emit_end(e);
    emit(e, &in);
}

/* A move that outlasts a flag which is set before it; another flag may wait for its data. */
static void emit_flag(struct emitter *e, const struct subject *s, const int64_t size[])
{
    struct instruction in = s->one;
    int pipe = e->program->hw->paths[in.what].pipe;
    in.bytes = 1 << 24;
    for (int64_t f = 0; f < size[0]; f++) {
        emit_set(e, pipe, s->other, 0);
        emit_wait(e, pipe, s->other, 0);
        if (f == 0)
            emit(e, &in);
    }
}

/* What misses first, then what hits: as many bytes of both as in a kernel that touches so many. */
static void emit_working_set(struct emitter *e, const struct subject *s, const int64_t size[])
{
    struct instruction miss = s->one, hit = s->one;
    double share = hardware_miss_share(e->program->hw, (double)size[0]);
    miss.what = (int16_t)s->other;
    miss.bytes = (int64_t)(share * (double)size[0]);
    hit.bytes = size[0] - miss.bytes;
    emit(e, &miss);
    emit(e, &hit);
}

static void write_program(struct emitter *e, const struct subject *s, const int64_t size[])
{
    static void (*const writers[])(struct emitter *, const struct subject *, const int64_t[]) = {
        [CURVE_SKEW] = emit_row,    [CURVE_ORDER] = emit_order,
        [CURVE_MOVES] = emit_row,   [CURVE_PAIR] = emit_pair,
        [CURVE_PIECES] = emit_row,  [CURVE_PRODUCTS] = emit_row,
        [CURVE_VECTORS] = emit_row, [CURVE_SCALARS] = emit_row,
        [CURVE_FLAG] = emit_flag,   [CURVE_WORKING_SET] = emit_working_set,
    };
    if (s->kind != CURVE_START)
        writers[s->kind](e, s, size);
}

/* What an instruction can hold. */
static enum status check_sizes(const struct subject *s, const int64_t size[], struct error *error)
{
    for (int i = 1; i < CURVE_MAX_SIZES && s->kind == CURVE_PRODUCTS; i++)
        if (size[i] > INT32_MAX)
            return error_set(error, STATUS_INVALID, "%lld elements, expected fewer",
                             (long long)size[i]);
    return STATUS_OK;
}

enum status subject_instruction(const struct hardware *hw, const struct subject *subject,
                                const int64_t size[CURVE_MAX_SIZES], struct instruction *in,
                                struct error *error)
{
    int64_t times;
    TRY(check_sizes(subject, size, error));
    *in = sized(subject, size, &times);
    return instruction_price(hw, in, error);
}

/* ------------------------------------------------------------------ times */

enum status subject_bench_open(struct subject_bench *bench, const struct hardware *hw,
                               struct error *error)
{
    *bench = (struct subject_bench){.hw = hw, .simulator = simulator_new(), .error = error};
    return bench->simulator ? STATUS_OK : error_memory(error);
}

void subject_bench_close(struct subject_bench *bench)
{
    program_clear(&bench->program);
    simulator_free(bench->simulator);
}

enum status subject_time(struct subject_bench *bench, const struct subject *s,
                         const int64_t size[CURVE_MAX_SIZES], double *ns)
{
    struct emitter e = {.program = &bench->program, .error = bench->error};
    struct timeline timeline;
    bool several = s->kind == CURVE_START || s->kind == CURVE_SKEW || s->kind == CURVE_MOVES ||
                   s->kind == CURVE_PAIR;
    int64_t cores = several ? size[0] : 1;
    if (cores > hardware_most_cores(bench->hw))
        return error_set(bench->error, STATUS_INVALID, "%lld cores, expected up to %d",
                         (long long)cores, hardware_most_cores(bench->hw));
    const struct simulate_options options = {
        .cores = (int)cores, .separately = s->kind == CURVE_SKEW, .skew = s->kind == CURVE_SKEW};
    TRY(check_sizes(s, size, bench->error));
    program_reset(&bench->program, bench->hw);
    write_program(&e, s, size);
    TRY(emit_close(&e));
    TRY(simulate(bench->simulator, &bench->program, &options, &timeline, bench->error));
    *ns = (double)timeline.end_fs / FS_PER_NS;
    return STATUS_OK;
}
