/* Every number is fed to XXH3 (Y. Collet's xxHash) in a fixed order and in big-endian form, texts
 * with their terminating 0, lists behind their counts, so that no two descriptions run into the
 * same bytes. */
#include "hardware/fingerprint.h"

#include "core/host.h"

#include <stdio.h>
#include <string.h>
#define XXH_STATIC_LINKING_ONLY /* the state on the stack */
#include <xxhash.h>

static void put(XXH3_state_t *state, int64_t value)
{
    XXH64_canonical_t bytes; /* the same on machines of either byte order */
    XXH64_canonicalFromHash(&bytes, (XXH64_hash_t)value);
    XXH3_128bits_update(state, &bytes, sizeof bytes);
}

static void put_real(XXH3_state_t *state, double value)
{
    int64_t bits;
    memcpy(&bits, &value, sizeof bits);
    put(state, bits);
}

static void put_name(XXH3_state_t *state, const char *name)
{
    XXH3_128bits_update(state, name, strlen(name) + 1);
}

static void put_chip(XXH3_state_t *state, const struct hardware *hw)
{
    const int64_t numbers[] = {
        hw->cores,
        hw->clock_hz,
        hw->launch_fs,
        hw->launch_core_fs,
        hw->core_skew_fs,
        hw->issue_fs,
        hw->dispatch_fs,
        hw->host_call_fs,
        hw->flag_registers,
        hw->pipe_count,
        hw->buffer_count,
        hw->bus_count,
        hw->path_count,
        hw->matrix_pipe,
        hw->matrix_type_count,
        hw->operation_count,
        hw->price_count,
        hw->burst_table_count,
        hw->cache.buffer,
        hw->cache.behind,
        hw->cache.all_hit_bytes,
        hw->cache.all_miss_bytes,
        hw->vector_repeat_bytes,
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        put(state, numbers[i]);
}

/* A chip without flags between kinds of core keeps the fingerprint that it had before there were
 * any. */
static void put_core_flags(XXH3_state_t *state, const struct hardware *hw)
{
    if (!hw->core_flags)
        return;
    put(state, hw->core_flags);
    put(state, hw->core_flag_fs);
}

/* With a warm cache a chip keeps the fingerprint that it had before there were others. */
static void put_cache_word(XXH3_state_t *state, const struct hardware *hw)
{
    if (hw->cache.is_cold)
        put_name(state, hardware_cache_word(hw));
}

static void put_pipes_and_buffers(XXH3_state_t *state, const struct hardware *hw)
{
    for (int i = 0; i < hw->pipe_count; i++) {
        put_name(state, hw->pipes[i].name);
        put(state, hw->pipes[i].blocks_dispatch | (hw->pipes[i].per_core - 1) << 1);
    }
    for (int i = 0; i < hw->buffer_count; i++) {
        put_name(state, hw->buffers[i].name);
        put(state, hw->buffers[i].capacity_bytes);
        put(state, hw->buffers[i].alignment_bytes);
        put(state, hw->buffers[i].unit_flag | (hw->buffers[i].per_core - 1) << 1);
    }
}

static void put_buses(XXH3_state_t *state, const struct hardware *hw)
{
    for (int i = 0; i < hw->bus_count; i++) {
        put_name(state, hw->buses[i].name);
        put(state, hw->buses[i].sharers);
        for (int n = 0; n < hw->buses[i].sharers; n++)
            put(state, hw->buses[i].total_bytes_per_s[n]);
    }
}

static void put_paths(XXH3_state_t *state, const struct hardware *hw)
{
    for (int i = 0; i < hw->path_count; i++) {
        const struct path *path = &hw->paths[i];
        const int numbers[] = {path->source, path->destination,      path->pipe,      path->bus,
                               path->price,  path->transposed_price, path->cast_count};
        for (size_t n = 0; n < sizeof numbers / sizeof *numbers; n++)
            put(state, numbers[n]);
        for (int c = 0; c < path->cast_count; c++) {
            put(state, path->casts[c].from);
            put(state, path->casts[c].to);
            put(state, path->casts[c].price);
            if (path->casts[c].scale)
                put(state, 'S');
        }
        if (path->relu)
            put(state, 'R');
    }
}

static void put_units(XXH3_state_t *state, const struct hardware *hw)
{
    for (int i = 0; i < hw->matrix_type_count; i++) {
        const struct matrix_type *type = &hw->matrix_types[i];
        const int numbers[] = {type->type,    type->accumulator, type->block_m,
                               type->block_k, type->block_n,     type->price};
        for (size_t n = 0; n < sizeof numbers / sizeof *numbers; n++)
            put(state, numbers[n]);
        if (type->row_blocks_at_once > 1)
            put(state, type->row_blocks_at_once);
    }
    for (int i = 0; i < hw->operation_count; i++) {
        put_name(state, hw->operations[i].name);
        put(state, hw->operations[i].class);
        put(state, hw->operations[i].result);
        put(state, hw->operations[i].price);
        /* none of it where neither is said: those chips are called as they were before */
        if (hw->operations[i].with_number >= 0)
            put(state, hw->operations[i].with_number);
        for (int t = 0; t < hw->operations[i].type_count; t++) {
            put(state, hw->operations[i].types[t].type);
            put(state, hw->operations[i].types[t].price);
        }
    }
}

/* Which kernels a chip can run; none of it where it is not said. */
static void put_operands_and_types(XXH3_state_t *state, const struct hardware *hw)
{
    for (int i = 0; i < hw->pipe_count; i++)
        for (int role = 0; role < OPERAND_ROLES; role++)
            if (hw->pipes[i].memories[role])
                put(state, (int64_t)i << 32 | role << 16 | hw->pipes[i].memories[role]);
    for (int i = 0; i < hw->operation_count; i++)
        for (int type = 0; type < DTYPE_COUNT; type++)
            if (hw->operations[i].results[type])
                put(state, (int64_t)i << 32 | type << 16 | hw->operations[i].results[type]);
}

static void put_prices(XXH3_state_t *state, const struct hardware *hw)
{
    for (int i = 0; i < hw->price_count; i++) {
        const struct price *price = &hw->prices[i];
        const int64_t numbers[] = {price->base_fs,    price->latency_fs, price->rate.fs,
                                   price->rate.units, price->pipe,       price->bus,
                                   price->burst_table};
        for (size_t n = 0; n < sizeof numbers / sizeof *numbers; n++)
            put(state, numbers[n]);
        if (price->lot > 1)
            put(state, price->lot);
    }
    for (int t = 0; t < hw->burst_table_count; t++) {
        const struct burst_table *table = &hw->burst_tables[t];
        put(state, table->row_count);
        put(state, table->limit_count);
        for (int c = 0; c < table->limit_count; c++)
            put(state, table->up_to_bytes[c]);
        for (int r = 0; r < table->row_count; r++) {
            put(state, table->align_bytes[r]);
            for (int c = 0; c <= table->limit_count; c++)
                put(state, table->fs[r][c]);
        }
    }
}

/* Answers say how many tilings lie within the error of the fit, and --robust uses the spreads. */
static void put_fit(XXH3_state_t *state, const struct hardware *hw)
{
    put_real(state, hw->fit.error);
    put(state, hw->fit.spread_count);
    for (int i = 0; i < hw->fit.spread_count; i++) {
        put_name(state, hw->fit.spreads[i].key);
        put_real(state, hw->fit.spreads[i].relative_error);
    }
}

static void put_reals(XXH3_state_t *state, const double values[], int count)
{
    for (int i = 0; i < count; i++)
        put_real(state, values[i]);
}

static void put_level(XXH3_state_t *state, const struct host_level *level)
{
    const double rates[] = {level->read_gbps, level->write_gbps, level->stream_gbps};
    put_name(state, level->name);
    put(state, level->capacity_bytes);
    put(state, level->threads);
    put(state, level->line_bytes);
    put_reals(state, rates, sizeof rates / sizeof *rates);
    put(state, level->shared_count);
    put_reals(state, level->shared_gbps, level->shared_count);
}

/* A processor as measured, but for when and under what settings. */
static void put_host(XXH3_state_t *state, const struct hardware *hw)
{
    const struct host *host = hw->host;
    if (!host)
        return;
    put_name(state, host->cpu);
    put(state, host->isa);
    put(state, host->threads);
    put(state, host->level_count);
    for (int i = 0; i < host->level_count; i++)
        put_level(state, &host->levels[i]);
    put(state, host->loop_count);
    for (int i = 0; i < host->loop_count; i++) {
        const struct host_loop *loop = &host->loops[i];
        const double numbers[] = {loop->step_ns, loop->call_ns, loop->flops};
        put_name(state, loop->name);
        put_reals(state, numbers, sizeof numbers / sizeof *numbers);
    }
    put_real(state, host->parallel_ns);
    put_real(state, host->peak_gflops);
    put_real(state, host->overlap.walk_ns);
    put_reals(state, host->overlap.exposed, HOST_MAX_LEVELS);
    put_reals(state, host->overlap.jump_ns, HOST_MAX_LEVELS);
}

void hardware_fingerprint(const struct hardware *hw, char fingerprint[FINGERPRINT_SIZE])
{
    static void (*const parts[])(XXH3_state_t *, const struct hardware *) = {
        put_chip,   put_core_flags, put_cache_word, put_pipes_and_buffers,
        put_buses,  put_paths,      put_units,      put_operands_and_types,
        put_prices, put_fit,        put_host,
    };
    XXH3_state_t state;
    XXH128_canonical_t bytes;
    XXH3_128bits_reset(&state);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        parts[i](&state, hw);
    XXH128_canonicalFromHash(&bytes, XXH3_128bits_digest(&state));
    for (size_t i = 0; i < sizeof bytes.digest; i++)
        snprintf(fingerprint + 2 * i, 3, "%02x", bytes.digest[i]);
}

void hardware_price_fingerprint(const struct hardware *hw, char fingerprint[FINGERPRINT_SIZE])
{
    struct hardware prices = *hw;
    prices.cores = 0;
    for (int i = 0; i < prices.pipe_count; i++)
        memset(prices.pipes[i].memories, 0, sizeof prices.pipes[i].memories);
    for (int i = 0; i < prices.operation_count; i++)
        memset(prices.operations[i].results, 0, sizeof prices.operations[i].results);
    prices.fit = (struct fit){0};
    prices.cache.is_cold = false;
    hardware_fingerprint(&prices, fingerprint);
}
