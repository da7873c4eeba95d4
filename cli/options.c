/* The options that all commands share, by argp: their table, their parser, and what is said of
 * those that are unknown, mistaken or given twice. */
#include "cli/options.h"

#include "cli/complete.h"
#include "core/suggest.h"
#include "jobs/tune/chips.h"

#include <ctype.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HARDWARE_OPTIONS = 5 }; /* rows before those about output */
enum { KEY_HW = 1000, KEY_HW_PATH, KEY_SET_HW, KEY_CORES, KEY_FORMAT, KEY_JSON };

static const struct argp_option common_options[] = {
    {NULL, 0, NULL, 0, "Hardware:", 10},
    {"hw", KEY_HW, "NAME|FILE", 0,
     "hardware description: a name of `autotune list hw`, or a file "
     "(default ascend310)",
     10},
    {"hw-path", KEY_HW_PATH, "DIR", 0,
     "look for platform files of CANN (NAME.ini) in DIR, before $ASCEND_HOME_PATH; several are "
     "separated by colons, or the option repeated",
     10},
    {"set-hw", KEY_SET_HW, "KEY=VALUE", 0,
     "change one number of the description, such as "
     "issue_ns=20; may be repeated; `autotune list hw NAME` shows the keys",
     10},
    {"cores", KEY_CORES, "N", 0, "cores that may work (default: all of the chip's)", 10},
    {NULL, 0, NULL, 0, "Output:", 11},
    {"format", KEY_FORMAT, "NAME", 0, "", 11}, /* see filter_help */
    {"json", KEY_JSON, NULL, 0, "short for --format json", 11},
    {"output", 'o', "OUT", 0,
     "write the answer to OUT, replacing it as a whole; - is the standard output", 11},
    {"quiet", 'q', NULL, 0, "no progress and no notes", 11},
    {"verbose", 'v', NULL, 0, "more notes on standard error", 11},
    {"help", 'h', NULL, 0, "print this help", 11},
    {0},
};

/* Names of forms: to be freed. */
static char *list_formats(unsigned set, const char *last_but_one, int the_default)
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    for (int f = 0; out && formats[f].name; f++)
        if (set >> f & 1)
            fprintf(out, "%s%s%s", set & ((1U << f) - 1) ? set >> f == 1 ? last_but_one : ", " : "",
                    formats[f].name, f == the_default ? " (default)" : "");
    if (!out || fclose(out))
        cli_die("out of memory");
    return text;
}

static enum format_name parse_format(const char *name, unsigned set)
{
    struct suggestion like = suggest_for(name, -1);
    for (int f = 0; formats[f].name; f++) {
        if (!(set >> f & 1))
            continue;
        suggest_try(&like, formats[f].name);
        if (strcasecmp(name, formats[f].name) == 0)
            return (enum format_name)f;
    }
    cli_die("--format %.64s: expected one of %s%s", name, list_formats(set, ", ", -1), like.text);
}

/* An argp help filter: returns `text`, or a replacement that argp frees. */
static char *filter_help(int key, const char *text, void *input)
{
    const struct common *common = input;
    union {
        const char *text;
        char *writable;
    } same = {text};
    if (key == ARGP_KEY_HELP_DUP_ARGS_NOTE)
        return NULL;
    return key == KEY_FORMAT && common
               ? list_formats(common->formats, " or ", (int)common->default_format)
               : same.writable;
}

static void print_help(struct argp_state *state)
{
    char margin[32];
    snprintf(margin, sizeof margin, "rmargin=%d", cli_width(STDOUT_FILENO) - 1);
    setenv("ARGP_HELP_FMT", margin, 0);
    state->flags &= ~(unsigned)ARGP_NO_ERRS; /* with it argp prints no help either */
    argp_state_help(state, stdout, ARGP_HELP_STD_HELP & ~(unsigned)ARGP_HELP_EXIT_OK);
    cli_exit_printed();
}

static bool is_standard_output(const char *name)
{
    return strcmp(name, "-") == 0 || strcmp(name, "/dev/stdout") == 0;
}

static void set_output(struct common *common, const char *name)
{
    bool standard = is_standard_output(name);
    common->output = standard ? NULL : name;
    common->standard_output = standard;
}

static void add_override(struct common *common, const char *text)
{
    if (common->override_count == MAX_OVERRIDES)
        cli_die("--set-hw: at most %d of them", MAX_OVERRIDES);
    common->overrides[common->override_count++] = text;
}

static void check_folder(const char *folder, int length)
{
    struct stat info;
    char path[MAX_HW_FOLDERS];
    snprintf(path, sizeof path, "%.*s", length, folder);
    if (stat(path, &info) != 0 || !S_ISDIR(info.st_mode))
        cli_die("--hw-path %s: expected a folder", path);
}

static void add_hw_folders(struct common *common, const char *folders)
{
    size_t used = strlen(common->hw_folders), size = sizeof common->hw_folders - used;
    if (strlen(folders) + 2 > size)
        cli_die("--hw-path: expected at most %d bytes in all", MAX_HW_FOLDERS - 2);
    sprintf(common->hw_folders + used, "%s%s", used ? ":" : "", folders);
    for (const char *at = folders; at; at = strchr(at, ':') ? strchr(at, ':') + 1 : NULL)
        check_folder(at, (int)strcspn(at, ":"));
}

static void add_word(struct common *common, const char *word, const char *name)
{
    if (common->word_count == common->max_words)
        cli_die("%.64s: expected nothing here; `%s --help` says what it takes", word, name);
    common->words[common->word_count++] = word;
}

static error_t parse_common(int key, char *argument, struct argp_state *state)
{
    struct common *common = state->input;
    switch (key) {
    case KEY_HW:
        common->hw_name = argument;
        return 0;
    case KEY_HW_PATH:
        add_hw_folders(common, argument);
        return 0;
    case KEY_SET_HW:
        add_override(common, argument);
        return 0;
    case KEY_CORES:
        common->cores = cli_count("--cores", argument, INT32_MAX);
        return 0;
    case KEY_FORMAT:
        common->format = parse_format(argument, common->formats);
        return 0;
    case KEY_JSON:
        common->format = parse_format("json", common->formats);
        return 0;
    case 'o':
        set_output(common, argument);
        return 0;
    case 'q':
        common->quiet = true;
        return 0;
    case 'v':
        common->verbose = true;
        return 0;
    case ARGP_KEY_ARG:
        add_word(common, argument, state->name);
        return 0;
    case 'h':
        print_help(state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

const struct argp common_argp = {
    .options = common_options, .parser = parse_common, .help_filter = filter_help};
const struct argp_child common_children[] = {{&common_argp, 0, NULL, 0}, {0}};
const struct argp output_argp = {.options = common_options + HARDWARE_OPTIONS,
                                 .parser = parse_common,
                                 .help_filter = filter_help};

error_t cli_parse_child(int key, char *argument, struct argp_state *state)
{
    (void)argument;
    if (key != ARGP_KEY_INIT)
        return ARGP_ERR_UNKNOWN;
    state->child_inputs[0] = state->input;
    return 0;
}

const struct argp_option *cli_find_option(const struct argp *argp, const char *name, size_t length,
                                          int key)
{
    const struct argp_option *found = NULL;
    for (const struct argp_option *o = argp->options; o && (o->name || o->key || o->doc); o++)
        if (o->name &&
            (o->key == key || (strlen(o->name) == length && strncmp(o->name, name, length) == 0)))
            return o;
    for (const struct argp_child *c = argp->children; c && c->argp && !found; c++)
        found = cli_find_option(c->argp, name, length, key);
    return found;
}

static void try_options(const struct argp *argp, struct suggestion *like)
{
    char name[64];
    for (const struct argp_option *o = argp->options; o && (o->name || o->key || o->doc); o++)
        if (o->name) {
            snprintf(name, sizeof name, "--%s", o->name);
            suggest_try(like, name);
        }
    for (const struct argp_child *c = argp->children; c && c->argp; c++)
        try_options(c->argp, like);
}

/* The word that stands for a value in --help says what is done with a file, there and here. */
static const struct {
    const char *word;
    enum file_use use;
    bool is_beginning; /* OUT.json */
} file_words[] = {
    {"OUT", FILE_WRITTEN, true}, {"DB", FILE_STORE, false}, {"FILE", FILE_READ, false}};

/* A name that is given again replaces the one before, as the option does; files to read add up. */
static void note_value(struct common *common, const struct argp_option *option, const char *value)
{
    char name[32] = "-o";
    bool standard = option->key == 'o' && is_standard_output(value);
    if (option->key != 'o')
        snprintf(name, sizeof name, "--%s", option->name);
    for (size_t w = 0; w < sizeof file_words / sizeof *file_words; w++) {
        size_t length = strlen(file_words[w].word);
        enum file_use use = file_words[w].use;
        if (strncmp(option->arg, file_words[w].word, length) == 0 &&
            (file_words[w].is_beginning || !option->arg[length]))
            files_note(&common->files, use, use == FILE_READ ? NULL : name,
                       standard ? NULL : value);
    }
}

/* The option of a word; *value is what stands there for its value, or NULL. */
static const struct argp_option *check_long(const struct argp *argp, const char *name,
                                            const char *word, const char **value)
{
    size_t length = strcspn(word, "=");
    const struct argp_option *option = cli_find_option(argp, word + 2, length - 2, -1);
    if (!option) {
        struct suggestion like = suggest_for(word, (int)length);
        try_options(argp, &like);
        cli_die("unknown option %.64s; `%s --help` lists the options%s", word, name, like.text);
    }
    if (!option->arg && word[length])
        cli_die("%.64s: takes no value; `%s --help` lists the options", word, name);
    *value = word[length] ? word + length + 1 : NULL;
    return option;
}

static const struct argp_option *check_short(const struct argp *argp, const char *name,
                                             const char *word, const char **value)
{
    const struct argp_option *option = NULL;
    const char *letter = word + 1;
    for (; *letter && !(option && option->arg); letter++) {
        option = cli_find_option(argp, "", SIZE_MAX, (unsigned char)*letter);
        if (!option)
            cli_die("unknown option -%c; `%s --help` lists the options", *letter, name);
    }
    *value = *letter ? letter : NULL;
    return option;
}

/* Refuses what argp would, but says which word it is; and abbreviations, which the next option with
 * the same beginning would break. Notes the files. */
static void check_options(const struct argp *argp, const char *name, int argc, char **argv,
                          struct common *common)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        const char *word = argv[i], *value = NULL;
        if (word[0] != '-' || !word[1])
            continue;
        const struct argp_option *option =
            (word[1] == '-' ? check_long : check_short)(argp, name, word, &value);
        if (!option->arg)
            continue;
        if (!value && ++i == argc)
            cli_die("%.64s: its value is missing; `%s --help` lists the options", word, name);
        note_value(common, option, value ? value : argv[i]);
    }
}

int cli_parse(const struct argp *argp, const char *name, int argc, char **argv, void *options,
              const char **words, int max_words)
{
    struct common *common = options; /* every command's options begin with one */
    struct argp filtered = *argp;
    char *saved = argv[0];
    if (strcmp(argv[0], COMPLETE_WORD) == 0)
        complete_word(argp, common, argc, argv);
    union {
        const char *text;
        char *writable;
    } shown = {name};
    argv[0] = shown.writable;
    common->default_format = common->format;
    common->words = words;
    common->max_words = max_words;
    filtered.help_filter = filter_help;
    check_options(argp, name, argc, argv, common);
    error_t failed = argp_parse(&filtered, argc, argv, ARGP_NO_ERRS | ARGP_NO_HELP, NULL, options);
    argv[0] = saved;
    if (failed)
        cli_die("%s: %s", name, strerror(failed));
    return common->word_count;
}
