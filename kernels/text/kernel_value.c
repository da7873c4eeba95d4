/* Values: numbers, names, words, and functions with their arguments. */
#include "kernels/text/kernel_parser.h"

#include <stdlib.h>
#include <string.h>

/* Functions of a name. */
static const struct {
    const char *name;
    enum expression_op op;
    unsigned asks; /* of a range whose rounds are not written out */
} questions[] = {
    {"begin", EXPRESSION_BEGIN, ASKS_BEGIN}, {"first", EXPRESSION_FIRST, ASKS_ROUND},
    {"last", EXPRESSION_LAST, ASKS_ROUND},   {"whole", EXPRESSION_WHOLE, 0},
    {"lanes", EXPRESSION_LANES, 0},          {"has", EXPRESSION_HAS_OPERATION, 0},
    {"is", EXPRESSION_IS_TYPE, 0},
};
enum { QUESTIONS = sizeof questions / sizeof *questions };

/* Words are compared with words of their axis: `left` == word, or a list of such. */
enum status reader_word(struct kernel_parser *parser, const struct expression *left,
                        struct expression **expression)
{
    const struct kernel_axis *axis = &parser->kernel->axes[left->number];
    const struct token *token = reader_peek(parser);
    struct suggestion like = suggest_for(token->text, token->length);
    char text[TOKEN_SHOWN];
    for (int w = 0; w < axis->word_count; w++) {
        if (token_is(token, axis->words[w])) {
            TRY(node_make(parser, EXPRESSION_WORD, EXPRESSION_IS_WORD, reader_place(parser), NULL,
                          expression));
            (*expression)->number = w;
            (*expression)->text = axis->words[w];
            parser->at++;
            return STATUS_OK;
        }
        if (token->kind == TOKEN_WORD)
            suggest_try(&like, axis->words[w]);
    }
    return FAIL(parser, "%s, expected a word of '%s'%s", token_show(token, text), axis->name.text,
                like.text);
}

/* ------------------------------------------------------------------ what stands for itself */

static enum status keep_text(struct kernel_parser *parser, const struct token *from,
                             const struct token *to, struct expression *e)
{
    size_t most = (size_t)(to[-1].text - from->text) + (size_t)to[-1].length;
    char *text = kernel_allocate(parser->kernel, most + 1);
    if (!text)
        return error_memory(parser->error);
    int length = 0;
    for (const struct token *t = from; t < to; t++) {
        memcpy(text + length, t->text, (size_t)t->length);
        length += t->length;
    }
    e->text = text;
    return STATUS_OK;
}

static enum status parse_number(struct kernel_parser *parser, struct expression **expression)
{
    const struct token *token = reader_peek(parser);
    bool is_real = token->kind == TOKEN_REAL;
    TRY(node_make(parser, is_real ? EXPRESSION_REAL : EXPRESSION_NUMBER,
                  is_real ? EXPRESSION_IS_REAL : EXPRESSION_IS_WHOLE, reader_place(parser), NULL,
                  expression));
    if (!is_real)
        return reader_number(parser, &(*expression)->number);
    parser->at++;
    TRY(keep_text(parser, token, token + 1, *expression));
    (*expression)->real = strtod((*expression)->text, NULL);
    return STATUS_OK;
}

static enum status parse_known(struct kernel_parser *parser, struct expression **expression)
{
    static const enum expression_op ops[NAME_KINDS] = {[NAME_SIZE] = EXPRESSION_SIZE,
                                                       [NAME_LET] = EXPRESSION_LET,
                                                       [NAME_AXIS] = EXPRESSION_AXIS,
                                                       [NAME_LOOP] = EXPRESSION_LOOP};
    struct kernel_place at = reader_place(parser);
    enum name_kind kind = NAME_SIZE;
    int number = 0;
    TRY(reader_use(parser, NAMES(NAME_SIZE) | NAMES(NAME_LET) | NAMES(NAME_AXIS) | NAMES(NAME_LOOP),
                   "a number, size, let, axis or range", &kind, &number));
    struct expression *let = kind == NAME_LET ? parser->kernel->lets[number].value : NULL;
    bool has_words = kind == NAME_AXIS && parser->kernel->axes[number].cut == CUT_WORDS;
    TRY(node_make(parser, ops[kind],
                  let         ? let->kind
                  : has_words ? EXPRESSION_IS_WORD
                              : EXPRESSION_IS_WHOLE,
                  at, let, expression));
    (*expression)->args = NULL; /* a let is walked into by its number */
    (*expression)->number = number;
    if (kind == NAME_LOOP) {
        (*expression)->asks = ASKS_LENGTH;
        (*expression)->loops = (uint64_t)1 << number;
    }
    return STATUS_OK;
}

/* has(vdiv), has(exp, f32), has(l0c->ub) */
static enum status parse_has(struct kernel_parser *parser, struct expression *e, int *number)
{
    const struct token *from = reader_peek(parser);
    char text[KERNEL_MAX_NAME + 1];
    TRY(reader_foreign(parser, "an operation or a path, as in l1->l0a", text));
    e->kind = EXPRESSION_IS_TRUTH;
    if (reader_take(parser, "->")) {
        e->op = EXPRESSION_HAS_PATH;
        TRY(reader_foreign(parser, "a buffer", text));
    }
    TRY(keep_text(parser, from, &parser->tokens[parser->at], e));
    if (e->op == EXPRESSION_HAS_PATH || !reader_take(parser, ","))
        return STATUS_OK;
    TRY(reader_type(parser, number));
    ++*number;
    return STATUS_OK;
}

/* is(dtype, bf16) */
static enum status parse_is(struct kernel_parser *parser, struct expression *e, int *number)
{
    int other = 0;
    e->kind = EXPRESSION_IS_TRUTH;
    TRY(reader_type(parser, number));
    TRY(reader_expect(parser, ","));
    TRY(reader_type(parser, &other));
    *number = *number * KERNEL_TYPES + other;
    return STATUS_OK;
}

static enum status parse_question(struct kernel_parser *parser, int question,
                                  struct expression **expression)
{
    enum expression_op op = questions[question].op;
    enum name_kind kind;
    int number = 0;
    TRY(node_make(parser, op, EXPRESSION_IS_WHOLE, reader_place(parser), NULL, expression));
    parser->at += 2;
    struct expression *e = *expression;
    if (op == EXPRESSION_HAS_OPERATION) {
        TRY(parse_has(parser, e, &number));
    } else if (op == EXPRESSION_LANES) {
        TRY(reader_type(parser, &number));
    } else if (op == EXPRESSION_IS_TYPE) {
        TRY(parse_is(parser, e, &number));
    } else if (op == EXPRESSION_WHOLE) {
        TRY(reader_use(parser, NAMES(NAME_SIZE), "a size", &kind, &number));
    } else {
        TRY(reader_use(parser, NAMES(NAME_LOOP), "the range of a loop around", &kind, &number));
        e->loops = (uint64_t)1 << number;
        e->kind = op == EXPRESSION_BEGIN ? EXPRESSION_IS_WHOLE : EXPRESSION_IS_TRUTH;
        e->asks = op == EXPRESSION_BEGIN && parser->kernel->loops[number].each
                      ? ASKS_ROUND
                      : questions[question].asks;
    }
    e->number = number;
    return reader_expect(parser, ")");
}

/* ------------------------------------------------------------------ operations */

/* e {"," e} `close`, from `least` to `most` of them; of words where `axis` is one. */
enum status reader_args(struct kernel_parser *parser, const struct expression *axis, int least,
                        int most, struct expression **list)
{
    struct kernel_place at = reader_place(parser);
    int count = 0;
    do {
        TRY(axis ? reader_word(parser, axis, list) : reader_any(parser, list));
        list = &(*list)->next;
        count++;
    } while (reader_take(parser, ","));
    if (count < least || count > most)
        return FAIL_AT(parser, at, "%d argument%s, expected %s%d%s", count, count == 1 ? "" : "s",
                       count > most && least < most ? "at most " : "", count < least ? least : most,
                       count < least && least < most ? " or more" : "");
    return reader_expect(parser, ")");
}

static enum status parse_call(struct kernel_parser *parser, struct expression **expression)
{
    const struct token *token = reader_peek(parser);
    struct kernel_place at = reader_place(parser);
    struct suggestion like = suggest_for(token->text, token->length);
    for (int o = 0; o < FORMS; o++) {
        if (expression_forms[o].level != FUNCTION)
            continue;
        suggest_try(&like, expression_forms[o].sign);
        if (!token_is(token, expression_forms[o].sign))
            continue;
        struct expression *args = NULL;
        parser->at += 2;
        TRY(reader_args(parser, NULL, expression_forms[o].least, expression_forms[o].most, &args));
        return node_form(parser, &expression_forms[o], at, args, expression);
    }
    for (int q = 0; q < QUESTIONS; q++) {
        suggest_try(&like, questions[q].name);
        if (token_is(token, questions[q].name))
            return parse_question(parser, q, expression);
    }
    char text[TOKEN_SHOWN];
    return FAIL(parser, "unknown function %s%s", token_show(token, text), like.text);
}

enum status reader_primary(struct kernel_parser *parser, struct expression **expression)
{
    const struct token *token = reader_peek(parser);
    struct kernel_place at = reader_place(parser);
    if (reader_take(parser, "(")) {
        TRY(reader_any(parser, expression));
        return reader_expect(parser, ")");
    }
    if (token->kind == TOKEN_NUMBER || token->kind == TOKEN_REAL)
        return parse_number(parser, expression);
    if (token->kind == TOKEN_WORD && parser->at + 1 < parser->end && token_is(token + 1, "("))
        return parse_call(parser, expression);
    if (parser->knows_cores && reader_take(parser, "cores"))
        return node_make(parser, EXPRESSION_CORES, EXPRESSION_IS_WHOLE, at, NULL, expression);
    return parse_known(parser, expression);
}
