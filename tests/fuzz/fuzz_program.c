/* A kernel: what is parsed prints as a text that parses as the same program, with the same
 * findings; what advice makes of it is such a program too, safe and faster. */
#include "analysis/advice/advice.h"
#include "analysis/advice/trial.h"
#include "analysis/check/check.h"
#include "core/program_text.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

/* Of what is checked, and of what advice is asked for: for the search's sake. */
enum { CHECKED_EXECUTED = 20000, ADVISED_EXECUTED = 1000, ADVISED_LINES = 24, CORES = 2 };

static char *print(const struct program *program)
{
    char *text = NULL;
    size_t length;
    struct error error;
    FILE *out = open_memstream(&text, &length);
    fuzz_require(out != NULL, "memory");
    fuzz_require_ok(program_print(program, out, &error), &error);
    fuzz_require(fclose(out) == 0, "memory");
    return text;
}

static bool same_region(const struct region *a, const struct region *b)
{
    return a->buffer == b->buffer && a->role == b->role && a->offset_bytes == b->offset_bytes &&
           memcmp(a->loop_stride_bytes, b->loop_stride_bytes, sizeof a->loop_stride_bytes) == 0 &&
           a->bytes == b->bytes && a->rows == b->rows &&
           (a->rows == 1 || a->row_stride_bytes == b->row_stride_bytes);
}

static bool same_instruction(const struct instruction *a, const struct instruction *b)
{
    return a->kind == b->kind && a->pipe == b->pipe && a->from == b->from && a->to == b->to &&
           a->flag == b->flag && a->type == b->type && a->to_type == b->to_type &&
           a->accumulate == b->accumulate && a->unit == b->unit && a->transpose == b->transpose &&
           a->region_count == b->region_count && a->what == b->what && a->price == b->price &&
           a->partner == b->partner && a->units == b->units && a->bursts == b->bursts &&
           a->align_bytes == b->align_bytes && a->burst_fs == b->burst_fs && a->count == b->count &&
           a->operand_bytes == b->operand_bytes;
}

static void require_same(const struct program *a, const struct program *b)
{
    fuzz_require(a->count == b->count && a->region_count == b->region_count &&
                     a->executed == b->executed,
                 "a printed program is as long");
    for (int32_t i = 0; i < a->count; i++)
        fuzz_require(same_instruction(&a->items[i], &b->items[i]), "of the same instructions");
    for (int32_t r = 0; r < a->region_count; r++)
        fuzz_require(same_region(&a->regions[r], &b->regions[r]), "on the same bytes");
}

/* The program that the printed text is; the caller clears it. */
static struct program reprint(const struct program *program)
{
    struct program again = {0};
    struct error error;
    char *text = print(program);
    fuzz_require_ok(program_parse(program->hw, "printed", text, strlen(text), &again, &error),
                    &error);
    char *twice = print(&again);
    fuzz_require(strcmp(text, twice) == 0, "what was printed prints the same");
    free(twice);
    free(text);
    require_same(program, &again);
    return again;
}

/* Lines are numbered anew by printing. */
static void require_same_findings(const struct check *a, const struct check *b)
{
    fuzz_require(a->count == b->count && a->truncated == b->truncated,
                 "a printed program has the same findings");
    for (size_t f = 0; f < a->count; f++)
        fuzz_require(a->findings[f].text[0] && !strchr(a->findings[f].text, '\n'),
                     "a finding is a line");
}

static void check(const struct program *program, const struct program *again)
{
    struct check one, two;
    struct error error = {0};
    enum status status = program_check(program, &one, &error);
    fuzz_require_line(status, &error);
    fuzz_require(program_check(again, &two, &error) == status, "a printed program is as large");
    if (status != STATUS_OK)
        return;
    require_same_findings(&one, &two);
    check_clear(&one);
    check_clear(&two);
}

static void require_advice(const struct advices *advices, const struct advice *advice,
                           const struct safety *before)
{
    struct safety after;
    struct error error;
    fuzz_require(advice->applies == (advice->changed.hw != NULL), "what applies is a program");
    if (!advice->applies)
        return;
    fuzz_require(advice->time_fs < advices->time_fs, "advice makes faster");
    struct program again = reprint(&advice->changed);
    fuzz_require_ok(safety_of(&again, &after, &error), &error);
    fuzz_require(after.safe && after.misaligned <= before->misaligned,
                 "advice keeps a program safe");
    program_clear(&again);
}

static void advise_it(const struct program *program)
{
    struct advices advices;
    struct safety safety;
    struct error error = {0};
    enum status status = advise(program, CORES, NULL, &advices, &error);
    fuzz_require_line(status, &error);
    if (status != STATUS_OK)
        return;
    fuzz_require_ok(safety_of(program, &safety, &error), &error);
    fuzz_require(advices.safe == safety.safe && advices.safe == !*advices.why,
                 "what is not safe says why");
    for (int i = 0; i < advices.count; i++)
        require_advice(&advices, &advices.items[i], &safety);
    advices_clear(&advices);
}

void fuzz_read_program(const char *file)
{
    static struct hardware hw;
    struct program program = {0};
    struct error error = {0};
    enum status status = program_read(fuzz_chip("ascend310", &hw), file, &program, &error);
    fuzz_require_line(status, &error);
    fuzz_require(status == STATUS_OK || program.count == 0, "a refused program is empty");
    if (status != STATUS_OK)
        return;
    struct program again = reprint(&program);
    if (program.executed <= CHECKED_EXECUTED)
        check(&program, &again);
    if (program.executed <= ADVISED_EXECUTED && program.count <= ADVISED_LINES)
        advise_it(&program);
    program_clear(&again);
    program_clear(&program);
}
