/* Internal to the reader of kernels: a line cut into tokens, names, and what the files share.
 *
 * kernel_text.c reads lines and their indentation, kernel_lexer.c cuts them, kernel_fail.c says
 * what is wrong with them; kernel_declarations.c, kernel_lines.c and kernel_steps.c read
 * statements, kernel_expression.c, kernel_value.c and kernel_node.c what they compute with;
 * kernel_names.c knows who is called what; kernel_rules.c and kernel_life.c look at the whole. */
#ifndef AUTOTUNE_KERNELS_TEXT_KERNEL_PARSER_H
#define AUTOTUNE_KERNELS_TEXT_KERNEL_PARSER_H

#include "core/suggest.h"
#include "kernels/text/kernel_text.h"

enum token_kind { TOKEN_END, TOKEN_WORD, TOKEN_NUMBER, TOKEN_REAL, TOKEN_TEXT, TOKEN_MARK };

struct token {
    enum token_kind kind;
    const char *text; /* in the line; of the end: what a message calls it */
    int length, column;
    bool is_spaced; /* a blank stands before it */
};

struct kernel_parser {
    struct error *error;
    struct kernel_text *kernel; /* which has the text */
    int line;
    struct token tokens[KERNEL_MAX_TOKENS + 1];
    int at, end;                          /* in `tokens`: the next one, and where reading stops */
    struct token stop;                    /* what stands there */
    int nesting;                          /* of what is being read, */
    bool knows_cores;                     /* which may ask how many cores there are */
    struct kernel_name declaring;         /* whose value is being read; "": nobody's */
    int depth;                            /* of loops that are open, outermost first: */
    int open[KERNEL_MAX_DEPTH];           /* their numbers, */
    int indents[KERNEL_MAX_DEPTH + 1];    /* and the blanks before a line in each body */
    bool has_kernel, has_title, has_body; /* so far */
};

/* ---- kernel_fail.c: where it is ---- */

/* Fills the error with "file:line:column: …" and the line, and returns the status. */
enum status kernel_fail(const struct kernel_parser *parser, enum status status,
                        struct kernel_place at, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
#define FAIL_AT(parser, at, ...) kernel_fail((parser), STATUS_INVALID, (at), __VA_ARGS__)
#define FAIL(parser, ...)        FAIL_AT(parser, reader_place(parser), __VA_ARGS__)

/* ---- kernel_text.c: memory, and lines ---- */

/* Zeroed, and owned by the kernel; NULL without memory. */
void *kernel_allocate(struct kernel_text *kernel, size_t size);

/* ---- kernel_lexer.c: lines ---- */

/* Cuts what stands behind the indentation of a line into tokens; none: it is blank. */
enum status reader_cut(struct kernel_parser *parser, const char *line, int length);

/* The next token, of kind TOKEN_END where there is none, and its place. */
const struct token *reader_peek(const struct kernel_parser *parser);
struct kernel_place reader_place(const struct kernel_parser *parser);

/* Is it this word or mark? The second one takes it where it is. */
bool token_is(const struct token *token, const char *text);
bool reader_take(struct kernel_parser *parser, const char *text);

/* Takes it or says "expected TEXT", and so of a line's end and of a whole number. */
enum status reader_expect(struct kernel_parser *parser, const char *text);
enum status reader_expect_end(struct kernel_parser *parser);
enum status reader_number(struct kernel_parser *parser, int64_t *number);

/* "'x'" or "the end of the line": what stands there instead of what was expected. */
enum { TOKEN_SHOWN = 64 };
const char *token_show(const struct token *token, char text[TOKEN_SHOWN]);

/* "EXPECTED, found …" at the next token. */
enum status reader_fail_expected(struct kernel_parser *parser, const char *expected);

/* ---- kernel_names.c: who is called what ---- */

enum name_kind { NAME_SIZE, NAME_LET, NAME_TENSOR, NAME_AXIS, NAME_LOOP, NAME_TILE, NAME_KINDS };
#define NAMES(kind) (1U << (kind))

/* Takes a word that may be a name, of nothing so far unless `may_repeat`. */
enum status reader_name(struct kernel_parser *parser, bool may_repeat, struct kernel_name *name);

/* Makes what has this name: the last of its kind, zeroed but for it. */
enum status reader_declare(struct kernel_parser *parser, enum name_kind kind,
                           const struct kernel_name *name, int *number);

/* The thing of a number, which begins with its name; how many there are of its kind. */
const struct kernel_name *kernel_named(const struct kernel_text *kernel, enum name_kind kind,
                                       int number);
int kernel_count(const struct kernel_text *kernel, enum name_kind kind);

/* Whose name the token is: false where it is nobody's. */
bool reader_find(const struct kernel_parser *parser, const struct token *token,
                 enum name_kind *kind, int *number);

/* Takes the name of something of one of these kinds that is known here, which is used by that. */
enum status reader_use(struct kernel_parser *parser, unsigned wanted, const char *expected,
                       enum name_kind *kind, int *number);

/* Takes the name of a buffer or operation, which the chip knows. */
enum status reader_foreign(struct kernel_parser *parser, const char *expected,
                           char text[KERNEL_MAX_NAME + 1]);

/* Takes the name of a type. */
enum status reader_type(struct kernel_parser *parser, int *type);

/* ---- kernel_node.c: expressions from their arguments ---- */

/* How tight signs bind. */
enum { FUNCTION, OR_LEVEL, AND_LEVEL, NOT_LEVEL, COMPARED, SUM, PRODUCT, SIGN };

/* What an operation takes and gives. */
enum form_sort { OF_TRUTH, COMPARES, OF_NUMBERS, OF_WHOLE_NUMBERS };

/* How an operation is written. */
struct form {
    const char *sign; /* or the name of a function */
    enum expression_op op;
    int level;
    int least, most; /* arguments */
    enum form_sort sort;
};

enum { FORMS = 23 };
extern const struct form expression_forms[FORMS];

/* NULL where it is none. */
const struct form *expression_form(enum expression_op op);

#define KIND(kind) (1U << (kind))
#define NUMBERS    (KIND(EXPRESSION_IS_WHOLE) | KIND(EXPRESSION_IS_REAL))

extern const char *const expression_kind_names[]; /* "a whole number" */

/* Is it one of these kinds? */
enum status node_check(struct kernel_parser *parser, const struct expression *e, unsigned kinds,
                       const char *expected);

/* One of arguments that are known to fit; the second one looks at them first. */
enum status node_make(struct kernel_parser *parser, enum expression_op op,
                      enum expression_kind kind, struct kernel_place at, struct expression *args,
                      struct expression **expression);
enum status node_form(struct kernel_parser *parser, const struct form *form, struct kernel_place at,
                      struct expression *args, struct expression **expression);

/* ---- kernel_value.c: what operations are of ---- */

/* A number, name, call, or an expression in parentheses. */
enum status reader_primary(struct kernel_parser *parser, struct expression **expression);

/* A word of the axis that stands left of a comparison. */
enum status reader_word(struct kernel_parser *parser, const struct expression *left,
                        struct expression **expression);

/* e {"," e} ")", from `least` to `most` of them; words of the axis, unless that is NULL. */
enum status reader_args(struct kernel_parser *parser, const struct expression *axis, int least,
                        int most, struct expression **list);

/* ---- kernel_expression.c ---- */

/* An expression of any kind. */
enum status reader_any(struct kernel_parser *parser, struct expression **expression);

/* What may stand somewhere. */
struct wanted {
    unsigned kinds; /* bits of enum expression_kind */
    unsigned asks;
    const char *what; /* for messages: "a whole number" */
};

extern const struct wanted wanted_count;     /* of sizes and axes alone */
extern const struct wanted wanted_whole;     /* any but where a round begins */
extern const struct wanted wanted_pick;      /* any */
extern const struct wanted wanted_operand;   /* a real one too */
extern const struct wanted wanted_condition; /* true or false, also of first and last */
extern const struct wanted wanted_choice;    /* true or false for all rounds alike */
extern const struct wanted wanted_let;       /* what a let may be */

/* Is it what is wanted? */
enum status reader_wanted(struct kernel_parser *parser, const struct expression *e,
                          const struct wanted *wanted);

enum status reader_expression(struct kernel_parser *parser, const struct wanted *wanted,
                              struct expression **expression);

/* One without blanks, or in parentheses. */
enum status reader_tight(struct kernel_parser *parser, const struct wanted *wanted,
                         struct expression **expression);

/* e {"," e}, at most so many of `what`. */
enum status reader_list(struct kernel_parser *parser, const struct wanted *wanted, int most,
                        const char *what, struct expression **list, int *count);

/* "[" list "]". */
enum status reader_dims(struct kernel_parser *parser, const struct wanted *wanted,
                        struct expression **list, int *count);

/* Where a tile lives: a loop around, `top`, or a choice between such. */
enum status reader_life(struct kernel_parser *parser, struct expression **expression);

/* ---- kernel_declarations.c, kernel_lines.c: statements ---- */

/* Reads the line if it begins as a declaration does; *found says so. */
enum status reader_declaration(struct kernel_parser *parser, bool *found);

/* Reads a line of the body. */
enum status reader_line(struct kernel_parser *parser);

/* Reads what a step is but for its stage (kernel_steps.c). */
enum status reader_step(struct kernel_parser *parser, struct kernel_step *step);

/* How axes are cut: the word and how many arguments it has; NULL without a word. */
struct cut {
    const char *name;
    int arguments;
};
extern const struct cut kernel_cuts[CUTS];

/* The words of steps and their keys, in the order of their enums; what of both goes together. */
extern const char *const kernel_verbs[VERBS];
extern const char *const kernel_keys[STEP_KEYS];

/* ---- kernel_rules.c, kernel_life.c: what needs the whole ---- */

enum status kernel_check(struct kernel_parser *parser);
enum status kernel_check_lives(struct kernel_parser *parser);

#endif
