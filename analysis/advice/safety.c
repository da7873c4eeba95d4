#include "analysis/advice/safety.h"

#include "analysis/check/check.h"

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
    struct check check;
    enum status status = program_check_safety(program, &check, error);
    *safety = (struct safety){.safe = status == STATUS_OK, .unnamed_line = find_unnamed(program)};
    if (status != STATUS_OK)
        return status;
    for (size_t i = 0; i < check.count; i++) {
        const struct finding *finding = &check.findings[i];
        if (finding->kind == FINDING_ALIGNMENT) {
            safety->misaligned++;
            continue;
        }
        if (safety->safe)
            memcpy(safety->why, finding->text, sizeof safety->why);
        safety->safe = false;
    }
    check_clear(&check);
    return STATUS_OK;
}
