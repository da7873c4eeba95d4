/* Formulas of operations (core/formula.h): recursive descent to postfix order, and a stack of
 * blocks of elements, so that each term is one loop over many. */
#include "core/formula.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum term {
    TERM_A,
    TERM_B,
    TERM_C,
    TERM_NUMBER,
    TERM_ADD,
    TERM_SUBTRACT,
    TERM_MULTIPLY,
    TERM_DIVIDE,
    TERM_LESS,
    TERM_AT_MOST,
    TERM_MORE,
    TERM_AT_LEAST,
    TERM_EQUAL,
    TERM_UNEQUAL,
    TERM_MIN,
    TERM_MAX,
    TERM_AND,
    TERM_OR,
    TERM_NEGATE,
    TERM_ABS,
    TERM_EXP,
    TERM_LN,
    TERM_SQRT,
    TERM_FLOOR,
    TERM_NOT,
    TERM_CHOICE, /* truth, then, else */
    TERMS
};

/* ------------------------------------------------------------------ arithmetic */

/* Bits of what is no whole number are those of 0. */
static int64_t bits_of(double x)
{
    return fabs(x) < 9e15 ? (int64_t)x : 0;
}

#define EACH(expression)                                                                           \
    for (int i = 0; i < count; i++)                                                                \
        x[i] = (expression);                                                                       \
    break

/* x = x op y, choice: x ? y : z. */
static void apply_block(enum term op, int count, double *x, const double *y, const double *z)
{
    switch (op) {
    case TERM_ADD:
        EACH(x[i] + y[i]);
    case TERM_SUBTRACT:
        EACH(x[i] - y[i]);
    case TERM_MULTIPLY:
        EACH(x[i] * y[i]);
    case TERM_DIVIDE:
        EACH(x[i] / y[i]);
    case TERM_LESS:
        EACH(x[i] < y[i]);
    case TERM_AT_MOST:
        EACH(x[i] <= y[i]);
    case TERM_MORE:
        EACH(x[i] > y[i]);
    case TERM_AT_LEAST:
        EACH(x[i] >= y[i]);
    case TERM_EQUAL:
        EACH(x[i] == y[i]);
    case TERM_UNEQUAL:
        EACH(x[i] != y[i]);
    case TERM_MIN:
        EACH(isnan(x[i]) || x[i] < y[i] ? x[i] : y[i]);
    case TERM_MAX:
        EACH(isnan(x[i]) || x[i] > y[i] ? x[i] : y[i]);
    case TERM_AND:
        EACH((double)(bits_of(x[i]) & bits_of(y[i])));
    case TERM_OR:
        EACH((double)(bits_of(x[i]) | bits_of(y[i])));
    case TERM_NEGATE:
        EACH(-x[i]);
    case TERM_ABS:
        EACH(fabs(x[i]));
    case TERM_EXP:
        EACH(exp(x[i]));
    case TERM_LN:
        EACH(log(x[i]));
    case TERM_SQRT:
        EACH(sqrt(x[i]));
    case TERM_FLOOR:
        EACH(floor(x[i]));
    case TERM_NOT:
        EACH((double)~bits_of(x[i]));
    case TERM_CHOICE:
        EACH(x[i] != 0 ? y[i] : z[i]);
    default:
        break;
    }
}

enum { BLOCK = 256 };

static int operands_of(enum term op)
{
    if (op == TERM_CHOICE)
        return 3;
    return op >= TERM_NEGATE ? 1 : op >= TERM_ADD ? 2 : 0;
}

static void apply(const struct formula *formula, const double *const sources[FORMULA_SOURCES],
                  int64_t from, int count, bool is_single, double *results,
                  double stack[FORMULA_MAX_DEPTH][BLOCK])
{
    int top = -1;
    for (int t = 0; t < formula->count; t++) {
        enum term op = formula->terms[t].op;
        int operands = operands_of(op);
        top += 1 - operands;
        double *x = stack[top];
        if (op <= TERM_C)
            memcpy(x, sources[op] + from, (size_t)count * sizeof *x);
        for (int i = 0; i < count && op == TERM_NUMBER; i++)
            x[i] = formula->terms[t].number;
        if (operands)
            apply_block(op, count, x, stack[top + (operands > 1)], stack[top + operands - 1]);
        for (int i = 0; i < count && is_single; i++)
            x[i] = (float)x[i];
    }
    memcpy(results + from, stack[0], (size_t)count * sizeof *results);
}

void formula_apply(const struct formula *formula, const double *const sources[FORMULA_SOURCES],
                   int64_t count, bool is_single, double *results)
{
    double stack[FORMULA_MAX_DEPTH][BLOCK] = {{0}};
    for (int64_t from = 0; from < count; from += BLOCK)
        apply(formula, sources, from, count - from < BLOCK ? (int)(count - from) : BLOCK, is_single,
              results, stack);
}

/* ------------------------------------------------------------------ parsing */

struct parser {
    const char *text, *at;
    struct formula *formula;
    struct error *error;
    int nesting; /* of parentheses and signs */
};

static enum status parse_formula(struct parser *p);

static enum status expected(const struct parser *p, const char *what)
{
    return error_set(p->error, STATUS_INVALID, "column %d: expected %s", (int)(p->at - p->text) + 1,
                     what);
}

static enum status put(struct parser *p, enum term op, double number)
{
    if (p->formula->count == FORMULA_MAX_TERMS)
        return expected(p, "fewer terms");
    p->formula->terms[p->formula->count++] = (struct formula_term){number, (uint8_t)op};
    if (op <= TERM_C && p->formula->sources <= op)
        p->formula->sources = (uint8_t)(op + 1);
    return STATUS_OK;
}

/* The text goes on with this mark, or with this word and no letter behind it. */
static bool take(struct parser *p, const char *word)
{
    size_t length = strlen(word);
    p->at += strspn(p->at, " ");
    if (strncmp(p->at, word, length) != 0)
        return false;
    if (isalpha((unsigned char)*word) && isalnum((unsigned char)p->at[length]))
        return false;
    p->at += length;
    return true;
}

static enum status parse_call(struct parser *p, enum term op)
{
    if (!take(p, "("))
        return expected(p, "'('");
    TRY(parse_formula(p));
    for (int n = 1; n < operands_of(op); n++) {
        if (!take(p, ","))
            return expected(p, "','");
        TRY(parse_formula(p));
    }
    if (!take(p, ")"))
        return expected(p, "')'");
    return put(p, op, 0);
}

static enum status parse_number(struct parser *p)
{
    char *end;
    if (!isdigit((unsigned char)*p->at))
        return expected(p, "a number, a, b, c, a function or '('");
    double number = strtod(p->at, &end);
    if (!isfinite(number) || strpbrk(p->at, "xX") == p->at + 1)
        return expected(p, "a finite decimal number");
    p->at = end;
    return put(p, TERM_NUMBER, number);
}

static enum status parse_atom(struct parser *p)
{
    static const struct {
        const char *name;
        enum term op;
    } names[] = {
        {"a", TERM_A},     {"b", TERM_B},     {"c", TERM_C},       {"min", TERM_MIN},
        {"max", TERM_MAX}, {"and", TERM_AND}, {"or", TERM_OR},     {"abs", TERM_ABS},
        {"exp", TERM_EXP}, {"ln", TERM_LN},   {"sqrt", TERM_SQRT}, {"floor", TERM_FLOOR},
        {"not", TERM_NOT},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (take(p, names[i].name))
            return names[i].op <= TERM_C ? put(p, names[i].op, 0) : parse_call(p, names[i].op);
    if (!take(p, "("))
        return parse_number(p);
    TRY(parse_formula(p));
    return take(p, ")") ? STATUS_OK : expected(p, "')'");
}

static enum status parse_sign(struct parser *p)
{
    if (!take(p, "-"))
        return parse_atom(p);
    if (++p->nesting > FORMULA_MAX_TERMS)
        return expected(p, "less nesting");
    TRY(parse_sign(p));
    return put(p, TERM_NEGATE, 0);
}

struct level {
    const char *mark;
    enum term op;
};

/* operand { mark operand }, from left to right. */
static enum status parse_level(struct parser *p, int level)
{
    static const struct level marks[3][6] = {
        {{"<=", TERM_AT_MOST},
         {"<", TERM_LESS},
         {">=", TERM_AT_LEAST},
         {">", TERM_MORE},
         {"==", TERM_EQUAL},
         {"!=", TERM_UNEQUAL}},
        {{"+", TERM_ADD}, {"-", TERM_SUBTRACT}},
        {{"*", TERM_MULTIPLY}, {"/", TERM_DIVIDE}},
    };
    if (level == 3)
        return parse_sign(p);
    TRY(parse_level(p, level + 1));
    for (int i = 0; i < 6 && marks[level][i].mark; i++)
        if (take(p, marks[level][i].mark)) {
            TRY(parse_level(p, level + 1));
            TRY(put(p, marks[level][i].op, 0));
            i = -1;
        }
    return STATUS_OK;
}

/* Of "x if t else y" the terms are t, x, y: those of x are moved behind those of t. */
static enum status parse_choice(struct parser *p, int first)
{
    struct formula_term then[FORMULA_MAX_TERMS];
    struct formula *formula = p->formula;
    int count = formula->count - first;
    memcpy(then, &formula->terms[first], (size_t)count * sizeof *then);
    int before = formula->count;
    TRY(parse_level(p, 0));
    int truth = formula->count - before;
    memmove(&formula->terms[first], &formula->terms[before], (size_t)truth * sizeof *then);
    memcpy(&formula->terms[first + truth], then, (size_t)count * sizeof *then);
    if (!take(p, "else"))
        return expected(p, "'else'");
    TRY(parse_formula(p));
    return put(p, TERM_CHOICE, 0);
}

static enum status parse_formula(struct parser *p)
{
    int first = p->formula->count;
    if (++p->nesting > FORMULA_MAX_TERMS)
        return expected(p, "less nesting");
    TRY(parse_level(p, 0));
    return take(p, "if") ? parse_choice(p, first) : STATUS_OK;
}

static int depth_of(const struct formula *formula)
{
    int depth = 0, most = 0;
    for (int t = 0; t < formula->count; t++) {
        depth += 1 - operands_of(formula->terms[t].op);
        most = depth > most ? depth : most;
    }
    return most;
}

enum status formula_parse(const char *text, struct formula *formula, struct error *error)
{
    struct parser parser = {.text = text, .at = text, .formula = formula, .error = error};
    memset(formula, 0, sizeof *formula);
    enum status status = parse_formula(&parser);
    if (status == STATUS_OK && (take(&parser, ""), *parser.at))
        status = expected(&parser, "its end");
    if (status == STATUS_OK && depth_of(formula) > FORMULA_MAX_DEPTH)
        status = expected(&parser, "less nesting");
    if (status != STATUS_OK)
        memset(formula, 0, sizeof *formula);
    return status;
}
