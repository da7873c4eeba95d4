/* A command line of the main job, a word a line; the first says which command. Whatever it asks
 * for, exit statuses, messages and files are as promised. */
#include "cli/commands.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_WORDS = 40 };

static const struct command played[] = {
    {"tune", "", cmd_tune}, {"explain", "", cmd_explain}, {"program", "", cmd_program}};

static const struct command *find_command(const char *word)
{
    for (size_t i = 0; i < sizeof played / sizeof *played; i++)
        if (strcmp(played[i].word, word) == 0)
            return &played[i];
    return NULL;
}

/* Cuts the text up; the number of words. */
static int cut(char *text, char *words[MOST_WORDS + 1])
{
    int count = 0;
    while (*text && count < MOST_WORDS) {
        words[count++] = text;
        text += strcspn(text, "\n");
        if (*text)
            *text++ = 0;
    }
    words[count] = NULL;
    return count;
}

static bool has_word(int count, char *const words[], const char *beginning)
{
    for (int i = 0; i < count; i++)
        if (strncmp(words[i], beginning, strlen(beginning)) == 0)
            return true;
    return false;
}

/* The last line is the reason. */
static void require_refusal(const struct fuzz_answer *answer)
{
    const char *last = answer->said;
    for (const char *end; (end = strchr(last, '\n')) && end[1];)
        last = end + 1;
    fuzz_require(answer->out_length == 0, "an error prints no answer");
    fuzz_require(strncmp(last, "autotune: ", 10) == 0, "an error says why");
}

static void require_lines(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        fuzz_require((unsigned char)text[i] >= ' ' || text[i] == '\n', "text is lines");
    fuzz_require(length == 0 || text[length - 1] == '\n', "a line has an end");
}

static void require_kept(int count, char *const words[], const struct fuzz_answer *answer)
{
    if (answer->status == -1)
        return;
    fuzz_require(answer->status >= EXIT_ANSWER && answer->status <= EXIT_BAD, "an exit status");
    require_lines(answer->said, answer->said_length);
    require_lines(answer->out, answer->out_length);
    if (answer->status == EXIT_BAD)
        require_refusal(answer);
    if (answer->status != EXIT_BAD && answer->out[0] == '{' &&
        (has_word(count, words, "--json") || has_word(count, words, "--format=json")))
        fuzz_require_json(answer->out, answer->out_length);
}

/* Paths would lead out of the folder. */
void fuzz_read_command(const char *file)
{
    size_t length;
    char *text = fuzz_text(file, &length), *words[MOST_WORDS + 1];
    bool plain = strlen(text) == length && !strchr(text, '/');
    int count = plain ? cut(text, words) : 0;
    const struct command *command = count ? find_command(words[0]) : NULL;
    if (command) {
        struct fuzz_answer answer;
        fuzz_run(command->run, count, words, &answer);
        require_kept(count, words, &answer);
        fuzz_answer_clear(&answer);
    }
    free(text);
}
