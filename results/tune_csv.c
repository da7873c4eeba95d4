#include "results/tune.h"

#include "core/host.h"
#include "formats/csv.h"

#include <math.h>
#include <string.h>

/* Rows of processors say themselves what they are for: many answers, one after the other, are a
 * table that runtime/ reads. */
static void put_problem_names(const struct tune_answer *answer, FILE *out)
{
    for (int i = 0; i < answer->size_count; i++)
        fprintf(out, ",%s", answer->size_names[i]);
    fputs(",threads,isa", out);
}

static void put_problem(const struct tune_answer *answer, FILE *out)
{
    for (int i = 0; i < answer->size_count; i++)
        fprintf(out, ",%lld", (long long)answer->sizes[i]);
    fprintf(out, ",%d,%s", answer->cores, host_isa_name(answer->hw->host->isa));
}

static void put_header(const struct tune_answer *answer, FILE *out)
{
    fputs("rank", out);
    if (answer->on_processor)
        put_problem_names(answer, out);
    for (int a = 0; a < answer->axis_count; a++)
        fprintf(out, ",%s", answer->axes[a].name);
    fputs(",cores_used,time_ns,lower_bound_ns,gflops,bottleneck", out);
    for (int p = 0; p < answer->hw->pipe_count; p++)
        fprintf(out, ",share_%s", answer->hw->pipes[p].name);
    for (int b = 0; b < answer->hw->bus_count; b++)
        fprintf(out, ",share_%s", answer->hw->buses[b].name);
    if (answer->on_processor)
        fputs(",measured_ns,spread,max_error,samples,model_rank,quarantined", out);
    fputc('\n', out);
}

static void put_row(const struct tune_answer *answer, int rank, const struct tune_row *row,
                    FILE *out)
{
    char text[24];
    fprintf(out, "%d", rank);
    if (answer->on_processor)
        put_problem(answer, out);
    for (int a = 0; a < answer->axis_count; a++) {
        fputc(',', out);
        csv_put(axis_value_text(&answer->axes[a], row->tiling.value[a], text), out);
    }
    fprintf(out, ",%d,%.15g,%.15g,%.9g,", row->cores_used, row->time_ns, row->lower_bound_ns,
            row->operations / row->time_ns);
    csv_put(tune_bottleneck(answer, row).name, out);
    for (int p = 0; p < answer->hw->pipe_count; p++)
        fprintf(out, ",%.9g", row->busy_ns[p] / row->time_ns);
    for (int b = 0; b < answer->hw->bus_count; b++)
        fprintf(out, ",%.9g", row->bus_ns[b] / row->time_ns);
}

/* What is not known is an empty field. */
static void put_number(double number, FILE *out)
{
    fputc(',', out);
    if (isfinite(number))
        fprintf(out, "%.15g", number);
}

static void put_measured(const struct tune_measured *m, FILE *out)
{
    bool known = m && m->measured_ns > 0;
    put_number(known ? m->measured_ns : NAN, out);
    put_number(known ? m->spread : NAN, out);
    put_number(m ? m->max_error : NAN, out);
    put_number(known ? (double)m->samples : (double)NAN, out);
    put_number(m ? (double)m->rank : NAN, out);
    fputc(',', out);
    if (m && m->quarantined)
        csv_put(m->quarantined, out);
    fputc('\n', out);
}

/* What was measured, the fastest first; then the model's best that were not. */
static void put_processor(const struct tune_answer *answer, FILE *out)
{
    int rank = 0;
    for (int i = 0; i < answer->measured_count; i++) {
        put_row(answer, ++rank, &answer->measured[i].row, out);
        put_measured(&answer->measured[i], out);
    }
    for (int i = 0; i < answer->count; i++) {
        if (tune_measured_of(answer, &answer->rows[i]))
            continue;
        put_row(answer, ++rank, &answer->rows[i], out);
        put_measured(NULL, out);
    }
}

enum status tune_write_csv(const struct tune_answer *answer, const struct style *style, FILE *out,
                           struct error *error)
{
    (void)style;
    put_header(answer, out);
    if (answer->on_processor)
        put_processor(answer, out);
    for (int i = 0; i < answer->count && !answer->on_processor; i++) {
        put_row(answer, i + 1, &answer->rows[i], out);
        fputc('\n', out);
    }
    return ferror(out) ? error_set(error, STATUS_IO, "cannot write the CSV") : STATUS_OK;
}
