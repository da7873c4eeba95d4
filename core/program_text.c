#include "core/program_text.h"

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

enum { MAX_WORDS = 24 };

struct parser {
    const char *file;
    int line;
    struct program *program;
    struct error *error;
    int word_count;
    struct span words[MAX_WORDS];
    /* the loops that are open, outermost first */
    int depth;
    const char *loop_names[PROGRAM_MAX_DEPTH];
    char names[PROGRAM_MAX_DEPTH][LOOP_NAME_SIZE];
};

#define SPAN(span) (span).length, (span).text

#define FAIL(parser, ...) error_at((parser)->error, (parser)->file, (parser)->line, __VA_ARGS__)

static bool is_word(struct span span, const char *word)
{
    return (int)strlen(word) == span.length &&
           strncasecmp(span.text, word, (size_t)span.length) == 0;
}

/* Cuts a prefix off in any case; false when it is not there. */
static bool cut(struct span *span, const char *prefix)
{
    int length = (int)strlen(prefix);
    if (span->length < length || strncasecmp(span->text, prefix, (size_t)length) != 0)
        return false;
    *span = (struct span){span->text + length, span->length - length};
    return true;
}

static struct span before(struct span span, char mark, struct span *rest)
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
static bool parse_count(struct span span, int64_t *value)
{
    *value = 0;
    for (int i = 0; i < span.length; i++) {
        if (!isdigit((unsigned char)span.text[i]) || __builtin_mul_overflow(*value, 10, value) ||
            __builtin_add_overflow(*value, span.text[i] - '0', value))
            return false;
    }
    return span.length > 0;
}

static enum status parse_number(struct parser *parser, const char *key, struct span span,
                                int64_t *value)
{
    if (parse_count(span, value))
        return STATUS_OK;
    return FAIL(parser, "%s=%.*s, expected a whole number from 0 to 2^63-1", key, SPAN(span));
}

static enum status parse_pipe(struct parser *parser, struct span span, int8_t *pipe)
{
    const struct hardware *hw = parser->program->hw;
    int found = hardware_pipe(hw, span.text, span.length);
    if (found < 0)
        return FAIL(parser, "unknown pipe '%.*s' of %s", SPAN(span), hw->name);
    *pipe = (int8_t)found;
    return STATUS_OK;
}

/* One term of an offset: a number, or number*index or index*number or index. */
static enum status parse_term(struct parser *parser, struct span term, bool negative,
                              struct region *region)
{
    struct span right, left = before(term, '*', &right);
    int64_t factor = 1, left_value;
    bool left_is_number = parse_count(left, &left_value);
    struct span name = left;
    if (left_is_number) {
        factor = left_value;
        name = right;
    } else if (right.length && !parse_count(right, &factor)) {
        return FAIL(parser, "offset term '%.*s', expected number, index or number*index",
                    SPAN(term));
    }
    if (negative)
        factor = -factor;
    if (left_is_number && left.length == term.length) {
        if (__builtin_add_overflow(region->offset_bytes, factor, &region->offset_bytes))
            return FAIL(parser, "an offset beyond 2^63 bytes");
        return STATUS_OK;
    }
    for (int depth = parser->depth - 1; depth >= 0; depth--)
        if (parser->loop_names[depth][0] && is_word(name, parser->loop_names[depth])) {
            int64_t *stride = &region->loop_stride_bytes[depth];
            if (__builtin_add_overflow(*stride, factor, stride))
                return FAIL(parser, "an offset beyond 2^63 bytes");
            return STATUS_OK;
        }
    return FAIL(parser, "'%.*s' is no index of a loop around this line", SPAN(name));
}

/* buffer:offset, offset = [-]term{(+|-)term} */
static enum status parse_operand(struct parser *parser, struct span text, struct region *region)
{
    struct span offset, name = before(text, ':', &offset);
    int buffer = hardware_buffer(parser->program->hw, name.text, name.length);
    if (buffer < 0)
        return FAIL(parser, "unknown buffer '%.*s' of %s", SPAN(name), parser->program->hw->name);
    region->buffer = (int8_t)buffer;
    if (offset.length == 0)
        return FAIL(parser, "operand '%.*s', expected buffer:offset", SPAN(text));
    bool negative = cut(&offset, "-");
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

static enum status parse_type(struct parser *parser, struct span text, uint8_t *type)
{
    int found = dtype_find(text.text, text.length);
    if (found < 0)
        return FAIL(parser,
                    "unknown type '%.*s', expected f16, f32, bf16, i8, u8, i16, u16, i32 "
                    "or u32",
                    SPAN(text));
    *type = (uint8_t)found;
    return STATUS_OK;
}

/* What the keys of an instruction may be, and where each number goes. */
enum key {
    KEY_BYTES,
    KEY_ELEMENTS,
    KEY_COUNT,
    KEY_M,
    KEY_K,
    KEY_N,
    KEY_INIT,
    KEY_ROWS,
    KEY_STRIDE,
    KEY_TYPE,
    KEY_CAST,
    KEY_DST,
    KEY_SRC,
    KEY_SRC2,
    KEY_A,
    KEY_B,
    KEY_KINDS,
};

#define BIT(key) (1u << (key))

static const char *const key_names[KEY_KINDS] = {
    [KEY_BYTES] = "bytes",   [KEY_ELEMENTS] = "elements",
    [KEY_COUNT] = "count",   [KEY_M] = "m",
    [KEY_K] = "k",           [KEY_N] = "n",
    [KEY_INIT] = "init",     [KEY_ROWS] = "rows",
    [KEY_STRIDE] = "stride", [KEY_TYPE] = "type",
    [KEY_CAST] = "cast",     [KEY_DST] = "dst",
    [KEY_SRC] = "src",       [KEY_SRC2] = "src2",
    [KEY_A] = "a",           [KEY_B] = "b",
};

static const struct {
    unsigned needed, allowed;
} key_rules[] = {
    [INSTRUCTION_MOVE] = {BIT(KEY_BYTES), BIT(KEY_CAST) | BIT(KEY_DST) | BIT(KEY_SRC) |
                                              BIT(KEY_ROWS) | BIT(KEY_STRIDE)},
    [INSTRUCTION_MATRIX] = {BIT(KEY_M) | BIT(KEY_K) | BIT(KEY_N),
                            BIT(KEY_TYPE) | BIT(KEY_A) | BIT(KEY_B) | BIT(KEY_DST) | BIT(KEY_INIT) |
                                BIT(KEY_ROWS) | BIT(KEY_STRIDE)},
    [INSTRUCTION_VECTOR] = {BIT(KEY_ELEMENTS), BIT(KEY_TYPE) | BIT(KEY_CAST) | BIT(KEY_DST) |
                                                   BIT(KEY_SRC) | BIT(KEY_SRC2) | BIT(KEY_ROWS) |
                                                   BIT(KEY_STRIDE)},
    [INSTRUCTION_SCALAR] = {BIT(KEY_COUNT), 0},
};

struct keys {
    unsigned seen;
    struct span text[KEY_KINDS];
    int64_t value[KEY_KINDS];
};

static enum status split_keys(struct parser *parser, int first, enum instruction_kind kind,
                              struct keys *keys)
{
    unsigned allowed = key_rules[kind].needed | key_rules[kind].allowed;
    for (int w = first; w < parser->word_count; w++) {
        struct span value, name = before(parser->words[w], '=', &value);
        int key = 0;
        while (key < KEY_KINDS && !is_word(name, key_names[key]))
            key++;
        if (key == KEY_KINDS || !(allowed & BIT(key)))
            return FAIL(parser, "unknown key '%.*s' here", SPAN(name));
        if (keys->seen & BIT(key))
            return FAIL(parser, "key '%s' is given twice", key_names[key]);
        keys->seen |= BIT(key);
        keys->text[key] = value;
        if (key < KEY_TYPE) {
            enum status status = parse_number(parser, key_names[key], value, &keys->value[key]);
            if (status != STATUS_OK)
                return status;
        }
    }
    for (int key = 0; key < KEY_KINDS; key++)
        if ((key_rules[kind].needed & ~keys->seen) & BIT(key))
            return FAIL(parser, "missing key '%s=', expected a number", key_names[key]);
    return STATUS_OK;
}

/* type= and cast=from:to. */
static enum status parse_types(struct parser *parser, const struct keys *keys,
                               struct instruction *in)
{
    enum status status = STATUS_OK;
    if (keys->seen & BIT(KEY_TYPE))
        status = parse_type(parser, keys->text[KEY_TYPE], &in->type);
    in->to_type = in->type;
    if (status != STATUS_OK || !(keys->seen & BIT(KEY_CAST)))
        return status;
    uint8_t type = in->type;
    struct span to, from = before(keys->text[KEY_CAST], ':', &to);
    status = parse_type(parser, from, &in->type);
    if (status == STATUS_OK && (keys->seen & BIT(KEY_TYPE)) && type != in->type)
        return FAIL(parser, "type=%s, expected the source of cast=%.*s", dtype_name(type),
                    SPAN(keys->text[KEY_CAST]));
    return status == STATUS_OK ? parse_type(parser, to, &in->to_type) : status;
}

static enum status add_operands(struct parser *parser, const struct keys *keys)
{
    if ((keys->seen & BIT(KEY_STRIDE)) && !(keys->seen & BIT(KEY_ROWS)))
        return FAIL(parser, "stride= without rows=");
    if ((keys->seen & BIT(KEY_ROWS)) && keys->value[KEY_ROWS] < 1)
        return FAIL(parser, "rows=0, expected 1 or more");
    if (keys->value[KEY_ROWS] > 1 && !(keys->seen & BIT(KEY_STRIDE)))
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

static enum status add(struct parser *parser, struct instruction *in)
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
            return FAIL(parser, "%s=%lld, expected at most 2^31-1", key_names[key],
                        (long long)keys->value[key]);
    in->m = (int32_t)keys->value[KEY_M];
    in->k = (int32_t)keys->value[KEY_K];
    in->n = (int32_t)keys->value[KEY_N];
    if ((keys->seen & BIT(KEY_INIT)) && keys->value[KEY_INIT] > 1)
        return FAIL(parser, "init=%lld, expected 0 or 1", (long long)keys->value[KEY_INIT]);
    in->accumulate = (keys->seen & BIT(KEY_INIT)) && keys->value[KEY_INIT] == 0;
    return STATUS_OK;
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
            source < 0 || destination < 0 ? -1 : (int16_t)hardware_path(hw, source, destination);
        return in->what >= 0 ? STATUS_OK
                             : FAIL(parser, "unknown path '%.*s' of %s", SPAN(word), hw->name);
    }
    in->kind = INSTRUCTION_MATRIX;
    if (is_word(word, "mmad") && hw->matrix_pipe >= 0)
        return STATUS_OK;
    in->what = (int16_t)hardware_operation(hw, word.text, word.length);
    if (in->what < 0)
        return FAIL(parser, "unknown path or operation '%.*s' of %s", SPAN(word), hw->name);
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
    enum status status = parse_pipe(parser, parser->words[0], &pipe);
    if (status == STATUS_OK && parser->word_count < 2)
        return FAIL(parser, "expected a path or an operation after '%s'", hw->pipes[pipe].name);
    if (status == STATUS_OK)
        status = parse_mnemonic(parser, parser->words[1], &in);
    if (status == STATUS_OK)
        status = split_keys(parser, 2, (enum instruction_kind)in.kind, &keys);
    if (status == STATUS_OK)
        status = parse_types(parser, &keys, &in);
    if (status != STATUS_OK)
        return status;
    if (in.kind == INSTRUCTION_MATRIX)
        status = fill_matrix(parser, &keys, &in);
    else
        in.bytes = keys.value[KEY_BYTES] + keys.value[KEY_ELEMENTS] + keys.value[KEY_COUNT];
    if (status == STATUS_OK)
        status = add(parser, &in);
    if (status != STATUS_OK)
        return status;
    int runs_on = parser->program->items[parser->program->count - 1].pipe;
    if (runs_on != pipe)
        return FAIL(parser, "'%.*s' runs on pipe %s, not on %s", SPAN(parser->words[1]),
                    hw->pipes[runs_on].name, hw->pipes[pipe].name);
    return add_operands(parser, &keys);
}

static enum status parse_flag(struct parser *parser, enum instruction_kind kind)
{
    struct instruction in = {.kind = (uint8_t)kind};
    int64_t flag;
    if (parser->word_count != 4)
        return FAIL(parser, "expected '%.*s PIPE PIPE REGISTER'", SPAN(parser->words[0]));
    enum status status = parse_pipe(parser, parser->words[1], &in.from);
    if (status == STATUS_OK)
        status = parse_pipe(parser, parser->words[2], &in.to);
    if (status != STATUS_OK)
        return status;
    if (!parse_count(parser->words[3], &flag) || flag >= parser->program->hw->flag_registers)
        return FAIL(parser, "flag register '%.*s', expected 0 to %d", SPAN(parser->words[3]),
                    parser->program->hw->flag_registers - 1);
    in.flag = (uint8_t)flag;
    return add(parser, &in);
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
    if (parser->word_count == 2 && !is_word(parser->words[1], "all")) {
        enum status status = parse_pipe(parser, parser->words[1], &in.pipe);
        if (status != STATUS_OK)
            return status;
    }
    return add(parser, &in);
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
        if (words == 3 && is_word(name, parser->loop_names[d]))
            return FAIL(parser, "loop index '%.*s' is in use by a loop around this one",
                        SPAN(name));
    enum status status = parse_number(parser, "loop", parser->words[words - 1], &in.count);
    if (status != STATUS_OK)
        return status;
    memcpy(in.name, name.text, (size_t)name.length);
    memcpy(parser->names[parser->depth], in.name, sizeof in.name);
    parser->loop_names[parser->depth] = parser->names[parser->depth];
    parser->depth++;
    return add(parser, &in);
}

static enum status parse_end(struct parser *parser)
{
    struct instruction in = {.kind = INSTRUCTION_END};
    if (parser->word_count != 1)
        return FAIL(parser, "nothing may follow 'end'");
    if (parser->depth == 0)
        return FAIL(parser, "'end' without a loop");
    parser->depth--;
    return add(parser, &in);
}

static const struct {
    const char *word;
    enum status (*parse)(struct parser *parser);
} statements[] = {
    {"set", parse_set},   {"wait", parse_wait}, {"barrier", parse_barrier},
    {"loop", parse_loop}, {"end", parse_end},
};

/* CCE spellings: NAME(PIPE_X, PIPE_Y, EVENT_IDn) becomes the words of the plain one. */
static const struct {
    const char *cce, *plain;
} spellings[] = {{"set_flag", "set"}, {"wait_flag", "wait"}, {"pipe_barrier", "barrier"}};

static enum status translate_cce(struct parser *parser)
{
    for (size_t s = 0; s < sizeof spellings / sizeof *spellings; s++) {
        if (!is_word(parser->words[0], spellings[s].cce))
            continue;
        parser->words[0] = (struct span){spellings[s].plain, (int)strlen(spellings[s].plain)};
        for (int w = 1; w < parser->word_count; w++) {
            const char *prefix = w == 3 ? "EVENT_ID" : "PIPE_";
            if (!cut(&parser->words[w], prefix))
                return FAIL(parser, "'%.*s' in %s(…), expected %s…", SPAN(parser->words[w]),
                            spellings[s].cce, prefix);
        }
    }
    return STATUS_OK;
}

/* Words are separated by blanks, and by ( , ) where a line is a call. */
static enum status split_words(struct parser *parser, struct span line)
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
        if (parser->word_count == MAX_WORDS)
            return FAIL(parser, "more than %d words in one line", MAX_WORDS);
        parser->words[parser->word_count++] = (struct span){line.text + start, i - start};
    }
    return STATUS_OK;
}

/* The line without its comment, trailing blanks and one trailing semicolon. */
static struct span strip(const char *text, size_t length)
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

static enum status parse_line(struct parser *parser, const char *text, size_t length)
{
    enum status status = split_words(parser, strip(text, length));
    if (status != STATUS_OK || parser->word_count == 0)
        return status;
    for (size_t s = 0; s < sizeof spellings / sizeof *spellings; s++)
        if (is_word(parser->words[0], spellings[s].cce))
            status = translate_cce(parser);
    if (status != STATUS_OK)
        return status;
    for (size_t s = 0; s < sizeof statements / sizeof *statements; s++)
        if (is_word(parser->words[0], statements[s].word))
            return statements[s].parse(parser);
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
        enum status status = parse_line(parser, text, line);
        if (status != STATUS_OK)
            return status;
        text += line + (newline != NULL);
        length -= line + (newline != NULL);
    }
    return STATUS_OK;
}

enum status program_parse(const struct hardware *hw, const char *file, const char *text,
                          size_t length, struct program *program, struct error *error)
{
    struct parser parser = {.file = file, .program = program, .error = error};
    *program = (struct program){.hw = hw};
    enum status status = parse_lines(&parser, text, length);
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

enum status program_read(const struct hardware *hw, const char *file, struct program *program,
                         struct error *error)
{
    bool standard = strcmp(file, "-") == 0;
    char *text = NULL;
    size_t length;
    *program = (struct program){.hw = hw};
    FILE *stream = standard ? stdin : fopen(file, "rb");
    if (!stream)
        return error_set(error, STATUS_IO, "%s: %s", file, strerror(errno));
    enum status status =
        read_all(stream, standard ? "(standard input)" : file, &text, &length, error);
    if (!standard)
        fclose(stream);
    if (status == STATUS_OK)
        status =
            program_parse(hw, standard ? "(standard input)" : file, text, length, program, error);
    free(text);
    return status;
}
