/* Keys are bits: a table says which of them each kind of instruction needs and allows, so that
 * parsing and complaining are one loop for all kinds. An offset is a sum of terms, number, index or
 * their product, whose factors add up to the strides of the loops around the line. */
#include "core/parser.h"
#include "core/suggest.h"

#include <string.h>

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

enum status parser_number(struct parser *parser, const char *key, struct span span, int64_t *value)
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

enum status parser_keys(struct parser *parser, int first, enum instruction_kind kind,
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
            TRY(parser_number(parser, key_names[key], value, &keys->value[key]));
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
enum status parser_types(struct parser *parser, const struct keys *keys, struct instruction *in)
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

/* One term of an offset: a number, or number*index or index*number or index. */
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

enum status parser_operands(struct parser *parser, const struct keys *keys)
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
        struct region region = {.role = (uint8_t)role,
                                .rows = keys->value[KEY_ROWS],
                                .row_stride_bytes = keys->value[KEY_STRIDE]};
        enum status status = parse_operand(parser, keys->text[KEY_DST + role], &region);
        struct error error;
        if (status == STATUS_OK) {
            status = program_add_region(parser->program, &region, &error);
            if (status != STATUS_OK)
                return FAIL(parser, "%s", error.text);
        }
        if (status != STATUS_OK)
            return status;
    }
    return STATUS_OK;
}
