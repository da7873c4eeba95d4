/* The flags of a kernel's program: after which step a register is set, before which one it is
 * waited for, and how often. What its plan may need is known from the structure; the program says
 * which of that these sizes ask for. */
#include "analysis/check/oversync.h"
#include "kernels/text/picture/kernel_picture_internal.h"

#include <string.h>

enum { PAIRS = HARDWARE_MAX_PIPES * HARDWARE_MAX_PIPES, LIST_SIZE = 128 };

/* How often a register of a pair of pipes is set. */
struct sets {
    int64_t times[PAIRS][HARDWARE_MAX_FLAGS];
};

static int pair_of(int from, int to)
{
    return from * HARDWARE_MAX_PIPES + to;
}

static void count_sets(const struct program *program, struct sets *sets)
{
    struct repetition repetition = {.times = {1}};
    for (int i = 0; i < program->count; i++) {
        const struct instruction *in = &program->items[i];
        int64_t times = repetition_step(&repetition, in);
        if (in->kind == INSTRUCTION_SET)
            sets->times[pair_of(in->from, in->to)][in->flag] += times;
    }
}

/* How often all of its registers are set; not at all, where it turned out to be superfluous. */
static int64_t times_of(const struct kernel_token *token, const struct sets *sets)
{
    int64_t times = 0;
    for (int r = token->first; r < token->first + token->count; r++)
        times += sets->times[pair_of(token->from, token->to)][r];
    return times;
}

static json_t *token_json(const struct picture *p, const struct kernel_token *token,
                          const struct sets *sets)
{
    const struct hardware *hw = p->space->hw;
    const struct plan_step *steps = p->plan->steps;
    const struct kernel_text *kernel = p->plan->kernel;
    char list[LIST_SIZE] = "";
    for (int r = token->first; r < token->first + token->count; r++) {
        size_t used = strlen(list);
        snprintf(list + used, LIST_SIZE - used, "%s%d", used ? ", " : "", r);
    }
    return json_pack("{s:s, s:s, s:s, s:I, s:s, s:i, s:i, s:s}", "from",
                     hw->pipes[token->from].name, "to", hw->pipes[token->to].name, "registers",
                     list, "sets", (json_int_t)times_of(token, sets), "tile",
                     token->tile < 0 ? "room" : kernel->tiles[token->tile].name.text, "after_line",
                     kernel->lines[steps[token->src].line].at.line, "before_line",
                     kernel->lines[steps[token->dst].line].at.line, "says",
                     token->is_pace    ? "it was waited for"
                     : token->distance ? "free"
                                       : "full");
}

/* A register counts for the first that uses it: others, as reloads of a tile, do the same in rounds
 * of other loops. */
static void add_tokens(const struct picture *p, struct sets *sets, json_t *picture)
{
    const struct kernel_flags *flags = p->found->flags;
    json_t *rows = json_array();
    for (int t = 0; t < flags->token_count; t++) {
        const struct kernel_token *token = &flags->tokens[t];
        if (times_of(token, sets))
            json_array_append_new(rows, token_json(p, token, sets));
        for (int r = token->first; r < token->first + token->count; r++)
            sets->times[pair_of(token->from, token->to)][r] = 0;
    }
    json_object_set_new(picture, "flags", rows);
}

enum status picture_add_flags(const struct picture *p, const struct tiling *tiling, json_t *picture,
                              struct error *error)
{
    struct program program = {0};
    struct sets sets = {0};
    program_reset(&program, p->space->hw);
    enum status status = p->space->kind->generate(p->space, tiling, 0, &program, error);
    if (status == STATUS_OK)
        status = program_tidy(&program, p->space->stop, error); /* as it is shown */
    if (status == STATUS_OK) {
        count_sets(&program, &sets);
        add_tokens(p, &sets, picture);
    }
    program_clear(&program);
    return status;
}
