/* The words before the last are read as argp would, only to know whether an option waits for its
 * value. Values to offer are read off the help: literals in the name of the argument, a|b, and the
 * list that a text refers to, `autotune list ops`. */
#include "cli/complete.h"

#include "cli/commands.h"

#include <ctype.h>
#include <string.h>

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
        word[1] == '-' ? cli_find_option(argp, word + 2, strlen(word + 2), -1)
                       : cli_find_option(argp, "", SIZE_MAX, (unsigned char)word[strlen(word) - 1]);
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

void complete_word(const struct argp *argp, const struct common *common, int argc, char **argv)
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
        option = cli_find_option(argp, last + 2, (size_t)(equals - last - 2), -1);
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
