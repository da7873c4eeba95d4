/* Writes the answer of `autotune simulate`. A timeline's numbers with what the program moved and
 * computed, which is counted once more from the program (core/work.h). A bus has no busy time of
 * its own: its share is the time that all bytes would take at its best rate. */
#include "results/simulation.h"

#include "core/program_text.h"
#include "core/work.h"
#include "formats/json.h"
#include "formats/text.h"

#include <math.h>

struct path_bytes {
    char name[2 * HARDWARE_NAME_SIZE + 3];
    int64_t bytes; /* of one core */
};

/* Bytes per path, all its conversions together. */
static enum status sum_paths(const struct program *program,
                             struct path_bytes paths[HARDWARE_MAX_PATHS], struct error *error)
{
    const struct hardware *hw = program->hw;
    struct work_total totals[HARDWARE_MAX_PRICES];
    TRY(work_totals(program, totals, error));
    for (int p = 0; p < hw->path_count; p++) {
        hardware_path_name(hw, p, paths[p].name);
        paths[p].bytes = totals[hw->paths[p].price].units;
        for (int c = 0; c < hw->paths[p].cast_count; c++)
            paths[p].bytes += totals[hw->paths[p].casts[c].price].units;
    }
    return STATUS_OK;
}

/* The time that all working cores' bytes take on a bus at its best: its saturation is the share. */
static double bus_ns(const struct simulation *s, const struct path_bytes paths[], int bus)
{
    const struct hardware *hw = s->program->hw;
    const struct bus *b = &hw->buses[bus];
    uint32_t pipes = s->program->pipes;
    double bytes = 0;
    for (int p = 0; p < hw->path_count; p++)
        if (hw->paths[p].bus == bus)
            bytes +=
                (double)paths[p].bytes * s->cores * hardware_in_step(hw, pipes, hw->paths[p].pipe);
    return bytes * 1e9 / (double)b->total_bytes_per_s[b->sharers - 1];
}

static double bus_share(const struct simulation *s, const struct path_bytes paths[], int bus)
{
    double end_ns = (double)s->timeline->end_fs / FS_PER_NS;
    return end_ns > 0 ? bus_ns(s, paths, bus) / end_ns : 0;
}

static double busy_share(const struct simulation *s, int pipe)
{
    return s->timeline->end_fs ? (double)s->timeline->busy_fs[pipe] / (double)s->timeline->end_fs
                               : 0;
}

/* Counts may exceed an integer. */
static const char *operation_count(double count, char text[TEXT_SIZE])
{
    if (count < 1e18)
        return text_count((int64_t)count, text);
    snprintf(text, TEXT_SIZE, "%.3g", count);
    return text;
}

static void put_operations(const char *unit, const char *what, const double counts[DTYPE_COUNT],
                           FILE *out)
{
    char text[TEXT_SIZE];
    for (int t = 0; t < DTYPE_COUNT; t++)
        if (counts[t] > 0)
            fprintf(out, "  %-6s %-5s %s %s\n", unit, dtype_name((enum dtype)t),
                    operation_count(counts[t], text), what);
}

static void put_deadlock(const struct simulation *s, const struct style *style, FILE *out)
{
    char line[TEXT_LINE_SIZE];
    char text[256];
    const struct instruction *in = &s->program->items[s->timeline->blocked];
    instruction_print(s->program, s->timeline->blocked, text, sizeof text);
    fprintf(out, "  %sdeadlock%s     %s:%d: pipe %s waits for ever in '%s'\n", style->warn,
            style->end, text_line(text_file_name(s->file), line), in->line,
            in->pipe >= 0 ? s->program->hw->pipes[in->pipe].name : "(all)", text);
}

enum status simulation_write_table(const struct simulation *s, const struct style *style, FILE *out,
                                   struct error *error)
{
    char line[TEXT_LINE_SIZE];
    const struct hardware *hw = s->program->hw;
    struct path_bytes paths[HARDWARE_MAX_PATHS];
    struct operation_counts counts;
    char text[TEXT_SIZE], bar[TEXT_SIZE];
    TRY(sum_paths(s->program, paths, error));
    fprintf(out, "%s%s%s on %s, %d core%s\n", style->bold, text_line(text_file_name(s->file), line),
            style->end, hw->name, s->cores,
            s->cores == 1 ? ""
            : s->in_step  ? "s in step"
                          : "s, each by itself");
    text_put_hardware(hw, style, out);
    if (s->timeline->blocked >= 0) {
        put_deadlock(s, style, out);
        return STATUS_OK;
    }
    fprintf(out, "  time         %s%s%s  (%.6f ns)\n\n  busy share of the time\n", style->bold,
            text_time((double)s->timeline->end_fs / FS_PER_NS, text), style->end,
            (double)s->timeline->end_fs / FS_PER_NS);
    for (int p = 0; p < hw->pipe_count; p++)
        fprintf(out, "  %-12s %s %5.1f %%  %s\n", hw->pipes[p].name,
                text_bar(busy_share(s, p), bar), 100 * busy_share(s, p),
                text_time((double)s->timeline->busy_fs[p] / FS_PER_NS, text));
    for (int b = 0; b < hw->bus_count; b++)
        fprintf(out, "  %-12s %s %5.1f %%  %s at its best rate\n", hw->buses[b].name,
                text_bar(bus_share(s, paths, b), bar), 100 * bus_share(s, paths, b),
                text_time(bus_ns(s, paths, b), text));
    if (s->program->count)
        fprintf(out, "\n  moved and computed by one core\n");
    for (int p = 0; p < hw->path_count; p++)
        if (paths[p].bytes)
            fprintf(out, "  %-12s %s bytes\n", paths[p].name, text_count(paths[p].bytes, text));
    work_operations(s->program, &counts);
    put_operations("matrix", "operations", counts.matrix, out);
    put_operations("vector", "elements", counts.vector, out);
    if (counts.scalar > 0)
        fprintf(out, "  scalar       %s operation%s\n", operation_count(counts.scalar, text),
                counts.scalar > 1 ? "s" : "");
    return ferror(out) ? error_set(error, STATUS_IO, "cannot write the table") : STATUS_OK;
}

static json_t *buses_json(const struct simulation *s, const struct path_bytes paths[])
{
    json_t *buses = json_array();
    for (int b = 0; b < s->program->hw->bus_count; b++)
        json_array_append_new(
            buses, json_pack("{s:s, s:f, s:f}", "name", s->program->hw->buses[b].name, "busy_ns",
                             bus_ns(s, paths, b), "share", bus_share(s, paths, b)));
    return buses;
}

static json_t *deadlock_json(const struct simulation *s)
{
    char text[256];
    if (s->timeline->blocked < 0)
        return json_null();
    const struct instruction *in = &s->program->items[s->timeline->blocked];
    instruction_print(s->program, s->timeline->blocked, text, sizeof text);
    return json_pack("{s:s, s:i, s:s}", "pipe",
                     in->pipe >= 0 ? s->program->hw->pipes[in->pipe].name : "all", "line", in->line,
                     "text", text);
}

static void add_operations(json_t *array, const char *unit, const double counts[DTYPE_COUNT])
{
    for (int t = 0; t < DTYPE_COUNT; t++)
        if (counts[t] > 0)
            json_array_append_new(array, json_pack("{s:s, s:s, s:f}", "unit", unit, "type",
                                                   dtype_name((enum dtype)t), "count", counts[t]));
}

enum status simulation_write_json(const struct simulation *s, const struct style *style, FILE *out,
                                  struct error *error)
{
    (void)style;
    const struct hardware *hw = s->program->hw;
    struct path_bytes path_list[HARDWARE_MAX_PATHS] = {0};
    struct operation_counts counts;
    TRY(sum_paths(s->program, path_list, error));
    json_t *pipes = json_array(), *paths = json_array(), *operations = json_array();
    for (int p = 0; p < hw->pipe_count; p++)
        json_array_append_new(pipes,
                              json_pack("{s:s, s:f, s:f}", "name", hw->pipes[p].name, "busy_ns",
                                        (double)s->timeline->busy_fs[p] / FS_PER_NS, "share",
                                        busy_share(s, p)));
    for (int p = 0; p < hw->path_count; p++)
        json_array_append_new(paths, json_pack("{s:s, s:I}", "name", path_list[p].name, "bytes",
                                               (json_int_t)path_list[p].bytes));
    work_operations(s->program, &counts);
    add_operations(operations, "matrix", counts.matrix);
    add_operations(operations, "vector", counts.vector);
    double time_ns =
        s->timeline->blocked >= 0 ? (double)NAN : (double)s->timeline->end_fs / FS_PER_NS;
    return json_write(
        json_pack("{s:i, s:o, s:o, s:o, s:o, s:s, s:i, s:o, s:o, s:o, s:o, s:o, s:o}", "schema", 1,
                  "file", json_text(s->file), "hardware", json_text(hw->name), "hardware_file",
                  json_text(hw->file), "hardware_changes", overrides_json(hw), "cache",
                  hardware_cache_word(hw), "cores", s->cores, "time_ns", json_number(time_ns),
                  "pipes", pipes, "buses", buses_json(s, path_list), "paths", paths, "operations",
                  operations, "deadlock", deadlock_json(s)),
        out, error);
}
