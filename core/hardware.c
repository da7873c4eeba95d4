/* Look-ups are linear: no list is long, and programs hold indices. Rates are exact fractions in
 * lowest terms (Euclid), and products with them go through 128 bits, so that a time is rounded
 * once. */
#include "core/hardware.h"

#include "core/least.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

double fit_share(const struct fit *fit)
{
    return fit->error > 0 ? expm1(fit->error) : 0;
}

void hardware_clear(struct hardware *hw)
{
    for (size_t i = 0; i < hw->fact_count; i++) {
        free(hw->facts[i].key);
        free(hw->facts[i].value);
        free(hw->facts[i].source);
    }
    free(hw->facts);
    free(hw->host);
    memset(hw, 0, sizeof *hw);
}

bool fact_is_override(const struct fact *fact)
{
    return strncmp(fact->source, FACT_OVERRIDE_SOURCE, strlen(FACT_OVERRIDE_SOURCE)) == 0;
}

static bool same(const char *entry, const char *name, int length)
{
    return (int)strlen(entry) == length && strncasecmp(entry, name, (size_t)length) == 0;
}

const char *operand_role_name(enum operand_role role)
{
    static const char *const names[OPERAND_ROLES] = {
        [OPERAND_DST] = "dst",   [OPERAND_SRC] = "src", [OPERAND_SRC2] = "src2",
        [OPERAND_SRC3] = "src3", [OPERAND_A] = "a",     [OPERAND_B] = "b",
    };
    return names[role];
}

const char *hardware_buffer_names(const struct hardware *hw, unsigned buffers,
                                  char text[HARDWARE_LIST_SIZE])
{
    text[0] = '\0';
    for (int i = 0, used = 0; i < hw->buffer_count; i++)
        if (buffers & 1u << i)
            used += snprintf(text + used, (size_t)(HARDWARE_LIST_SIZE - used), "%s%s",
                             used ? " or " : "", hw->buffers[i].name);
    return text;
}

int hardware_pipe(const struct hardware *hw, const char *name, int length)
{
    for (int i = 0; i < hw->pipe_count; i++)
        if (same(hw->pipes[i].name, name, length))
            return i;
    return -1;
}

int hardware_buffer(const struct hardware *hw, const char *name, int length)
{
    for (int i = 0; i < hw->buffer_count; i++)
        if (same(hw->buffers[i].name, name, length))
            return i;
    return -1;
}

int hardware_operation(const struct hardware *hw, const char *name, int length)
{
    for (int i = 0; i < hw->operation_count; i++)
        if (same(hw->operations[i].name, name, length))
            return i;
    return -1;
}

int hardware_operation_price(const struct hardware *hw, int operation, enum dtype type)
{
    const struct operation *o = &hw->operations[operation];
    for (int i = 0; i < o->type_count; i++)
        if (o->types[i].type == type)
            return o->types[i].price;
    return o->price;
}

unsigned hardware_operation_results(const struct hardware *hw, int operation, enum dtype type)
{
    const uint16_t *results = hw->operations[operation].results;
    unsigned said = 0;
    for (int t = 0; t < DTYPE_COUNT; t++)
        said |= results[t];
    return said ? results[type] : (1u << DTYPE_COUNT) - 1;
}

int hardware_path(const struct hardware *hw, int source, int destination)
{
    for (int i = 0; i < hw->path_count; i++)
        if (hw->paths[i].source == source && hw->paths[i].destination == destination)
            return i;
    return -1;
}

bool hardware_cores_apart(const struct hardware *hw)
{
    int l0c = hardware_buffer(hw, "l0c", 3), ub = hardware_buffer(hw, "ub", 2);
    if (hardware_path(hw, l0c, ub) >= 0)
        return false;
    for (int i = 0; ub >= 0 && i < hw->path_count; i++)
        if (hw->paths[i].source == l0c && hw->buffers[hw->paths[i].destination].capacity_bytes == 0)
            return true;
    return false;
}

const char *hardware_path_name(const struct hardware *hw, int path,
                               char text[2 * HARDWARE_NAME_SIZE + 3])
{
    const struct path *p = &hw->paths[path];
    snprintf(text, 2 * HARDWARE_NAME_SIZE + 3, "%s->%s", hw->buffers[p->source].name,
             hw->buffers[p->destination].name);
    return text;
}

const struct matrix_type *hardware_matrix_type(const struct hardware *hw, enum dtype type)
{
    for (int i = 0; i < hw->matrix_type_count; i++)
        if (hw->matrix_types[i].type == type)
            return &hw->matrix_types[i];
    return NULL;
}

double hardware_matrix_peak(const struct hardware *hw, enum dtype type)
{
    const struct matrix_type *matrix = hardware_matrix_type(hw, type);
    if (!matrix)
        return 0;
    struct rate rate = hw->prices[matrix->price].rate;
    return 2.0 * matrix->block_m * matrix->block_k * matrix->block_n * (double)rate.units /
           (double)rate.fs * 1e15;
}

const struct cast *hardware_cast(const struct hardware *hw, int path, enum dtype from,
                                 enum dtype to)
{
    const struct path *p = &hw->paths[path];
    for (int i = 0; i < p->cast_count; i++)
        if (p->casts[i].from == from && p->casts[i].to == to)
            return &p->casts[i];
    return NULL;
}

int hardware_move_price(const struct hardware *hw, int path, enum dtype from, enum dtype to)
{
    const struct cast *cast = hardware_cast(hw, path, from, to);
    return from == to ? hw->paths[path].price : cast ? cast->price : -1;
}

/* The row of pieces that begin at multiples of align_bytes; 0: of those that begin best. */
static int burst_row(const struct burst_table *table, int64_t align_bytes)
{
    int row = table->row_count - 1;
    while (align_bytes && row > 0 && table->align_bytes[row] > align_bytes)
        row--;
    return row;
}

/* What a piece of a row's class costs. */
static int64_t burst_fs_in(const struct burst_table *table, int row, int64_t burst_bytes)
{
    int column = 0;
    while (column < table->limit_count && burst_bytes > table->up_to_bytes[column])
        column++;
    if (column < table->limit_count)
        return table->fs[row][column];
    int64_t stretches = burst_bytes / table->up_to_bytes[column - 1] +
                        (burst_bytes % table->up_to_bytes[column - 1] > 0);
    int64_t fs;
    return __builtin_mul_overflow(stretches, table->fs[row][column], &fs) ? INT64_MAX : fs;
}

int64_t hardware_burst_fs(const struct hardware *hw, const struct price *price, int64_t burst_bytes,
                          int64_t align_bytes)
{
    if (price->burst_table < 0)
        return 0;
    const struct burst_table *table = &hw->burst_tables[price->burst_table];
    return burst_fs_in(table, burst_row(table, align_bytes), burst_bytes);
}

int64_t hardware_least_burst_fs(const struct hardware *hw, const struct price *price,
                                int64_t least_bytes, int64_t most_bytes, int64_t align_bytes)
{
    if (price->burst_table < 0)
        return 0;
    const struct burst_table *table = &hw->burst_tables[price->burst_table];
    int64_t least = INT64_MAX;
    for (int row = burst_row(table, align_bytes); row >= 0; row--) {
        least = least_of(least, burst_fs_in(table, row, least_bytes));
        for (int c = 0; c < table->limit_count && table->up_to_bytes[c] < most_bytes; c++)
            if (table->up_to_bytes[c] >= least_bytes)
                least = least_of(least, burst_fs_in(table, row, table->up_to_bytes[c] + 1));
    }
    return least;
}

/* The same of bytes that are cut however that is done, into pieces of one class. */
static double least_bursts_fs_in(const struct burst_table *table, int row, int64_t bytes)
{
    const int64_t *fs = table->fs[row];
    double least = INFINITY;
    /* no piece of a column is longer than its limit, nor is a stretch of the last one */
    for (int c = 0; c <= table->limit_count && (c == 0 || table->up_to_bytes[c - 1] < bytes); c++) {
        int64_t longest = table->up_to_bytes[c < table->limit_count ? c : c - 1];
        least = fmin(least, (double)fs[c] * (double)bytes / (double)least_of(longest, bytes));
    }
    return least;
}

double hardware_least_bursts_fs(const struct hardware *hw, const struct price *price, int64_t bytes,
                                int64_t align_bytes)
{
    if (price->burst_table < 0)
        return 0;
    const struct burst_table *table = &hw->burst_tables[price->burst_table];
    int row = burst_row(table, align_bytes);
    double least = least_bursts_fs_in(table, row, bytes);
    while (row-- > 0)
        least = fmin(least, least_bursts_fs_in(table, row, bytes));
    return least;
}

int hardware_cores_with(const struct hardware *hw, unsigned buffers)
{
    int least = 0;
    for (int b = 0; b < hw->buffer_count; b++)
        if (buffers >> b & 1 && hw->buffers[b].capacity_bytes &&
            (!least || hw->buffers[b].per_core < least))
            least = hw->buffers[b].per_core;
    return hw->cores * (least ? least : 1);
}

int hardware_most_cores(const struct hardware *hw)
{
    int most = 1;
    for (int b = 0; b < hw->buffer_count; b++)
        most = hw->buffers[b].per_core > most ? hw->buffers[b].per_core : most;
    return hw->cores * most;
}

int hardware_in_step(const struct hardware *hw, uint32_t pipes, int pipe)
{
    int least = hw->pipes[pipe].per_core;
    for (int p = 0; p < hw->pipe_count; p++)
        if (pipes >> p & 1 && !hw->pipes[p].blocks_dispatch && hw->pipes[p].per_core < least)
            least = hw->pipes[p].per_core;
    return hw->pipes[pipe].per_core / least;
}

/* The scalar pipe stands for those of all kinds. */
static bool crosses(const struct hardware *hw, int from, int to)
{
    const struct pipe *a = &hw->pipes[from], *b = &hw->pipes[to];
    return hw->core_flags && a->per_core != b->per_core && !a->blocks_dispatch &&
           !b->blocks_dispatch;
}

int hardware_flags(const struct hardware *hw, int from, int to)
{
    return crosses(hw, from, to) ? hw->core_flags : hw->flag_registers;
}

int hardware_most_flags(const struct hardware *hw)
{
    return hw->core_flags > hw->flag_registers ? hw->core_flags : hw->flag_registers;
}

bool hardware_flags_shared(const struct hardware *hw, int from, int to, int other_from,
                           int other_to)
{
    if (from == other_from && to == other_to)
        return true;
    return crosses(hw, from, to) && crosses(hw, other_from, other_to) &&
           hw->pipes[from].per_core == hw->pipes[other_from].per_core &&
           hw->pipes[to].per_core == hw->pipes[other_to].per_core;
}

int64_t hardware_flag_fs(const struct hardware *hw, int from, int to)
{
    return crosses(hw, from, to) ? hw->core_flag_fs : 0;
}

int64_t hardware_start_fs(const struct hardware *hw, int cores)
{
    return hw->launch_fs + cores * hw->launch_core_fs;
}

double hardware_warm_miss_share(const struct hardware *hw, double bytes)
{
    const struct cache *cache = &hw->cache;
    double all_hit = (double)cache->all_hit_bytes, all_miss = (double)cache->all_miss_bytes;
    if (cache->behind < 0 || bytes <= all_hit)
        return 0;
    return bytes < all_miss ? (bytes - all_hit) / (all_miss - all_hit) : 1;
}

double hardware_miss_share(const struct hardware *hw, double bytes)
{
    return hw->cache.is_cold ? 1 : hardware_warm_miss_share(hw, bytes);
}

bool hardware_spills(const struct hardware *hw, double bytes)
{
    return hardware_warm_miss_share(hw, bytes) >= 0.5;
}

const char *hardware_cache_word(const struct hardware *hw)
{
    if (!hw->host && hw->cache.behind < 0)
        return "none";
    return hw->cache.is_cold ? "cold" : "warm";
}

int64_t hardware_bus_share(const struct hardware *hw, const struct price *price, int64_t n)
{
    const struct bus *bus = &hw->buses[price->bus];
    int64_t total = bus->total_bytes_per_s[(n < bus->sharers ? n : bus->sharers) - 1];
    __extension__ unsigned __int128 own =
        (unsigned __int128)FS_PER_S * (uint64_t)price->rate.units / (uint64_t)price->rate.fs;
    int64_t share = total / n;
    if (own < (uint64_t)share)
        share = (int64_t)own;
    return share > 0 ? share : 1;
}

int64_t rate_ceil_fs(struct rate rate, int64_t units)
{
    __extension__ unsigned __int128 product =
        (unsigned __int128)(uint64_t)rate.fs * (uint64_t)units;
    product = (product + (uint64_t)rate.units - 1) / (uint64_t)rate.units;
    return product > INT64_MAX ? INT64_MAX : (int64_t)product;
}

struct rate rate_reduce(int64_t fs, int64_t units)
{
    int64_t a = fs, b = units;
    while (b) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    if (a == 0)
        a = 1;
    return (struct rate){fs / a, units / a};
}
