/* What all commands share: the common options, errors, and where the answer goes.
 *
 * A command parses with cli_parse, makes its answer in memory (cli_answer_open … _close) and only
 * then lets it out, so that an error leaves neither half an answer nor half a file. */
#ifndef AUTOTUNE_CLI_OPTIONS_H
#define AUTOTUNE_CLI_OPTIONS_H

#include "cli/files.h"
#include "core/hardware.h"
#include "core/status.h"
#include "formats/text.h"

#include <argp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Exit statuses: a contract. */
enum { EXIT_ANSWER = 0, EXIT_NONE = 1, EXIT_BAD = 2 };

enum { MAX_OVERRIDES = 64, MAX_HW_FOLDERS = 4096 };

enum format {
    FORMAT_TABLE,
    FORMAT_JSON,
    FORMAT_CSV,
    FORMAT_C,
    FORMAT_MARKDOWN,
    FORMAT_HTML,
    FORMAT_DIFF,
    FORMAT_TCUBETILING, /* and what follows: tables that operator libraries load */
    FORMAT_TCUBETILING_JSON,
    FORMAT_RUNTIME_KB,
    FORMAT_STATIC_BANK,
    FORMAT_COUNT
};

struct format_row {
    const char *name, *title; /* of --format; what it is, for `autotune list formats` */
};
extern const struct format_row format_rows[FORMAT_COUNT];

struct common {
    const char *hw_name;
    char hw_folders[MAX_HW_FOLDERS]; /* of --hw-path, separated by colons */
    const char *overrides[MAX_OVERRIDES];
    int override_count;
    int64_t cores;              /* 0: all of the chip's */
    enum format format;         /* set before cli_parse: the command's default */
    enum format default_format; /* kept by cli_parse, for the help */
    unsigned formats;           /* that the command has: bit by enum format */
    const char *output;         /* NULL: standard output */
    bool standard_output;       /* and -o said so */
    bool quiet, verbose;
    const char **words; /* what is no option: files, names */
    int word_count, max_words;
    struct files files; /* of options: noted by cli_parse; cli_close clears them */
};

/* The child parser for struct common: the first member of every command's own options. */
extern const struct argp common_argp;
extern const struct argp_child common_children[];

/* The same without what is about hardware. */
extern const struct argp output_argp;

/* The parser of commands that have no options but their child's, and what the parsers of others
 * leave the rest to: the child's options are the first member of the command's. */
error_t cli_parse_child(int key, char *argument, struct argp_state *state);

struct command {
    const char *word;
    const char *title;
    int (*run)(int argc, char **argv);
};

/* Ends with a word of NULL; the first is the main job, which has no word. */
extern const struct command commands[];

/* Parses argv; exits with a message on an error and with the help text on --help. `options` starts
 * with a struct common. Returns the number of words taken into `words` (at most `max_words`). */
int cli_parse(const struct argp *argp, const char *name, int argc, char **argv, void *options,
              const char **words, int max_words);

/* The option of the parser or its children with this long name, of `length` bytes, or this key. */
const struct argp_option *cli_find_option(const struct argp *argp, const char *name, size_t length,
                                          int key);

const char *cli_format_name(enum format format);

/* Notes what the command reads beside its options' files: a file ("-": the standard input), all
 * that the description called `name` comes from or those of chips do, or a store. */
void cli_reads(struct common *common, const char *file);
void cli_reads_hardware(struct common *common, const char *name);
struct chips;
void cli_reads_chips(struct common *common, const struct chips *chips);
void cli_keeps(struct common *common, const char *store);

/* Ends the program where an output is not a file of its own, or cannot be written; so does a
 * standard output that is closed, where the answer goes there. Once all files are noted, before any
 * work is done and any of them is touched. */
void cli_check_files(struct common *common);

/* The end of a command. */
void cli_close(struct common *common);

/* Prints "autotune: text" and exits with status 2. */
void cli_die(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

/* Prints "autotune: text", and goes on. */
void cli_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints the text alone: what --verbose adds. */
void cli_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Exits with status 0 once all that was printed is out. */
void cli_exit_printed(void) __attribute__((noreturn));

/* Is it a terminal that understands escape sequences? */
bool cli_is_terminal(int descriptor);

/* How long the lines of an answer may be: those of a terminal, or of COLUMNS where it is set; what
 * goes anywhere else has TEXT_WIDTH, the same for everybody. */
int cli_width(int descriptor);

/* Exits with the error's text when status is not STATUS_OK. */
void cli_require(enum status status, const struct error *error);

/* The same for an error about a file that its text does not name. */
void cli_require_of(const char *file, enum status status, const struct error *error);

/* A whole number >= 1 for an option, or death. */
int64_t cli_count(const char *option, const char *text, int64_t largest);

/* The same >= 0. */
int64_t cli_count_or_none(const char *option, const char *text, int64_t largest);

/* A finite number; NaN when `text` is none. */
double cli_number(const char *text);

/* Seconds, more than 0, for an option, or death. */
double cli_seconds(const char *option, const char *text);

/* --hw, or the description that is taken without it. */
const char *cli_hardware_name(const struct common *common);

/* Loads --hw with --set-hw; sets common->cores to what the command runs on. */
void cli_load_hardware(struct common *common, struct hardware *hw);

/* The same of commands that are about programs: a processor has none, and is refused. */
void cli_load_chip(struct common *common, struct hardware *hw);

/* Dies where programs are asked for of a processor. */
void cli_require_chip(const struct hardware *hw);

/* What an answer holds decides what is done with characters that are not shown (core/utf8.h). */
enum answer_kind {
    ANSWER_LINES, /* tables, CSV: question marks */
    ANSWER_JSON,  /* escapes */
    ANSWER_EXACT, /* programs, patches, descriptions, pages: on a terminal only, as lines */
};

struct answer {
    FILE *stream;          /* write here */
    enum answer_kind kind; /* by the format, unless it is set before cli_answer_close */
    char *text;
    size_t length;
    const struct common *common;
    struct style style;
    bool is_long;
};

void cli_answer_open(struct answer *answer, const struct common *common);

/* The same of an answer that may be too long for memory: it is kept in a temporary file. */
void cli_answer_open_long(struct answer *answer, const struct common *common);

/* Lets the answer out: to standard output, or to the file, which is replaced as a whole. */
void cli_answer_close(struct answer *answer);

#endif
