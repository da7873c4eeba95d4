/* The instructions of both programs are paired by their printed lines (align.h), which leaves
 * comments and spelling out of the comparison. Then the source is walked line by line, as in a
 * merge: lines of paired instructions, and those without any, are taken as they stand, lines of
 * unpaired ones go, and new ones are put in behind those that go in their place, written with the
 * indentation that the source has at that depth. */
#include "analysis/advice/diff.h"

#include "analysis/advice/align.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct piece {
    const char *text;
    size_t length;
};

struct making {
    const struct program *before, *after;
    struct align_text old_text, new_text; /* as printed */
    int32_t *origins, *partners;          /* of each new line: align.h */
    size_t line_count;
    struct piece *lines;                         /* of the source, without newlines */
    bool unended;                                /* its last line */
    const char *ending;                          /* of its lines, before the newline: "\r" or "" */
    struct piece indents[PROGRAM_MAX_DEPTH + 1]; /* that the source has, by depth; NULL: none */
    FILE *made;
    struct diff *diff;
    const char *next_made; /* of the new lines */
    size_t at;             /* source lines that are done */
    int32_t passed;        /* instructions in them */
};

static size_t blanks(struct piece piece)
{
    size_t count = 0;
    while (count < piece.length && (piece.text[count] == ' ' || piece.text[count] == '\t'))
        count++;
    return count;
}

static enum status cut_lines(struct making *making, const struct program_source *source,
                             struct error *error)
{
    const char *at = source->text, *end = at + source->length, *newline;
    size_t capacity = 1;
    for (size_t i = 0; i < source->length; i++)
        capacity += at[i] == '\n';
    making->lines = calloc(capacity, sizeof *making->lines);
    if (!making->lines)
        return error_memory(error);
    for (; at < end; at = newline + 1) {
        newline = memchr(at, '\n', (size_t)(end - at));
        making->unended = !newline;
        if (!newline)
            newline = end;
        making->lines[making->line_count++] = (struct piece){at, (size_t)(newline - at)};
    }
    const struct piece *first = making->lines;
    bool returns = first->length > 0 && first->text[first->length - 1] == '\r';
    making->ending = returns ? "\r" : "";
    return STATUS_OK;
}

static const struct piece *source_line(const struct making *making, int32_t instruction)
{
    return &making->lines[making->before->items[instruction].line - 1];
}

/* How the source indents: as its first line at each depth does. */
static void find_indents(struct making *making)
{
    int depth = 0;
    for (int32_t i = 0; i < making->before->count; i++) {
        depth -= making->before->items[i].kind == INSTRUCTION_END;
        const struct piece *line = source_line(making, i);
        if (!making->indents[depth].text)
            making->indents[depth] = (struct piece){line->text, blanks(*line)};
        depth += making->before->items[i].kind == INSTRUCTION_LOOP;
    }
}

static void put_indent(struct making *making, int depth)
{
    int known = depth;
    while (known > 0 && !making->indents[known].text)
        known--;
    fwrite(making->indents[known].text, 1, making->indents[known].length, making->made);
    fprintf(making->made, "%*s", 2 * (depth - known), "");
}

/* The instruction of the first program that stands in a line of the source; -1: none does. */
static int32_t find_origin(const struct making *making, int32_t line)
{
    int32_t low = 0, high = making->before->count;
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        if (making->before->items[middle].line < line)
            low = middle + 1;
        else
            high = middle;
    }
    return low < making->before->count && making->before->items[low].line == line ? low : -1;
}

static const char *unindented(const char *text)
{
    return text + strspn(text, " ");
}

/* Writes the line of a new instruction, with its newline: as its source has it, where that says the
 * same. */
static void make_line(struct making *making, int32_t j, int depth)
{
    const char *text = unindented(making->new_text.lines[j]);
    int32_t origin = making->origins[j];
    struct piece content = {text, strlen(text)};
    if (origin >= 0 && strcmp(unindented(making->old_text.lines[origin]), text) == 0) {
        struct piece line = *source_line(making, origin);
        content = (struct piece){line.text + blanks(line), line.length - blanks(line)};
        if (content.text[content.length - 1] == '\r')
            content.length--;
    }
    put_indent(making, depth);
    fwrite(content.text, 1, content.length, making->made);
    fprintf(making->made, "%s\n", making->ending);
}

/* Writes all new lines, in their order. */
static enum status make_lines(struct making *making, struct error *error)
{
    size_t size;
    int depth = 0;
    making->made = open_memstream(&making->diff->made, &size);
    if (!making->made)
        return error_memory(error);
    for (int32_t j = 0; j < making->after->count; j++) {
        depth -= making->after->items[j].kind == INSTRUCTION_END;
        if (making->partners[j] < 0)
            make_line(making, j, depth);
        depth += making->after->items[j].kind == INSTRUCTION_LOOP;
    }
    return fclose(making->made) ? error_memory(error) : STATUS_OK;
}

static void add_line(struct making *making, enum diff_side side, struct piece piece)
{
    making->diff->lines[making->diff->count++] =
        (struct diff_line){(char)side, false, piece.text, piece.length};
}

/* Takes the next line of the source; one with an instruction is on the side that is given. */
static void take_line(struct making *making, enum diff_side side)
{
    const struct program *before = making->before;
    size_t number = ++making->at;
    bool works =
        making->passed < before->count && (size_t)before->items[making->passed].line == number;
    add_line(making, works ? side : DIFF_BOTH, making->lines[number - 1]);
    making->passed += works;
    making->diff->lines[making->diff->count - 1].unended =
        number == making->line_count && making->unended;
}

/* Takes the lines up to that of an instruction, which goes. */
static void drop_until(struct making *making, int32_t instruction)
{
    while (making->passed < instruction)
        take_line(making, DIFF_BEFORE);
}

/* Comments at the top of the text stay there. */
static void take_head(struct making *making)
{
    size_t first =
        making->before->count ? (size_t)making->before->items[0].line - 1 : making->line_count;
    while (making->at < first)
        take_line(making, DIFF_BOTH);
}

static void add_made(struct making *making)
{
    const char *end = rawmemchr(making->next_made, '\n');
    add_line(making, DIFF_AFTER,
             (struct piece){making->next_made, (size_t)(end - making->next_made)});
    making->next_made = end + 1;
}

/* New lines follow what goes in their place. */
static void join_texts(struct making *making)
{
    const struct program *before = making->before, *after = making->after;
    for (int32_t j = 0; j < after->count; j++) {
        if (making->partners[j] >= 0) {
            drop_until(making, making->partners[j]);
            while (making->passed <= making->partners[j])
                take_line(making, DIFF_BOTH);
            continue;
        }
        int32_t next = j;
        while (next < after->count && making->partners[next] < 0)
            next++;
        drop_until(making, next < after->count ? making->partners[next] : before->count);
        take_head(making);
        add_made(making);
    }
    drop_until(making, before->count);
    while (making->at < making->line_count)
        take_line(making, DIFF_BOTH);
}

/* A line without a newline that is no longer the last gets one. */
static void end_line(struct diff *diff)
{
    for (size_t i = 0; i + 1 < diff->count; i++)
        if (diff->lines[i].unended && diff->lines[i].side == DIFF_BOTH) {
            memmove(&diff->lines[i + 1], &diff->lines[i],
                    (diff->count++ - i) * sizeof *diff->lines);
            diff->lines[i].side = DIFF_BEFORE;
            diff->lines[i + 1].side = DIFF_AFTER;
            diff->lines[i + 1].unended = false;
            return;
        }
}

static enum status make(struct making *making, const struct program_source *source,
                        struct error *error)
{
    TRY(cut_lines(making, source, error));
    TRY(align_print(making->before, &making->old_text, error));
    TRY(align_print(making->after, &making->new_text, error));
    making->origins = calloc((size_t)making->after->count + 1, sizeof *making->origins);
    making->partners = calloc((size_t)making->after->count + 1, sizeof *making->partners);
    making->diff->lines =
        calloc(making->line_count + (size_t)making->after->count + 1, sizeof *making->diff->lines);
    if (!making->origins || !making->partners || !making->diff->lines)
        return error_memory(error);
    for (int32_t j = 0; j < making->after->count; j++)
        making->origins[j] = find_origin(making, making->after->items[j].line);
    TRY(align(&making->old_text, &making->new_text, making->origins, making->partners, error));
    find_indents(making);
    return make_lines(making, error);
}

enum status diff_programs(const struct program_source *source, const struct program *before,
                          const struct program *after, struct diff *diff, struct error *error)
{
    struct making making = {.before = before, .after = after, .diff = diff};
    *diff = (struct diff){0};
    enum status status = make(&making, source, error);
    if (status == STATUS_OK) {
        making.next_made = diff->made;
        join_texts(&making);
        end_line(diff);
    } else {
        diff_clear(diff);
    }
    align_text_clear(&making.old_text);
    align_text_clear(&making.new_text);
    free(making.lines);
    free(making.origins);
    free(making.partners);
    return status;
}

void diff_clear(struct diff *diff)
{
    free(diff->lines);
    free(diff->made);
    *diff = (struct diff){0};
}

enum status diff_write_text(const struct diff *diff, FILE *out, struct error *error)
{
    for (size_t i = 0; i < diff->count; i++) {
        const struct diff_line *line = &diff->lines[i];
        if (line->side == DIFF_BEFORE)
            continue;
        fwrite(line->text, 1, line->length, out);
        if (!line->unended)
            fputc('\n', out);
    }
    if (ferror(out) || fflush(out))
        return error_set(error, STATUS_IO, "cannot write the program: %s", strerror(errno));
    return STATUS_OK;
}
