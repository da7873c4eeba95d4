/* Line by line, no look-ahead: a line is cut into words, its first word picks a statement from a
 * table, and everything else is work of a pipe, whose mnemonic decides which keys it may have. The
 * program's own functions check the meaning; here their errors get file and line.
 *
 * Words are spans of the text, which is never copied. A comment goes first, then blanks cut; a line
 * with a parenthesis is a call of CCE, Huawei's C for kernels, and becomes the words of the plain
 * form before anybody looks at it. Keys are bits: a table says which of them each kind of
 * instruction needs and allows, so that parsing and complaining are one loop for all kinds. An
 * offset is a sum of terms, number, index or their product, whose factors add up to the strides of
 * the loops around the line. */
#include "core/program_text.h"
#include "core/suggest.h"
#include "core/utf8.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MAX_FILE_BYTES = 256 << 20 };

/* A stretch of the line being parsed. */
struct span {
    const char *text;
    int length;
};

enum { PARSER_MAX_WORDS = 24 };

struct parser {
    const char *file;
    int line;
    struct program *program;
    struct error *error;
    int word_count;
    struct span words[PARSER_MAX_WORDS];
    /* the loops that are open, outermost first */
    int depth;
    char loop_names[PROGRAM_MAX_DEPTH][LOOP_NAME_SIZE];
};

#define SPAN(span) (span).length, (span).text

/* An error that names file and line. */
#define FAIL(parser, ...) error_at((parser)->error, (parser)->file, (parser)->line, __VA_ARGS__)

/* ------------------------------------------------------------------ words */

/* Equal in any case? */
static bool span_is(struct span span, const char *word)
{
    return (int)strlen(word) == span.length &&
           strncasecmp(span.text, word, (size_t)span.length) == 0;
}

/* Cuts a prefix off in any case; false when it is not there. */
static bool span_cut(struct span *span, const char *prefix)
{
    int length = (int)strlen(prefix);
    if (span->length < length || strncasecmp(span->text, prefix, (size_t)length) != 0)
        return false;
    *span = (struct span){span->text + length, span->length - length};
    return true;
}

/* What stands before the first `mark`; *rest is what follows it, empty without one. */
static struct span span_before(struct span span, char mark, struct span *rest)
{
    const char *found = memchr(span.text, mark, (size_t)span.length);
    if (!found) {
        *rest = (struct span){span.text + span.length, 0};
        return span;
    }
    int length = (int)(found - span.text);
    *rest = (struct span){found + 1, span.length - length - 1};
    return (struct span){span.text, length};
}

/* Digits only: no sign, blank or exponent. */
static bool span_count(struct span span, int64_t *value)
{
    *value = 0;
    for (int i = 0; i < span.length; i++) {
        if (!isdigit((unsigned char)span.text[i]) || __builtin_mul_overflow(*value, 10, value) ||
            __builtin_add_overflow(*value, span.text[i] - '0', value))
            return false;
    }
    return span.length > 0;
}

/* The line without its comment, trailing blanks and one trailing semicolon. */
static struct span strip_line(const char *text, size_t length)
{
    size_t end = 0;
    while (end < length && text[end] != '#' &&
           !(text[end] == '/' && end + 1 < length && text[end + 1] == '/'))
        end++;
    while (end > 0 && isspace((unsigned char)text[end - 1]))
        end--;
    if (end > 0 && text[end - 1] == ';')
        end--;
    while (end > 0 && isspace((unsigned char)text[end - 1]))
        end--;
    return (struct span){text, (int)end};
}

/* Words are separated by blanks, and by ( , ) where a line is a call. */
static enum status cut_words(struct parser *parser, struct span line)
{
    const char *call = memchr(line.text, '(', (size_t)line.length);
    const char *separators = call ? " \t\r\v\f(,)" : " \t\r\v\f";
    parser->word_count = 0;
    for (int i = 0; i < line.length;) {
        if (strchr(separators, line.text[i]) && line.text[i]) {
            i++;
            continue;
        }
        int start = i;
        while (i < line.length && (!line.text[i] || !strchr(separators, line.text[i])))
            i++;
        if (parser->word_count == PARSER_MAX_WORDS)
            return FAIL(parser, "more than %d words in one line", PARSER_MAX_WORDS);
        parser->words[parser->word_count++] = (struct span){line.text + start, i - start};
    }
    return STATUS_OK;
}

/* CCE spellings: NAME(PIPE_X, PIPE_Y, EVENT_IDn) becomes the words of the plain one. */
static const struct {
    const char *cce, *plain;
} spellings[] = {{"set_flag", "set"}, {"wait_flag", "wait"}, {"pipe_barrier", "barrier"}};

static enum status translate_cce(struct parser *parser)
{
    for (size_t s = 0; s < sizeof spellings / sizeof *spellings; s++) {
        if (!span_is(parser->words[0], spellings[s].cce))
            continue;
        parser->words[0] = (struct span){spellings[s].plain, (int)strlen(spellings[s].plain)};
        for (int w = 1; w < parser->word_count; w++) {
            const char *prefix = w == 3 ? "EVENT_ID" : "PIPE_";
            if (!span_cut(&parser->words[w], prefix))
                return FAIL(parser, "'%.*s' in %s(…), expected %s…", SPAN(parser->words[w]),
                            spellings[s].cce, prefix);
        }
    }
    return STATUS_OK;
}

/* Cuts a line into parser->words. CCE spellings become the plain ones. */
static enum status split_line(struct parser *parser, const char *text, size_t length)
{
    enum status status = cut_words(parser, strip_line(text, length));
    return status == STATUS_OK && parser->word_count ? translate_cce(parser) : status;
}

/* ------------------------------------------------------------------ keys */

enum key {
    KEY_BYTES,
    KEY_ELEMENTS,
    KEY_COUNT,
    KEY_M,
    KEY_K,
    KEY_N,
    KEY_INIT,
    KEY_UNIT,
    KEY_TRANSPOSE,
    KEY_ROW_BYTES,
    KEY_BURSTS,
    KEY_ALIGN,
    KEY_ROWS,
    KEY_STRIDE,
    KEY_TYPE, /* from here on not numbers */
    KEY_CAST,
    KEY_DST, /* from here on operands, in the order of enum operand_role */
    KEY_SRC,
    KEY_SRC2,
    KEY_SRC3,
    KEY_A,
    KEY_B,
    KEY_KINDS,
};

/* The key=value words of one instruction. */
struct keys {
    unsigned seen; /* bit by enum key */
    struct span text[KEY_KINDS];
    int64_t value[KEY_KINDS];
};

static inline bool keys_have(const struct keys *keys, enum key key)
{
    return keys->seen >> key & 1;
}

#define BIT(key) (1u << (key))

static const char *const key_names[KEY_KINDS] = {
    [KEY_BYTES] = "bytes",
    [KEY_ELEMENTS] = "elements",
    [KEY_COUNT] = "count",
    [KEY_M] = "m",
    [KEY_K] = "k",
    [KEY_N] = "n",
    [KEY_INIT] = "init",
    [KEY_UNIT] = "unit",
    [KEY_TRANSPOSE] = "transpose",
    [KEY_ROW_BYTES] = "row_bytes",
    [KEY_BURSTS] = "bursts",
    [KEY_ALIGN] = "align",
    [KEY_ROWS] = "rows",
    [KEY_STRIDE] = "stride",
    [KEY_TYPE] = "type",
    [KEY_CAST] = "cast",
    [KEY_DST] = "dst",
    [KEY_SRC] = "src",
    [KEY_SRC2] = "src2",
    [KEY_SRC3] = "src3",
    [KEY_A] = "a",
    [KEY_B] = "b",
};

static const struct {
    unsigned needed, allowed;
} key_rules[] = {
    [INSTRUCTION_MOVE] = {BIT(KEY_BYTES), BIT(KEY_UNIT) | BIT(KEY_TRANSPOSE) | BIT(KEY_BURSTS) |
                                              BIT(KEY_ALIGN) | BIT(KEY_CAST) | BIT(KEY_DST) |
                                              BIT(KEY_SRC) | BIT(KEY_SRC2) | BIT(KEY_ROW_BYTES) |
                                              BIT(KEY_ROWS) | BIT(KEY_STRIDE)},
    [INSTRUCTION_MATRIX] = {BIT(KEY_M) | BIT(KEY_K) | BIT(KEY_N),
                            BIT(KEY_TYPE) | BIT(KEY_A) | BIT(KEY_B) | BIT(KEY_SRC) | BIT(KEY_DST) |
                                BIT(KEY_INIT) | BIT(KEY_UNIT) | BIT(KEY_ROWS) | BIT(KEY_STRIDE)},
    [INSTRUCTION_VECTOR] = {BIT(KEY_ELEMENTS), BIT(KEY_TYPE) | BIT(KEY_CAST) | BIT(KEY_DST) |
                                                   BIT(KEY_SRC) | BIT(KEY_SRC2) | BIT(KEY_SRC3) |
                                                   BIT(KEY_ROWS) | BIT(KEY_STRIDE)},
    [INSTRUCTION_SCALAR] = {BIT(KEY_COUNT),
                            BIT(KEY_BYTES) | BIT(KEY_DST) | BIT(KEY_SRC) | BIT(KEY_SRC2)},
};

/* A number, or an error that names its key. */
static enum status parse_number(struct parser *parser, const char *key, struct span span,
                                int64_t *value)
{
    if (span_count(span, value))
        return STATUS_OK;
    return FAIL(parser, "%s=%.*s, expected a whole number from 0 to 2^63-1", key, SPAN(span));
}

static enum status fail_key(struct parser *parser, struct span name, unsigned allowed)
{
    struct suggestion like = suggest_for(name.text, name.length);
    for (int key = 0; key < KEY_KINDS; key++)
        if (allowed & BIT(key))
            suggest_try(&like, key_names[key]);
    return FAIL(parser, "unknown key '%.*s' here%s", SPAN(name), like.text);
}

/* Reads words[first …] as the keys that an instruction of this kind may and must have. */
static enum status parse_keys(struct parser *parser, int first, enum instruction_kind kind,
                              struct keys *keys)
{
    unsigned allowed = key_rules[kind].needed | key_rules[kind].allowed;
    for (int w = first; w < parser->word_count; w++) {
        struct span value, name = span_before(parser->words[w], '=', &value);
        int key = 0;
        while (key < KEY_KINDS && !span_is(name, key_names[key]))
            key++;
        if (key == KEY_KINDS || !(allowed & BIT(key)))
            return fail_key(parser, name, allowed);
        if (keys->seen & BIT(key))
            return FAIL(parser, "key '%s' is given twice", key_names[key]);
        keys->seen |= BIT(key);
        keys->text[key] = value;
        if (key < KEY_TYPE)
            TRY(parse_number(parser, key_names[key], value, &keys->value[key]));
    }
    for (int key = 0; key < KEY_KINDS; key++)
        if ((key_rules[kind].needed & ~keys->seen) & BIT(key))
            return FAIL(parser, "missing key '%s=', expected a number", key_names[key]);
    return STATUS_OK;
}

static enum status parse_type(struct parser *parser, struct span text, uint8_t *type)
{
    int found = dtype_find(text.text, text.length);
    if (found < 0) {
        char expected[DTYPE_LIST_SIZE];
        dtype_expected(text.text, text.length, expected);
        return FAIL(parser, "unknown type '%.*s', expected %s", SPAN(text), expected);
    }
    *type = (uint8_t)found;
    return STATUS_OK;
}

/* type= and cast=from:to. */
static enum status parse_types(struct parser *parser, const struct keys *keys,
                               struct instruction *in)
{
    enum status status = STATUS_OK;
    if (keys_have(keys, KEY_TYPE))
        status = parse_type(parser, keys->text[KEY_TYPE], &in->type);
    in->to_type = in->type;
    if (status != STATUS_OK || !(keys_have(keys, KEY_CAST)))
        return status;
    uint8_t type = in->type;
    struct span to, from = span_before(keys->text[KEY_CAST], ':', &to);
    status = parse_type(parser, from, &in->type);
    if (status == STATUS_OK && (keys_have(keys, KEY_TYPE)) && type != in->type)
        return FAIL(parser, "type=%s, expected the source of cast=%.*s", dtype_name(type),
                    SPAN(keys->text[KEY_CAST]));
    return status == STATUS_OK ? parse_type(parser, to, &in->to_type) : status;
}

/* Digits with the sign that stood before them; counted downwards, for that way all of int64 fits.
 */
static bool parse_signed(struct span digits, bool negative, int64_t *value)
{
    *value = 0;
    for (int i = 0; i < digits.length; i++) {
        int digit = digits.text[i] - '0';
        if (digit < 0 || digit > 9 || __builtin_mul_overflow(*value, 10, value) ||
            __builtin_sub_overflow(*value, digit, value))
            return false;
    }
    if (negative)
        return digits.length > 0;
    return digits.length > 0 && !__builtin_sub_overflow(0, *value, value);
}

/* "[N]": so many rows, `stride` apart; a second one: pieces of each row. */
static enum status parse_rows(struct parser *parser, struct span count, int64_t stride,
                              struct region *region)
{
    int64_t *number = region->rows ? &region->pieces : &region->rows;
    if (region->pieces)
        return FAIL(parser, "'[%.*s]', expected two of such at most", SPAN(count));
    if (!parse_signed(count, false, number) || *number < 1)
        return FAIL(parser, "'[%.*s]', expected a number of rows, 1 or more", SPAN(count));
    if (stride < 0)
        return FAIL(parser, "rows %lld bytes apart, expected 0 or more", (long long)stride);
    *(number == &region->rows ? &region->row_stride_bytes : &region->piece_stride_bytes) = stride;
    return STATUS_OK;
}

/* One term of an offset: a number, or number*index or index*number or index, or number*[rows]. */
static enum status parse_term(struct parser *parser, struct span term, bool negative,
                              struct region *region)
{
    struct span right, left = span_before(term, '*', &right);
    bool product = left.length != term.length;
    int64_t factor = negative ? -1 : 1;
    struct span name = left;
    if (parse_signed(left, negative, &factor)) {
        name = right;
        if (!product && __builtin_add_overflow(region->offset_bytes, factor, &region->offset_bytes))
            return FAIL(parser, "an offset beyond 2^63 bytes");
        if (!product)
            return STATUS_OK;
    } else if (product && !parse_signed(right, negative, &factor)) {
        return FAIL(parser, "offset term '%.*s', expected number, index or number*index",
                    SPAN(term));
    } else if (!product) {
        factor = negative ? -1 : 1;
    }
    if (product && name.length && name.text[name.length - 1] == ']' && span_cut(&name, "["))
        return parse_rows(parser, (struct span){name.text, name.length - 1}, factor, region);
    for (int depth = parser->depth - 1; depth >= 0; depth--)
        if (parser->loop_names[depth][0] && span_is(name, parser->loop_names[depth])) {
            int64_t *stride = &region->loop_stride_bytes[depth];
            if (__builtin_add_overflow(*stride, factor, stride))
                return FAIL(parser, "an offset beyond 2^63 bytes");
            return STATUS_OK;
        }
    return FAIL(parser, "'%.*s' is no index of a loop around this line", SPAN(name));
}

static enum status fail_buffer(struct parser *parser, struct span name)
{
    const struct hardware *hw = parser->program->hw;
    struct suggestion like = suggest_for(name.text, name.length);
    for (int b = 0; b < hw->buffer_count; b++)
        suggest_try(&like, hw->buffers[b].name);
    return FAIL(parser, "unknown buffer '%.*s' of %s%s", SPAN(name), hw->name, like.text);
}

/* buffer:offset, offset = [-]term{(+|-)term} */
static enum status parse_operand(struct parser *parser, struct span text, struct region *region)
{
    struct span offset, name = span_before(text, ':', &offset);
    int buffer = hardware_buffer(parser->program->hw, name.text, name.length);
    if (buffer < 0)
        return fail_buffer(parser, name);
    region->buffer = (int8_t)buffer;
    if (offset.length == 0)
        return FAIL(parser, "operand '%.*s', expected buffer:offset", SPAN(text));
    bool negative = span_cut(&offset, "-");
    for (;;) {
        int length = 0;
        while (length < offset.length && offset.text[length] != '+' && offset.text[length] != '-')
            length++;
        struct span term = {offset.text, length};
        enum status status = parse_term(parser, term, negative, region);
        if (status != STATUS_OK || length == offset.length)
            return status;
        negative = offset.text[length] == '-';
        offset = (struct span){offset.text + length + 1, offset.length - length - 1};
    }
}

/* Adds the operands to the program's last instruction. */
static enum status parse_operands(struct parser *parser, const struct keys *keys)
{
    if (keys_have(keys, KEY_STRIDE) && !keys_have(keys, KEY_ROWS))
        return FAIL(parser, "stride= without rows=");
    if (keys_have(keys, KEY_ROWS) && keys->value[KEY_ROWS] < 1)
        return FAIL(parser, "rows=0, expected 1 or more");
    if (keys->value[KEY_ROWS] > 1 && !(keys_have(keys, KEY_STRIDE)))
        return FAIL(parser, "rows= without stride=");
    for (int role = 0; role < OPERAND_ROLES; role++) {
        if (!(keys->seen & BIT(KEY_DST + role)))
            continue;
        struct program *program = parser->program;
        struct region region = {.role = (uint8_t)role};
        struct error error;
        TRY(parse_operand(parser, keys->text[KEY_DST + role], &region));
        bool has_own = region.rows > 1 || region.pieces > 1;
        if (!region.rows) {
            region.rows = keys->value[KEY_ROWS];
            region.row_stride_bytes = keys->value[KEY_STRIDE];
        }
        if (program_add_region(program, &region, &error) != STATUS_OK)
            return FAIL(parser, "%s", error.text);
        if (has_own && program->regions[program->region_count - 1].rows == 1)
            return FAIL(parser, "rows of '%.*s', expected one piece",
                        SPAN(keys->text[KEY_DST + role]));
    }
    return STATUS_OK;
}

/* ------------------------------------------------------------------ lines */

/* Lines that begin with one of these are no work of a pipe; their parsers are in `statements`. */
static const char *const statement_words[] = {"set", "wait", "barrier", "loop", "end"};
enum { STATEMENTS = sizeof statement_words / sizeof *statement_words };

/* "M, V, MTE1". */
static const char *pipe_names(const struct hardware *hw,
                              char text[HARDWARE_MAX_PIPES * (HARDWARE_NAME_SIZE + 2)])
{
    char *at = text;
    *at = '\0';
    for (int p = 0; p < hw->pipe_count; p++)
        at += sprintf(at, "%s%s", p ? ", " : "", hw->pipes[p].name);
    return text;
}

static enum status parse_pipe(struct parser *parser, struct span span, int8_t *pipe)
{
    const struct hardware *hw = parser->program->hw;
    int found = hardware_pipe(hw, span.text, span.length);
    if (found < 0) {
        char known[HARDWARE_MAX_PIPES * (HARDWARE_NAME_SIZE + 2)];
        struct suggestion like = suggest_for(span.text, span.length);
        for (int p = 0; p < hw->pipe_count; p++)
            suggest_try(&like, hw->pipes[p].name);
        for (size_t s = 0; s < STATEMENTS && span.text == parser->words[0].text; s++)
            suggest_try(&like, statement_words[s]);
        return FAIL(parser, "unknown pipe '%.*s' of %s, expected %s%s", SPAN(span), hw->name,
                    pipe_names(hw, known), like.text);
    }
    *pipe = (int8_t)found;
    return STATUS_OK;
}

static enum status add_instruction(struct parser *parser, struct instruction *in)
{
    struct error error;
    in->line = parser->line;
    enum status status = program_add(parser->program, in, &error);
    if (status == STATUS_INVALID)
        return FAIL(parser, "%s", error.text);
    if (status != STATUS_OK)
        error_set(parser->error, status, "%s:%d: %s", parser->file, parser->line, error.text);
    return status;
}

static enum status fill_matrix(struct parser *parser, const struct keys *keys,
                               struct instruction *in)
{
    for (int key = KEY_M; key <= KEY_N; key++)
        if (keys->value[key] > INT32_MAX)
            return FAIL(parser, "%c=%lld, expected at most 2^31-1", "mkn"[key - KEY_M],
                        (long long)keys -> value[key]);
    in->m = (int32_t)keys->value[KEY_M];
    in->k = (int32_t)keys->value[KEY_K];
    in->n = (int32_t)keys->value[KEY_N];
    in->accumulate = keys_have(keys, KEY_INIT) && keys->value[KEY_INIT] == 0;
    return STATUS_OK;
}

/* Keys that are off or on. */
static enum status check_bits(struct parser *parser, const struct keys *keys)
{
    static const struct {
        int key;
        const char *name;
    } bits[] = {{KEY_INIT, "init"}, {KEY_UNIT, "unit"}, {KEY_TRANSPOSE, "transpose"}};
    for (size_t i = 0; i < sizeof bits / sizeof *bits; i++)
        if (keys->value[bits[i].key] > 1)
            return FAIL(parser, "%s=%lld, expected 0 or 1", bits[i].name,
                        (long long)keys->value[bits[i].key]);
    return STATUS_OK;
}

/* How much a move, vector or scalar instruction does. */
static void fill_amount(const struct keys *keys, struct instruction *in)
{
    if (in->kind == INSTRUCTION_SCALAR) {
        in->count = keys->value[KEY_COUNT];
        in->operand_bytes = keys->value[KEY_BYTES];
    } else {
        in->bytes = keys->value[KEY_BYTES] + keys->value[KEY_ELEMENTS];
        in->bursts = keys->value[KEY_BURSTS];
        in->align_bytes = keys->value[KEY_ALIGN];
    }
    if (in->kind == INSTRUCTION_MOVE)
        in->row_bytes = keys->value[KEY_ROW_BYTES];
}

/* A second source of a move says how long it is; sums that others are added to do not begin. */
static enum status check_rows(struct parser *parser, const struct keys *keys,
                              const struct instruction *in)
{
    if (in->kind == INSTRUCTION_MOVE && keys_have(keys, KEY_SRC2) != (in->row_bytes > 0))
        return FAIL(parser, "expected src2= and row_bytes= of one byte or more together");
    if (in->kind == INSTRUCTION_MATRIX && keys_have(keys, KEY_SRC) && in->accumulate)
        return FAIL(parser, "src= with init=0, expected it where sums begin");
    return STATUS_OK;
}

static enum status fail_mnemonic(struct parser *parser, struct span word, const char *what)
{
    const struct hardware *hw = parser->program->hw;
    struct suggestion like = suggest_for(word.text, word.length);
    char path[2 * HARDWARE_NAME_SIZE + 2];
    for (int p = 0; p < hw->path_count; p++) {
        snprintf(path, sizeof path, "%s->%s", hw->buffers[hw->paths[p].source].name,
                 hw->buffers[hw->paths[p].destination].name);
        suggest_try(&like, path);
    }
    for (int o = 0; o < hw->operation_count; o++)
        suggest_try(&like, hw->operations[o].name);
    if (hw->matrix_pipe >= 0)
        suggest_try(&like, "mmad");
    return FAIL(parser, "unknown %s '%.*s' of %s%s", what, SPAN(word), hw->name, like.text);
}

/* What stands after the pipe: a path, mmad or an operation; sets in->kind and in->what. */
static enum status parse_mnemonic(struct parser *parser, struct span word, struct instruction *in)
{
    const struct hardware *hw = parser->program->hw;
    const char *arrow = word.length > 2 ? memmem(word.text, (size_t)word.length, "->", 2) : NULL;
    if (arrow) {
        int source = hardware_buffer(hw, word.text, (int)(arrow - word.text));
        int destination =
            hardware_buffer(hw, arrow + 2, (int)(word.text + word.length - arrow - 2));
        in->kind = INSTRUCTION_MOVE;
        in->what =
            (int16_t)(source < 0 || destination < 0 ? -1 : hardware_path(hw, source, destination));
        return in->what >= 0 ? STATUS_OK : fail_mnemonic(parser, word, "path");
    }
    in->kind = INSTRUCTION_MATRIX;
    if (span_is(word, "mmad") && hw->matrix_pipe >= 0)
        return STATUS_OK;
    in->what = (int16_t)hardware_operation(hw, word.text, word.length);
    if (in->what < 0)
        return fail_mnemonic(parser, word, "path or operation");
    in->kind = hw->operations[in->what].class == OPERATION_SCALAR ? INSTRUCTION_SCALAR
                                                                  : INSTRUCTION_VECTOR;
    return STATUS_OK;
}

static enum status parse_work(struct parser *parser)
{
    const struct hardware *hw = parser->program->hw;
    struct instruction in = {0};
    struct keys keys = {0};
    int8_t pipe = 0;
    TRY(parse_pipe(parser, parser->words[0], &pipe));
    if (parser->word_count < 2)
        return FAIL(parser, "expected a path or an operation after '%s'", hw->pipes[pipe].name);
    TRY(parse_mnemonic(parser, parser->words[1], &in));
    TRY(parse_keys(parser, 2, (enum instruction_kind)in.kind, &keys));
    TRY(parse_types(parser, &keys, &in));
    TRY(check_bits(parser, &keys));
    in.unit = keys.value[KEY_UNIT] == 1;
    in.transpose = keys.value[KEY_TRANSPOSE] == 1;
    if (in.kind == INSTRUCTION_MATRIX)
        TRY(fill_matrix(parser, &keys, &in));
    else
        fill_amount(&keys, &in);
    TRY(check_rows(parser, &keys, &in));
    TRY(add_instruction(parser, &in));
    int runs_on = parser->program->items[parser->program->count - 1].pipe;
    if (runs_on != pipe)
        return FAIL(parser, "'%.*s' runs on pipe %s, not on %s", SPAN(parser->words[1]),
                    hw->pipes[runs_on].name, hw->pipes[pipe].name);
    return parse_operands(parser, &keys);
}

static enum status parse_flag(struct parser *parser, enum instruction_kind kind)
{
    struct instruction in = {.kind = (uint8_t)kind};
    int64_t flag;
    if (parser->word_count != 4)
        return FAIL(parser, "expected '%.*s PIPE PIPE REGISTER'", SPAN(parser->words[0]));
    TRY(parse_pipe(parser, parser->words[1], &in.from));
    TRY(parse_pipe(parser, parser->words[2], &in.to));
    int count = hardware_flags(parser->program->hw, in.from, in.to);
    if (!span_count(parser->words[3], &flag) || flag >= count)
        return FAIL(parser, "flag register '%.*s', expected 0 to %d", SPAN(parser->words[3]),
                    count - 1);
    in.flag = (uint8_t)flag;
    return add_instruction(parser, &in);
}

static enum status parse_set(struct parser *parser)
{
    return parse_flag(parser, INSTRUCTION_SET);
}

static enum status parse_wait(struct parser *parser)
{
    return parse_flag(parser, INSTRUCTION_WAIT);
}

static enum status parse_barrier(struct parser *parser)
{
    struct instruction in = {.kind = INSTRUCTION_BARRIER, .pipe = PROGRAM_PIPE_ALL};
    if (parser->word_count > 2)
        return FAIL(parser, "expected 'barrier' or 'barrier PIPE'");
    if (parser->word_count == 2 && !span_is(parser->words[1], "all"))
        TRY(parse_pipe(parser, parser->words[1], &in.pipe));
    return add_instruction(parser, &in);
}

static bool is_index_name(struct span name)
{
    if (name.length < 1 || name.length >= LOOP_NAME_SIZE || isdigit((unsigned char)name.text[0]))
        return false;
    for (int i = 0; i < name.length; i++)
        if (!isalnum((unsigned char)name.text[i]) && name.text[i] != '_')
            return false;
    return true;
}

static enum status parse_loop(struct parser *parser)
{
    struct instruction in = {.kind = INSTRUCTION_LOOP};
    int words = parser->word_count;
    if (words < 2 || words > 3)
        return FAIL(parser, "expected 'loop COUNT' or 'loop INDEX COUNT'");
    if (parser->depth == PROGRAM_MAX_DEPTH)
        return FAIL(parser, "loops nested deeper than %d", PROGRAM_MAX_DEPTH);
    struct span name = words == 3 ? parser->words[1] : (struct span){"", 0};
    if (words == 3 && !is_index_name(name))
        return FAIL(parser, "loop index '%.*s', expected a name of at most %d letters and digits",
                    SPAN(name), LOOP_NAME_SIZE - 1);
    for (int d = 0; d < parser->depth; d++)
        if (words == 3 && span_is(name, parser->loop_names[d]))
            return FAIL(parser, "loop index '%.*s' is in use by a loop around this one",
                        SPAN(name));
    TRY(parse_number(parser, "loop", parser->words[words - 1], &in.count));
    memcpy(in.name, name.text, (size_t)name.length);
    memcpy(parser->loop_names[parser->depth++], in.name, sizeof in.name);
    return add_instruction(parser, &in);
}

static enum status parse_end(struct parser *parser)
{
    struct instruction in = {.kind = INSTRUCTION_END};
    if (parser->word_count != 1)
        return FAIL(parser, "nothing may follow 'end'");
    if (parser->depth == 0)
        return FAIL(parser, "'end' without a loop");
    parser->depth--;
    return add_instruction(parser, &in);
}

static enum status (*const statements[STATEMENTS])(struct parser *parser) = {
    parse_set, parse_wait, parse_barrier, parse_loop, parse_end,
};

static enum status parse_line(struct parser *parser, const char *text, size_t length)
{
    enum status status = split_line(parser, text, length);
    if (status != STATUS_OK || parser->word_count == 0)
        return status;
    for (size_t s = 0; s < STATEMENTS; s++)
        if (span_is(parser->words[0], statement_words[s]))
            return statements[s](parser);
    return parse_work(parser);
}

static enum status parse_lines(struct parser *parser, const char *text, size_t length)
{
    while (length > 0) {
        const char *newline = memchr(text, '\n', length);
        size_t line = newline ? (size_t)(newline - text) : length;
        if (++parser->line > PROGRAM_MAX_LINES)
            return FAIL(parser, "more than %d lines", PROGRAM_MAX_LINES);
        if (line > INT32_MAX / 2)
            return FAIL(parser, "a line of %zu bytes", line);
        TRY(parse_line(parser, text, line));
        text += line + (newline != NULL);
        length -= line + (newline != NULL);
    }
    return STATUS_OK;
}

enum status program_parse(const struct hardware *hw, const char *file, const char *text,
                          size_t length, struct program *program, struct error *error)
{
    struct parser parser = {.file = file, .program = program, .error = error};
    size_t mark;
    *program = (struct program){.hw = hw};
    enum status status = utf8_begin(file, text, length, &mark, error);
    if (status == STATUS_OK)
        status = parse_lines(&parser, text + mark, length - mark);
    if (status == STATUS_OK)
        status = program_close(program, file, error);
    if (status != STATUS_OK)
        program_clear(program);
    return status;
}

/* The whole stream, at most MAX_FILE_BYTES; the caller frees *text. */
static enum status read_all(FILE *stream, const char *file, char **text, size_t *length,
                            struct error *error)
{
    size_t capacity = 1 << 16;
    *length = 0;
    *text = malloc(capacity);
    while (*text) {
        *length += fread(*text + *length, 1, capacity - *length, stream);
        if (ferror(stream))
            return error_set(error, STATUS_IO, "%s: %s", file, strerror(errno));
        if (*length < capacity)
            return STATUS_OK;
        if (capacity >= MAX_FILE_BYTES)
            return error_set(error, STATUS_TOO_LARGE, "%s: larger than %d bytes", file,
                             MAX_FILE_BYTES);
        char *grown = realloc(*text, capacity *= 2);
        if (!grown)
            break;
        *text = grown;
    }
    return error_memory(error);
}

enum status program_read_source(const struct hardware *hw, const char *file,
                                struct program *program, struct program_source *source,
                                struct error *error)
{
    bool standard = strcmp(file, "-") == 0;
    const char *shown = standard ? "(standard input)" : file;
    *program = (struct program){.hw = hw};
    *source = (struct program_source){0};
    FILE *stream = standard ? stdin : fopen(file, "rb");
    if (!stream)
        return error_set(error, STATUS_IO, "%s: %s", file, strerror(errno));
    enum status status = read_all(stream, shown, &source->text, &source->length, error);
    if (!standard)
        fclose(stream);
    if (status == STATUS_OK)
        status = program_parse(hw, shown, source->text, source->length, program, error);
    if (status != STATUS_OK)
        program_source_clear(source);
    return status;
}

void program_source_clear(struct program_source *source)
{
    free(source->text);
    *source = (struct program_source){0};
}

enum status program_read(const struct hardware *hw, const char *file, struct program *program,
                         struct error *error)
{
    struct program_source source;
    enum status status = program_read_source(hw, file, program, &source, error);
    program_source_clear(&source);
    return status;
}
