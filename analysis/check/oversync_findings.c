/* Puts what the search says may go into words: what the unit is, then why, from a table by reason,
 * with the lines of the two accesses that the witness shows. */
#include "analysis/check/oversync_search.h"
#include "analysis/check/oversync_witness.h"

#include <stdio.h>

static int say_what(const struct program *program, const struct instruction *in, char *text,
                    size_t size)
{
    const struct pipe *pipes = program->hw->pipes;
    if (in->kind == INSTRUCTION_BARRIER)
        return snprintf(text, size, "the barrier in line %d orders %s", in->line,
                        in->pipe == PROGRAM_PIPE_ALL ? "" : pipes[in->pipe].name);
    return snprintf(text, size, "flag %s %s %d of line %d orders ", pipes[in->from].name,
                    pipes[in->to].name, in->flag, in->line);
}

/* With the two accesses, where the witness has them, in the middle. */
static void say_why(const struct program *program, const struct witness *witness, char *text,
                    size_t size)
{
    static const char *const words[OVERSYNC_REASONS][2] = {
        [OVERSYNC_UNKNOWN] = {"nothing new", ""},
        [OVERSYNC_ORDERED] = {"nothing new: ", ", for one, are in order without it"},
        [OVERSYNC_ORDERED_BEFORE] =
            {"no two accesses to the same bytes that were not in order before, as ", " are"},
        [OVERSYNC_NO_CONFLICT] = {"no two accesses to the same bytes", ""},
        [OVERSYNC_SAME_PIPE] = {" only, which keeps its order anyway", ""},
    };
    char lines[64] = "";
    if (witness->access_count == 2)
        snprintf(lines, sizeof lines, "lines %d and %d",
                 program->items[witness->accesses[0].item].line,
                 program->items[witness->accesses[1].item].line);
    snprintf(text, size, "%s%s%s; remove it", words[witness->reason][0], lines,
             words[witness->reason][1]);
}

static void say(const struct program *program, struct oversync_walk *walk,
                const struct oversync_unit *unit, struct findings *findings)
{
    const int32_t *items = &walk->found->items[unit->first];
    int32_t lines[FINDING_MAX_LINES];
    int count = 0;
    for (int32_t i = 0; i < unit->count && count < FINDING_MAX_LINES; i++)
        lines[count++] = program->items[items[i]].line;
    struct finding *finding = findings_add(findings, FINDING_OVER_SYNC, lines, count);
    if (!finding)
        return;
    oversync_witness(walk, unit, &finding->witness);
    int used = say_what(program, &program->items[items[0]], finding->text, sizeof finding->text);
    say_why(program, &finding->witness, finding->text + used, sizeof finding->text - (size_t)used);
}

enum status oversync_add(struct execution *execution, struct findings *findings,
                         struct error *error)
{
    struct oversync found;
    struct oversync_walk walk;
    enum status status = oversync_search(execution, &found, error);
    if (status != STATUS_OK)
        return status;
    status = oversync_walk_init(&walk, execution, &found, error);
    if (status == STATUS_OK) {
        for (int32_t i = 0; i < found.unit_count; i++)
            say(execution->program, &walk, &found.units[i], findings);
        oversync_walk_clear(&walk);
    }
    oversync_clear(&found);
    return status;
}
