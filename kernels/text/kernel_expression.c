/* Expressions by precedence climbing (Richards 1969, Pratt 1973): a table says how tight each sign
 * binds. Every expression knows what it is; the statement around says what it wants. */
#include "kernels/text/kernel_parser.h"

static enum status parse_level(struct kernel_parser *parser, int least,
                               struct expression **expression);

static enum status nest(struct kernel_parser *parser)
{
    if (parser->nesting++ < KERNEL_MAX_NESTING)
        return STATUS_OK;
    return kernel_fail(parser, STATUS_TOO_LARGE, reader_place(parser),
                       "an expression that nests deeper than %d", KERNEL_MAX_NESTING);
}

/* A sign that stands before what it is of. */
static enum status parse_prefix(struct kernel_parser *parser, enum expression_op op, int level,
                                struct expression **expression)
{
    struct kernel_place at = reader_place(parser);
    struct expression *of = NULL;
    parser->at++;
    TRY(nest(parser));
    TRY(parse_level(parser, level, &of));
    parser->nesting--;
    return node_form(parser, expression_form(op), at, of, expression);
}

static const struct form *find_sign(const struct token *token)
{
    for (int o = 0; o < FORMS; o++)
        if (expression_forms[o].level != FUNCTION && expression_forms[o].least > 1 &&
            token_is(token, expression_forms[o].sign))
            return &expression_forms[o];
    return NULL;
}

/* The rest of an operation whose sign comes next, in place of its left side. */
static enum status parse_right(struct kernel_parser *parser, const struct form *form,
                               struct expression **left)
{
    struct kernel_place at = reader_place(parser);
    struct expression *args = *left;
    bool of_words = args->kind == EXPRESSION_IS_WORD &&
                    (form->op == EXPRESSION_EQUAL || form->op == EXPRESSION_UNEQUAL ||
                     form->op == EXPRESSION_IN);
    parser->at++;
    if (form->op == EXPRESSION_IN) {
        TRY(reader_expect(parser, "("));
        TRY(reader_args(parser, of_words ? args : NULL, 1, KERNEL_MAX_WORDS, &args->next));
    } else if (of_words) {
        TRY(reader_word(parser, args, &args->next));
    } else {
        TRY(parse_level(parser, form->level + 1, &args->next));
    }
    if (of_words)
        return node_make(parser, form->op, EXPRESSION_IS_TRUTH, at, args, left);
    return node_form(parser, form, at, args, left);
}

static enum status parse_level(struct kernel_parser *parser, int least,
                               struct expression **expression)
{
    const struct form *sign;
    if (least <= NOT_LEVEL && token_is(reader_peek(parser), "not"))
        TRY(parse_prefix(parser, EXPRESSION_NOT, NOT_LEVEL, expression));
    else if (token_is(reader_peek(parser), "-"))
        TRY(parse_prefix(parser, EXPRESSION_NEGATE, SIGN, expression));
    else
        TRY(reader_primary(parser, expression));
    int last = 0;
    while ((sign = find_sign(reader_peek(parser))) && sign->level >= least) {
        if (sign->level == COMPARED && last == COMPARED)
            return FAIL(parser, "'%s' behind a comparison, expected 'and' or parentheses",
                        sign->sign);
        last = sign->level;
        TRY(parse_right(parser, sign, expression));
    }
    return STATUS_OK;
}

/* Does an `else` belong to the `if` that comes next? Else that is the statement's. */
static bool has_else(const struct kernel_parser *parser)
{
    int depth = 0;
    for (int t = parser->at + 1; t < parser->end && depth >= 0; t++) {
        const struct token *token = &parser->tokens[t];
        depth += token_is(token, "(") || token_is(token, "[");
        depth -= token_is(token, ")") || token_is(token, "]");
        if (depth == 0 && (token_is(token, "else") || token_is(token, "if")))
            return token_is(token, "else");
    }
    return false;
}

/* "if" condition "else" other, behind what stands before it, in its place. */
static enum status parse_choice(struct kernel_parser *parser, const struct wanted *wanted,
                                enum status (*other)(struct kernel_parser *, struct expression **),
                                struct expression **expression)
{
    struct kernel_place at = reader_place(parser);
    struct expression *then = *expression, *condition = NULL;
    if (!token_is(reader_peek(parser), "if") || !has_else(parser))
        return STATUS_OK;
    parser->at++;
    TRY(parse_level(parser, OR_LEVEL, &condition));
    TRY(node_check(parser, condition, wanted->kinds, wanted->what));
    TRY(reader_expect(parser, "else"));
    TRY(other(parser, &then->next));
    condition->next = then;
    unsigned kinds = then->kind == EXPRESSION_IS_WHOLE || then->kind == EXPRESSION_IS_REAL
                         ? NUMBERS
                         : KIND(then->kind);
    TRY(node_check(parser, then, ~KIND(EXPRESSION_IS_WORD), "a number or a condition"));
    TRY(node_check(parser, then->next, kinds, expression_kind_names[then->kind]));
    enum expression_kind kind =
        then->next->kind == EXPRESSION_IS_REAL ? EXPRESSION_IS_REAL : then->kind;
    return node_make(parser, EXPRESSION_IF, kind, at, condition, expression);
}

enum status reader_any(struct kernel_parser *parser, struct expression **expression)
{
    TRY(nest(parser));
    TRY(parse_level(parser, OR_LEVEL, expression));
    TRY(parse_choice(parser, &wanted_condition, reader_any, expression));
    parser->nesting--;
    return STATUS_OK;
}

enum status reader_expression(struct kernel_parser *parser, const struct wanted *wanted,
                              struct expression **expression)
{
    parser->nesting = 0;
    TRY(reader_any(parser, expression));
    return reader_wanted(parser, *expression, wanted);
}

enum status reader_tight(struct kernel_parser *parser, const struct wanted *wanted,
                         struct expression **expression)
{
    int end = parser->end, stop = parser->at, depth = 0;
    struct token last = parser->stop;
    for (; stop < end && (stop == parser->at || depth || !parser->tokens[stop].is_spaced); stop++) {
        depth += token_is(&parser->tokens[stop], "(");
        depth -= token_is(&parser->tokens[stop], ")");
    }
    if (stop < end) {
        parser->stop = parser->tokens[stop];
        parser->stop.kind = TOKEN_END;
        parser->stop.text = "a blank";
    }
    parser->end = stop;
    TRY(reader_expression(parser, wanted, expression));
    if (parser->at < stop || parser->stop.kind != TOKEN_END)
        return reader_fail_expected(parser, "a blank behind the value");
    parser->end = end;
    parser->stop = last;
    return STATUS_OK;
}

enum status reader_list(struct kernel_parser *parser, const struct wanted *wanted, int most,
                        const char *what, struct expression **list, int *count)
{
    *count = 0;
    do {
        if (++*count > most)
            return kernel_fail(parser, STATUS_TOO_LARGE, reader_place(parser), "more than %d %s",
                               most, what);
        TRY(reader_expression(parser, wanted, list));
        list = &(*list)->next;
    } while (reader_take(parser, ","));
    return STATUS_OK;
}

enum status reader_dims(struct kernel_parser *parser, const struct wanted *wanted,
                        struct expression **list, int *count)
{
    TRY(reader_expect(parser, "["));
    TRY(reader_list(parser, wanted, KERNEL_MAX_DIMS, "dimensions", list, count));
    return reader_expect(parser, "]");
}

static enum status parse_life(struct kernel_parser *parser, struct expression **expression)
{
    struct kernel_place at = reader_place(parser);
    enum name_kind kind;
    int number = -1;
    TRY(nest(parser));
    if (reader_take(parser, "(")) {
        TRY(parse_life(parser, expression));
        TRY(reader_expect(parser, ")"));
    } else {
        bool is_top = reader_take(parser, "top");
        if (!is_top)
            TRY(reader_use(parser, NAMES(NAME_LOOP), "a loop around or 'top'", &kind, &number));
        TRY(node_make(parser, is_top ? EXPRESSION_TOP : EXPRESSION_LOOP, EXPRESSION_IS_PLACE, at,
                      NULL, expression));
        (*expression)->number = number;
    }
    TRY(parse_choice(parser, &wanted_choice, parse_life, expression));
    parser->nesting--;
    return STATUS_OK;
}

enum status reader_life(struct kernel_parser *parser, struct expression **expression)
{
    const struct wanted wanted = {KIND(EXPRESSION_IS_PLACE), 0, "a loop around or 'top'"};
    parser->nesting = 0;
    TRY(parse_life(parser, expression));
    return reader_wanted(parser, *expression, &wanted);
}
