#include "analysis/advice/grain.h"

int64_t grain_divisor(int64_t a, int64_t b)
{
    a = a < 0 ? -a : a;
    b = b < 0 ? -b : b;
    while (b) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

bool grain_has_role(const struct instruction *in, enum operand_role role)
{
    switch ((enum instruction_kind)in->kind) {
    case INSTRUCTION_MOVE:
        return role == OPERAND_DST || role == OPERAND_SRC;
    case INSTRUCTION_MATRIX:
        return role == OPERAND_DST || role == OPERAND_A || role == OPERAND_B;
    case INSTRUCTION_VECTOR:
        return role == OPERAND_DST;
    default:
        return false;
    }
}

static int64_t region_grain(const struct region *region, int64_t grain)
{
    grain = grain_divisor(grain, region->offset_bytes);
    grain = grain_divisor(grain, region->bytes / region->rows);
    grain = grain_divisor(grain, region->row_stride_bytes);
    for (int d = 0; d < PROGRAM_MAX_DEPTH; d++)
        grain = grain_divisor(grain, region->loop_stride_bytes[d]);
    return grain;
}

int64_t grain_of(const struct program *program)
{
    int64_t grain = 0;
    for (int32_t i = 0; i < program->count; i++) {
        const struct instruction *in = &program->items[i];
        for (int r = 0; r < in->region_count; r++)
            grain = region_grain(&program->regions[in->first_region + r], grain);
        for (enum operand_role role = 0; role < OPERAND_ROLES; role++)
            if (grain_has_role(in, role))
                grain = grain_divisor(grain, instruction_extent_bytes(program->hw, in, role));
    }
    return grain ? grain : 1;
}
