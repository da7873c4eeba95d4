#include "results/tune.h"

#include <string.h>

/* A field as RFC 4180 wants it. */
static void put_text(FILE *out, const char *text)
{
    if (!strpbrk(text, ",\"\r\n")) {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    for (; *text; text++)
        fprintf(out, *text == '"' ? "\"\"" : "%c", *text);
    fputc('"', out);
}

static void put_header(const struct tune_answer *answer, FILE *out)
{
    fputs("rank", out);
    for (int a = 0; a < answer->axis_count; a++)
        fprintf(out, ",%s", answer->axes[a].name);
    fputs(",cores_used,time_ns,lower_bound_ns,gflops,bottleneck", out);
    for (int p = 0; p < answer->hw->pipe_count; p++)
        fprintf(out, ",share_%s", answer->hw->pipes[p].name);
    for (int b = 0; b < answer->hw->bus_count; b++)
        fprintf(out, ",share_%s", answer->hw->buses[b].name);
    fputc('\n', out);
}

enum status tune_write_csv(const struct tune_answer *answer, bool colour, FILE *out,
                           struct error *error)
{
    (void)colour;
    char text[24];
    put_header(answer, out);
    for (int i = 0; i < answer->count; i++) {
        const struct tune_row *row = &answer->rows[i];
        fprintf(out, "%d", i + 1);
        for (int a = 0; a < answer->axis_count; a++) {
            fputc(',', out);
            put_text(out, axis_value_text(&answer->axes[a], row->tiling.value[a], text));
        }
        fprintf(out, ",%d,%.15g,%.15g,%.9g,", row->cores_used, row->time_ns, row->lower_bound_ns,
                row->operations / row->time_ns);
        put_text(out, tune_bottleneck(answer, row).name);
        for (int p = 0; p < answer->hw->pipe_count; p++)
            fprintf(out, ",%.9g", row->busy_ns[p] / row->time_ns);
        for (int b = 0; b < answer->hw->bus_count; b++)
            fprintf(out, ",%.9g", row->bus_ns[b] / row->time_ns);
        fputc('\n', out);
    }
    return ferror(out) ? error_set(error, STATUS_IO, "cannot write the CSV") : STATUS_OK;
}
