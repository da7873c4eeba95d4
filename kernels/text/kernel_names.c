/* Names: one table says where the things of each kind are and how many there may be, so that
 * finding and declaring is one function for all. There are a few hundred names at most: they are
 * compared one by one. */
#include "kernels/text/kernel_parser.h"

#include <string.h>

static const char *const reserved[] = {
    "kernel", "title",       "size",   "pad",   "let",   "tensor", "axis", "require",   "cores",
    "order",  "for",         "in",     "by",    "each",  "tile",   "at",   "top",       "if",
    "else",   "or",          "and",    "not",   "load",  "store",  "move", "mmad",      "scalar",
    "from",   "up",          "cdiv",   "log2",  "pow2",  "min",    "max",  "slices",    "divisors",
    "powers", "begin",       "last",   "first", "whole", "lanes",  "has",  "multiples", "dtype",
    "gm",     "accumulator", "result", "gcd",
};

#define ARRAY(member)                                                                              \
    offsetof(struct kernel_text, member), sizeof(((struct kernel_text *)0)->member[0]),            \
        sizeof(((struct kernel_text *)0)->member) / sizeof(((struct kernel_text *)0)->member[0])

/* The things of each kind begin with their name. */
static const struct {
    const char *what;
    size_t first, size, most, count;
} kinds[NAME_KINDS] = {
    [NAME_SIZE] = {"a size", ARRAY(sizes), offsetof(struct kernel_text, size_count)},
    [NAME_LET] = {"a let", ARRAY(lets), offsetof(struct kernel_text, let_count)},
    [NAME_TENSOR] = {"a tensor", ARRAY(tensors), offsetof(struct kernel_text, tensor_count)},
    [NAME_AXIS] = {"an axis", ARRAY(axes), offsetof(struct kernel_text, axis_count)},
    [NAME_LOOP] = {"a loop", ARRAY(loops), offsetof(struct kernel_text, loop_count)},
    [NAME_TILE] = {"a tile", ARRAY(tiles), offsetof(struct kernel_text, tile_count)},
};

static int *count_of(struct kernel_text *kernel, enum name_kind kind)
{
    return (int *)(void *)((char *)kernel + kinds[kind].count);
}

int kernel_count(const struct kernel_text *kernel, enum name_kind kind)
{
    return *(const int *)(const void *)((const char *)kernel + kinds[kind].count);
}

const struct kernel_name *kernel_named(const struct kernel_text *kernel, enum name_kind kind,
                                       int number)
{
    return (const struct kernel_name *)(const void *)((const char *)kernel + kinds[kind].first +
                                                      (size_t)number * kinds[kind].size);
}

/* The same, to be changed. */
static struct kernel_name *own_name(struct kernel_text *kernel, enum name_kind kind, int number)
{
    return (struct kernel_name *)(void *)((char *)kernel + kinds[kind].first +
                                          (size_t)number * kinds[kind].size);
}

static bool is_same(const struct token *token, const char *name)
{
    return (int)strlen(name) == token->length &&
           memcmp(name, token->text, (size_t)token->length) == 0;
}

bool reader_find(const struct kernel_parser *parser, const struct token *token,
                 enum name_kind *kind, int *number)
{
    if (token->kind != TOKEN_WORD)
        return false;
    for (int k = 0; k < NAME_KINDS; k++)
        for (int n = 0; n < kernel_count(parser->kernel, (enum name_kind)k); n++)
            if (is_same(token, kernel_named(parser->kernel, (enum name_kind)k, n)->text)) {
                *kind = (enum name_kind)k;
                *number = n;
                return true;
            }
    return false;
}

static bool is_reserved(const struct token *token)
{
    for (size_t r = 0; r < sizeof reserved / sizeof *reserved; r++)
        if (is_same(token, reserved[r]))
            return true;
    return false;
}

static bool is_key(const struct token *token)
{
    for (int key = 0; key < STEP_KEYS; key++)
        if (is_same(token, kernel_keys[key]))
            return true;
    return false;
}

static int find_type(const struct token *token)
{
    for (int type = 0; type < KERNEL_TYPES; type++)
        if ((type < DTYPE_COUNT || type >= KERNEL_DTYPE) && is_same(token, kernel_type_name(type)))
            return type;
    return -1;
}

enum status reader_name(struct kernel_parser *parser, bool may_repeat, struct kernel_name *name)
{
    const struct token *token = reader_peek(parser);
    enum name_kind kind;
    int number;
    if (token->kind != TOKEN_WORD)
        return reader_fail_expected(parser, "a name");
    if (token->length > KERNEL_MAX_NAME)
        return FAIL(parser, "a name of %d characters, expected at most %d", token->length,
                    KERNEL_MAX_NAME);
    if (is_reserved(token) || is_key(token))
        return FAIL(parser, "'%.*s' is a word of the language, expected a name", token->length,
                    token->text);
    if (find_type(token) >= 0)
        return FAIL(parser, "'%.*s' is a type, expected a name", token->length, token->text);
    if (!may_repeat && reader_find(parser, token, &kind, &number))
        return FAIL(parser,
                    "'%.*s' is declared twice: line %d has %s of that name, expected another one",
                    token->length, token->text, kernel_named(parser->kernel, kind, number)->at.line,
                    kinds[kind].what);
    *name = (struct kernel_name){.at = reader_place(parser)};
    memcpy(name->text, token->text, (size_t)token->length);
    parser->at++;
    return STATUS_OK;
}

enum status reader_declare(struct kernel_parser *parser, enum name_kind kind,
                           const struct kernel_name *name, int *number)
{
    int *count = count_of(parser->kernel, kind);
    if ((size_t)*count == kinds[kind].most)
        return kernel_fail(parser, STATUS_TOO_LARGE, name->at,
                           "%s '%s' too many, expected at most %zu", kinds[kind].what, name->text,
                           kinds[kind].most);
    *number = (*count)++;
    struct kernel_name *own = own_name(parser->kernel, kind, *number);
    memset(own, 0, kinds[kind].size);
    *own = *name;
    return STATUS_OK;
}

/* Is the body around the line, -1 for the declarations, open? */
static bool is_open(const struct kernel_parser *parser, int line)
{
    int loop = line < 0 ? -1 : parser->kernel->lines[line].around;
    if (loop < 0)
        return true;
    for (int d = 0; d < parser->depth; d++)
        if (parser->open[d] == loop)
            return true;
    return false;
}

/* A range is known in its loop's body, a let in the body that it stands in. */
static bool is_known(const struct kernel_parser *parser, enum name_kind kind, int number)
{
    if (kind == NAME_LET)
        return is_open(parser, parser->kernel->lets[number].line);
    for (int d = 0; kind == NAME_LOOP && d < parser->depth; d++)
        if (parser->open[d] == number)
            return true;
    return kind != NAME_LOOP;
}

static enum status fail_unknown(struct kernel_parser *parser, unsigned wanted, const char *expected)
{
    const struct token *token = reader_peek(parser);
    char text[TOKEN_SHOWN];
    struct suggestion like = suggest_for(token->text, token->length);
    if (is_same(token, parser->declaring.text))
        return FAIL(parser, "'%s' uses itself, expected what is declared above it",
                    parser->declaring.text);
    for (int k = 0; k < NAME_KINDS; k++)
        for (int n = 0; wanted & NAMES(k) && n < kernel_count(parser->kernel, (enum name_kind)k);
             n++)
            if (is_known(parser, (enum name_kind)k, n))
                suggest_try(&like, kernel_named(parser->kernel, (enum name_kind)k, n)->text);
    return FAIL(parser, "unknown name %s, expected %s%s", token_show(token, text), expected,
                like.text);
}

enum status reader_use(struct kernel_parser *parser, unsigned wanted, const char *expected,
                       enum name_kind *kind, int *number)
{
    const struct token *token = reader_peek(parser);
    if (token->kind != TOKEN_WORD || is_reserved(token))
        return reader_fail_expected(parser, expected);
    if (!reader_find(parser, token, kind, number))
        return fail_unknown(parser, wanted, expected);
    struct kernel_name *name = own_name(parser->kernel, *kind, *number);
    if (!(wanted & NAMES(*kind)))
        return FAIL(parser, "'%s' is %s, expected %s", name->text, kinds[*kind].what, expected);
    if (!is_known(parser, *kind, *number))
        return FAIL(parser, "'%s' of line %d is known within its loop only, expected %s",
                    name->text, name->at.line, expected);
    name->is_used = true;
    parser->at++;
    return STATUS_OK;
}

enum status reader_foreign(struct kernel_parser *parser, const char *expected,
                           char text[KERNEL_MAX_NAME + 1])
{
    const struct token *token = reader_peek(parser);
    if (token->kind != TOKEN_WORD || token->length > KERNEL_MAX_NAME ||
        (is_reserved(token) && !token_is(token, "gm")))
        return reader_fail_expected(parser, expected);
    memcpy(text, token->text, (size_t)token->length);
    text[token->length] = '\0';
    parser->at++;
    return STATUS_OK;
}

/* ------------------------------------------------------------------ types */

const char *kernel_type_name(int type)
{
    static const char *const own[] = {"dtype", "accumulator", "result"};
    return type >= KERNEL_DTYPE ? own[type - KERNEL_DTYPE] : dtype_name((enum dtype)type);
}

enum status reader_type(struct kernel_parser *parser, int *type)
{
    const struct token *token = reader_peek(parser);
    char expected[DTYPE_LIST_SIZE], all[DTYPE_LIST_SIZE + 64];
    *type = token->kind == TOKEN_WORD ? find_type(token) : -1;
    if (*type < 0) {
        dtype_list(DTYPE_NAMES, expected);
        snprintf(all, sizeof all, "a type: dtype, accumulator, result, %s", expected);
        return reader_fail_expected(parser, all);
    }
    parser->at++;
    return STATUS_OK;
}
