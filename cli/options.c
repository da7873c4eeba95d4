/* Options, by argp, whose table is made of a command's at run time: one parser finds the row of an
 * option and puts the value where the row says. Those that all commands share, and what is said of
 * options that are unknown or mistaken.
 *
 * To complete a word, those before it are read as argp would, only to know whether an option waits
 * for its value. Values to offer are read off the help: literals in the name of the argument, a|b,
 * and the list that a text refers to, `autotune list ops`.
 *
 * In a command line as text, words are quoted as POSIX shells take them: bare where all characters
 * are harmless, else in single quotes; with characters that no terminal may get, as $'...' with
 * escapes. */
#include "cli/options.h"

#include "cli/commands.h"
#include "cli/progress.h"
#include "core/suggest.h"
#include "core/text_stream.h"
#include "formats/shell.h"
#include "hardware/load.h"
#include "jobs/tune/chips.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_OPTIONS = 320, KEY_FORMAT = 1000, FIRST_KEY };

/* What argp gets, and behind each of its rows the one that it was made of. */
struct parsing {
    struct common *common; /* which the command's struct begins with */
    int count;
    struct argp_option rows[MAX_OPTIONS + 1];
    const struct cli_option *options[MAX_OPTIONS];
    char *places[MAX_OPTIONS]; /* the structs that they are about */
};

/* Names of forms: to be freed. */
static char *list_formats(unsigned set, const char *last_but_one, int the_default)
{
    char *text = NULL;
    size_t length;
    FILE *out = cli_require_memory(text_stream_open(&text, &length));
    for (int f = 0; formats[f].name; f++)
        if (set >> f & 1)
            fprintf(out, "%s%s%s", set & ((1U << f) - 1) ? set >> f == 1 ? last_but_one : ", " : "",
                    formats[f].name, f == the_default ? " (default)" : "");
    cli_close_text(out);
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
    const struct parsing *parsing = input;
    union {
        const char *text;
        char *writable;
    } same = {text};
    if (key == ARGP_KEY_HELP_DUP_ARGS_NOTE)
        return NULL;
    return key == KEY_FORMAT ? list_formats(parsing->common->formats, " or ",
                                            (int)parsing->common->default_format)
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

/* Of --json too. */
static void take_format(const struct cli_option *option, void *options, const char *text)
{
    struct common *common = options;
    common->format = parse_format(text ? text : option->name, common->formats);
}

static void take_output(const struct cli_option *option, void *options, const char *text)
{
    (void)option;
    struct common *common = options;
    common->standard_output = is_standard_output(text);
    common->output = common->standard_output ? NULL : text;
}

static void take_override(const struct cli_option *option, void *options, const char *text)
{
    struct common *common = options;
    if (common->override_count == MAX_OVERRIDES)
        cli_die("--%s: at most %d of them", option->name, MAX_OVERRIDES);
    common->overrides[common->override_count++] = text;
}

/* A change of the description as well. */
static void take_cache(const struct cli_option *option, void *options, const char *text)
{
    static const char *const changes[] = {HARDWARE_CACHE "warm", HARDWARE_CACHE "cold"};
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++)
        if (strcmp(changes[i] + strlen(HARDWARE_CACHE), text) == 0) {
            take_override(option, options, changes[i]);
            return;
        }
    cli_die("--%s %.64s: expected warm or cold", option->name, text);
}

static void check_folder(const char *option, const char *folder, int length)
{
    struct stat info;
    char path[MAX_FOLDERS];
    snprintf(path, sizeof path, "%.*s", length, folder);
    if (stat(path, &info) != 0 || !S_ISDIR(info.st_mode))
        cli_die("--%s %s: expected a folder", option, path);
}

static void add_folders(const char *option, const char *folders, char all[MAX_FOLDERS])
{
    size_t used = strlen(all);
    if (strlen(folders) + 2 > MAX_FOLDERS - used)
        cli_die("--%s: expected at most %d bytes in all", option, MAX_FOLDERS - 2);
    sprintf(all + used, "%s%s", used ? ":" : "", folders);
    for (const char *at = folders; at; at = strchr(at, ':') ? strchr(at, ':') + 1 : NULL)
        check_folder(option, at, (int)strcspn(at, ":"));
}

static void take_hw_folders(const struct cli_option *option, void *options, const char *folders)
{
    add_folders(option->name, folders, ((struct common *)options)->hw_folders);
}

static void take_kernel_folders(const struct cli_option *option, void *options, const char *folders)
{
    add_folders(option->name, folders, ((struct common *)options)->kernel_folders);
}

_Static_assert(offsetof(struct common, hw_folders) == 0, "place 0 is nowhere");

const struct cli_option hardware_options[] = {
    {.help = "Hardware:", .group = 10},
    {"hw", "NAME|FILE",
     "hardware description: a name of `autotune list hw`, or a file (default ascend310)", 10,
     .text = offsetof(struct common, hw_name)},
    {"hw-path", "DIR",
     "look for platform files of CANN (NAME.ini) in DIR, before $ASCEND_HOME_PATH; several are "
     "separated by colons, or the option repeated",
     10, .take = take_hw_folders},
    {"set-hw", "KEY=VALUE",
     "change one number of the description, such as issue_ns=20; may be repeated; `autotune list "
     "hw NAME` shows the keys",
     10, .take = take_override},
    {"cache", "warm|cold",
     "what the cache before external memory holds of the operands when a kernel starts: all that "
     "fits, or nothing (default: as the description says)",
     10, .take = take_cache},
    {"cores", "N", "cores that may work (default: all of the chip's)", 10,
     .count = offsetof(struct common, cores), .most = INT32_MAX},
    {0},
};

const struct cli_option kernel_options[] = {
    {"kernel-path", "DIR",
     "look for kernels' texts (NAME.kernel) in DIR too, behind the shipped ones; several are "
     "separated by colons, or the option repeated",
     1, .take = take_kernel_folders},
    {0},
};

static const struct cli_option output_options[] = {
    {.help = "Output:", .group = 11},
    {"format", "NAME", "", 11, .take = take_format, .key = KEY_FORMAT}, /* see filter_help */
    {"json", NULL, "short for --format json", 11, .take = take_format},
    {"output", "OUT", "write the answer to OUT, replacing it as a whole; - is the standard output",
     11, .take = take_output, .key = 'o'},
    {"quiet", NULL, "no progress and no notes", 11, .flag = offsetof(struct common, quiet),
     .key = 'q'},
    {"verbose", NULL, "more notes on standard error", 11, .flag = offsetof(struct common, verbose),
     .key = 'v'},
    {"help", NULL, "print this help", 11, .key = 'h'},
    {0},
};

static void add_word(struct common *common, const char *word, const char *name)
{
    if (common->word_count == common->max_words)
        cli_die("%.64s: expected nothing here; `%s --help` says what it takes", word, name);
    common->words[common->word_count++] = word;
}

static void put_value(const struct cli_option *option, char *place, const char *text)
{
    char name[32];
    snprintf(name, sizeof name, "--%s", option->name);
    if (option->take)
        option->take(option, place, text);
    if (option->text)
        *(const char **)(void *)(place + option->text) = text;
    if (option->flag)
        *(bool *)(place + option->flag) = true;
    if (option->seconds)
        *(double *)(void *)(place + option->seconds) = cli_seconds(name, text);
    if (option->count)
        *(int64_t *)(void *)(place + option->count) = cli_count(name, text, option->most);
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct parsing *parsing = state->input;
    int i = 0;
    while (i < parsing->count && parsing->rows[i].key != key)
        i++;
    if (key == ARGP_KEY_ARG)
        add_word(parsing->common, argument, state->name);
    else if (key == 'h')
        print_help(state);
    else if (i < parsing->count)
        put_value(parsing->options[i], parsing->places[i], argument);
    else
        return ARGP_ERR_UNKNOWN;
    return 0;
}

/* Options differ, but for those that a kernel's sizes make. */
static void check_name(const struct parsing *parsing, const char *name)
{
    for (int i = 0; name && i < parsing->count; i++)
        if (parsing->rows[i].name && strcmp(parsing->rows[i].name, name) == 0)
            cli_die("--kernel: its size %s would be an option that there is, expected another name",
                    name);
}

static bool has_key(const struct parsing *parsing, int key)
{
    for (int i = 0; i < parsing->count; i++)
        if (parsing->rows[i].key == key)
            return true;
    return false;
}

static void add_options(struct parsing *parsing, const struct cli_option *options, size_t place)
{
    for (const struct cli_option *o = options; o && o->help; o++) {
        if (o->key == 'o' && has_key(parsing, 'o'))
            continue; /* the command has its own */
        check_name(parsing, o->name);
        int i = parsing->count++;
        parsing->options[i] = o;
        parsing->places[i] = (char *)parsing->common + place;
        parsing->rows[i] = (struct argp_option){.name = o->name,
                                                .key = o->key    ? o->key
                                                       : o->name ? FIRST_KEY + i
                                                                 : 0,
                                                .arg = o->value,
                                                .doc = o->help,
                                                .group = o->group};
    }
}

/* The option of the parser with this long name, of `length` bytes, or this key. */
static const struct argp_option *find_option(const struct argp *argp, const char *name,
                                             size_t length, int key)
{
    for (const struct argp_option *o = argp->options; o->doc; o++)
        if (o->name &&
            (o->key == key || (strlen(o->name) == length && strncmp(o->name, name, length) == 0)))
            return o;
    return NULL;
}

static void try_options(const struct argp *argp, struct suggestion *like)
{
    char name[64];
    for (const struct argp_option *o = argp->options; o->doc; o++)
        if (o->name) {
            snprintf(name, sizeof name, "--%s", o->name);
            suggest_try(like, name);
        }
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
    const struct argp_option *option = find_option(argp, word + 2, length - 2, -1);
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
        option = find_option(argp, "", SIZE_MAX, (unsigned char)*letter);
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

/* ---- completing ---- */

/* The word under way. */
struct word {
    const char *kept; /* what stands before the value in it: "--hw=" */
    int kept_length;
    const char *begin; /* of the value or name */
};

static void offer(const struct word *word, const char *name, size_t length, const char *title)
{
    size_t begun = strlen(word->begin);
    if (begun <= length && strncmp(name, word->begin, begun) == 0)
        printf("%.*s%.*s\t%s\n", word->kept_length, word->kept, (int)length, name, title);
}

void complete_command(const char *begin)
{
    const struct word word = {"", 0, begin};
    for (const struct command *c = commands; c->word; c++)
        offer(&word, c->word, strlen(c->word), c->title);
    cli_exit_printed();
}

static void offer_options(const struct word *word, const struct argp *argp)
{
    char name[64];
    for (const struct argp_option *o = argp->options; o->doc; o++)
        if (o->name)
            offer(word, name, (size_t)snprintf(name, sizeof name, "--%s", o->name), o->doc);
}

/* Words that are written as they are, "no|yes"; capitals stand for others. A line of `text` is
 * another usage, and what follows a blank is another word. */
static void offer_literals(const struct word *word, const char *text)
{
    for (const char *line = text; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
        for (const char *at = line;;) {
            size_t length = strcspn(at, "| \n");
            if (islower((unsigned char)*at) || isdigit((unsigned char)*at))
                offer(word, at, length, "");
            if (at[length] != '|')
                break;
            at += length + 1;
        }
}

static void offer_list(const struct word *word, const char *kind, size_t length)
{
    size_t index;
    json_t *row, *rows = list_rows(kind, length);
    json_array_foreach(rows, index, row)
    {
        const json_t *name = json_object_get(row, "name");
        offer(word, json_string_value(name), json_string_length(name),
              json_string_value(json_object_get(row, "title")));
    }
    json_decref(rows);
}

/* The list that a help text refers to. */
static void offer_list_of(const struct word *word, const char *doc)
{
    static const char reference[] = "`autotune list ";
    const char *list = doc ? strstr(doc, reference) : NULL;
    if (list)
        offer_list(word, list + strlen(reference), strcspn(list + strlen(reference), "` "));
}

static void offer_values(const struct word *word, const struct argp_option *option,
                         const struct common *common)
{
    for (int f = 0; formats[f].name; f++)
        if (strcmp(option->name, "format") == 0 && common->formats >> f & 1)
            offer(word, formats[f].name, strlen(formats[f].name), "");
    offer_literals(word, option->arg);
    offer_list_of(word, option->doc);
}

/* The option that takes the next word for its value; NULL: none. */
static const struct argp_option *option_before(const struct argp *argp, const char *word)
{
    const struct argp_option *option =
        word[1] == '-' ? find_option(argp, word + 2, strlen(word + 2), -1)
                       : find_option(argp, "", SIZE_MAX, (unsigned char)word[strlen(word) - 1]);
    return option && option->arg ? option : NULL;
}

/* A word that is no option's: `first` is the one before it, NULL when it is the first itself. */
static void offer_words(const struct word *word, const struct argp *argp, const char *first)
{
    if (first) {
        offer_list(word, first, strlen(first));
        return;
    }
    offer_literals(word, argp->args_doc ? argp->args_doc : "");
    offer_list_of(word, argp->doc);
}

/* What may become of the last of the words, which are a command's. */
static void complete_word(const struct argp *argp, const struct common *common, int argc,
                          char **argv)
{
    const struct argp_option *option = NULL;
    const char *first = NULL, *last = argc > 1 ? argv[argc - 1] : "";
    for (int i = 1; i < argc - 1; i++) {
        if (strcmp(argv[i], "=") == 0) /* bash makes a word of it */
            continue;
        const struct argp_option *before = option;
        option = !before && argv[i][0] == '-' ? option_before(argp, argv[i]) : NULL;
        if (!before && argv[i][0] != '-' && !first)
            first = argv[i];
    }
    struct word word = {"", 0, strcmp(last, "=") == 0 ? "" : last};
    const char *equals = strchr(last, '=');
    if (!option && strncmp(last, "--", 2) == 0 && equals) {
        option = find_option(argp, last + 2, (size_t)(equals - last - 2), -1);
        word = (struct word){last, (int)(equals - last) + 1, equals + 1};
    }
    if (option && option->arg)
        offer_values(&word, option, common);
    else if (*last == '-')
        offer_options(&word, argp);
    else
        offer_words(&word, argp, first);
    cli_exit_printed();
}

/* ---- parsing ---- */

int cli_parse(const struct usage *usage, int argc, char **argv, void *options, const char **words,
              int max_words)
{
    struct common *common = options; /* every command's options begin with one */
    struct parsing *parsing = cli_require_memory(calloc(1, sizeof *parsing));
    char *saved = argv[0];
    parsing->common = common;
    for (size_t t = 0; t < sizeof usage->tables / sizeof *usage->tables; t++)
        add_options(parsing, usage->tables[t].options, usage->tables[t].place);
    add_options(parsing, output_options, 0);
    const struct argp argp = {.options = parsing->rows,
                              .parser = parse,
                              .args_doc = usage->args_doc,
                              .doc = usage->doc,
                              .help_filter = filter_help};
    if (strcmp(argv[0], COMPLETE_WORD) == 0)
        complete_word(&argp, common, argc, argv);
    union {
        const char *text;
        char *writable;
    } shown = {usage->name};
    argv[0] = shown.writable;
    common->default_format = common->format;
    common->words = words;
    common->max_words = max_words;
    check_options(&argp, usage->name, argc, argv, common);
    error_t failed = argp_parse(&argp, argc, argv, ARGP_NO_ERRS | ARGP_NO_HELP, NULL, parsing);
    argv[0] = saved;
    free(parsing);
    if (failed)
        cli_die("%s: %s", usage->name, strerror(failed));
    progress_open(usage->name, common->quiet);
    return common->word_count;
}

/* ---- as text ---- */

char *cli_command_text(const char *word, int argc, char *const argv[])
{
    char *text = NULL;
    size_t length;
    FILE *out = cli_require_memory(text_stream_open(&text, &length));
    fprintf(out, "autotune%s%s", word ? " " : "", word ? word : "");
    for (int i = 1; i < argc; i++) {
        fputc(' ', out);
        shell_word(argv[i], out);
    }
    cli_close_text(out);
    return text;
}

void cli_put_option(const char *name, const char *value, FILE *out)
{
    fprintf(out, " --%s ", name);
    shell_word(value, out);
}

void cli_put_change(const char *change, FILE *out)
{
    size_t length = strlen(HARDWARE_CACHE);
    if (strncmp(change, HARDWARE_CACHE, length) == 0)
        cli_put_option("cache", change + length, out);
    else
        cli_put_option("set-hw", change, out);
}

char *cli_file_command(const char *word, const struct common *common, const char *file)
{
    char *text = NULL;
    size_t length;
    FILE *out = cli_require_memory(text_stream_open(&text, &length));
    fprintf(out, "autotune %s ", word);
    shell_word(file, out);
    if (common->hw_name)
        cli_put_option("hw", common->hw_name, out);
    if (*common->hw_folders)
        cli_put_option("hw-path", common->hw_folders, out);
    for (int i = 0; i < common->override_count; i++)
        cli_put_change(common->overrides[i], out);
    cli_close_text(out);
    return text;
}

/* ---- --hw and --cores ---- */

const char *cli_hardware_name(const struct common *common)
{
    return common->hw_name ? common->hw_name : CHIP_DEFAULT;
}

void cli_load_hardware(struct common *common, struct hardware *hw)
{
    struct error error;
    struct hardware_overrides overrides = {common->overrides, (size_t)common->override_count};
    cli_require(
        hardware_load_from(common->hw_folders, cli_hardware_name(common), &overrides, hw, &error),
        &error);
    cli_reads_hardware(common, cli_hardware_name(common));
    if (common->verbose)
        cli_note("hardware: %s from %s", hw->name, hw->file);
}

void cli_require_chip(const struct hardware *hw)
{
    if (hw->host)
        cli_die("%s is a processor, whose kernels are compiled code, not programs: expected --hw "
                "of a chip",
                hw->name);
}

int cli_cores(const struct common *common, const struct hardware *hw, int most)
{
    struct error error;
    int cores;
    cli_require(chip_cores(hw, most, common->cores, &cores, &error), &error);
    return cores;
}

int cli_program_cores(const struct common *common, const struct program *program)
{
    unsigned buffers = 0;
    for (int32_t r = 0; r < program->region_count; r++)
        if (program->regions[r].buffer >= 0)
            buffers |= 1U << program->regions[r].buffer;
    return cli_cores(common, program->hw, hardware_cores_with(program->hw, buffers));
}

void cli_load_chip(struct common *common, struct hardware *hw)
{
    cli_load_hardware(common, hw);
    cli_require_chip(hw);
}
