/* Writes an answer as CSV. A line is a tiling, with the axes of its space as columns. What is not
 * known is an empty field. */
#include "results/tune.h"

#include "core/host.h"
#include "formats/csv.h"

#include <math.h>
#include <string.h>

/* Rows of processors say themselves what they are for: many answers, one after the other, are a
 * table that runtime/ reads. */
static void put_problem_names(const struct tune_answer *answer, FILE *out)
{
    const struct operator* op = answer->problem->op;
    for (int i = 0; i < op->size_count; i++)
        fprintf(out, ",%s", op->size_names[i]);
    fputs(",threads,isa", out);
}

static void put_problem(const struct tune_answer *answer, FILE *out)
{
    for (int i = 0; i < answer->problem->op->size_count; i++)
        fprintf(out, ",%lld", (long long)answer->problem->size[i]);
    fprintf(out, ",%d,%s", answer->cores, host_isa_name(answer->space->hw->host->isa));
}

static void put_header(const struct tune_answer *answer, FILE *out)
{
    const struct space *space = answer->space;
    const struct hardware *hw = space->hw;
    fputs("rank", out);
    if (hw->host)
        put_problem_names(answer, out);
    for (int a = 0; a < space->axis_count; a++)
        fprintf(out, ",%s", space->axes[a].name);
    fputs(",cores_used,time_ns,lower_bound_ns,gflops,bottleneck", out);
    for (int p = 0; p < hw->pipe_count; p++)
        fprintf(out, ",share_%s", hw->pipes[p].name);
    for (int b = 0; b < hw->bus_count; b++)
        fprintf(out, ",share_%s", hw->buses[b].name);
    if (hw->host)
        fputs(",measured_ns,spread,max_error,samples,model_rank,quarantined", out);
    if (answer->correction && answer->correction->top)
        fputs(",corrected_ns,interval_low_ns,interval_high_ns", out);
    fputc('\n', out);
}

static void put_row(const struct tune_answer *answer, int rank, const struct found *found,
                    FILE *out)
{
    char text[24];
    const struct space *space = answer->space;
    const struct hardware *hw = space->hw;
    double time_ns = found_ns(found);
    fprintf(out, "%d", rank);
    if (hw->host)
        put_problem(answer, out);
    for (int a = 0; a < space->axis_count; a++) {
        fputc(',', out);
        csv_put(axis_value_text(&space->axes[a], found->tiling.value[a], text), out);
    }
    double gflops = tune_gflops(answer, time_ns);
    fprintf(out, ",%d,%.15g,%.15g,", found->cores_used, time_ns,
            (double)found->bound_fs / FS_PER_NS);
    if (isfinite(gflops))
        fprintf(out, "%.9g", gflops);
    fputc(',', out);
    csv_put(found_bottleneck(hw, found).name, out);
    for (int i = 0; i < hw->pipe_count + hw->bus_count; i++)
        fprintf(out, ",%.9g", found_share(hw, found, i).share);
}

/* What is not known is an empty field. */
static void put_number(double number, FILE *out)
{
    fputc(',', out);
    if (isfinite(number))
        fprintf(out, "%.15g", number);
}

static void put_measured(const struct host_candidate *m, FILE *out)
{
    bool timed = m && tune_measured_ns(m) > 0;
    put_number(timed ? tune_measured_ns(m) : NAN, out);
    put_number(timed ? m->measured.timing.spread : NAN, out);
    put_number(m ? tune_max_error(m) : NAN, out);
    put_number(timed ? (double)m->measured.timing.samples : (double)NAN, out);
    put_number(m ? (double)m->rank : NAN, out);
    fputc(',', out);
    if (m && m->measured.quarantine[0])
        csv_put(m->measured.quarantine, out);
}

static void put_corrected(const struct corrected *c, FILE *out)
{
    bool is = c->corrected_ns > 0;
    put_number(is ? c->corrected_ns : NAN, out);
    put_number(is ? c->low_ns : NAN, out);
    put_number(is ? c->high_ns : NAN, out);
}

/* What was measured, the fastest first; then the model's best that were not. */
enum status tune_write_csv(const struct tune_answer *answer, const struct style *style, FILE *out,
                           struct error *error)
{
    (void)style;
    const struct search_result *search = answer->search;
    int rank = 0;
    put_header(answer, out);
    for (int i = 0; answer->measured && i < answer->measured->tune.count; i++) {
        const struct host_candidate *candidate = &answer->measured->tune.items[i];
        put_row(answer, ++rank, &candidate->model, out);
        put_measured(candidate, out);
        fputc('\n', out);
    }
    for (int i = 0; i < search->count; i++) {
        if (tune_measured_of(answer, &search->best[i]))
            continue;
        put_row(answer, ++rank, &search->best[i], out);
        if (answer->space->hw->host)
            put_measured(NULL, out);
        if (answer->correction && answer->correction->top)
            put_corrected(&answer->correction->top[i], out);
        fputc('\n', out);
    }
    return ferror(out) ? error_set(error, STATUS_IO, "cannot write the CSV") : STATUS_OK;
}
