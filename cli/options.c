#include "cli/options.h"

#include "hardware/load.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

static const char *const format_names[FORMAT_COUNT] = {"table", "json", "csv"};

enum { KEY_HW = 1000, KEY_SET_HW, KEY_CORES, KEY_FORMAT, KEY_JSON };

static const struct argp_option common_options[] = {
    {NULL, 0, NULL, 0, "Hardware:", 10},
    {"hw", KEY_HW, "NAME|FILE", 0,
     "hardware description: a name of `autotune list hw`, or a file "
     "(default ascend310)",
     10},
    {"set-hw", KEY_SET_HW, "KEY=VALUE", 0,
     "change one number of the description, such as "
     "buffers.l1.capacity_bytes=2097152; may be repeated",
     10},
    {"cores", KEY_CORES, "N", 0, "cores that work (default: all of the chip's)", 10},
    {NULL, 0, NULL, 0, "Output:", 11},
    {"format", KEY_FORMAT, "NAME", 0, "table (default), json or csv", 11},
    {"json", KEY_JSON, NULL, 0, "short for --format json", 11},
    {"output", 'o', "FILE", 0, "write the answer to FILE, replacing it as a whole", 11},
    {"quiet", 'q', NULL, 0, "no progress and no notes", 11},
    {"verbose", 'v', NULL, 0, "more notes on standard error", 11},
    {"help", 'h', NULL, 0, "print this help", 11},
    {0},
};

void cli_die(const char *format, ...)
{
    va_list list;
    fflush(stdout);
    fputs("autotune: ", stderr);
    va_start(list, format);
    vfprintf(stderr, format, list);
    va_end(list);
    fputc('\n', stderr);
    exit(EXIT_BAD);
}

void cli_require(enum status status, const struct error *error)
{
    if (status != STATUS_OK)
        cli_die("%s", error->text);
}

int64_t cli_count(const char *option, const char *text, int64_t largest)
{
    char *end = NULL;
    errno = 0;
    long long value = text[0] >= '0' && text[0] <= '9' ? strtoll(text, &end, 10) : 0;
    if (!end || *end || errno || value < 1 || value > largest)
        cli_die("%s %.64s: expected a whole number from 1 to %lld", option, text,
                (long long)largest);
    return value;
}

static enum format parse_format(const char *name, unsigned formats)
{
    char allowed[64] = "";
    for (int f = 0; f < FORMAT_COUNT; f++) {
        if (!(formats >> f & 1))
            continue;
        if (strcasecmp(name, format_names[f]) == 0)
            return (enum format)f;
        strcat(strcat(allowed, *allowed ? ", " : ""), format_names[f]);
    }
    cli_die("--format %.64s: expected one of %s", name, allowed);
}

static void add_override(struct common *common, const char *text)
{
    if (common->override_count == MAX_OVERRIDES)
        cli_die("--set-hw: at most %d of them", MAX_OVERRIDES);
    common->overrides[common->override_count++] = text;
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
        common->output = argument;
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
        argp_help(state->root_argp, stdout, ARGP_HELP_STD_HELP & ~(unsigned)ARGP_HELP_EXIT_OK,
                  state->name);
        exit(EXIT_ANSWER);
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

const struct argp common_argp = {.options = common_options, .parser = parse_common};

/* Does some option of the parser or its children have this long name? */
static bool knows(const struct argp *argp, const char *name, size_t length)
{
    for (const struct argp_option *o = argp->options; o && (o->name || o->key || o->doc); o++)
        if (o->name && strlen(o->name) == length && strncmp(o->name, name, length) == 0)
            return true;
    for (const struct argp_child *c = argp->children; c && c->argp; c++)
        if (knows(c->argp, name, length))
            return true;
    return false;
}

static void die_of_option(const struct argp *argp, const char *name, const char *word)
{
    size_t length = strcspn(word, "=");
    if (strncmp(word, "--", 2) == 0 && knows(argp, word + 2, length - 2))
        cli_die("%.64s: %s; `%s --help` lists the options", word,
                word[length] ? "takes no value" : "its value is missing", name);
    cli_die("unknown option %.64s; `%s --help` lists the options", word, name);
}

int cli_parse(const struct argp *argp, const char *name, int argc, char **argv, void *options,
              const char **words, int max_words)
{
    struct common *common = options; /* every command's options begin with one */
    int next = 0;
    char *saved = argv[0];
    union {
        const char *text;
        char *writable;
    } shown = {name};
    argv[0] = shown.writable;
    common->words = words;
    common->max_words = max_words;
    error_t failed = argp_parse(argp, argc, argv, ARGP_NO_ERRS | ARGP_NO_HELP, &next, options);
    argv[0] = saved;
    if (failed)
        die_of_option(argp, name, argv[next > 1 ? next - 1 : 1]);
    return common->word_count;
}

void cli_load_hardware(struct common *common, struct hardware *hw)
{
    struct error error;
    struct hardware_overrides overrides = {common->overrides, (size_t)common->override_count};
    const char *name = common->hw_name ? common->hw_name : "ascend310";
    cli_require(hardware_load(name, &overrides, hw, &error), &error);
    if (common->cores > hw->cores)
        cli_die("--cores %lld: %s has %d", (long long)common->cores, hw->name, hw->cores);
    if (common->cores == 0)
        common->cores = hw->cores;
    if (common->verbose)
        fprintf(stderr, "hardware: %s from %s\n", hw->name, hw->file);
}

void cli_answer_open(struct answer *answer, const struct common *common)
{
    *answer = (struct answer){.common = common};
    answer->colour = !common->output && isatty(STDOUT_FILENO) && !getenv("NO_COLOR");
    answer->stream = open_memstream(&answer->text, &answer->length);
    if (!answer->stream)
        cli_die("out of memory");
}

enum status cli_write_file(const char *path, const char *text, size_t length, struct error *error)
{
    char temporary[4096];
    int used = snprintf(temporary, sizeof temporary, "%s.part%ld", path, (long)getpid());
    if (used < 0 || used >= (int)sizeof temporary)
        return error_set(error, STATUS_IO, "%.64s…: the name is too long", path);
    FILE *file = fopen(temporary, "wbx");
    if (!file)
        return error_set(error, STATUS_IO, "%s: %s", path, strerror(errno));
    bool written = fwrite(text, 1, length, file) == length && fflush(file) == 0;
    if (fclose(file) == 0 && written && rename(temporary, path) == 0)
        return STATUS_OK;
    enum status status = error_set(error, STATUS_IO, "%s: %s", path, strerror(errno));
    unlink(temporary);
    return status;
}

/* Devices and pipes cannot be replaced, only written to. */
static bool replaceable(const char *path)
{
    return access(path, F_OK) != 0 || strncmp(path, "/dev/", 5) != 0;
}

static void write_stream(FILE *file, const char *name, const struct answer *answer)
{
    bool written = fwrite(answer->text, 1, answer->length, file) == answer->length;
    if ((!written || fflush(file)) && errno != EPIPE) /* a reader that left has seen enough */
        cli_die("%s: %s", name, strerror(errno));
}

void cli_answer_close(struct answer *answer)
{
    struct error error;
    const char *output = answer->common->output;
    if (fclose(answer->stream))
        cli_die("out of memory");
    if (!output) {
        write_stream(stdout, "standard output", answer);
    } else if (replaceable(output)) {
        cli_require(cli_write_file(output, answer->text, answer->length, &error), &error);
    } else {
        FILE *file = fopen(output, "wb");
        if (!file)
            cli_die("%s: %s", output, strerror(errno));
        write_stream(file, output, answer);
        fclose(file);
    }
    free(answer->text);
}
