/* Internal to the parser of program text (program_text.c, parse_words.c, parse_keys.c): a line cut
 * into words, and what the keys after a mnemonic may say. */
#ifndef AUTOTUNE_CORE_PARSER_H
#define AUTOTUNE_CORE_PARSER_H

#include "core/program.h"

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

/* ---- parse_words.c --------------------------------------------------------------------------- */

/* Equal in any case? */
bool span_is(struct span span, const char *word);

/* Cuts a prefix off in any case; false when it is not there. */
bool span_cut(struct span *span, const char *prefix);

/* What stands before the first `mark`; *rest is what follows it, empty without one. */
struct span span_before(struct span span, char mark, struct span *rest);

/* Digits only: no sign, blank or exponent; false also when the value does not fit. */
bool span_count(struct span span, int64_t *value);

/* Cuts a line, without its comment and semicolon, into parser->words. CCE spellings become the
 * plain ones. */
enum status parser_split(struct parser *parser, const char *text, size_t length);

/* ---- parse_keys.c ---------------------------------------------------------------------------- */

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

/* Reads words[first …] as the keys that an instruction of this kind may and must have. */
enum status parser_keys(struct parser *parser, int first, enum instruction_kind kind,
                        struct keys *keys);

/* A number, or an error that names its key. */
enum status parser_number(struct parser *parser, const char *key, struct span span, int64_t *value);

/* type= and cast=from:to. */
enum status parser_types(struct parser *parser, const struct keys *keys,
                         struct instruction *instruction);

/* Adds the operands to the program's last instruction. */
enum status parser_operands(struct parser *parser, const struct keys *keys);

#endif
