#include "hardware/text.h"

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
    if (got >= 0 && strlen(bytes) == length)
        return STATUS_OK;
    int reason = errno, line = 1;
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
    enum status status = STATUS_OK;
    struct scan scan = {file, text, 1, error};
    for (; *scan.at && status == STATUS_OK; advance(&scan, strcspn(scan.at, "\n") + 1))
        status = check_line_start(&scan);
    scan = (struct scan){file, text, 1, error};
    while (*scan.at && status == STATUS_OK) {
        const struct span *span = span_at(scan.at);
        if (span)
            status = skip_span(&scan, span);
        else if (isdigit((unsigned char)*scan.at))
            status = check_number(&scan);
        else if (isalpha((unsigned char)*scan.at) || *scan.at == '*')
            skip_name(&scan);
        else if (*scan.at == '.') /* .5 is a float: no whole number starts behind the point */
            scan.at += strspn(scan.at, ".0123456789");
        else
            advance(&scan, 1);
    }
    return status;
}

void text_append(char *list, size_t size, const char *part)
{
    size_t length = strlen(list);
    if (length + strlen(part) + 3 <= size)
        sprintf(list + length, "%s%s", length ? ", " : "", part);
}

/* Bytes of the UTF-8 sequence at `s` (RFC 3629), 0 when it is malformed. */
static int sequence_length(const unsigned char *s)
{
    static const struct {
        unsigned char low, high, second_low, second_high;
        int length;
    } forms[] = {
        {0x20, 0x7e, 0, 0, 1},       {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
        {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
        {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
    };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if (s[0] < forms[i].low || s[0] > forms[i].high)
            continue;
        if (forms[i].length > 1 && (s[1] < forms[i].second_low || s[1] > forms[i].second_high))
            return 0;
        for (int j = 2; j < forms[i].length; j++)
            if ((s[j] & 0xc0) != 0x80)
                return 0;
        return forms[i].length;
    }
    return 0;
}

bool text_is_printable(const char *text)
{
    const unsigned char *s = (const unsigned char *)text;
    while (*s) {
        int length = sequence_length(s);
        if (length == 0 || (s[0] == 0xc2 && s[1] < 0xa0)) /* C1 controls */
            return false;
        s += length;
    }
    return true;
}
