/* The form of diffs that GNU diff -u writes and patch reads: hunks of changes that lie closer
 * together than their context. */
#include "analysis/advice/diff.h"

#include <errno.h>
#include <string.h>

enum { CONTEXT = 3 };

/* Lines [first, end) of a diff, and where they begin in both texts, counted from 1. */
struct hunk {
    size_t first, end;
    size_t before_line, after_line;
};

static bool differs(const struct diff *diff, size_t i)
{
    return diff->lines[i].side != DIFF_BOTH;
}

static size_t count_lines(const struct diff *diff, size_t first, size_t end, enum diff_side side)
{
    size_t count = 0;
    for (size_t i = first; i < end; i++)
        count += diff->lines[i].side == DIFF_BOTH || diff->lines[i].side == (char)side;
    return count;
}

/* The next hunk behind *hunk; false when there is none. */
static bool next_hunk(const struct diff *diff, struct hunk *hunk)
{
    size_t from = hunk->end, change = from;
    while (change < diff->count && !differs(diff, change))
        change++;
    if (change == diff->count)
        return false;
    hunk->before_line += count_lines(diff, hunk->first, from, DIFF_BEFORE);
    hunk->after_line += count_lines(diff, hunk->first, from, DIFF_AFTER);
    hunk->first = change - from > CONTEXT ? change - CONTEXT : from;
    hunk->before_line += hunk->first - from;
    hunk->after_line += hunk->first - from;
    size_t last = change;
    for (size_t i = change; i < diff->count && i <= last + CONTEXT + CONTEXT + 1; i++)
        if (differs(diff, i))
            last = i;
    hunk->end = diff->count - last > CONTEXT ? last + 1 + CONTEXT : diff->count;
    return true;
}

/* "12,3"; of no line, the one before it is named. */
static void put_range(char mark, size_t line, size_t count, FILE *out)
{
    fprintf(out, " %c%zu", mark, count ? line : line - 1);
    if (count != 1)
        fprintf(out, ",%zu", count);
}

static void put_line(const struct diff_line *line, FILE *out)
{
    fputc(line->side, out);
    fwrite(line->text, 1, line->length, out);
    fputs(line->unended ? "\n\\ No newline at end of file\n" : "\n", out);
}

static void put_hunk(const struct diff *diff, const struct hunk *hunk, FILE *out)
{
    fputs("@@", out);
    put_range('-', hunk->before_line, count_lines(diff, hunk->first, hunk->end, DIFF_BEFORE), out);
    put_range('+', hunk->after_line, count_lines(diff, hunk->first, hunk->end, DIFF_AFTER), out);
    fputs(" @@\n", out);
    for (size_t i = hunk->first; i < hunk->end; i++)
        put_line(&diff->lines[i], out);
}

/* Names that patch would take for less or more than a name are quoted as a string of C; a tab ends
 * one with blanks. */
static void put_name(const char *mark, const char *file, FILE *out)
{
    bool quoted = *file == '"';
    for (const char *at = file; *at; at++)
        quoted |= (unsigned char)*at < ' ' || *at == 127 || *at == '\\';
    fputs(mark, out);
    if (quoted)
        fputc('"', out);
    for (const char *at = file; *at; at++)
        if (quoted && (*at == '"' || *at == '\\'))
            fprintf(out, "\\%c", *at);
        else if ((unsigned char)*at < ' ' || *at == 127)
            fprintf(out, "\\%03o", (unsigned char)*at);
        else
            fputc(*at, out);
    fputs(quoted ? "\"\n" : strchr(file, ' ') ? "\t\n" : "\n", out);
}

enum status diff_write_unified(const struct diff *diff, const char *file, FILE *out,
                               struct error *error)
{
    struct hunk hunk = {0, 0, 1, 1};
    for (bool headed = false; next_hunk(diff, &hunk); headed = true) {
        if (!headed) {
            put_name("--- ", file, out);
            put_name("+++ ", file, out);
        }
        put_hunk(diff, &hunk, out);
    }
    if (ferror(out) || fflush(out))
        return error_set(error, STATUS_IO, "cannot write the diff: %s", strerror(errno));
    return STATUS_OK;
}
