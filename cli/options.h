/* The options of commands: rows of tables, most of which say where a value goes, and those that all
 * commands share. */
#ifndef AUTOTUNE_CLI_OPTIONS_H
#define AUTOTUNE_CLI_OPTIONS_H

#include "cli/files.h"
#include "cli/say.h"
#include "core/hardware.h"
#include "core/status.h"
#include "results/format.h"

#include <argp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { MAX_OVERRIDES = 64, MAX_FOLDERS = 4096 };

struct common {
    char hw_folders[MAX_FOLDERS];     /* of --hw-path, separated by colons */
    char kernel_folders[MAX_FOLDERS]; /* of --kernel-path */
    const char *hw_name;
    const char *overrides[MAX_OVERRIDES];
    int override_count;
    int64_t cores;           /* 0: all of the chip's */
    enum format_name format; /* place in formats[]; before cli_parse: the command's default */
    enum format_name default_format; /* kept by cli_parse, for the help */
    unsigned formats;                /* that the command has (formats_with) */
    const char *output;              /* NULL: standard output */
    bool standard_output;            /* and -o said so */
    bool quiet, verbose;
    const char **words; /* what is no option: files, names */
    int word_count, max_words;
    struct files files; /* of options: noted by cli_parse; cli_close clears them */
};

/* `text` is NULL of an option without a value. */
struct cli_option;
typedef void option_taker(const struct cli_option *option, void *options, const char *text);

/* A row of a table that ends with one without help. A heading has no name. Where the value goes is
 * an offset in the table's struct; 0: nowhere. */
struct cli_option {
    const char *name;
    const char *value; /* as --help shows it; NULL: it takes none */
    const char *help;
    int group;      /* of the help, under its heading */
    int key;        /* its letter; 0: none */
    size_t text;    /* of a const char * */
    size_t flag;    /* of a bool: it was given */
    size_t seconds; /* of a double */
    size_t count;   /* of an int64_t, from 1 to `most` */
    int64_t most;
    option_taker *take; /* called first: checks the text, or does what a place cannot; or NULL */
};

/* Those of struct common about hardware. */
extern const struct cli_option hardware_options[];

/* That of struct common about where kernels' texts are. */
extern const struct cli_option kernel_options[];

/* What a command is called and takes. Options about output are everybody's. */
struct usage {
    const char *name; /* "autotune sweep" */
    struct {
        const struct cli_option *options;
        size_t place;           /* of their struct in the command's */
    } tables[3];                /* the rest is NULL */
    const char *args_doc, *doc; /* as argp wants them */
};

struct command {
    const char *word;
    const char *title;
    int (*run)(int argc, char **argv);
};

/* Ends with a word of NULL; the first is the main job, which has no word. */
extern const struct command commands[];

/* Parses argv; exits with a message on an error and with the help text on --help. `options` starts
 * with a struct common. Returns the number of words taken into `words` (at most `max_words`). */
int cli_parse(const struct usage *usage, int argc, char **argv, void *options, const char **words,
              int max_words);

/* What shells ask to complete a word: `autotune --complete WORD...` with the words of the line up
 * to the cursor, the last of which, "" too, is to be completed. Prints what it may become, one a
 * line, with its meaning behind a tab; nothing where files are expected. What there is to offer
 * comes from the tables that parse and that `list` shows.
 *
 * The word that main finds before, and that cli_parse finds in place of the command's. */
#define COMPLETE_WORD "--complete"

/* Commands that begin with `begin`. */
void complete_command(const char *begin) __attribute__((noreturn));

/* The command line as a shell takes it, from argv[1] on: what made a table or a page; `word` is the
 * command's, NULL: the main job. To be asked for before argv is parsed, which orders it anew. To be
 * freed. */
char *cli_command_text(const char *word, int argc, char *const argv[]);

/* "autotune WORD FILE" about the same chip, as a shell takes it. To be freed. */
char *cli_file_command(const char *word, const struct common *common, const char *file);

/* Writes " --name value" as a shell takes it. */
void cli_put_option(const char *name, const char *value, FILE *out);

/* Writes a change of the description, " --set-hw key=value" or " --cache word". */
void cli_put_change(const char *change, FILE *out);

/* Notes what the command reads beside its options' files: a file ("-": the standard input), all
 * that the description called `name` comes from, those of chips or of kernels do, or a store. */
void cli_reads(struct common *common, const char *file);
void cli_reads_hardware(struct common *common, const char *name);
struct chips;
void cli_reads_chips(struct common *common, const struct chips *chips);
struct kernels;
void cli_reads_kernels(struct common *common, const struct kernels *kernels);
void cli_keeps(struct common *common, const char *store);

/* Ends the program where an output is not a file of its own, or cannot be written; so does a
 * standard output that is closed, where the answer goes there. Once all files are noted, before any
 * work is done and any of them is touched. */
void cli_check_files(struct common *common);

/* The end of a command. */
void cli_close(struct common *common);

/* --hw, or the description that is taken without it. */
const char *cli_hardware_name(const struct common *common);

/* Loads --hw with --set-hw. */
void cli_load_hardware(struct common *common, struct hardware *hw);

/* The same of commands that are about programs: a processor has none, and is refused. */
void cli_load_chip(struct common *common, struct hardware *hw);

/* The cores that --cores asks for, of `most`, or all; and of those that a chip has for a program.
 * Death where it has fewer. */
int cli_cores(const struct common *common, const struct hardware *hw, int most);
int cli_program_cores(const struct common *common, const struct program *program);

/* Dies where programs are asked for of a processor. */
void cli_require_chip(const struct hardware *hw);

#endif
