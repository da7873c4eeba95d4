/* What all commands share: the common options. */
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

enum { MAX_OVERRIDES = 64, MAX_HW_FOLDERS = 4096 };

struct common {
    const char *hw_name;
    char hw_folders[MAX_HW_FOLDERS]; /* of --hw-path, separated by colons */
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

/* --hw, or the description that is taken without it. */
const char *cli_hardware_name(const struct common *common);

/* Loads --hw with --set-hw; sets common->cores to what the command runs on. */
void cli_load_hardware(struct common *common, struct hardware *hw);

/* The same of commands that are about programs: a processor has none, and is refused. */
void cli_load_chip(struct common *common, struct hardware *hw);

/* Dies where programs are asked for of a processor. */
void cli_require_chip(const struct hardware *hw);

#endif
