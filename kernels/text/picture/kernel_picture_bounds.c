/* What holds a kernel up: the chains of its work summary, whose times the lower bound is the
 * largest of (docs/bounds.md), with what comes before and after them; and what each bus carries. Of
 * each there are the pipes and the lines of the text. */
#include "costmodel/bound.h"
#include "kernels/text/bounds/kernel_work_parts.h"
#include "kernels/text/picture/kernel_picture_internal.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_SHOWN = 5, LIST_SIZE = 256 };

/* A row: steps, bits by their number in the plan, and their time. */
struct hold {
    double fs, ends_fs;
    uint64_t steps[PLAN_MAX_STEPS / 64];
    const char *name; /* of a bus, or of phases; NULL: a chain, which has pipes */
};

static bool holds_step(const struct hold *hold, int step)
{
    return hold->steps[step / 64] >> step % 64 & 1;
}

static void add_word(char list[LIST_SIZE], const char *word)
{
    size_t used = strlen(list);
    snprintf(list + used, LIST_SIZE - used, "%s%s", used ? ", " : "", word);
}

static json_t *hold_json(const struct picture *p, const struct hold *hold)
{
    const struct hardware *hw = p->space->hw;
    char pipes[LIST_SIZE] = "", lines[LIST_SIZE] = "", number[16];
    unsigned seen = 0;
    for (int s = 0; s < p->plan->step_count; s++) {
        const struct plan_step *step = &p->plan->steps[s];
        if (!holds_step(hold, s) || p->steps[s].runs == 0)
            continue;
        if (!(seen >> step->pipe & 1))
            add_word(pipes, hw->pipes[step->pipe].name);
        seen |= 1U << step->pipe;
        snprintf(number, sizeof number, "%d", p->plan->kernel->lines[step->line].at.line);
        add_word(lines, number);
    }
    json_t *ends_ns = hold->name ? json_null() : json_real(hold->ends_fs / FS_PER_NS);
    return json_pack("{s:f, s:o, s:s, s:s}", "time_ns", hold->fs / FS_PER_NS, "before_and_after_ns",
                     ends_ns, "where", hold->name ? hold->name : pipes, "lines", lines);
}

static int compare_holds(const void *a, const void *b)
{
    double one = ((const struct hold *)a)->fs, other = ((const struct hold *)b)->fs;
    return one < other ? 1 : one > other ? -1 : 0;
}

static double line_fs(const struct bound_plan *bound, const struct work *work, int line)
{
    return work->instructions[line] * bound->base_fs[line] + work->burst_fs[line] +
           work->units[line] * bound->fs_per_unit[line];
}

static void take_step(const struct picture *p, struct hold *hold, int step)
{
    if (p->steps[step].runs > 0)
        hold->steps[step / 64] |= UINT64_C(1) << step % 64;
}

static struct hold chain_hold(const struct picture *p, const struct work_chains *chains, int chain,
                              const struct bound_plan *bound, const struct work *work)
{
    const struct work_layout *layout = &chains->layout;
    struct hold hold = {.fs = 0};
    for (int line = 0; line < layout->line_count; line++)
        if (layout->chains[chain] >> line & 1)
            *(line < layout->total_count ? &hold.fs : &hold.ends_fs) += line_fs(bound, work, line);
    for (int s = 0; s < p->plan->step_count; s++)
        if (layout->chains[chain] >> chains->line[s] & 1)
            take_step(p, &hold, s);
    hold.fs += hold.ends_fs;
    return hold;
}

/* The last chain has no steps: it is the time until what is loaded once has been, and what is left
 * then (kernel_trace_ends.c). */
static struct hold phases_hold(const struct picture *p, const struct work_chains *chains,
                               const struct bound_plan *bound, const struct work *work)
{
    struct hold hold = chain_hold(p, chains, chains->layout.chain_count - 1, bound, work);
    hold.name = "until loaded, and the rest";
    for (int s = 0; s < p->plan->step_count; s++)
        if (p->plan->steps[s].once)
            take_step(p, &hold, s);
    return hold;
}

static struct hold bus_hold(const struct picture *p, const struct work_chains *chains, int bus,
                            const struct bound_plan *bound, const struct work *work)
{
    struct hold hold = {.name = p->space->hw->buses[bus].name};
    for (int line = 0; line < chains->layout.total_count; line++)
        if (bound->bus_lines[bus] >> line & 1)
            hold.fs += work->units[line] * bound->bus_fs_per_byte[line];
    for (int s = 0; s < p->plan->step_count; s++)
        if (bound->bus_lines[bus] >> chains->line[s] & 1)
            take_step(p, &hold, s);
    return hold;
}

static bool is_same(const struct hold *a, const struct hold *b)
{
    return a->name == b->name && memcmp(a->steps, b->steps, sizeof a->steps) == 0;
}

static void add_holds(const struct picture *p, const struct work_chains *chains,
                      const struct work *work, json_t *picture)
{
    struct hold holds[WORK_MAX_CHAINS + HARDWARE_MAX_BUSES];
    struct bound_plan bound;
    json_t *rows = json_array();
    int count = 0;
    bound_plan_make(&bound, p->space->hw, p->cores, &chains->layout);
    for (int c = 0; c < chains->layout.chain_count - 1; c++)
        holds[count++] = chain_hold(p, chains, c, &bound, work);
    holds[count++] = phases_hold(p, chains, &bound, work);
    for (int b = 0; b < p->space->hw->bus_count; b++)
        holds[count++] = bus_hold(p, chains, b, &bound, work);
    qsort(holds, (size_t)count, sizeof *holds, compare_holds);
    for (int h = 0; h < count && json_array_size(rows) < MOST_SHOWN; h++)
        if (holds[h].fs > 0 && (h == 0 || !is_same(&holds[h], &holds[h - 1])))
            json_array_append_new(rows, hold_json(p, &holds[h]));
    json_object_set_new(picture, "bounds", rows);
}

enum status picture_add_bounds(const struct picture *p, json_t *picture, struct error *error)
{
    struct work summary;
    const struct kernel_work *work = p->found->work;
    if (!work)
        return STATUS_OK;
    TRY(kernel_summarise(work, &p->env.values, p->cores, &summary, error));
    add_holds(p, &work->chains[summary.layout], &summary, picture);
    return STATUS_OK;
}
