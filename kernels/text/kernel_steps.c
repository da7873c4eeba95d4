/* Steps: a verb, the parts that it writes and reads, keys and a condition. One table says how many
 * sources and which keys each verb has and where its parts may be. */
#include "kernels/text/kernel_parser.h"

#include <string.h>

const char *const kernel_verbs[VERBS] = {
    [VERB_LOAD] = "load", [VERB_STORE] = "store", [VERB_MOVE] = "move",
    [VERB_MMAD] = "mmad", [VERB_OPERATION] = "",  [VERB_SCALAR] = "scalar",
};

const char *const kernel_keys[STEP_KEYS] = {
    [STEP_BURSTS] = "bursts",       [STEP_ALIGN] = "align", [STEP_UNIT] = "unit",
    [STEP_TRANSPOSE] = "transpose", [STEP_FILL] = "fill",   [STEP_ADD] = "add",
    [STEP_ELEMENTS] = "elements",   [STEP_COUNT] = "count", [STEP_RELU] = "relu",
};

#define KEY(key) (1U << (key))
#define MOVES    (KEY(STEP_BURSTS) | KEY(STEP_ALIGN) | KEY(STEP_UNIT) | KEY(STEP_TRANSPOSE))

/* Where a part may be: a tile in a buffer of the chip, or a tensor or tile in gm. */
enum { ON_CHIP = 1, IN_GM = 2 };

static const struct {
    unsigned keys;
    int least, most;   /* sources */
    unsigned to, from; /* where its parts may be */
    bool may_have_none;
} verbs[VERBS] = {
    [VERB_LOAD] = {MOVES | KEY(STEP_FILL), 1, 1, ON_CHIP, ON_CHIP | IN_GM, false},
    [VERB_STORE] = {MOVES | KEY(STEP_ADD) | KEY(STEP_RELU), 1, 2, IN_GM, ON_CHIP, false},
    [VERB_MOVE] = {MOVES | KEY(STEP_RELU), 1, 2, ON_CHIP, ON_CHIP, false},
    [VERB_MMAD] = {KEY(STEP_UNIT), 2, 3, ON_CHIP, ON_CHIP, false},
    [VERB_OPERATION] = {KEY(STEP_ELEMENTS), 1, KERNEL_MAX_SOURCES, ON_CHIP, ON_CHIP, false},
    [VERB_SCALAR] = {KEY(STEP_COUNT), 1, 1, ON_CHIP, ON_CHIP, true},
};

/* Keys that are off or on. */
static const unsigned flags = KEY(STEP_UNIT) | KEY(STEP_TRANSPOSE) | KEY(STEP_ADD) | KEY(STEP_RELU);

/* ------------------------------------------------------------------ parts */

static bool is_range(const struct expression *e)
{
    if (e->op == EXPRESSION_IF)
        return is_range(e->args->next) && is_range(e->args->next->next);
    return e->op == EXPRESSION_LOOP;
}

static enum status parse_pick(struct kernel_parser *parser, struct kernel_pick **made)
{
    struct kernel_pick *pick = kernel_allocate(parser->kernel, sizeof *pick);
    if (!pick)
        return error_memory(parser->error);
    *made = pick;
    if (reader_take(parser, ":"))
        return STATUS_OK;
    TRY(reader_expression(parser, &wanted_pick, &pick->count));
    pick->kind = is_range(pick->count) ? PICK_RANGE : PICK_INDEX;
    if (!reader_take(parser, "from"))
        return STATUS_OK;
    pick->kind = PICK_FROM;
    if (!reader_take(parser, "?"))
        TRY(reader_expression(parser, &wanted_pick, &pick->from));
    return reader_take(parser, "by") ? reader_expression(parser, &wanted_pick, &pick->by)
                                     : STATUS_OK;
}

static int dims_of(const struct kernel_text *kernel, const struct kernel_part *part)
{
    return part->tile >= 0 ? kernel->tiles[part->tile].dim_count
                           : kernel->tensors[part->tensor].dim_count;
}

static enum status parse_picks(struct kernel_parser *parser, struct kernel_part *part)
{
    struct kernel_pick **next = &part->picks;
    if (!reader_take(parser, "["))
        return STATUS_OK;
    do {
        if (part->pick_count++ == dims_of(parser->kernel, part))
            return FAIL(parser, "another pick, expected at most one a dimension: %d",
                        dims_of(parser->kernel, part));
        TRY(parse_pick(parser, next));
        next = &(*next)->next;
    } while (reader_take(parser, ","));
    return reader_expect(parser, "]");
}

static enum status parse_part(struct kernel_parser *parser, struct kernel_part *part)
{
    enum name_kind kind;
    int number;
    *part = (struct kernel_part){.at = reader_place(parser), .tensor = -1, .tile = -1};
    TRY(reader_use(parser, NAMES(NAME_TENSOR) | NAMES(NAME_TILE), "a tile or tensor", &kind,
                   &number));
    *(kind == NAME_TILE ? &part->tile : &part->tensor) = number;
    return parse_picks(parser, part);
}

static const char *verb_of(const struct kernel_step *step)
{
    return step->verb == VERB_OPERATION ? step->operation : kernel_verbs[step->verb];
}

/* An operation that touches gm may be a load or store with a slip in its word. */
static enum status check_where(struct kernel_parser *parser, const struct kernel_step *step,
                               const struct kernel_part *part, unsigned where)
{
    const struct kernel_text *kernel = parser->kernel;
    if (part->value)
        return STATUS_OK;
    bool is_tensor = part->tensor >= 0;
    bool in_gm = is_tensor || strcmp(kernel->tiles[part->tile].buffer, "gm") == 0;
    if (where & (in_gm ? IN_GM : ON_CHIP))
        return STATUS_OK;
    struct suggestion like = suggest_for(verb_of(step), -1);
    for (int v = 0; step->verb == VERB_OPERATION && v <= VERB_MMAD; v++)
        suggest_try(&like, kernel_verbs[v]);
    return FAIL_AT(
        parser, part->at, "'%s' is %s, expected %s for '%s'%s",
        is_tensor ? kernel->tensors[part->tensor].name.text : kernel->tiles[part->tile].name.text,
        is_tensor ? "a tensor"
        : in_gm   ? "a tile in gm"
                  : "a tile on the chip",
        in_gm ? "a tile on the chip" : "a tensor or a tile in gm", verb_of(step), like.text);
}

/* A part, or a number where a verb takes one. */
static enum status parse_source(struct kernel_parser *parser, enum kernel_verb verb,
                                struct kernel_part *part)
{
    enum name_kind kind = NAME_TILE;
    int number;
    const struct token *token = reader_peek(parser);
    bool found = reader_find(parser, token, &kind, &number);
    if (verb == VERB_OPERATION && token->kind == TOKEN_WORD && !found && !token_is(token + 1, "("))
        return reader_use(parser, ~0U, "a tile, number, size, let, axis or range", &kind, &number);
    if (verb != VERB_OPERATION || (found && (kind == NAME_TILE || kind == NAME_TENSOR)))
        return parse_part(parser, part);
    *part = (struct kernel_part){.at = reader_place(parser), .tensor = -1, .tile = -1};
    return reader_expression(parser, &wanted_operand, &part->value);
}

static enum status parse_parts(struct kernel_parser *parser, struct kernel_step *step)
{
    struct kernel_place at = reader_place(parser);
    int most = verbs[step->verb].most, least = verbs[step->verb].least;
    TRY(parse_part(parser, &step->to));
    TRY(check_where(parser, step, &step->to, verbs[step->verb].to));
    TRY(reader_expect(parser, "<-"));
    do {
        if (step->source_count == most)
            return FAIL(parser, "another source, expected at most %d", most);
        struct kernel_part *from = &step->from[step->source_count++];
        TRY(parse_source(parser, step->verb, from));
        TRY(check_where(parser, step, from, verbs[step->verb].from));
    } while (reader_take(parser, ","));
    if (step->source_count < least)
        return FAIL_AT(parser, at, "%d source, expected %d", step->source_count, least);
    return STATUS_OK;
}

/* ------------------------------------------------------------------ steps */

static enum status find_key(struct kernel_parser *parser, const struct kernel_step *step, int *key)
{
    const struct token *token = reader_peek(parser);
    unsigned allowed = verbs[step->verb].keys;
    struct suggestion like = suggest_for(token->text, token->length);
    char text[TOKEN_SHOWN];
    if (token->kind != TOKEN_WORD)
        return reader_fail_expected(parser, "a key, 'if' or the end of the line");
    for (*key = 0; *key < STEP_KEYS; ++*key)
        if (token_is(token, kernel_keys[*key]) && allowed & KEY(*key))
            break;
        else if (allowed & KEY(*key))
            suggest_try(&like, kernel_keys[*key]);
    if (*key == STEP_KEYS)
        return FAIL(parser, "unknown key %s of '%s'%s", token_show(token, text), verb_of(step),
                    like.text);
    if (step->keys[*key])
        return FAIL(parser, "key '%s' is given twice", kernel_keys[*key]);
    parser->at++;
    return STATUS_OK;
}

static enum status parse_key(struct kernel_parser *parser, struct kernel_step *step)
{
    int key = 0;
    TRY(find_key(parser, step, &key));
    TRY(reader_expect(parser, "="));
    struct expression **value = &step->keys[key];
    TRY(reader_tight(parser, key == STEP_FILL ? &wanted_operand : &wanted_pick, value));
    if (KEY(key) & flags && (*value)->op == EXPRESSION_NUMBER && (*value)->number > 1)
        return FAIL_AT(parser, (*value)->at, "%s=%lld, expected 0 or 1", kernel_keys[key],
                       (long long)(*value)->number);
    return STATUS_OK;
}

/* The verb, or the operation that is one. */
static enum status parse_verb(struct kernel_parser *parser, struct kernel_step *step)
{
    step->verb = VERB_OPERATION;
    for (int v = 0; v < VERBS; v++)
        if (reader_take(parser, kernel_verbs[v]))
            step->verb = (enum kernel_verb)v;
    if (step->verb != VERB_OPERATION && step->verb != VERB_SCALAR)
        return STATUS_OK;
    return reader_foreign(
        parser, step->verb == VERB_SCALAR ? "an operation" : "'for', 'let', 'tile' or a step",
        step->operation);
}

enum status reader_step(struct kernel_parser *parser, struct kernel_step *step)
{
    step->to = (struct kernel_part){.tensor = -1, .tile = -1};
    TRY(parse_verb(parser, step));
    const struct token *token = reader_peek(parser);
    bool has_parts = token->kind == TOKEN_WORD && !token_is(token, "if") &&
                     !(parser->at + 1 < parser->end && token_is(token + 1, "="));
    if (has_parts || !verbs[step->verb].may_have_none)
        TRY(parse_parts(parser, step));
    while (reader_peek(parser)->kind != TOKEN_END && !token_is(reader_peek(parser), "if"))
        TRY(parse_key(parser, step));
    return reader_take(parser, "if")
               ? reader_expression(parser, &wanted_condition, &step->condition)
               : STATUS_OK;
}
