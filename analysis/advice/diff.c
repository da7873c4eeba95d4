/* The instructions of both programs are paired by their printed lines, which leaves comments and
 * spelling out of the comparison: the longest common subsequence, by the table of Wagner and
 * Fischer (1974). What both texts begin and end with is paired first, so that the table, whose
 * cells are the product of what is left, has most often few; where it would still be too large,
 * lines are paired by origin as long as they ascend.
 *
 * Then the source is walked line by line, as in a merge: lines of paired instructions, and those
 * without any, are taken as they stand, lines of unpaired ones go, and new ones are put in behind
 * those that go in their place, written with the indentation that the source has at that depth.
 *
 * The unified form is what GNU diff -u writes and patch reads: hunks of changes that lie closer
 * together than their context. */
#include "analysis/advice/diff.h"

#include "core/text_stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ which instructions are the
 * same */

/* A program as it is printed: line i is instruction i, with its indentation. */
struct align_text {
    char *bytes; /* owned: align_text_clear */
    char **lines;
    int32_t count;
};

#define MAX_PAIRS 16000000LL

static enum status align_print(const struct program *program, struct align_text *text,
                               struct error *error)
{
    size_t size;
    *text = (struct align_text){.count = program->count};
    FILE *out = text_stream_open(&text->bytes, &size);
    text->lines = calloc((size_t)program->count + 1, sizeof *text->lines);
    enum status status = out && text->lines ? program_print(program, out, error) : STATUS_OK;
    if (!out || !text->lines || fclose(out))
        return error_memory(error);
    char *next = text->bytes;
    for (int32_t i = 0; i < text->count && status == STATUS_OK; i++) {
        text->lines[i] = next;
        next = strchr(next, '\n');
        *next++ = 0;
    }
    return status;
}

static void align_text_clear(struct align_text *text)
{
    free(text->bytes);
    free(text->lines);
    *text = (struct align_text){0};
}

/* The lines of both texts between what both begin and what both end with. */
struct middle {
    char **before, **after;
    int32_t before_count, after_count;
    uint16_t *common; /* (before_count + 1) × (after_count + 1): lines in common from there on */
};

static bool are_alike(const struct middle *middle, int32_t i, int32_t j)
{
    return strcmp(middle->before[i], middle->after[j]) == 0;
}

static uint16_t *common_from(const struct middle *middle, int32_t i, int32_t j)
{
    return &middle->common[(size_t)i * (size_t)(middle->after_count + 1) + (size_t)j];
}

/* The longest common subsequence of every two ends, by its recurrence. */
static void find_common(const struct middle *middle)
{
    for (int32_t i = middle->before_count - 1; i >= 0; i--)
        for (int32_t j = middle->after_count - 1; j >= 0; j--) {
            uint16_t skip_old = *common_from(middle, i + 1, j);
            uint16_t skip_new = *common_from(middle, i, j + 1);
            uint16_t best = skip_old > skip_new ? skip_old : skip_new;
            if (are_alike(middle, i, j))
                best = (uint16_t)(*common_from(middle, i + 1, j + 1) + 1);
            *common_from(middle, i, j) = best;
        }
}

/* Old line 0 of the middle is line `first` of its text. */
static void pair_lines(const struct middle *middle, int32_t first, int32_t *partners)
{
    for (int32_t i = 0, j = 0; i < middle->before_count && j < middle->after_count;) {
        if (are_alike(middle, i, j))
            partners[j++] = first + i++;
        else if (*common_from(middle, i + 1, j) > *common_from(middle, i, j + 1))
            i++;
        else
            j++;
    }
}

static bool is_small(const struct middle *middle)
{
    int64_t pairs = (int64_t)(middle->before_count + 1) * (middle->after_count + 1);
    return pairs <= MAX_PAIRS && middle->before_count < UINT16_MAX &&
           middle->after_count < UINT16_MAX;
}

/* Each line with what it was made of, as long as both ascend. */
static void pair_origins(const struct middle *middle, int32_t first, const int32_t *origins,
                         int32_t *partners)
{
    for (int32_t j = 0, next = 0; j < middle->after_count; j++) {
        int32_t i = origins[j] - first;
        if (i < next || i >= middle->before_count || !are_alike(middle, i, j))
            continue;
        partners[j] = origins[j];
        next = i + 1;
    }
}

static enum status pair_most(struct middle *middle, int32_t first, int32_t *partners,
                             struct error *error)
{
    size_t rows = (size_t)middle->before_count + 1, columns = (size_t)middle->after_count + 1;
    middle->common = calloc(rows * columns, sizeof *middle->common);
    if (!middle->common)
        return error_memory(error);
    find_common(middle);
    pair_lines(middle, first, partners);
    free(middle->common);
    return STATUS_OK;
}

/* partners[j]: the line of `before` that line j of `after` is, or -1; ascending, and as many as
 * there can be. Beyond MAX_PAIRS a line is only what it was made of: origins[j], or -1. Both arrays
 * have after->count elements. */
static enum status pair_instructions(const struct align_text *before,
                                     const struct align_text *after, const int32_t *origins,
                                     int32_t *partners, struct error *error)
{
    int32_t olds = before->count, news = after->count, first = 0;
    for (int32_t j = 0; j < news; j++)
        partners[j] = -1;
    for (; first < olds && first < news && strcmp(before->lines[first], after->lines[first]) == 0;
         first++)
        partners[first] = first;
    for (; olds > first && news > first &&
           strcmp(before->lines[olds - 1], after->lines[news - 1]) == 0;
         olds--, news--)
        partners[news - 1] = olds - 1;
    struct middle middle = {before->lines + first, after->lines + first, olds - first, news - first,
                            NULL};
    if (is_small(&middle))
        return pair_most(&middle, first, partners + first, error);
    pair_origins(&middle, first, origins + first, partners + first);
    return STATUS_OK;
}

/* ------------------------------------------------------------------ new text */

struct piece {
    const char *text;
    size_t length;
};

struct making {
    const struct program *before, *after;
    struct align_text old_text, new_text; /* as printed */
    int32_t *origins, *partners;          /* of each new line: pair_instructions */
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

static size_t count_blanks(struct piece piece)
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
            making->indents[depth] = (struct piece){line->text, count_blanks(*line)};
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
        content = (struct piece){line.text + count_blanks(line), line.length - count_blanks(line)};
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
    making->made = text_stream_open(&making->diff->made, &size);
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

static enum status make_diff(struct making *making, const struct program_source *source,
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
    TRY(pair_instructions(&making->old_text, &making->new_text, making->origins, making->partners,
                          error));
    find_indents(making);
    return make_lines(making, error);
}

enum status diff_programs(const struct program_source *source, const struct program *before,
                          const struct program *after, struct diff *diff, struct error *error)
{
    struct making making = {.before = before, .after = after, .diff = diff};
    *diff = (struct diff){0};
    enum status status = make_diff(&making, source, error);
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

/* ------------------------------------------------------------------ unified */

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

static void put_marked_line(const struct diff_line *line, FILE *out)
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
        put_marked_line(&diff->lines[i], out);
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
