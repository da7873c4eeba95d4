#include "kernels/matmul.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const resident_names[RESIDENT_KINDS] = {"both", "a", "b", "none"};
static const char *const split_names[SPLIT_KINDS] = {"m", "n"};

static const struct axis axes[THESIS_AXES] = {
    [THESIS_M] = {.name = "m_slice", .unit = "elements"},
    [THESIS_K] = {.name = "k_slice", .unit = "elements"},
    [THESIS_N] = {.name = "n_slice", .unit = "elements"},
    [THESIS_BUFFERS] = {.name = "buffers"},
    [THESIS_RESIDENT] = {.name = "resident",
                         .value_names = resident_names,
                         .name_count = RESIDENT_KINDS},
    [THESIS_SPLIT] = {.name = "split", .value_names = split_names, .name_count = SPLIT_KINDS},
};

static const int64_t buffer_values[] = {1, 2};
static const int64_t resident_values[] = {RESIDENT_BOTH, RESIDENT_A, RESIDENT_B, RESIDENT_NONE};
static const int64_t split_values[] = {SPLIT_M, SPLIT_N};

/* Lines of the summary. The first seven are the whole program; the rest are the instructions that
 * must run before the first, or after the last, of a pipe's. */
enum line {
    LOAD_A,
    LOAD_B,
    FEED_A,
    FEED_B,
    MULTIPLY,
    DRAIN,
    STORE,
    TOTALS,
    FIRST_LOAD_A = TOTALS,
    FIRST_LOAD_B,
    FIRST_FEED_B,
    FIRST_TILE,
    LAST_FEED_B,
    LAST_MULTIPLY,
    LAST_DRAIN,
    LAST_STORE,
    AFTER_LOADS,
    AFTER_LOADS_DRAIN,
    LINES,
};

#define LINE(line) (1u << (line))

/* Which buffers are single and what stays in L1 decide which instructions exclude each other. */
enum { LAYOUTS = 2 * RESIDENT_KINDS * 2 };

static int layout_number(int64_t buffers, int64_t resident, bool many_rows)
{
    return (int)(((buffers - 1) * RESIDENT_KINDS + resident) * 2 + many_rows);
}

struct thesis {
    struct matmul_machine machine;
    int cores;
    struct matmul_slab whole; /* the padded problem */
    struct matmul_slab slabs[SPLIT_KINDS];
    int64_t *slices[SPLIT_KINDS][3]; /* per split and direction, ascending */
    struct work_layout layouts[LAYOUTS];
};

static bool keeps_a(int64_t resident)
{
    return resident == RESIDENT_A || resident == RESIDENT_BOTH;
}

static bool keeps_b(int64_t resident)
{
    return resident == RESIDENT_B || resident == RESIDENT_BOTH;
}

static void make_chains(int buffers, int64_t resident, bool many_rows, struct work_layout *layout)
{
    const uint32_t start = LINE(FIRST_LOAD_A) | LINE(FIRST_LOAD_B) | LINE(FIRST_FEED_B);
    const uint32_t end = LINE(LAST_MULTIPLY) | LINE(LAST_DRAIN) | LINE(LAST_STORE);
    bool early = resident == RESIDENT_BOTH && many_rows;
    uint32_t *chain = layout->chains;
    *chain++ = LINE(LOAD_A) | LINE(LOAD_B) | LINE(LAST_STORE) |
               (early ? LINE(AFTER_LOADS) | LINE(AFTER_LOADS_DRAIN) : LINE(LAST_FEED_B) | end);
    *chain++ = LINE(FIRST_LOAD_A) | LINE(FEED_A) | LINE(FEED_B) | end;
    /* L0C is single: products and drains take turns */
    *chain++ = start | LINE(MULTIPLY) | LINE(DRAIN) | LINE(LAST_STORE);
    /* UB is single: drains and stores take turns */
    *chain++ = start | LINE(FIRST_TILE) | LINE(DRAIN) | LINE(STORE);
    if (buffers == 1) { /* so are L0A and L0B, and what is reloaded in L1 */
        *chain++ = LINE(FIRST_LOAD_A) | LINE(FEED_A) | LINE(FEED_B) | LINE(MULTIPLY) |
                   LINE(LAST_DRAIN) | LINE(LAST_STORE);
        if (!keeps_b(resident))
            *chain++ = LINE(FIRST_LOAD_A) | LINE(LOAD_B) | LINE(FEED_B) | end;
    }
    layout->chain_count = (int)(chain - layout->chains);
}

static void make_layouts(struct thesis *thesis)
{
    const struct matmul_machine *m = &thesis->machine;
    const int prices[LINES] = {
        [LOAD_A] = m->load_price,
        [LOAD_B] = m->load_price,
        [FEED_A] = m->feed_a_price,
        [FEED_B] = m->feed_b_price,
        [MULTIPLY] = m->matrix_price,
        [DRAIN] = m->drain_price,
        [STORE] = m->store_price,
        [FIRST_LOAD_A] = m->load_price,
        [FIRST_LOAD_B] = m->load_price,
        [FIRST_FEED_B] = m->feed_b_price,
        [FIRST_TILE] = m->matrix_price,
        [LAST_FEED_B] = m->feed_b_price,
        [LAST_MULTIPLY] = m->matrix_price,
        [LAST_DRAIN] = m->drain_price,
        [LAST_STORE] = m->store_price,
        [AFTER_LOADS] = m->matrix_price,
        [AFTER_LOADS_DRAIN] = m->drain_price,
    };
    for (int buffers = 1; buffers <= 2; buffers++)
        for (int resident = 0; resident < RESIDENT_KINDS; resident++)
            for (int rows = 0; rows < 2; rows++) {
                struct work_layout *layout =
                    &thesis->layouts[layout_number(buffers, resident, rows)];
                layout->total_count = TOTALS;
                layout->line_count = LINES;
                memcpy(layout->price, prices, sizeof prices);
                make_chains(buffers, resident, rows, layout);
            }
}

static const struct thesis *thesis_of(const struct space *space)
{
    return space->detail;
}

static int64_t round_up(int64_t value, int64_t unit)
{
    return (value + unit - 1) / unit * unit;
}

/* The slab of the core with most work when `size` is cut into equal shares of whole blocks. */
static int64_t share(int64_t size, int cores, int64_t block, int *cores_used)
{
    int64_t blocks = (size + block - 1) / block, slab = (blocks + cores - 1) / cores;
    *cores_used = (int)((blocks + slab - 1) / slab);
    return slab * block;
}

static struct matmul_slab make_slab(const struct problem *problem, enum thesis_split split,
                                    int cores, int64_t block)
{
    struct matmul_slab slab = {
        .m = round_up(problem->size[MATMUL_M], block),
        .k = round_up(problem->size[MATMUL_K], block),
        .n = round_up(problem->size[MATMUL_N], block),
        .batch = problem->size[MATMUL_BATCH],
    };
    if (split == SPLIT_M)
        slab.m = share(slab.m, cores, block, &slab.cores_used);
    else
        slab.n = share(slab.n, cores, block, &slab.cores_used);
    return slab;
}

/* The distinct slices that tile counts 1 … blocks give, ascending. Between two of them the count
 * jumps, so the walk is over about 2·sqrt(blocks) values. */
static int64_t *slices_of(int64_t size, int64_t block, int *count)
{
    int64_t blocks = size / block, capacity = 64, *values = malloc(64 * sizeof *values);
    *count = 0;
    for (int64_t slice = 1; values && slice <= blocks; slice++) {
        int64_t tiles = (blocks + slice - 1) / slice;
        slice = (blocks + tiles - 1) / tiles;
        if (*count == capacity) {
            int64_t *grown = realloc(values, (size_t)(capacity *= 2) * sizeof *values);
            if (!grown)
                break;
            values = grown;
        }
        values[(*count)++] = slice * block;
        if (tiles == 1)
            return values;
        /* the next slice with fewer tiles */
        slice = (blocks + tiles - 2) / (tiles - 1) - 1;
    }
    free(values);
    return NULL;
}

static void destroy(struct space *space)
{
    struct thesis *thesis = space->detail;
    for (int s = 0; thesis && s < SPLIT_KINDS; s++)
        for (int a = 0; a < 3; a++)
            free(thesis->slices[s][a]);
    free(thesis);
}

static enum status add_block(struct space *space, struct thesis *thesis, enum thesis_split split,
                             struct error *error)
{
    struct space_block *block = &space->blocks[space->block_count++];
    const struct matmul_slab *slab = &thesis->slabs[split];
    const int64_t sizes[3] = {slab->m, slab->k, slab->n};
    for (int a = 0; a < 3; a++) {
        thesis->slices[split][a] = slices_of(sizes[a], thesis->machine.block, &block->count[a]);
        if (!thesis->slices[split][a])
            return error_memory(error);
        block->values[a] = thesis->slices[split][a];
    }
    block->count[THESIS_BUFFERS] = 2;
    block->values[THESIS_BUFFERS] = buffer_values;
    block->count[THESIS_RESIDENT] = RESIDENT_KINDS;
    block->values[THESIS_RESIDENT] = resident_values;
    block->count[THESIS_SPLIT] = 1;
    block->values[THESIS_SPLIT] = &split_values[split];
    return STATUS_OK;
}

static enum status create(struct space *space, const struct problem *problem, int cores,
                          struct error *error)
{
    struct thesis *thesis = calloc(1, sizeof *thesis);
    if (!thesis)
        return error_memory(error);
    space->detail = thesis;
    space->axis_count = THESIS_AXES;
    space->axes = axes;
    thesis->cores = cores;
    enum status status = matmul_machine_find(space->hw, problem->type, &thesis->machine, error);
    if (status != STATUS_OK)
        return status;
    if (space->hw->flag_registers < 6)
        return error_set(error, STATUS_INVALID,
                         "space thesis needs 6 flag registers a pair of pipes; %s has %d",
                         space->hw->name, space->hw->flag_registers);
    make_layouts(thesis);
    space->layout_count = LAYOUTS;
    space->layouts = thesis->layouts;
    thesis->whole = make_slab(problem, SPLIT_M, 1, thesis->machine.block);
    /* On one core both splits are the same program. */
    for (int s = 0; s < (cores > 1 ? SPLIT_KINDS : 1) && status == STATUS_OK; s++) {
        thesis->slabs[s] = make_slab(problem, (enum thesis_split)s, cores, thesis->machine.block);
        status = add_block(space, thesis, (enum thesis_split)s, error);
    }
    return status;
}

static const struct matmul_slab *slab_of(const struct space *space, const struct tiling *tiling)
{
    const struct thesis *thesis = thesis_of(space);
    return &thesis->slabs[thesis->cores > 1 ? tiling->value[THESIS_SPLIT] : SPLIT_M];
}

enum need { NEED_L0A, NEED_L0B, NEED_L0C, NEED_UB, NEED_L1, NEEDS };

/* a·b·c for sizes that a user may have typed: never wraps. */
static int64_t product(int64_t a, int64_t b, int64_t c)
{
    int64_t ab, abc;
    if (__builtin_mul_overflow(a, b, &ab) || __builtin_mul_overflow(ab, c, &abc))
        return INT64_MAX;
    return abc;
}

static int64_t sum(int64_t a, int64_t b)
{
    int64_t result;
    return __builtin_add_overflow(a, b, &result) ? INT64_MAX : result;
}

/* Bytes of every buffer that are alive at once, all copies counted. */
static void count_needs(const struct space *space, const struct tiling *tiling,
                        int64_t needs[NEEDS])
{
    const struct matmul_machine *machine = &thesis_of(space)->machine;
    const struct matmul_slab *slab = slab_of(space, tiling);
    const int64_t *v = tiling->value;
    int64_t m = v[THESIS_M], k = v[THESIS_K], n = v[THESIS_N];
    int64_t type = machine->type_bytes, copies = v[THESIS_BUFFERS] * type;
    needs[NEED_L0A] = product(m, k, copies);
    needs[NEED_L0B] = product(k, n, copies);
    needs[NEED_L0C] = product(m, n, machine->accumulator_bytes);
    needs[NEED_UB] = product(m, n, type);
    needs[NEED_L1] =
        sum(keeps_a(v[THESIS_RESIDENT]) ? product(m, slab->k, type) : needs[NEED_L0A],
            keeps_b(v[THESIS_RESIDENT]) ? product(slab->k, slab->n, type) : needs[NEED_L0B]);
}

static int64_t capacity(const struct matmul_machine *machine, enum need need)
{
    const int buffers[NEEDS] = {[NEED_L0A] = machine->l0a,
                                [NEED_L0B] = machine->l0b,
                                [NEED_L0C] = machine->l0c,
                                [NEED_UB] = machine->ub,
                                [NEED_L1] = machine->l1};
    int64_t bytes = machine->hw->buffers[buffers[need]].capacity_bytes;
    return bytes ? bytes : INT64_MAX;
}

static bool fits(const struct space *space, const struct tiling *tiling, int last)
{
    int64_t needs[NEEDS];
    count_needs(space, tiling, needs);
    for (int n = 0; n <= last; n++)
        if (needs[n] > capacity(&thesis_of(space)->machine, (enum need)n))
            return false;
    return true;
}

/* With the open slices at one block and one buffer: L1 is left out, for what it needs does not
 * grow with every axis. */
static bool possible(const struct space *space, const struct tiling *tiling, int fixed)
{
    struct tiling least = *tiling;
    for (int a = fixed; a < THESIS_AXES; a++)
        least.value[a] = a <= THESIS_N ? thesis_of(space)->machine.block : a == THESIS_BUFFERS;
    return fits(space, &least, NEED_UB);
}

static bool legal(const struct space *space, const struct tiling *tiling)
{
    return fits(space, tiling, NEED_L1);
}

static void describe_axis(const struct space *space, const struct tiling *tiling, int axis,
                          struct violation *violation)
{
    const struct space_block *block = &space->blocks[tiling->value[THESIS_SPLIT]];
    int64_t value = tiling->value[axis], below = 0, above = 0;
    for (int i = 0; i < block->count[axis]; i++) {
        int64_t v = block->values[axis][i];
        below = v < value ? v : below;
        above = v > value && !above ? v : above;
    }
    *violation = (struct violation){0};
    snprintf(violation->limit, sizeof violation->limit, "%s", axes[axis].name);
    int used = snprintf(violation->text, sizeof violation->text,
                        "%s=%lld is no equal slice of this shape; next are", axes[axis].name,
                        (long long)value);
    const int64_t next[] = {below, above};
    for (int i = 0; i < 2; i++)
        if (next[i])
            used += snprintf(violation->text + used, sizeof violation->text - (size_t)used, " %lld",
                             (long long)next[i]);
}

/* Values that no tile count gives, on any axis. */
static int off_axis(const struct space *space, const struct tiling *tiling,
                    struct violation list[MAX_VIOLATIONS])
{
    int count = 0;
    if (tiling->value[THESIS_SPLIT] >= space->block_count) {
        list[count] = (struct violation){.limit = "split"};
        snprintf(list[count++].text, sizeof list->text, "split=%s needs more than one core",
                 split_names[tiling->value[THESIS_SPLIT]]);
        return count;
    }
    const struct space_block *block = &space->blocks[tiling->value[THESIS_SPLIT]];
    for (int a = 0; a < THESIS_AXES; a++) {
        bool found = false;
        for (int i = 0; i < block->count[a] && !found; i++)
            found = block->values[a][i] == tiling->value[a];
        if (!found)
            describe_axis(space, tiling, a, &list[count++]);
    }
    return count;
}

static int violations(const struct space *space, const struct tiling *tiling,
                      struct violation list[MAX_VIOLATIONS])
{
    static const char *const names[NEEDS] = {"l0a", "l0b", "l0c", "ub", "l1"};
    static const char *const contents[NEEDS] = {
        "A tiles for the matrix unit", "B tiles for the matrix unit", "the accumulated tile of C",
        "the converted tile of C", "what is resident or reloaded"};
    int count = off_axis(space, tiling, list);
    int64_t needs[NEEDS];
    count_needs(space, tiling, needs);
    for (int n = 0; n < NEEDS; n++) {
        int64_t available = capacity(&thesis_of(space)->machine, (enum need)n);
        if (needs[n] <= available)
            continue;
        struct violation *v = &list[count++];
        *v = (struct violation){.needed_bytes = needs[n], .available_bytes = available};
        snprintf(v->limit, sizeof v->limit, "%s", names[n]);
        snprintf(v->text, sizeof v->text, "%s: %s take %lld bytes of %lld, %lld too many", names[n],
                 contents[n], (long long)needs[n], (long long)available,
                 (long long)(needs[n] - available));
    }
    return count;
}

static int cores_used(const struct space *space, const struct tiling *tiling)
{
    return slab_of(space, tiling)->cores_used;
}

/* Sizes of one core's work as doubles; `k_tiles` and so on count tiles. */
struct counts {
    double m, k, n, batch; /* of the slab */
    double m_tiles, k_tiles, n_tiles;
    double m_slice, k_slice, n_slice;
    double m_last, k_last, n_last;
    double type, accumulator; /* bytes */
    double per_block;         /* blocks per multiplication: 1 / block^3 */
    bool a_resident, b_resident;
};

static void put(struct work *work, enum line line, double instructions, double units)
{
    work->instructions[line] = instructions;
    work->units[line] = units;
}

static void put_totals(const struct counts *c, struct work *work)
{
    double tiles = c->batch * c->m_tiles * c->n_tiles, steps = tiles * c->k_tiles;
    double a = c->batch * c->m * c->k * c->type, b = c->batch * c->k * c->n * c->type;
    double a_loads = c->a_resident ? 1 : c->n_tiles, b_loads = c->b_resident ? 1 : c->m_tiles;
    double out = c->batch * c->m * c->n;
    put(work, LOAD_A, c->batch * c->m_tiles * c->k_tiles * a_loads, a * a_loads);
    put(work, LOAD_B, c->batch * c->n_tiles * c->k_tiles * b_loads, b * b_loads);
    put(work, FEED_A, steps, a * c->n_tiles);
    put(work, FEED_B, steps, b * c->m_tiles);
    put(work, MULTIPLY, steps, out * c->k * c->per_block);
    put(work, DRAIN, tiles, out * c->accumulator);
    put(work, STORE, tiles, out * c->type);
}

static void put_ends(const struct counts *c, struct work *work)
{
    double first_b = c->k_slice * c->n_slice * c->type, last = c->m_last * c->n_last;
    put(work, FIRST_LOAD_A, 1, c->m_slice * c->k_slice * c->type);
    put(work, FIRST_LOAD_B, 1, first_b);
    put(work, FIRST_FEED_B, 1, first_b);
    put(work, FIRST_TILE, c->k_tiles, c->m_slice * c->n_slice * c->k * c->per_block);
    put(work, LAST_FEED_B, 1, c->k_last * c->n_last * c->type);
    put(work, LAST_MULTIPLY, 1, last * c->k_last * c->per_block);
    put(work, LAST_DRAIN, 1, last * c->accumulator);
    put(work, LAST_STORE, 1, last * c->type);
}

/* With everything resident and more than one row, the last load is the last tile of the last
 * panel of A: all later columns of that row are still to come, products and drains in turn. */
static void put_after_loads(const struct counts *c, struct work *work)
{
    double products = c->m_last * (c->k_last * c->n_slice + c->k * (c->n - c->n_slice));
    put(work, AFTER_LOADS, 1 + (c->n_tiles - 1) * c->k_tiles, products * c->per_block);
    put(work, AFTER_LOADS_DRAIN, c->n_tiles, c->m_last * c->n * c->accumulator);
}

static void summarise(const struct space *space, const struct tiling *tiling, struct work *work)
{
    const struct thesis *thesis = thesis_of(space);
    const struct matmul_slab *slab = slab_of(space, tiling);
    const int64_t *v = tiling->value;
    struct tiles m = tiles_of(slab->m, v[THESIS_M]), k = tiles_of(slab->k, v[THESIS_K]),
                 n = tiles_of(slab->n, v[THESIS_N]);
    double block = thesis->machine.block;
    struct counts c = {
        .m = (double)slab->m,
        .k = (double)slab->k,
        .n = (double)slab->n,
        .batch = (double)slab->batch,
        .m_tiles = (double)m.count,
        .k_tiles = (double)k.count,
        .n_tiles = (double)n.count,
        .m_slice = (double)m.slice,
        .k_slice = (double)k.slice,
        .n_slice = (double)n.slice,
        .m_last = (double)m.last,
        .k_last = (double)k.last,
        .n_last = (double)n.last,
        .type = thesis->machine.type_bytes,
        .accumulator = thesis->machine.accumulator_bytes,
        .per_block = 1 / (block * block * block),
        .a_resident = keeps_a(v[THESIS_RESIDENT]),
        .b_resident = keeps_b(v[THESIS_RESIDENT]),
    };
    work->cores = slab->cores_used;
    work->layout = layout_number(v[THESIS_BUFFERS], v[THESIS_RESIDENT], m.count > 1);
    put_totals(&c, work);
    put_ends(&c, work);
    put_after_loads(&c, work);
}

static enum status generate(const struct space *space, const struct tiling *tiling,
                            struct program *program, struct error *error)
{
    return matmul_thesis_program(&thesis_of(space)->machine, slab_of(space, tiling), tiling,
                                 program, error);
}

/* Compulsory traffic: A, B and C once over the bus at its best. */
static double roofline_ns(const struct space *space)
{
    const struct thesis *thesis = thesis_of(space);
    const struct matmul_machine *m = &thesis->machine;
    const struct price *matrix = &m->hw->prices[m->matrix_price],
                       *load = &m->hw->prices[m->load_price];
    const struct matmul_slab *whole = &thesis->whole;
    double block = m->block, batch = (double)whole->batch;
    double rows = (double)whole->m, k = (double)whole->k, n = (double)whole->n;
    double compute_fs = rows * k * n * batch / (block * block * block) / thesis->cores *
                        (double)matrix->rate.fs / (double)matrix->rate.units;
    double bytes = (rows * k + k * n + rows * n) * batch * m->type_bytes;
    double memory_fs = bytes * (double)load->rate.fs / (double)load->rate.units / thesis->cores;
    if (load->bus >= 0) {
        const struct bus *bus = &m->hw->buses[load->bus];
        memory_fs = bytes / (double)bus->total_bytes_per_s[bus->sharers - 1] * 1e15;
    }
    return (compute_fs > memory_fs ? compute_fs : memory_fs) / 1e6;
}

const struct operator_space matmul_thesis = {
    .name = "thesis",
    .title = "slices along m, k, n; one or two control flows; what stays in L1; split over cores",
    .create = create,
    .destroy = destroy,
    .possible = possible,
    .legal = legal,
    .violations = violations,
    .cores_used = cores_used,
    .summarise = summarise,
    .generate = generate,
    .roofline_ns = roofline_ns,
};
