/* The inverse of program_text.c: keys in one fixed order, and none whose value is the usual one, so
 * that equal programs print alike. */
#include "core/program_text.h"

#include <errno.h>
#include <string.h>

/* Sources before destinations, as one reads them. */
static const uint8_t print_order[OPERAND_ROLES] = {OPERAND_SRC, OPERAND_SRC2, OPERAND_SRC3,
                                                   OPERAND_A,   OPERAND_B,    OPERAND_DST};

/* The names of the loops around an instruction, outermost first. An index that has no name and
 * no use prints nothing. */
static int enclosing_loops(const struct program *program, int32_t index,
                           const char *names[PROGRAM_MAX_DEPTH])
{
    int32_t open[PROGRAM_MAX_DEPTH];
    int depth = 0;
    for (int32_t i = 0; i < index; i++) {
        const struct instruction *in = &program->items[i];
        if (in->kind == INSTRUCTION_LOOP && in->partner < index)
            i = in->partner;
        else if (in->kind == INSTRUCTION_LOOP)
            open[depth++] = i;
    }
    for (int d = 0; d < depth; d++)
        names[d] = program->items[open[d]].name;
    return depth;
}

static void print_region(const struct program *program, const struct region *region, int depth,
                         const char *const names[], FILE *out)
{
    fprintf(out, " %s=%s:%lld", operand_role_name((enum operand_role)region->role),
            program->hw->buffers[region->buffer].name, (long long)region->offset_bytes);
    for (int d = 0; d < depth; d++)
        if (region->loop_stride_bytes[d])
            fprintf(out, "%+lld*%s", (long long)region->loop_stride_bytes[d], names[d]);
    if (region->rows > 1)
        fprintf(out, "%+lld*[%lld]", (long long)region->row_stride_bytes, (long long)region->rows);
    if (region->pieces > 1)
        fprintf(out, "%+lld*[%lld]", (long long)region->piece_stride_bytes,
                (long long)region->pieces);
}

static void print_operands(const struct program *program, const struct instruction *in, int depth,
                           const char *const names[], FILE *out)
{
    if (in->region_count == 0)
        return;
    const struct region *regions = &program->regions[in->first_region];
    for (int o = 0; o < OPERAND_ROLES; o++)
        for (int r = 0; r < in->region_count; r++)
            if (regions[r].role == print_order[o])
                print_region(program, &regions[r], depth, names, out);
}

static void print_cast(const struct instruction *in, FILE *out)
{
    if (in->to_type != in->type)
        fprintf(out, " cast=%s:%s", dtype_name(in->type), dtype_name(in->to_type));
}

static void print_work(const struct program *program, const struct instruction *in, FILE *out)
{
    const struct hardware *hw = program->hw;
    char path[2 * HARDWARE_NAME_SIZE + 3];
    fprintf(out, "%-4s ", hw->pipes[in->pipe].name);
    switch ((enum instruction_kind)in->kind) {
    case INSTRUCTION_MOVE:
        fprintf(out, "%s bytes=%lld", hardware_path_name(hw, in->what, path), (long long)in->bytes);
        print_cast(in, out);
        if (in->row_bytes)
            fprintf(out, " row_bytes=%lld", (long long)in->row_bytes);
        if (in->bursts > 1)
            fprintf(out, " bursts=%lld", (long long)in->bursts);
        if (in->bursts > 1 && in->align_bytes)
            fprintf(out, " align=%lld", (long long)in->align_bytes);
        break;
    case INSTRUCTION_MATRIX:
        fprintf(out, "mmad m=%d k=%d n=%d type=%s", in->m, in->k, in->n, dtype_name(in->type));
        break;
    case INSTRUCTION_VECTOR:
        fprintf(out, "%s elements=%lld type=%s", hw->operations[in->what].name,
                (long long)in->elements, dtype_name(in->type));
        print_cast(in, out);
        break;
    default:
        fprintf(out, "%s count=%lld", hw->operations[in->what].name, (long long)in->count);
        if (in->operand_bytes)
            fprintf(out, " bytes=%lld", (long long)in->operand_bytes);
    }
}

static void print_flag(const struct hardware *hw, const struct instruction *in, FILE *out)
{
    fprintf(out, "%-4s %s %s %d", in->kind == INSTRUCTION_SET ? "set" : "wait",
            hw->pipes[in->from].name, hw->pipes[in->to].name, in->flag);
}

static void print_loop(const struct instruction *in, FILE *out)
{
    if (in->name[0])
        fprintf(out, "loop %s %lld", in->name, (long long)in->count);
    else
        fprintf(out, "loop %lld", (long long)in->count);
}

static void print_instruction(const struct program *program, const struct instruction *in,
                              int depth, const char *const names[], FILE *out)
{
    switch ((enum instruction_kind)in->kind) {
    case INSTRUCTION_SET:
    case INSTRUCTION_WAIT:
        print_flag(program->hw, in, out);
        break;
    case INSTRUCTION_BARRIER:
        fputs("barrier", out);
        if (in->pipe != PROGRAM_PIPE_ALL)
            fprintf(out, " %s", program->hw->pipes[in->pipe].name);
        break;
    case INSTRUCTION_LOOP:
        print_loop(in, out);
        break;
    case INSTRUCTION_END:
        fputs("end", out);
        break;
    default:
        print_work(program, in, out);
        print_operands(program, in, depth, names, out);
        if (in->kind == INSTRUCTION_MATRIX)
            fprintf(out, " init=%d", !in->accumulate);
        if (in->unit)
            fputs(" unit=1", out);
        if (in->transpose)
            fputs(" transpose=1", out);
    }
}

enum status program_print(const struct program *program, FILE *stream, struct error *error)
{
    const char *names[PROGRAM_MAX_DEPTH];
    int depth = 0;
    for (int32_t i = 0; i < program->count; i++) {
        const struct instruction *in = &program->items[i];
        if (in->kind == INSTRUCTION_END)
            depth--;
        fprintf(stream, "%*s", 2 * depth, "");
        print_instruction(program, in, depth, names, stream);
        fputc('\n', stream);
        if (in->kind == INSTRUCTION_LOOP)
            names[depth++] = in->name;
    }
    if (ferror(stream) || fflush(stream))
        return error_set(error, STATUS_IO, "cannot write the program: %s", strerror(errno));
    return STATUS_OK;
}

void instruction_print(const struct program *program, int32_t index, char *text, size_t size)
{
    const char *names[PROGRAM_MAX_DEPTH];
    int depth = enclosing_loops(program, index, names);
    FILE *out = fmemopen(text, size, "w");
    text[0] = 0;
    if (!out)
        return;
    setvbuf(out, NULL, _IOFBF, 4096);
    print_instruction(program, &program->items[index], depth, names, out);
    fclose(out);
    text[size - 1] = 0;
}
