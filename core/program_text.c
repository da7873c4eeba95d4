/* Line by line, no look-ahead: a line is cut into words (parse_words.c), its first word picks a
 * statement from a table, and everything else is work of a pipe, whose mnemonic decides which keys
 * it may have (parse_keys.c). The program's own functions check the meaning; here their errors get
 * file and line. */
#include "core/program_text.h"
#include "core/suggest.h"

#include "core/parser.h"
#include "core/utf8.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MAX_FILE_BYTES = 256 << 20 };

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
    TRY(parser_keys(parser, 2, (enum instruction_kind)in.kind, &keys));
    TRY(parser_types(parser, &keys, &in));
    TRY(check_bits(parser, &keys));
    in.unit = keys.value[KEY_UNIT] == 1;
    in.transpose = keys.value[KEY_TRANSPOSE] == 1;
    if (in.kind == INSTRUCTION_MATRIX)
        TRY(fill_matrix(parser, &keys, &in));
    else
        fill_amount(&keys, &in);
    TRY(check_rows(parser, &keys, &in));
    TRY(add(parser, &in));
    int runs_on = parser->program->items[parser->program->count - 1].pipe;
    if (runs_on != pipe)
        return FAIL(parser, "'%.*s' runs on pipe %s, not on %s", SPAN(parser->words[1]),
                    hw->pipes[runs_on].name, hw->pipes[pipe].name);
    return parser_operands(parser, &keys);
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
    if (parser->word_count == 2 && !span_is(parser->words[1], "all"))
        TRY(parse_pipe(parser, parser->words[1], &in.pipe));
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
        if (words == 3 && span_is(name, parser->loop_names[d]))
            return FAIL(parser, "loop index '%.*s' is in use by a loop around this one",
                        SPAN(name));
    TRY(parser_number(parser, "loop", parser->words[words - 1], &in.count));
    memcpy(in.name, name.text, (size_t)name.length);
    memcpy(parser->loop_names[parser->depth++], in.name, sizeof in.name);
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

static enum status (*const statements[STATEMENTS])(struct parser *parser) = {
    parse_set, parse_wait, parse_barrier, parse_loop, parse_end,
};

static enum status parse_line(struct parser *parser, const char *text, size_t length)
{
    enum status status = parser_split(parser, text, length);
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
