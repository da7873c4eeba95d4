/* One function writes the table, one the JSON, both from the same list, in which what applies
 * stands first. Each change is shown as the difference that it makes to the file (diff.h); a
 * changed program is the source with its changes, below comments that say which. */
#include "cli/advise_answer.h"

#include "analysis/roofline.h"
#include "core/program_text.h"
#include "core/text_stream.h"
#include "formats/json.h"
#include "formats/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- what a change is to the file ---- */

/* Text that may hold any bytes, so that none of them steers a terminal or ends the line. */
static void put_printable(const char *text, size_t length, FILE *out)
{
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        fputc((c < ' ' && c != '\t') || c == 127 ? '?' : c, out);
    }
}

/* The unified diff as text, which the caller frees. */
static enum status print_unified(const struct diff *diff, const char *file, char **text,
                                 size_t *size, struct error *error)
{
    FILE *stream = text_stream_open(text, size);
    if (!stream)
        return error_memory(error);
    TRY(diff_write_unified(diff, file, stream, error));
    if (fclose(stream))
        return error_memory(error);
    return STATUS_OK;
}

static const char *style_of(const struct style *style, char mark)
{
    return mark == '-' ? style->warn : mark == '+' ? style->good : mark == '@' ? style->dim : "";
}

/* What a change is to the file, for people. */
static enum status put_diff(const struct advise_question *question, const struct program *changed,
                            const struct style *style, FILE *out, struct error *error)
{
    struct diff diff;
    char *text = NULL;
    size_t size = 0;
    enum status status = diff_programs(question->source, question->program, changed, &diff, error);
    if (status == STATUS_OK)
        status = print_unified(&diff, question->file, &text, &size, error);
    for (char *at = text, *end; status == STATUS_OK && at < text + size; at = end + 1) {
        end = rawmemchr(at, '\n');
        fputs(style_of(style, *at), out);
        put_printable(at, (size_t)(end - at), out);
        fprintf(out, "%s\n", *style_of(style, *at) ? style->end : "");
    }
    free(text);
    diff_clear(&diff);
    return status;
}

/* A line without its indentation; null for none. */
static json_t *line_json(const struct diff_line *line)
{
    if (!line)
        return json_null();
    char *text = strndup(line->text, line->length);
    json_t *value = text ? json_text(text + strspn(text, " \t")) : NULL;
    free(text);
    return value;
}

/* Lines that go and lines that come in their place, side by side as far as both are. */
static json_t *changes_json(const struct diff *diff)
{
    json_t *changes = json_array();
    int line = 1;
    for (size_t i = 0; i < diff->count;) {
        size_t gone = i, come;
        while (gone < diff->count && diff->lines[gone].side == DIFF_BEFORE)
            gone++;
        for (come = gone; come < diff->count && diff->lines[come].side == DIFF_AFTER;)
            come++;
        size_t gone_count = gone - i, come_count = come - gone;
        for (size_t k = 0; k < gone_count || k < come_count; k++) {
            bool both = k < gone_count;
            json_array_append_new(
                changes, json_pack("{s:i, s:o, s:o}", "line", line, "before",
                                   line_json(both ? &diff->lines[i + k] : NULL), "after",
                                   line_json(k < come_count ? &diff->lines[gone + k] : NULL)));
            line += both;
        }
        i = come;
        if (i < diff->count && diff->lines[i].side == DIFF_BOTH) {
            i++;
            line++;
        }
    }
    return changes;
}

static json_t *diff_json(const struct diff *diff, const char *file)
{
    char *text = NULL;
    size_t size;
    struct error error;
    json_t *value = NULL;
    if (print_unified(diff, file, &text, &size, &error) == STATUS_OK)
        value = json_text(text);
    free(text);
    return value;
}

/* ---- the answer ---- */

static double ns(int64_t fs)
{
    return (double)fs / FS_PER_NS;
}

static double known_ns(bool known, int64_t fs)
{
    return known ? ns(fs) : (double)NAN;
}

static double percent(int64_t part_fs, int64_t whole_fs)
{
    return whole_fs ? 100.0 * (double)part_fs / (double)whole_fs : 0;
}

static void put_verdict(const struct diagnosis *diagnosis, const struct style *style, FILE *out)
{
    const char *verdict = verdict_name(diagnosis->verdict);
    fprintf(out, "  verdict      %s%s%s", style->bold, verdict ? verdict : "none", style->end);
    if (diagnosis->component >= 0) {
        const struct component *c = &diagnosis->components[diagnosis->component];
        fprintf(out, ": %s, utilisation %.2f %%, active %.2f %% of the time", c->name,
                100 * c->utilisation, 100 * c->active_ratio);
    }
    fputc('\n', out);
}

/* What taking out superfluous synchronisation does, where it helps. */
static void put_tidied(int64_t tidied_fs, FILE *out)
{
    char time[TEXT_SIZE];
    if (tidied_fs > 0)
        fprintf(out, "; %s of it by taking out synchronisation that it makes superfluous",
                text_time(ns(tidied_fs), time));
}

static enum status put_applied(const struct advise_question *question, const struct advice *advice,
                               int64_t time_fs, const struct style *style, FILE *out,
                               struct error *error)
{
    char saved[TEXT_SIZE], time[TEXT_SIZE];
    fprintf(out, "\n  %s%-4s%s saves %s (%.1f %%), leaves %s; against %s\n       %s%s", style->bold,
            advice->strategy->name, style->end, text_time(ns(time_fs - advice->time_fs), saved),
            percent(time_fs - advice->time_fs, time_fs), text_time(ns(advice->time_fs), time),
            verdict_name(advice->strategy->cause), style->dim, advice->strategy->title);
    put_tidied(advice->tidied_fs, out);
    fprintf(out, "%s\n", style->end);
    return put_diff(question, &advice->changed, style, out, error);
}

static void put_named(const struct advice *advice, const struct style *style, FILE *out)
{
    fprintf(out, "  %-4s ", advice->strategy->name);
    text_put_wrapped(advice->condition, 7, style, out);
    fputc('\n', out);
}

static void put_chain(const struct advice_chain *chain, const struct style *style, FILE *out)
{
    char time[TEXT_SIZE];
    if (chain->count < 2)
        return;
    fprintf(out, "\n  one after the other, the best each time\n");
    for (int i = 0; i < chain->count; i++) {
        const struct advice_step *step = &chain->steps[i];
        fprintf(out, "  %s%-4s%s leaves %s (-%.1f %%)\n", style->bold, step->strategy->name,
                style->end, text_time(ns(step->after_fs), time),
                percent(step->before_fs - step->after_fs, step->before_fs));
    }
}

/* "kernel.txt on Ascend 310, 2 cores in step". */
static void put_question(const struct advise_question *question, FILE *out)
{
    char line[TEXT_LINE_SIZE];
    const char *name = text_line(text_file_name(question->file), line);
    put_printable(name, strlen(name), out);
    fprintf(out, " on %s, %d core%s", question->program->hw->name, question->cores,
            question->cores == 1 ? "" : "s in step");
}

static void put_head(const struct advise_question *question, const struct advices *advices,
                     const struct style *style, FILE *out)
{
    char time[TEXT_SIZE];
    put_question(question, out);
    fputc('\n', out);
    text_put_hardware(question->program->hw, style, out);
    fprintf(out, "  time         %s%s%s  (%.6f ns)\n", style->bold,
            text_time(ns(advices->time_fs), time), style->end, ns(advices->time_fs));
    put_verdict(&advices->diagnosis, style, out);
}

enum status advise_write_table(const struct advise_question *question,
                               const struct advices *advices, const struct advice_chain *chain,
                               const struct style *style, FILE *out, struct error *error)
{
    enum status status = STATUS_OK;
    int i = 0;
    put_head(question, advices, style, out);
    for (; i < advices->count && advices->items[i].applies && status == STATUS_OK; i++)
        status = put_applied(question, &advices->items[i], advices->time_fs, style, out, error);
    if (i == 0)
        fputs("\n  no change of this program that was tried makes it faster\n", out);
    put_chain(chain, style, out);
    if (i < advices->count)
        fputs("\n  what else there is, and when it helps\n", out);
    for (; i < advices->count; i++)
        put_named(&advices->items[i], style, out);
    return status;
}

/* The diff of a piece of advice, empty unless it applies. */
static enum status diff_advice(const struct advise_question *question, const struct advice *advice,
                               struct diff *diff, struct error *error)
{
    *diff = (struct diff){0};
    return advice->applies
               ? diff_programs(question->source, question->program, &advice->changed, diff, error)
               : STATUS_OK;
}

static json_t *advice_json(const struct advise_question *question, const struct advice *advice,
                           int64_t time_fs)
{
    bool applies = advice->applies;
    struct diff diff;
    struct error error;
    if (diff_advice(question, advice, &diff, &error) != STATUS_OK)
        return NULL;
    json_t *json = json_pack(
        "{s:s, s:s?, s:s, s:b, s:o, s:o, s:o, s:o, s:o, s:s?}", "strategy", advice->strategy->name,
        "cause", verdict_name(advice->strategy->cause), "title", advice->strategy->title, "applies",
        applies, "saved_ns", json_number(known_ns(applies, time_fs - advice->time_fs)), "tidied_ns",
        json_number(known_ns(applies, advice->tidied_fs)), "time_ns",
        json_number(known_ns(applies, advice->time_fs)), "changes", changes_json(&diff), "diff",
        applies ? diff_json(&diff, question->file) : json_null(), "condition",
        *advice->condition ? advice->condition : NULL);
    diff_clear(&diff);
    return json;
}

static json_t *chain_json(const struct advice_chain *chain)
{
    json_t *steps = json_array();
    for (int i = 0; i < chain->count; i++) {
        const struct advice_step *step = &chain->steps[i];
        json_array_append_new(steps, json_pack("{s:s, s:f, s:f}", "strategy", step->strategy->name,
                                               "saved_ns", ns(step->before_fs - step->after_fs),
                                               "time_ns", ns(step->after_fs)));
    }
    return steps;
}

/* What all answers begin with, and then `members`, which it takes. */
static enum status put_json(const struct advise_question *question, json_t *members, FILE *out,
                            struct error *error)
{
    json_t *answer = program_answer_json(question->file, question->program->hw);
    if (answer)
        json_object_set_new(answer, "cores", json_integer(question->cores));
    if (!members || json_object_update_new(answer, members) != 0) {
        json_decref(answer);
        answer = NULL;
    }
    return json_write(answer, out, error);
}

enum status advise_write_json(const struct advise_question *question, const struct advices *advices,
                              const struct advice_chain *chain, const struct style *style,
                              FILE *out, struct error *error)
{
    const struct diagnosis *diagnosis = &advices->diagnosis;
    json_t *advice = json_array();
    (void)style;
    for (int i = 0; i < advices->count; i++)
        if (json_array_append_new(
                advice, advice_json(question, &advices->items[i], advices->time_fs)) != 0) {
            json_decref(advice);
            return error_memory(error);
        }
    const char *component = advices->safe && diagnosis->component >= 0
                                ? diagnosis->components[diagnosis->component].name
                                : NULL;
    return put_json(question,
                    json_pack("{s:b, s:s?, s:o, s:s?, s:s?, s:o, s:o}", "safe", advices->safe,
                              "note", advices->safe ? NULL : advices->why, "time_ns",
                              json_number_from_0(ns(advices->time_fs)), "verdict",
                              verdict_name(diagnosis->verdict), "component", component, "advice",
                              advice, "chain", chain_json(chain)),
                    out, error);
}

/* What was done, as comments. */
static void put_steps(const struct advise_question *question, const struct advice_chain *chain,
                      FILE *out)
{
    fputs("# ", out);
    put_question(question, out);
    fputs(", changed by `autotune advise`:\n", out);
    for (int i = 0; i < chain->count; i++) {
        const struct advice_step *step = &chain->steps[i];
        fprintf(out, "# %s: %.6f ns instead of %.6f (%s", step->strategy->name, ns(step->after_fs),
                ns(step->before_fs), step->strategy->title);
        put_tidied(step->tidied_fs, out);
        fputs(")\n", out);
    }
}

static enum status write_program(const struct diff *diff, const char *file, FILE *out,
                                 struct error *error)
{
    (void)file;
    return diff_write_text(diff, out, error);
}

/* The comments, and what `write` makes of the change. */
static enum status write_changed(const struct advise_question *question,
                                 const struct program *changed, const struct advice_chain *chain,
                                 enum status (*write)(const struct diff *, const char *, FILE *,
                                                      struct error *),
                                 FILE *out, struct error *error)
{
    struct diff diff;
    enum status status = diff_programs(question->source, question->program, changed, &diff, error);
    if (status != STATUS_OK)
        return status;
    put_steps(question, chain, out);
    status = write(&diff, question->file, out, error);
    diff_clear(&diff);
    return status;
}

enum status advise_write_program(const struct advise_question *question,
                                 const struct program *changed, const struct advice_chain *chain,
                                 FILE *out, struct error *error)
{
    return write_changed(question, changed, chain, write_program, out, error);
}

enum status advise_write_program_diff(const struct advise_question *question,
                                      const struct program *changed,
                                      const struct advice_chain *chain, FILE *out,
                                      struct error *error)
{
    return write_changed(question, changed, chain, diff_write_unified, out, error);
}

/* What a writer writes, for JSON; NULL when that fails. */
static json_t *written_json(const struct advise_question *question, const struct program *changed,
                            const struct advice_chain *chain, advise_changed_writer *write)
{
    char *text = NULL;
    size_t size;
    struct error error;
    FILE *stream = text_stream_open(&text, &size);
    bool written = stream && write(question, changed, chain, stream, &error) == STATUS_OK;
    if (stream && fclose(stream) != 0)
        written = false;
    json_t *value = written ? json_text(text) : NULL;
    free(text);
    return value;
}

enum status advise_write_program_json(const struct advise_question *question,
                                      const struct program *changed,
                                      const struct advice_chain *chain, FILE *out,
                                      struct error *error)
{
    return put_json(question,
                    json_pack("{s:f, s:o, s:o, s:o}", "time_ns",
                              ns(chain->steps[chain->count - 1].after_fs), "applied",
                              chain_json(chain), "program",
                              written_json(question, changed, chain, advise_write_program), "diff",
                              written_json(question, changed, chain, advise_write_program_diff)),
                    out, error);
}
