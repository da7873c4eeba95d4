#include "cli/options.h"
#include "core/stop.h"

#include "cli/complete.h"
#include "core/number.h"
#include "core/suggest.h"
#include "hardware/load.h"
#include "jobs/chips.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

const struct format_row format_rows[FORMAT_COUNT] = {
    [FORMAT_TABLE] = {"table", "for people"},
    [FORMAT_JSON] = {"json", "for machines; the keys are stable"},
    [FORMAT_CSV] = {"csv", "a line for each tiling, kernel or result"},
    [FORMAT_C] = {"c", "table: a header for C99 and C++11 with the entries and a lookup"},
    [FORMAT_MARKDOWN] = {"markdown", "table: for people and for review"},
    [FORMAT_HTML] = {"html", "analyse: a page of charts and tables, as --report writes"},
    [FORMAT_DIFF] = {"diff", "advise --apply: a patch"},
    [FORMAT_TCUBETILING] = {"tcubetiling", "matmul in cann: a header of AscendC's TCubeTiling; "
                                           "tune -o NAME.h writes NAME.json too"},
    [FORMAT_TCUBETILING_JSON] = {"tcubetiling-json", "its 50 fields in order, as JSON alone"},
    [FORMAT_RUNTIME_KB] = {"runtime_kb", "matmul in cann: JSON lines that CANN's MatMulV3 loads"},
    [FORMAT_STATIC_BANK] = {"static_bank", "matmul in cann: CANN's static bank of MatMul"},
};

enum { LEAST_WIDTH = 40, MOST_WIDTH = 1000 }; /* of lines */
enum { HARDWARE_OPTIONS = 5 };                /* rows before those about output */
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
    {"output", 'o', "FILE", 0,
     "write the answer to FILE, replacing it as a whole; - is the "
     "standard output",
     11},
    {"quiet", 'q', NULL, 0, "no progress and no notes", 11},
    {"verbose", 'v', NULL, 0, "more notes on standard error", 11},
    {"help", 'h', NULL, 0, "print this help", 11},
    {0},
};

/* Texts quote what the user gave: no character of it may break the line or steer the terminal. */
static void make_printable(char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < ' ' || *text == 127)
            *text = '?';
}

static void warn(const char *format, va_list list)
{
    char text[PATH_MAX + 512];
    vsnprintf(text, sizeof text, format, list);
    make_printable(text);
    fprintf(stderr, "autotune: %s\n", text);
}

void cli_warn(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    warn(format, list);
    va_end(list);
}

void cli_die(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    warn(format, list);
    va_end(list);
    exit(EXIT_BAD);
}

/* A reader that left has seen enough. */
static bool flushed(FILE *file)
{
    return (!ferror(file) && fflush(file) == 0) || errno == EPIPE;
}

void cli_exit_printed(void)
{
    if (!flushed(stdout))
        cli_die("standard output: %s", strerror(errno));
    exit(EXIT_ANSWER);
}

bool cli_is_terminal(int descriptor)
{
    const char *kind = getenv("TERM");
    return isatty(descriptor) && kind && strcmp(kind, "dumb") != 0;
}

int cli_width(int descriptor)
{
    struct winsize size;
    const char *text = getenv("COLUMNS");
    if (!isatty(descriptor))
        return TEXT_WIDTH;
    long columns = text ? strtol(text, NULL, 10) : 0;
    if (columns <= 0 && ioctl(descriptor, TIOCGWINSZ, &size) == 0)
        columns = size.ws_col;
    if (columns <= 0)
        return TEXT_WIDTH;
    return columns < LEAST_WIDTH ? LEAST_WIDTH : columns > MOST_WIDTH ? MOST_WIDTH : (int)columns;
}

void cli_require(enum status status, const struct error *error)
{
    if (status != STATUS_OK)
        cli_die("%s", error->text);
}

void cli_require_of(const char *file, enum status status, const struct error *error)
{
    if (status != STATUS_OK)
        cli_die("%s: %s", file, error->text);
}

static int64_t count_from(const char *option, const char *text, int64_t least, int64_t largest)
{
    struct error error;
    int64_t value;
    cli_require(number_count(option, text, least, largest, &value, &error), &error);
    return value;
}

int64_t cli_count(const char *option, const char *text, int64_t largest)
{
    return count_from(option, text, 1, largest);
}

int64_t cli_count_or_none(const char *option, const char *text, int64_t largest)
{
    return count_from(option, text, 0, largest);
}

double cli_number(const char *text)
{
    return number_real(text);
}

double cli_seconds(const char *option, const char *text)
{
    struct error error;
    double seconds;
    cli_require(number_seconds(option, text, &seconds, &error), &error);
    return seconds;
}

const char *cli_format_name(enum format format)
{
    return format_rows[format].name;
}

static enum format parse_format(const char *name, unsigned formats)
{
    char allowed[128] = "";
    struct suggestion like = suggest_for(name, -1);
    for (int f = 0; f < FORMAT_COUNT; f++) {
        if (!(formats >> f & 1))
            continue;
        suggest_try(&like, format_rows[f].name);
        if (strcasecmp(name, format_rows[f].name) == 0)
            return (enum format)f;
        strcat(strcat(allowed, *allowed ? ", " : ""), format_rows[f].name);
    }
    cli_die("--format %.64s: expected one of %s%s", name, allowed, like.text);
}

/* Of --format: the names that the command has. */
static char *describe_formats(const struct common *common)
{
    char text[160] = "";
    for (int f = 0; f < FORMAT_COUNT; f++) {
        const char *before = !*text ? "" : common->formats >> f == 1 ? " or " : ", ";
        if (common->formats >> f & 1)
            strcat(strcat(text, before), format_rows[f].name);
        if (f == (int)common->default_format)
            strcat(text, " (default)");
    }
    return strdup(text);
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
    return key == KEY_FORMAT && common ? describe_formats(common) : same.writable;
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

static void set_output(struct common *common, const char *name)
{
    bool standard = strcmp(name, "-") == 0 || strcmp(name, "/dev/stdout") == 0;
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

/* Does the option in `word` take the next word for its value? */
static bool check_long(const struct argp *argp, const char *name, const char *word)
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
    return option->arg && !word[length];
}

static bool check_short(const struct argp *argp, const char *name, const char *word)
{
    const struct argp_option *option = NULL;
    for (const char *letter = word + 1; *letter && !(option && option->arg); letter++) {
        option = cli_find_option(argp, "", SIZE_MAX, (unsigned char)*letter);
        if (!option)
            cli_die("unknown option -%c; `%s --help` lists the options", *letter, name);
        if (option->arg && letter[1])
            return false;
    }
    return option->arg != NULL;
}

/* Refuses what argp would, but says which word it is; and abbreviations, which the next option with
 * the same beginning would break. */
static void check_options(const struct argp *argp, const char *name, int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (argv[i][0] != '-' || !argv[i][1])
            continue;
        bool takes_next =
            argv[i][1] == '-' ? check_long(argp, name, argv[i]) : check_short(argp, name, argv[i]);
        if (takes_next && ++i == argc)
            cli_die("%.64s: its value is missing; `%s --help` lists the options", argv[i - 1],
                    name);
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
    check_options(argp, name, argc, argv);
    error_t failed = argp_parse(&filtered, argc, argv, ARGP_NO_ERRS | ARGP_NO_HELP, NULL, options);
    argv[0] = saved;
    if (failed)
        cli_die("%s: %s", name, strerror(failed));
    return common->word_count;
}

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
    int cores;
    cli_require(chip_cores(hw, common->cores, &cores, &error), &error);
    common->cores = cores;
    if (common->verbose)
        fprintf(stderr, "hardware: %s from %s\n", hw->name, hw->file);
}

void cli_require_chip(const struct hardware *hw)
{
    if (hw->host)
        cli_die("%s is a processor, whose kernels are compiled code, not programs: expected --hw "
                "of a chip",
                hw->name);
}

void cli_load_chip(struct common *common, struct hardware *hw)
{
    cli_load_hardware(common, hw);
    cli_require_chip(hw);
}

void cli_answer_open(struct answer *answer, const struct common *common)
{
    *answer = (struct answer){.common = common};
    const char *plain = getenv("NO_COLOR");
    bool colour = !common->output && cli_is_terminal(STDOUT_FILENO) && !(plain && *plain);
    answer->style = text_style(colour, common->output ? TEXT_WIDTH : cli_width(STDOUT_FILENO));
    answer->stream = open_memstream(&answer->text, &answer->length);
    if (!answer->stream)
        cli_die("out of memory");
}

void cli_answer_open_long(struct answer *answer, const struct common *common)
{
    cli_answer_open(answer, common);
    fclose(answer->stream);
    free(answer->text);
    answer->text = NULL;
    answer->is_long = true;
    answer->stream = tmpfile();
    if (!answer->stream)
        cli_die("a temporary file: %s", strerror(errno));
}

/* What an answer or a file holds: text, or a file that is read from its beginning. */
struct content {
    const char *text;
    size_t length;
    FILE *file;
};

static bool put_content(const struct content *content, FILE *out)
{
    char block[1 << 16];
    size_t count;
    if (!content->file)
        return fwrite(content->text, 1, content->length, out) == content->length;
    rewind(content->file);
    while ((count = fread(block, 1, sizeof block, content->file)) > 0)
        if (fwrite(block, 1, count, out) != count)
            return false;
    return !ferror(content->file);
}

/* Devices and pipes cannot be replaced, only written to; at their end, where /dev/fd names a file.
 */
static enum status write_in_place(const char *path, const struct content *content,
                                  struct error *error)
{
    FILE *file = fopen(path, "ab");
    if (!file)
        return error_set(error, STATUS_IO, "%s: %s", path, strerror(errno));
    bool written = put_content(content, file) || ferror(file);
    enum status status = STATUS_OK;
    if (!written || !flushed(file))
        status = error_set(error, STATUS_IO, "%s: %s", path, strerror(errno));
    fclose(file);
    return status;
}

static mode_t new_file_mode(void)
{
    mode_t mask = umask(0);
    umask(mask);
    return 0666 & ~mask;
}

/* By way of a temporary file beside it. */
static enum status write_beside(const char *path, mode_t mode, const struct content *content,
                                struct error *error)
{
    char temporary[PATH_MAX];
    int used = snprintf(temporary, sizeof temporary, "%s.XXXXXX", path);
    if (used < 0 || used >= (int)sizeof temporary)
        return error_set(error, STATUS_IO, "%.64s...: the name is too long", path);
    int descriptor = mkstemp(temporary);
    if (descriptor < 0)
        return error_set(error, STATUS_IO, "%s: %s", path, strerror(errno));
    FILE *file = fdopen(descriptor, "wb");
    bool written =
        file && fchmod(descriptor, mode) == 0 && put_content(content, file) && fflush(file) == 0;
    if (file && fclose(file) == 0 && written && rename(temporary, path) == 0)
        return STATUS_OK;
    enum status status = error_set(error, STATUS_IO, "%s: %s", path, strerror(errno));
    unlink(temporary);
    return status;
}

static enum status replace(const char *path, mode_t mode, const struct content *content,
                           struct error *error)
{
    struct stop_held held;
    stop_hold(&held);
    enum status status = write_beside(path, mode, content, error);
    stop_release(&held);
    return status;
}

static enum status write_content(const char *path, const struct content *content,
                                 struct error *error)
{
    struct stat info;
    bool exists = stat(path, &info) == 0, dangles = !exists && lstat(path, &info) == 0;
    if (!*path)
        return error_set(error, STATUS_INVALID, "an empty file name to write to");
    if (strncmp(path, "/dev/", 5) == 0 || dangles || (exists && !S_ISREG(info.st_mode)))
        return write_in_place(path, content, error);
    if (exists && access(path, W_OK) != 0)
        return error_set(error, STATUS_IO, "%s: %s", path, strerror(errno));
    char *target = exists ? realpath(path, NULL) : NULL;
    enum status status = replace(target ? target : path,
                                 exists ? info.st_mode & 07777 : new_file_mode(), content, error);
    free(target);
    return status;
}

/* The folder that a new file would be made in. */
static bool folder_is_writable(const char *path)
{
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    int length = slash ? (int)(slash - path) + 1 : 1;
    int used = snprintf(folder, sizeof folder, "%.*s", length, slash ? path : ".");
    return used >= (int)sizeof folder || access(folder, W_OK) == 0;
}

void cli_require_writable(const char *path)
{
    struct stat info;
    bool possible = true;
    if (!*path)
        cli_die("an empty file name to write to");
    if (strncmp(path, "/dev/", 5) == 0)
        return;
    if (stat(path, &info) == 0) {
        errno = EISDIR;
        possible = !S_ISDIR(info.st_mode) && access(path, W_OK) == 0;
    } else {
        possible = errno == ENOENT && (lstat(path, &info) == 0 || folder_is_writable(path));
    }
    if (!possible)
        cli_die("%s: %s", path, strerror(errno));
}

enum status cli_write_file(const char *path, const char *text, size_t length, struct error *error)
{
    return write_content(path, &(struct content){text, length, NULL}, error);
}

void cli_answer_close(struct answer *answer)
{
    struct error error;
    const char *output = answer->common->output;
    struct content content = {.file = answer->is_long ? answer->stream : NULL};
    if (answer->is_long ? ferror(answer->stream) || fflush(answer->stream) : fclose(answer->stream))
        cli_die(answer->is_long ? "a temporary file: no place left" : "out of memory");
    content.text = answer->text;
    content.length = answer->length;
    if (output)
        cli_require(write_content(output, &content, &error), &error);
    else if (!put_content(&content, stdout) && content.file && ferror(content.file))
        cli_die("a temporary file: %s", strerror(errno));
    if (!flushed(stdout))
        cli_die("standard output: %s", strerror(errno));
    if (answer->is_long)
        fclose(answer->stream);
    free(answer->text);
}
