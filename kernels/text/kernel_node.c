/* Nodes of expressions: what each is, asks and names follows from its arguments. How deep they nest
 * and how many terms they have with their lets written out is limited, as whoever walks them later
 * goes as far. */
#include "kernels/text/kernel_parser.h"

const struct wanted wanted_count = {KIND(EXPRESSION_IS_WHOLE), 0, "a whole number"};
const struct wanted wanted_whole = {KIND(EXPRESSION_IS_WHOLE), ASKS_LENGTH | ASKS_ROUND,
                                    "a whole number"};
const struct wanted wanted_pick = {KIND(EXPRESSION_IS_WHOLE), ASKS_LENGTH | ASKS_ROUND | ASKS_BEGIN,
                                   "a whole number"};
const struct wanted wanted_operand = {NUMBERS, ASKS_LENGTH | ASKS_ROUND | ASKS_BEGIN, "a number"};
const struct wanted wanted_condition = {KIND(EXPRESSION_IS_TRUTH), ASKS_ROUND, "a condition"};
const struct wanted wanted_choice = {KIND(EXPRESSION_IS_TRUTH), 0, "a condition"};
const struct wanted wanted_let = {NUMBERS | KIND(EXPRESSION_IS_TRUTH),
                                  ASKS_LENGTH | ASKS_ROUND | ASKS_BEGIN, "a number or a condition"};

const char *const expression_kind_names[] = {
    [EXPRESSION_IS_WHOLE] = "a whole number", [EXPRESSION_IS_REAL] = "a real number",
    [EXPRESSION_IS_TRUTH] = "a condition",    [EXPRESSION_IS_WORD] = "an axis of words",
    [EXPRESSION_IS_PLACE] = "a loop",
};

const struct form expression_forms[FORMS] = {
    {"or", EXPRESSION_OR, OR_LEVEL, 2, 2, OF_TRUTH},
    {"and", EXPRESSION_AND, AND_LEVEL, 2, 2, OF_TRUTH},
    {"not", EXPRESSION_NOT, NOT_LEVEL, 1, 1, OF_TRUTH},
    {"==", EXPRESSION_EQUAL, COMPARED, 2, 2, COMPARES},
    {"!=", EXPRESSION_UNEQUAL, COMPARED, 2, 2, COMPARES},
    {"<", EXPRESSION_LESS, COMPARED, 2, 2, COMPARES},
    {"<=", EXPRESSION_AT_MOST, COMPARED, 2, 2, COMPARES},
    {">", EXPRESSION_MORE, COMPARED, 2, 2, COMPARES},
    {">=", EXPRESSION_AT_LEAST, COMPARED, 2, 2, COMPARES},
    {"in", EXPRESSION_IN, COMPARED, 2, KERNEL_MAX_WORDS + 1, COMPARES},
    {"+", EXPRESSION_ADD, SUM, 2, 2, OF_NUMBERS},
    {"-", EXPRESSION_SUBTRACT, SUM, 2, 2, OF_NUMBERS},
    {"*", EXPRESSION_MULTIPLY, PRODUCT, 2, 2, OF_NUMBERS},
    {"/", EXPRESSION_DIVIDE, PRODUCT, 2, 2, OF_NUMBERS},
    {"%", EXPRESSION_REMAINDER, PRODUCT, 2, 2, OF_WHOLE_NUMBERS},
    {"-", EXPRESSION_NEGATE, SIGN, 1, 1, OF_NUMBERS},
    {"up", EXPRESSION_UP, FUNCTION, 2, 2, OF_WHOLE_NUMBERS},
    {"cdiv", EXPRESSION_CDIV, FUNCTION, 2, 2, OF_WHOLE_NUMBERS},
    {"log2", EXPRESSION_LOG2, FUNCTION, 1, 1, OF_WHOLE_NUMBERS},
    {"pow2", EXPRESSION_POW2, FUNCTION, 1, 1, OF_WHOLE_NUMBERS},
    {"gcd", EXPRESSION_GCD, FUNCTION, 2, 2, OF_WHOLE_NUMBERS},
    {"min", EXPRESSION_MIN, FUNCTION, 2, KERNEL_MAX_WORDS, OF_NUMBERS},
    {"max", EXPRESSION_MAX, FUNCTION, 2, KERNEL_MAX_WORDS, OF_NUMBERS},
};

const struct form *expression_form(enum expression_op op)
{
    for (int o = 0; o < FORMS; o++)
        if (expression_forms[o].op == op)
            return &expression_forms[o];
    return NULL;
}

/* ------------------------------------------------------------------ nodes */

/* An expression of arguments that are checked. */
enum status node_make(struct kernel_parser *parser, enum expression_op op,
                      enum expression_kind kind, struct kernel_place at, struct expression *args,
                      struct expression **expression)
{
    struct expression *made = kernel_allocate(parser->kernel, sizeof *made);
    if (!made)
        return error_memory(parser->error);
    *made = (struct expression){.op = op, .kind = kind, .at = at, .terms = 1, .depth = 1};
    made->args = args;
    for (const struct expression *a = args; a; a = a->next) {
        made->terms += a->terms;
        made->depth = a->depth >= made->depth ? a->depth + 1 : made->depth;
        made->asks |= a->asks;
        made->loops |= a->loops;
    }
    if (made->depth > KERNEL_MAX_NESTING)
        return kernel_fail(parser, STATUS_TOO_LARGE, at,
                           "an expression that nests deeper than %d, its lets written out",
                           KERNEL_MAX_NESTING);
    if (made->terms > KERNEL_MAX_TERMS)
        return kernel_fail(parser, STATUS_TOO_LARGE, at,
                           "an expression of more than %d terms, its lets written out",
                           KERNEL_MAX_TERMS);
    *expression = made;
    return STATUS_OK;
}

enum status node_check(struct kernel_parser *parser, const struct expression *e, unsigned kinds,
                       const char *expected)
{
    if (kinds & KIND(e->kind))
        return STATUS_OK;
    if (e->kind == EXPRESSION_IS_WORD)
        return FAIL_AT(parser, e->at, "'%s' has words, which are compared only, expected %s",
                       parser->kernel->axes[e->number].name.text, expected);
    return FAIL_AT(parser, e->at, "%s, expected %s", expression_kind_names[e->kind], expected);
}

enum status node_form(struct kernel_parser *parser, const struct form *form, struct kernel_place at,
                      struct expression *args, struct expression **expression)
{
    static const struct {
        unsigned kinds;
        const char *what;
    } takes[] = {
        [OF_TRUTH] = {KIND(EXPRESSION_IS_TRUTH), "a condition"},
        [COMPARES] = {NUMBERS, "a number"},
        [OF_NUMBERS] = {NUMBERS, "a number"},
        [OF_WHOLE_NUMBERS] = {KIND(EXPRESSION_IS_WHOLE), "a whole number"},
    };
    enum expression_kind kind = EXPRESSION_IS_WHOLE;
    bool gives_truth = form->sort == OF_TRUTH || form->sort == COMPARES;
    char expected[64];
    snprintf(expected, sizeof expected, "%s for '%s'", takes[form->sort].what, form->sign);
    for (const struct expression *a = args; a; a = a->next) {
        TRY(node_check(parser, a, takes[form->sort].kinds, expected));
        kind = a->kind == EXPRESSION_IS_REAL ? a->kind : kind;
    }
    return node_make(parser, form->op, gives_truth ? EXPRESSION_IS_TRUTH : kind, at, args,
                     expression);
}

/* ------------------------------------------------------------------ for statements */

/* Where it asks what it may not. */
static const struct expression *find_asking(const struct expression *e, unsigned asks)
{
    while (e->args) {
        const struct expression *a = e->args;
        while (a && !(a->asks & asks))
            a = a->next;
        if (!a)
            break;
        e = a;
    }
    return e;
}

enum status reader_wanted(struct kernel_parser *parser, const struct expression *e,
                          const struct wanted *wanted)
{
    static const struct {
        unsigned asks;
        const char *text;
    } reasons[] = {
        {ASKS_BEGIN, "where a round begins, expected in picks and numbers only, or inside a loop "
                     "with 'each'"},
        {ASKS_LENGTH, "the length of a round, expected sizes and axes"},
        {ASKS_ROUND, "which round it is, expected sizes and axes"},
    };
    TRY(node_check(parser, e, wanted->kinds, wanted->what));
    for (size_t r = 0; r < sizeof reasons / sizeof *reasons; r++)
        if (reasons[r].asks & e->asks & ~wanted->asks)
            return FAIL_AT(parser, find_asking(e, reasons[r].asks)->at, "%s", reasons[r].text);
    return STATUS_OK;
}
