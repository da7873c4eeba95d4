#include "analysis/oversync_search.h"

#include <stdio.h>

static void say(const struct program *program, const struct oversync *found,
                const struct oversync_unit *unit, struct findings *findings)
{
    const struct instruction *in = &program->items[found->items[unit->first]];
    int32_t lines[FINDING_MAX_LINES];
    int count = 0;
    for (int32_t i = 0; i < unit->count && count < FINDING_MAX_LINES; i++)
        lines[count++] = program->items[found->items[unit->first + i]].line;
    struct finding *finding = findings_add(findings, FINDING_OVER_SYNC, lines, count);
    if (!finding)
        return;
    const struct pipe *pipes = program->hw->pipes;
    if (in->kind == INSTRUCTION_BARRIER)
        snprintf(finding->text, sizeof finding->text,
                 in->pipe == PROGRAM_PIPE_ALL
                     ? "the barrier in line %d orders no two accesses that are not ordered without "
                       "it; remove it"
                     : "the barrier in line %d orders one pipe, which keeps its order anyway; "
                       "remove it",
                 in->line);
    else
        snprintf(finding->text, sizeof finding->text,
                 "flag %s %s %d of line%s orders no two accesses that are not ordered without it; "
                 "remove its sets and waits",
                 pipes[in->from].name, pipes[in->to].name, in->flag, "");
}

enum status oversync_report(struct play *play, struct findings *findings, struct error *error)
{
    struct oversync found;
    enum status status = oversync_search(play, &found, error);
    if (status != STATUS_OK)
        return status;
    for (int32_t i = 0; i < found.unit_count; i++)
        say(play->program, &found, &found.units[i], findings);
    oversync_clear(&found);
    return STATUS_OK;
}
