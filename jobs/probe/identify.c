/* Which points tell a subject's numbers. What is done in whole lots shows by the longest size that
 * takes as long as the smallest: sizes double until the time changes, and bisection finds where.
 * Then an instruction stands once or several times and does whole lots of twice as much, so that
 * start, each instruction and each unit of work are three columns of a line. The work is large, and
 * hides how instructions are dispatched. */
#include "jobs/probe/subject.h"

#include "core/array.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

static enum status point(struct session *s, const int64_t size[CURVE_MAX_SIZES])
{
    double ns;
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
static int64_t large(int64_t lot)
{
    return (LARGE + lot - 1) / lot * lot;
}

static enum status identify_start(struct session *s)
{
    int cores = s->bench.hw->cores;
    TRY(point(s, SIZES(1)));
    if (cores > 2)
        TRY(point(s, SIZES(2)));
    return cores > 1 ? point(s, SIZES(cores)) : STATUS_OK;
}

static enum status identify_order(struct session *s)
{
    for (int64_t barriers = 1; barriers <= 64; barriers *= 2)
        TRY(point(s, SIZES(barriers)));
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
    int64_t bytes = large(4 * *lot); /* whole elements of any type */
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        TRY(point(s, SIZES(1, rows[i][0], rows[i][1] * bytes)));
    int sharers = path->bus < 0 ? 1 : hw->buses[path->bus].sharers;
    unsigned ends = 1U << (unsigned)path->source | 1U << (unsigned)path->destination;
    int cores = hardware_cores_with(hw, ends);
    for (int c = 2; c <= cores && c <= sharers; c++) {
        TRY(point(s, SIZES(c, 1, bytes)));
        TRY(point(s, SIZES(c, 1, 2 * bytes)));
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
    int64_t bytes = large(s->path_lot[pair->one.what]), beside = large(s->path_lot[pair->other]);
    unsigned ends = 1U << (unsigned)path->source | 1U << (unsigned)path->destination |
                    1U << (unsigned)other->source | 1U << (unsigned)other->destination;
    int cores = hardware_cores_with(hw, ends), sharers = hw->buses[path->bus].sharers;
    double first_ns, second_ns;
    TRY(subject_time(&s->bench, &first, SIZES(1, 1, bytes), &first_ns));
    TRY(subject_time(&s->bench, &second, SIZES(1, 1, beside), &second_ns));
    bytes *= 4 + (int64_t)ceil(8 * second_ns / first_ns);
    for (int c = cores / 2 + 1; c <= cores && 2 * c <= sharers; c++) {
        TRY(point(s, SIZES(c, bytes, beside)));
        TRY(point(s, SIZES(c, bytes, 2 * beside)));
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
            TRY(point(s, SIZES(PIECES, PIECES * length, table->align_bytes[r])));
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
            TRY(point(s, SIZES(count, 16 * m, deep * k, 16 * n)));
    return STATUS_OK;
}

static enum status identify_vectors(struct session *s)
{
    int64_t lot;
    TRY(find_lot(s, SIZES(1), 0, 1, &lot));
    TRY(point(s, SIZES(large(lot))));
    return point(s, SIZES(2 * large(lot)));
}

static enum status identify_scalars(struct session *s)
{
    for (int64_t operations = 1; operations <= 1024; operations *= 32)
        TRY(point(s, SIZES(operations)));
    return STATUS_OK;
}

static enum status identify_flag(struct session *s)
{
    TRY(point(s, SIZES(1)));
    return point(s, SIZES(2));
}

static enum status identify_working_set(struct session *s)
{
    for (int octave = FIRST_SET; octave < LAST_SET; octave++)
        for (int64_t i = 0; i < SETS_AN_OCTAVE; i++)
            TRY(point(s, SIZES((SETS_AN_OCTAVE + i) * (INT64_C(1) << octave) / SETS_AN_OCTAVE)));
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
