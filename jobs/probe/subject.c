/* Subjects are listed from the description's parts; their programs are a row of functions by kind.
 * Sizes that a kind has say how often an instruction stands and how much it does, so that times of
 * two programs differ by one number of the chip.
 *
 * Which points tell a subject's numbers: what is done in whole lots shows by the longest size that
 * takes as long as the smallest: sizes double until the time changes, and bisection finds where.
 * Then an instruction stands once or several times and does whole lots of twice as much, so that
 * start, each instruction and each unit of work are three columns of a line. The work is large, and
 * hides how instructions are dispatched. */
#include "jobs/probe/subject.h"

#include "core/array.h"
#include "kernels/emit.h"

#include <ctype.h>
#include <math.h>
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
static struct subject *add_subject(struct lister *l, enum curve_kind kind,
                                   const struct instruction *one, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
static struct subject *add_subject(struct lister *l, enum curve_kind kind,
                                   const struct instruction *one, const char *format, ...)
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
    struct subject *s = add_subject(l, CURVE_MOVES, &in, "%s_TO_%s", from, to);
    snprintf(s->key, sizeof s->key, "paths.%s->%s", from, to);
    if (path->transposed_price != path->price) {
        in.transpose = 1;
        s = add_subject(l, CURVE_MOVES, &in, "%s_TO_%s_TRANSPOSED", from, to);
        snprintf(s->key, sizeof s->key, "paths.%s->%s", from, to);
        in.transpose = 0;
    }
    for (int c = 0; c < path->cast_count; c++) {
        in.type = path->casts[c].from;
        in.to_type = path->casts[c].to;
        const char *first = dtype_name((enum dtype)in.type);
        const char *second = dtype_name((enum dtype)in.to_type);
        s = add_subject(l, CURVE_MOVES, &in, "%s_TO_%s_%s_%s", from, to, first, second);
        snprintf(s->key, sizeof s->key, "paths.%s->%s.casts.%s:%s", from, to, first, second);
    }
    in = move_over(p);
    if (l->hw->prices[path->price].burst_table >= 0) {
        s = add_subject(l, CURVE_PIECES, &in, "%s_TO_%s", from, to);
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
        add_subject(l, CURVE_PAIR, &in, "%s_AND_%s", path_curve(l->hw, path, first),
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
        struct subject *s = add_subject(l, CURVE_VECTORS, &in, "%s_%s", operation->name, type);
        snprintf(s->key, sizeof s->key, "operations.%s.types.%s", operation->name, type);
    }
    in.type = DTYPE_F16;
    while (in.type < DTYPE_COUNT - 1 && own[in.type])
        in.type++;
    in.to_type = in.type;
    struct subject *s =
        add_subject(l, scalar ? CURVE_SCALARS : CURVE_VECTORS, &in, "%s", operation->name);
    snprintf(s->key, sizeof s->key, "operations.%s", operation->name);
}

static void add_product(struct lister *l, int t)
{
    const struct matrix_type *type = &l->hw->matrix_types[t];
    const struct instruction in = {.kind = INSTRUCTION_MATRIX, .type = type->type};
    const char *name = dtype_name((enum dtype)type->type);
    struct subject *s = add_subject(l, CURVE_PRODUCTS, &in, "%s", name);
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
            add_subject(l, CURVE_FLAG, &in, "FLAG")->other = pipe;
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
        add_subject(l, CURVE_WORKING_SET, &in, "CACHE")->other = miss;
        return;
    }
}

enum status subjects_list(const struct hardware *hw, struct subject_list *list, struct error *error)
{
    struct lister l = {.hw = hw, .list = list};
    struct instruction in = move_over(0);
    *list = (struct subject_list){0};
    add_subject(&l, CURVE_START, &in, "LAUNCH");
    if (find_private(hw, &in)) {
        add_subject(&l, CURVE_SKEW, &in, "LAUNCH");
        add_subject(&l, CURVE_ORDER, &in, "DISPATCH");
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

/* ------------------------------------------------------------------ points */

enum {
    LARGE = 1 << 20,     /* of work: bytes, elements, operations */
    MANY_ROWS = 1 << 15, /* more than a row of blocks */
    MOST_LOT = 1 << 28,  /* looked for */
    PIECES = 64,         /* of a move */
    SETS_AN_OCTAVE = 16, /* sizes of working sets */
    FIRST_SET = 12,
    LAST_SET = 36,
};

struct session {
    struct subject_bench bench;
    const char *chip;
    FILE *out;
    const struct subject *subject;
    int done_count; /* of the subject: no point twice */
    int64_t (*done)[CURVE_MAX_SIZES];
    int64_t *path_lot; /* by path */
};

static bool is_done(const struct session *s, const int64_t size[])
{
    for (int i = 0; i < s->done_count; i++)
        if (memcmp(s->done[i], size, sizeof s->done[i]) == 0)
            return true;
    return false;
}

static void write_record(const struct session *s, const int64_t size[], double ns)
{
    const char *unit, *kind = curve_program_kind(s->subject->kind, &unit);
    fprintf(s->out, "%s,%s_%s,%s,", kind, s->subject->name, s->chip, s->chip);
    for (int i = 0; i < CURVE_MAX_SIZES && size[i]; i++)
        fprintf(s->out, "%s%lld", i ? "x" : "", (long long)size[i]);
    fprintf(s->out, ",%.6f,%s,ns\n", ns, unit);
}

/* Times one program, and writes its record unless it stands there already. */
static enum status measure(struct session *s, const int64_t size[CURVE_MAX_SIZES], double *ns)
{
    TRY(subject_time(&s->bench, s->subject, size, ns));
    if (is_done(s, size))
        return STATUS_OK;
    if (!array_room(&s->done, s->done_count, sizeof *s->done))
        return error_memory(s->bench.error);
    memcpy(s->done[s->done_count++], size, sizeof *s->done);
    write_record(s, size, *ns);
    return STATUS_OK;
}

#define SIZES(...) ((const int64_t[CURVE_MAX_SIZES]){__VA_ARGS__})

static enum status time_point(struct session *s, const int64_t size[CURVE_MAX_SIZES])
{
    double ns = 0;
    return measure(s, size, &ns);
}

/* The longest size of one dimension that takes as long as 1; as `unless` where none ends it. */
static enum status find_lot(struct session *s, const int64_t base[CURVE_MAX_SIZES], int dimension,
                            int64_t unless, int64_t *lot)
{
    int64_t size[CURVE_MAX_SIZES], low = 1, high = 2;
    double first, ns;
    memcpy(size, base, sizeof size);
    size[dimension] = 1;
    TRY(measure(s, size, &first));
    for (;; low = high, high *= 2) {
        size[dimension] = high;
        TRY(measure(s, size, &ns));
        if (ns != first)
            break;
        if (high >= MOST_LOT) {
            *lot = unless;
            return STATUS_OK;
        }
    }
    while (high - low > 1) {
        size[dimension] = low + (high - low) / 2;
        TRY(measure(s, size, &ns));
        *(ns == first ? &low : &high) = size[dimension];
    }
    *lot = low;
    return STATUS_OK;
}

/* The next multiple of the lot that is large. */
static int64_t large_multiple(int64_t lot)
{
    return (LARGE + lot - 1) / lot * lot;
}

static enum status identify_start(struct session *s)
{
    int cores = s->bench.hw->cores;
    TRY(time_point(s, SIZES(1)));
    if (cores > 2)
        TRY(time_point(s, SIZES(2)));
    return cores > 1 ? time_point(s, SIZES(cores)) : STATUS_OK;
}

static enum status identify_order(struct session *s)
{
    for (int64_t barriers = 1; barriers <= 64; barriers *= 2)
        TRY(time_point(s, SIZES(barriers)));
    return STATUS_OK;
}

static enum status identify_moves(struct session *s)
{
    static const int64_t rows[][2] = {{1, 1}, {2, 1}, {1, 2}, {2, 2}, {4, 1}, {4, 2}};
    const struct hardware *hw = s->bench.hw;
    const struct path *path = &hw->paths[s->subject->one.what];
    int64_t *lot = &s->path_lot[s->subject->one.what];
    if (s->subject->one.type == s->subject->one.to_type && !s->subject->one.transpose)
        TRY(find_lot(s, SIZES(1, 1, 1), 2, 1, lot));
    int64_t bytes = large_multiple(4 * *lot); /* whole elements of any type */
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        TRY(time_point(s, SIZES(1, rows[i][0], rows[i][1] * bytes)));
    int sharers = path->bus < 0 ? 1 : hw->buses[path->bus].sharers;
    unsigned ends = 1U << (unsigned)path->source | 1U << (unsigned)path->destination;
    int cores = hardware_cores_with(hw, ends);
    for (int c = 2; c <= cores && c <= sharers; c++) {
        TRY(time_point(s, SIZES(c, 1, bytes)));
        TRY(time_point(s, SIZES(c, 1, 2 * bytes)));
    }
    return STATUS_OK;
}

/* As many transfers as there are cores are timed by moves. Beyond, a second move runs beside a
 * first, which outlasts it: what is more of it holds the first one up. */
static enum status identify_pair(struct session *s)
{
    const struct hardware *hw = s->bench.hw;
    const struct subject *pair = s->subject;
    const struct path *path = &hw->paths[pair->one.what], *other = &hw->paths[pair->other];
    const struct subject second = {.kind = CURVE_MOVES,
                                   .one = {.kind = INSTRUCTION_MOVE, .what = (int16_t)pair->other}};
    const struct subject first = {.kind = CURVE_MOVES, .one = pair->one};
    int64_t bytes = large_multiple(s->path_lot[pair->one.what]),
            beside = large_multiple(s->path_lot[pair->other]);
    unsigned ends = 1U << (unsigned)path->source | 1U << (unsigned)path->destination |
                    1U << (unsigned)other->source | 1U << (unsigned)other->destination;
    int cores = hardware_cores_with(hw, ends), sharers = hw->buses[path->bus].sharers;
    double first_ns, second_ns;
    TRY(subject_time(&s->bench, &first, SIZES(1, 1, bytes), &first_ns));
    TRY(subject_time(&s->bench, &second, SIZES(1, 1, beside), &second_ns));
    bytes *= 4 + (int64_t)ceil(8 * second_ns / first_ns);
    for (int c = cores / 2 + 1; c <= cores && 2 * c <= sharers; c++) {
        TRY(time_point(s, SIZES(c, bytes, beside)));
        TRY(time_point(s, SIZES(c, bytes, 2 * beside)));
    }
    return STATUS_OK;
}

/* A length of every column, from starts of every row. */
static enum status identify_pieces(struct session *s)
{
    const struct hardware *hw = s->bench.hw;
    int price = hw->paths[s->subject->one.what].price;
    const struct burst_table *table = &hw->burst_tables[hw->prices[price].burst_table];
    for (int r = 0; r < table->row_count; r++)
        for (int c = 0; c <= table->limit_count; c++) {
            bool beyond = c == table->limit_count;
            int64_t length = table->up_to_bytes[beyond ? c - 1 : c] + beyond;
            TRY(time_point(s, SIZES(PIECES, PIECES * length, table->align_bytes[r])));
        }
    return STATUS_OK;
}

static enum status identify_products(struct session *s)
{
    int64_t k, group, n, m;
    TRY(find_lot(s, SIZES(1, 1, 1, 1), 2, 16, &k));
    TRY(find_lot(s, SIZES(1, 1, 1, 1), 3, 16, &group));
    TRY(find_lot(s, SIZES(1, MANY_ROWS, 1, 1), 3, 16, &n));
    TRY(find_lot(s, SIZES(1, 1, 1, group), 1, 16, &m));
    for (int64_t count = 1; count <= 4; count *= 2)
        for (int64_t deep = 16; deep <= 32; deep *= 2)
            TRY(time_point(s, SIZES(count, 16 * m, deep * k, 16 * n)));
    return STATUS_OK;
}

static enum status identify_vectors(struct session *s)
{
    int64_t lot;
    TRY(find_lot(s, SIZES(1), 0, 1, &lot));
    TRY(time_point(s, SIZES(large_multiple(lot))));
    return time_point(s, SIZES(2 * large_multiple(lot)));
}

static enum status identify_scalars(struct session *s)
{
    for (int64_t operations = 1; operations <= 1024; operations *= 32)
        TRY(time_point(s, SIZES(operations)));
    return STATUS_OK;
}

static enum status identify_flag(struct session *s)
{
    TRY(time_point(s, SIZES(1)));
    return time_point(s, SIZES(2));
}

static enum status identify_working_set(struct session *s)
{
    for (int octave = FIRST_SET; octave < LAST_SET; octave++)
        for (int64_t i = 0; i < SETS_AN_OCTAVE; i++)
            TRY(time_point(s,
                           SIZES((SETS_AN_OCTAVE + i) * (INT64_C(1) << octave) / SETS_AN_OCTAVE)));
    return STATUS_OK;
}

static enum status identify(struct session *s)
{
    static enum status (*const kinds[])(struct session *) = {
        [CURVE_START] = identify_start,
        [CURVE_SKEW] = identify_start,
        [CURVE_ORDER] = identify_order,
        [CURVE_MOVES] = identify_moves,
        [CURVE_PAIR] = identify_pair,
        [CURVE_PIECES] = identify_pieces,
        [CURVE_PRODUCTS] = identify_products,
        [CURVE_VECTORS] = identify_vectors,
        [CURVE_SCALARS] = identify_scalars,
        [CURVE_FLAG] = identify_flag,
        [CURVE_WORKING_SET] = identify_working_set,
    };
    s->done_count = 0;
    return kinds[s->subject->kind](s);
}

static enum status identify_all(struct session *s, const struct subject_list *list)
{
    s->path_lot = calloc((size_t)s->bench.hw->path_count, sizeof *s->path_lot);
    if (!s->path_lot)
        return error_memory(s->bench.error);
    for (int i = 0; i < list->count; i++) {
        s->subject = &list->items[i];
        TRY(identify(s));
    }
    return STATUS_OK;
}

enum status subject_write_curves(const struct hardware *hw, const char *chip, FILE *out,
                                 struct error *error)
{
    struct session s = {.chip = chip, .out = out};
    struct subject_list list;
    enum status status = subjects_list(hw, &list, error);
    if (status == STATUS_OK)
        status = subject_bench_open(&s.bench, hw, error);
    if (status == STATUS_OK)
        status = identify_all(&s, &list);
    subject_bench_close(&s.bench);
    subjects_clear(&list);
    free(s.done);
    free(s.path_lot);
    return status;
}
