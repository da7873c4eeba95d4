/* Declarations: a table of the words they begin with. What is declared is known from the next
 * statement on, so that nothing can use itself. */
#include "kernels/text/kernel_parser.h"

#include <string.h>

static enum status declare_kernel(struct kernel_parser *parser)
{
    struct kernel_name name;
    if (parser->has_kernel)
        return FAIL(parser, "a second kernel, expected one a text");
    TRY(reader_name(parser, false, &name));
    parser->kernel->name = name;
    parser->has_kernel = true;
    return STATUS_OK;
}

static enum status declare_title(struct kernel_parser *parser)
{
    const struct token *token = reader_peek(parser);
    if (parser->has_title)
        return FAIL(parser, "a second title, expected one a kernel");
    if (token->kind != TOKEN_TEXT)
        return reader_fail_expected(parser, "a text in quotes");
    char *title = kernel_allocate(parser->kernel, (size_t)token->length);
    if (!title)
        return error_memory(parser->error);
    memcpy(title, token->text + 1, (size_t)token->length - 2);
    parser->kernel->title = title;
    parser->has_title = true;
    parser->at++;
    return STATUS_OK;
}

static enum status declare_option(struct kernel_parser *parser, const struct kernel_name *name)
{
    struct kernel_size size = {.is_option = true};
    int number;
    TRY(reader_number(parser, &size.standard));
    TRY(reader_declare(parser, NAME_SIZE, name, &number));
    size.name = *name;
    parser->kernel->sizes[number] = size;
    return STATUS_OK;
}

static bool names_any(const struct expression *e)
{
    for (const struct expression *arg = e->args; arg; arg = arg->next)
        if (names_any(arg))
            return true;
    return !e->args && e->op != EXPRESSION_NUMBER && e->op != EXPRESSION_LANES;
}

/* A number that types decide alone. */
static enum status parse_pad(struct kernel_parser *parser, struct expression **pad)
{
    struct kernel_place at = reader_place(parser);
    TRY(reader_tight(parser, &wanted_count, pad));
    if (names_any(*pad))
        return FAIL_AT(parser, at,
                       "a pad that asks for sizes or axes, expected numbers and "
                       "lanes(TYPE)");
    return (*pad)->op != EXPRESSION_NUMBER || (*pad)->number > 0
               ? STATUS_OK
               : FAIL_AT(parser, at, "0, expected 1 or more");
}

static enum status declare_size(struct kernel_parser *parser)
{
    struct kernel_name name;
    int first = parser->kernel->size_count, number;
    struct expression *pad = NULL;
    TRY(reader_name(parser, false, &name));
    if (reader_take(parser, "="))
        return declare_option(parser, &name);
    TRY(reader_declare(parser, NAME_SIZE, &name, &number));
    while (reader_peek(parser)->kind == TOKEN_WORD && !token_is(reader_peek(parser), "pad")) {
        TRY(reader_name(parser, false, &name));
        TRY(reader_declare(parser, NAME_SIZE, &name, &number));
    }
    if (reader_take(parser, "pad"))
        TRY(parse_pad(parser, &pad));
    while (first <= number)
        parser->kernel->sizes[first++].pad = pad;
    return STATUS_OK;
}

static enum status declare_let(struct kernel_parser *parser)
{
    struct kernel_let let = {.line = -1};
    int number;
    TRY(reader_name(parser, false, &let.name));
    TRY(reader_expect(parser, "="));
    parser->declaring = let.name;
    TRY(reader_expression(parser, &wanted_let, &let.value));
    TRY(reader_declare(parser, NAME_LET, &let.name, &number));
    parser->kernel->lets[number] = let;
    return STATUS_OK;
}

static enum status declare_tensor(struct kernel_parser *parser)
{
    do {
        struct kernel_tensor tensor = {0};
        int number;
        TRY(reader_name(parser, false, &tensor.name));
        parser->declaring = tensor.name;
        TRY(reader_dims(parser, &wanted_count, &tensor.dims, &tensor.dim_count));
        TRY(reader_type(parser, &tensor.type));
        TRY(reader_declare(parser, NAME_TENSOR, &tensor.name, &number));
        parser->kernel->tensors[number] = tensor;
    } while (reader_take(parser, ","));
    return STATUS_OK;
}

/* ------------------------------------------------------------------ axes */

const struct cut kernel_cuts[CUTS] = {[CUT_SLICES] = {"slices", 1},
                                      [CUT_DIVISORS] = {"divisors", 1},
                                      [CUT_MULTIPLES] = {"multiples", 2},
                                      [CUT_POWERS] = {"powers", 2}};

static enum status parse_cut(struct kernel_parser *parser, struct kernel_axis *axis)
{
    const struct cut *cut = &kernel_cuts[axis->cut];
    struct kernel_place at = reader_place(parser);
    int count;
    parser->at++;
    TRY(reader_expect(parser, "("));
    TRY(reader_list(parser, &wanted_count, KERNEL_MAX_WORDS, "arguments", &axis->values, &count));
    if (count != cut->arguments)
        return FAIL_AT(parser, at, "'%s' of %d, expected %d", cut->name, count, cut->arguments);
    return reader_expect(parser, ")");
}

/* Do names alone stand there? */
static bool has_words(const struct kernel_parser *parser)
{
    for (int t = parser->at; t < parser->end; t++)
        if ((t - parser->at) % 2 ? !token_is(&parser->tokens[t], ",")
                                 : parser->tokens[t].kind != TOKEN_WORD)
            return false;
    return parser->at < parser->end && (parser->end - parser->at) % 2;
}

static enum status parse_words(struct kernel_parser *parser, struct kernel_axis *axis)
{
    int most = (parser->end - parser->at + 1) / 2;
    axis->cut = CUT_WORDS;
    if (most > KERNEL_MAX_WORDS)
        return kernel_fail(parser, STATUS_TOO_LARGE, reader_place(parser),
                           "an axis of %d words, expected at most %d", most, KERNEL_MAX_WORDS);
    axis->words = kernel_allocate(parser->kernel, (size_t)most * sizeof *axis->words);
    if (!axis->words)
        return error_memory(parser->error);
    do {
        struct kernel_name word;
        TRY(reader_name(parser, true, &word));
        for (int w = 0; w < axis->word_count; w++)
            if (strcmp(axis->words[w], word.text) == 0)
                return FAIL_AT(parser, word.at, "'%s' is listed twice, expected another word",
                               word.text);
        memcpy(axis->words[axis->word_count++], word.text, sizeof word.text);
    } while (reader_take(parser, ","));
    return STATUS_OK;
}

static enum status parse_values(struct kernel_parser *parser, struct kernel_axis *axis)
{
    int count;
    for (int cut = CUT_SLICES; cut < CUTS; cut++)
        if (token_is(reader_peek(parser), kernel_cuts[cut].name)) {
            axis->cut = (enum kernel_cut)cut;
            return parse_cut(parser, axis);
        }
    if (has_words(parser))
        return parse_words(parser, axis);
    return reader_list(parser, &wanted_count, KERNEL_MAX_WORDS, "values", &axis->values, &count);
}

static enum status declare_axis(struct kernel_parser *parser)
{
    struct kernel_axis axis = {.cut = CUT_LIST};
    int number;
    TRY(reader_name(parser, false, &axis.name));
    TRY(reader_expect(parser, "="));
    parser->declaring = axis.name;
    TRY(parse_values(parser, &axis));
    TRY(reader_declare(parser, NAME_AXIS, &axis.name, &number));
    parser->kernel->axes[number] = axis;
    return STATUS_OK;
}

/* ------------------------------------------------------------------ the rest */

/* One of at most `most` that have no name. */
static enum status count_up(struct kernel_parser *parser, int *count, int most, const char *what)
{
    if (*count == most)
        return kernel_fail(parser, STATUS_TOO_LARGE, reader_place(parser), "more than %d %s", most,
                           what);
    ++*count;
    return STATUS_OK;
}

static enum status declare_require(struct kernel_parser *parser)
{
    struct kernel_text *kernel = parser->kernel;
    struct kernel_require require = {.at = reader_place(parser)};
    TRY(reader_expression(parser, &wanted_choice, &require.truth));
    TRY(count_up(parser, &kernel->require_count, KERNEL_MAX_REQUIRES, "lines of 'require'"));
    kernel->requires[kernel->require_count - 1] = require;
    return STATUS_OK;
}

/* A size or let, or a choice between such. */
static enum status check_shared(struct kernel_parser *parser, const struct expression *e)
{
    if (e->op == EXPRESSION_IF) {
        TRY(check_shared(parser, e->args->next));
        return check_shared(parser, e->args->next->next);
    }
    if (e->op == EXPRESSION_SIZE || e->op == EXPRESSION_LET)
        return STATUS_OK;
    return FAIL_AT(parser, e->at, "cores share a size or a let, expected its name or a choice");
}

static enum status declare_cores(struct kernel_parser *parser)
{
    struct kernel_text *kernel = parser->kernel;
    if (kernel->cores_count)
        return FAIL(parser, "a second line of 'cores', expected one a kernel");
    do {
        struct kernel_cores cores = {.at = reader_place(parser)};
        TRY(reader_expression(parser, &wanted_count, &cores.what));
        TRY(check_shared(parser, cores.what));
        parser->knows_cores = true;
        if (reader_take(parser, "by"))
            TRY(reader_expression(parser, &wanted_count, &cores.shares));
        parser->knows_cores = false;
        TRY(count_up(parser, &kernel->cores_count, KERNEL_MAX_CORES, "directions for cores"));
        kernel->cores[kernel->cores_count - 1] = cores;
    } while (reader_take(parser, ","));
    return STATUS_OK;
}

/* Its loops come later, and are found by kernel_rules.c. */
static enum status declare_order(struct kernel_parser *parser)
{
    struct kernel_text *kernel = parser->kernel;
    struct kernel_order order = {.at = reader_place(parser)};
    do {
        if (order.count == KERNEL_MAX_DEPTH)
            return kernel_fail(parser, STATUS_TOO_LARGE, reader_place(parser),
                               "an order of more than %d loops", KERNEL_MAX_DEPTH);
        TRY(reader_name(parser, true, &order.names[order.count++]));
    } while (reader_take(parser, ","));
    if (order.count < 2)
        return FAIL_AT(parser, order.at, "an order of one loop, expected two or more");
    if (reader_take(parser, "if"))
        TRY(reader_expression(parser, &wanted_choice, &order.condition));
    TRY(count_up(parser, &kernel->order_count, KERNEL_MAX_ORDERS, "lines of 'order'"));
    kernel->orders[kernel->order_count - 1] = order;
    return STATUS_OK;
}

static const struct {
    const char *word;
    enum status (*declare)(struct kernel_parser *parser);
} declarations[] = {
    {"kernel", declare_kernel}, {"title", declare_title},     {"size", declare_size},
    {"let", declare_let},       {"tensor", declare_tensor},   {"axis", declare_axis},
    {"cores", declare_cores},   {"require", declare_require}, {"order", declare_order},
};

enum status reader_declaration(struct kernel_parser *parser, bool *found)
{
    const struct token *token = reader_peek(parser);
    *found = false;
    for (size_t d = 0; d < sizeof declarations / sizeof *declarations; d++) {
        bool is_let = declarations[d].declare == declare_let;
        if (!token_is(token, declarations[d].word) || (is_let && parser->has_body))
            continue;
        if (!parser->has_kernel && declarations[d].declare != declare_kernel)
            break;
        if (parser->has_body)
            return FAIL(parser, "'%s' behind the first loop, tile or step, expected above it",
                        declarations[d].word);
        *found = true;
        parser->at++;
        TRY(declarations[d].declare(parser));
        parser->declaring.text[0] = '\0';
        return reader_expect_end(parser);
    }
    return parser->has_kernel ? STATUS_OK : reader_fail_expected(parser, "'kernel' and its name");
}
