/* A scanner that knows as much of libconfig's grammar as is needed to find numbers: it skips
 * strings, comments and names, and looks at what is left. Files are opened without blocking and
 * must be regular, since a FIFO would hang the program. */
#include "hardware/config_text.h"

#include "core/utf8.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    TEXT_MAX_BYTES = 256 * 1024,
    TEXT_MAX_LINES = 65535, /* libconfig keeps line numbers in an unsigned short */
};

static enum status read_all(int fd, const char *file, size_t size, char **text, struct error *error)
{
    char *bytes = malloc(size + 1);
    if (!bytes)
        return error_memory(error);
    size_t length = 0;
    ssize_t got = 1;
    while (length < size && (got = read(fd, bytes + length, size - length)) > 0)
        length += (size_t)got;
    bytes[length] = '\0';
    *text = bytes;
    int reason = errno, line = 1;
    size_t mark = 0;
    enum status status = got >= 0 ? utf8_begin(file, bytes, length, &mark, error) : STATUS_OK;
    if (status != STATUS_OK) {
        free(bytes);
        *text = NULL;
        return status;
    }
    if (got >= 0 && strlen(bytes) == length) {
        memmove(bytes, bytes + mark, length - mark + 1);
        return STATUS_OK;
    }
    for (const char *at = bytes; *at; at++)
        line += *at == '\n';
    free(bytes);
    *text = NULL;
    if (got < 0)
        return error_set(error, STATUS_IO, "%s: cannot be read: %s", file, strerror(reason));
    return error_at(error, file, line, "holds a byte of 0, expected text");
}

static enum status read_open(int fd, const char *file, char **text, struct error *error)
{
    struct stat info;
    if (fstat(fd, &info) != 0)
        return error_set(error, STATUS_IO, "%s: cannot be read: %s", file, strerror(errno));
    if (!S_ISREG(info.st_mode))
        return error_set(error, STATUS_IO, "%s: cannot be read, expected a regular file", file);
    if (info.st_size > TEXT_MAX_BYTES)
        return error_set(error, STATUS_TOO_LARGE, "%s: %lld bytes, expected at most %d", file,
                         (long long)info.st_size, TEXT_MAX_BYTES);
    return read_all(fd, file, (size_t)info.st_size, text, error);
}

enum status text_read(const char *file, char **text, struct error *error)
{
    *text = NULL;
    int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a FIFO must not hang us */
    if (fd < 0)
        return error_set(error, STATUS_IO, "%s: cannot be read: %s", file, strerror(errno));
    enum status status = read_open(fd, file, text, error);
    close(fd);
    return status;
}

struct scan {
    const char *file;
    const char *at;
    int line;
    struct error *error;
};

static void advance(struct scan *scan, size_t count)
{
    for (; count > 0 && *scan->at; count--)
        scan->line += *scan->at++ == '\n';
}

/* Past the `end` of a string or comment; a backslash hides the next character. */
static bool skip_until(struct scan *scan, const char *end, bool escapes)
{
    size_t length = strlen(end);
    while (*scan->at && strncmp(scan->at, end, length) != 0)
        advance(scan, escapes && *scan->at == '\\' ? 2 : 1);
    bool found = *scan->at != '\0';
    advance(scan, length);
    return found;
}

static const struct span {
    const char *start, *end;
    bool escapes, may_end_the_file;
} spans[] = {
    {"#", "\n", false, true},
    {"//", "\n", false, true},
    {"/*", "*/", false, false},
    {"\"", "\"", true, false},
};

/* The string or comment that starts here, or NULL. */
static const struct span *span_at(const char *at)
{
    for (size_t i = 0; i < sizeof spans / sizeof *spans; i++)
        if (strncmp(at, spans[i].start, strlen(spans[i].start)) == 0)
            return &spans[i];
    return NULL;
}

static enum status skip_span(struct scan *scan, const struct span *span)
{
    int line = scan->line;
    advance(scan, strlen(span->start));
    if (skip_until(scan, span->end, span->escapes) || span->may_end_the_file)
        return STATUS_OK;
    return error_at(scan->error, scan->file, line, "%s is never closed, expected %s", span->start,
                    span->end);
}

static void skip_name(struct scan *scan)
{
    while (isalnum((unsigned char)*scan->at) || (*scan->at && strchr("_-*", *scan->at)))
        scan->at++;
}

/* A whole number must fit the type that libconfig gives it: int, or int64 with the suffix L. */
static enum status check_number(struct scan *scan)
{
    char *end;
    bool hex = scan->at[0] == '0' && (scan->at[1] == 'x' || scan->at[1] == 'X');
    errno = 0;
    long long value = strtoll(scan->at, &end, hex ? 16 : 10);
    const char *start = scan->at;
    scan->at = end;
    if (!hex && *end && strchr(".eE", *end)) {
        scan->at += strspn(end, ".0123456789eE+-");
        return STATUS_OK;
    }
    bool wide = *end == 'L';
    if (errno == 0 && (wide || value <= INT32_MAX))
        return STATUS_OK;
    return error_at(scan->error, scan->file, scan->line, "%.*s does not fit %d bits, expected %s",
                    (int)(end - start > 40 ? 40 : end - start), start, wide ? 64 : 32,
                    wide || errno ? "a smaller number" : "it with the suffix L");
}

static enum status check_line_start(const struct scan *scan)
{
    const char *at = scan->at + strspn(scan->at, " \t");
    if (strncmp(at, "@include", 8) == 0)
        return error_at(scan->error, scan->file, scan->line,
                        "@include, expected one whole file (a variant names its `base`)");
    if (scan->line > TEXT_MAX_LINES)
        return error_at(scan->error, scan->file, 0, "more than %d lines", TEXT_MAX_LINES);
    return STATUS_OK;
}

enum status text_check(const char *file, const char *text, struct error *error)
{
    struct scan scan = {file, text, 1, error};
    for (; *scan.at; advance(&scan, strcspn(scan.at, "\n") + 1))
        TRY(check_line_start(&scan));
    scan = (struct scan){file, text, 1, error};
    while (*scan.at) {
        const struct span *span = span_at(scan.at);
        if (span)
            TRY(skip_span(&scan, span));
        else if (isdigit((unsigned char)*scan.at))
            TRY(check_number(&scan));
        else if (isalpha((unsigned char)*scan.at) || *scan.at == '*')
            skip_name(&scan);
        else if (*scan.at == '.') /* .5 is a float: no whole number starts behind the point */
            scan.at += strspn(scan.at, ".0123456789");
        else
            advance(&scan, 1);
    }
    return STATUS_OK;
}

void text_append(char *list, size_t size, const char *part)
{
    size_t length = strlen(list);
    if (length + strlen(part) + 3 <= size)
        sprintf(list + length, "%s%s", length ? ", " : "", part);
}
