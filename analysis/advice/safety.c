#include "analysis/advice/safety.h"

#include "analysis/check/places.h"
#include "analysis/check/play.h"

#include <string.h>

/* The first line with an operand that may lie anywhere in a buffer of the chip; 0: none. */
static int32_t find_unnamed(const struct program *program)
{
    for (int32_t i = 0; i < program->count; i++) {
        const struct instruction *in = &program->items[i];
        uint32_t named = 0, needed = 0;
        for (int r = 0; r < in->region_count; r++)
            named |= 1u << program->regions[in->first_region + r].role;
        if (in->kind == INSTRUCTION_MATRIX)
            needed = 1u << OPERAND_A | 1u << OPERAND_B | 1u << OPERAND_DST;
        else if (in->kind == INSTRUCTION_VECTOR)
            needed = 1u << OPERAND_DST;
        else if (in->kind == INSTRUCTION_MOVE) {
            const struct path *path = &program->hw->paths[in->what];
            const struct buffer *buffers = program->hw->buffers;
            needed |= buffers[path->source].capacity_bytes ? 1u << OPERAND_SRC : 0;
            needed |= buffers[path->destination].capacity_bytes ? 1u << OPERAND_DST : 0;
        }
        if (needed & ~named)
            return in->line;
    }
    return 0;
}

enum status safety_of(const struct program *program, struct safety *safety, struct error *error)
{
    struct findings findings = {0};
    struct play play;
    enum status status = play_init(&play, program, error);
    *safety = (struct safety){.unnamed_line = find_unnamed(program)};
    if (status != STATUS_OK)
        return status;
    places_check(program, &play.nest, &findings);
    status = play_run(&play, &findings, error);
    safety->misaligned = findings.of_kind[FINDING_ALIGNMENT];
    safety->safe = status == STATUS_OK && findings.count == safety->misaligned;
    for (size_t i = 0; i < findings.count && !*safety->why; i++)
        if (findings.items[i].kind != FINDING_ALIGNMENT)
            memcpy(safety->why, findings.items[i].text, sizeof safety->why);
    if (findings.no_memory)
        status = error_memory(error);
    findings_clear(&findings);
    play_clear(&play);
    return status;
}
