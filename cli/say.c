/* All messages go through one function, which writes one line to standard error and shows what
 * quoted texts may hide. A closed pipe counts as success: whoever reads has seen enough. */
#include "cli/say.h"

#include "cli/progress.h"
#include "core/number.h"
#include "core/utf8.h"
#include "formats/text.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { LEAST_WIDTH = 40, MOST_WIDTH = 1000 }; /* of lines */

/* Texts quote what the user gave: all messages pass here, as one line that can be shown. */
static void print_message(const char *before, const char *format, va_list list)
{
    char text[PATH_MAX + 512];
    vsnprintf(text, sizeof text, format, list);
    utf8_show(text);
    progress_hide();
    fprintf(stderr, "%s%s\n", before, text);
    progress_show();
}

void cli_warn(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    print_message("autotune: ", format, list);
    va_end(list);
}

void cli_note(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    print_message("", format, list);
    va_end(list);
}

void cli_die(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    progress_close();
    print_message("autotune: ", format, list);
    va_end(list);
    exit(EXIT_BAD);
}

bool cli_flushed(FILE *file)
{
    return (!ferror(file) && fflush(file) == 0) || errno == EPIPE;
}

void cli_exit_printed(void)
{
    if (!cli_flushed(stdout))
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

void *cli_require_memory(void *memory)
{
    if (!memory)
        cli_die("out of memory");
    return memory;
}

void cli_close_text(FILE *text)
{
    if (fclose(text))
        cli_die("out of memory");
}

static void die_of(const struct error *error)
{
    if (error->excerpt[0])
        fprintf(stderr, "%s\n", error->excerpt);
    exit(EXIT_BAD);
}

void cli_require(enum status status, const struct error *error)
{
    if (status == STATUS_OK)
        return;
    progress_close();
    cli_warn("%s", error->text);
    die_of(error);
}

void cli_require_of(const char *file, enum status status, const struct error *error)
{
    if (status == STATUS_OK)
        return;
    progress_close();
    cli_warn("%s: %s", file, error->text);
    die_of(error);
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
