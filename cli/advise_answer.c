#include "cli/advise_answer.h"

#include "analysis/roofline.h"
#include "core/program_text.h"
#include "results/text.h"
#include "results/tune.h"

#include <stdlib.h>
#include <string.h>

static double ns(int64_t fs)
{
    return (double)fs / FS_PER_NS;
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

/* What goes of a block of changes, then what comes; returns the first change behind it. */
static size_t put_block(const struct diff *diff, size_t first, const struct style *style, FILE *out)
{
    size_t end = first + 1;
    while (end < diff->count && !diff->lines[end].begins)
        end++;
    for (size_t i = first; i < end; i++)
        if (*diff->lines[i].before)
            fprintf(out, "  %6d %s- %s%s\n", diff->lines[i].line, style->warn,
                    diff->lines[i].before, style->end);
    for (size_t i = first; i < end; i++)
        if (*diff->lines[i].after)
            fprintf(out, "  %6s %s+ %s%s\n", "", style->good, diff->lines[i].after, style->end);
    return end;
}

static void put_applied(const struct advice *advice, int64_t time_fs, const struct style *style,
                        FILE *out)
{
    char saved[TEXT_SIZE], time[TEXT_SIZE];
    fprintf(out, "\n  %s%-4s%s saves %s (%.1f %%), leaves %s; against %s\n       %s%s%s\n",
            style->bold, advice->strategy->name, style->end,
            text_time(ns(time_fs - advice->time_fs), saved),
            percent(time_fs - advice->time_fs, time_fs), text_time(ns(advice->time_fs), time),
            verdict_name(advice->strategy->cause), style->dim, advice->strategy->title, style->end);
    for (size_t i = 0; i < advice->diff.count;)
        i = put_block(&advice->diff, i, style, out);
}

static void put_named(const struct advice *advice, FILE *out)
{
    fprintf(out, "  %-4s ", advice->strategy->name);
    text_put_wrapped(advice->condition, 7, out);
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
    fprintf(out, "%s on %s, %d core%s", text_file_name(question->file), question->hw->name,
            question->cores, question->cores == 1 ? "" : "s in step");
}

void advise_write_table(const struct advise_question *question, const struct advices *advices,
                        const struct advice_chain *chain, bool colour, FILE *out)
{
    struct style style = text_style(colour);
    char time[TEXT_SIZE];
    int i = 0;
    put_question(question, out);
    fputc('\n', out);
    text_put_hardware(question->hw, &style, out);
    fprintf(out, "  time         %s%s%s  (%.6f ns)\n", style.bold,
            text_time(ns(advices->time_fs), time), style.end, ns(advices->time_fs));
    put_verdict(&advices->diagnosis, &style, out);
    for (; i < advices->count && advices->items[i].applies; i++)
        put_applied(&advices->items[i], advices->time_fs, &style, out);
    if (i == 0)
        fputs("\n  no change of this program that was tried makes it faster\n", out);
    put_chain(chain, &style, out);
    if (i < advices->count)
        fputs("\n  what else there is, and when it helps\n", out);
    for (; i < advices->count; i++)
        put_named(&advices->items[i], out);
}

static json_t *changes_json(const struct diff *diff)
{
    json_t *changes = json_array();
    for (size_t i = 0; i < diff->count; i++) {
        const struct diff_line *line = &diff->lines[i];
        json_array_append_new(changes, json_pack("{s:i, s:s?, s:s?}", "line", (int)line->line,
                                                 "before", *line->before ? line->before : NULL,
                                                 "after", *line->after ? line->after : NULL));
    }
    return changes;
}

static json_t *advice_json(const struct advice *advice, int64_t time_fs)
{
    bool applies = advice->applies;
    return json_pack(
        "{s:s, s:s?, s:s, s:b, s:o, s:o, s:o, s:s?}", "strategy", advice->strategy->name, "cause",
        verdict_name(advice->strategy->cause), "title", advice->strategy->title, "applies", applies,
        "saved_ns", applies ? json_real(ns(time_fs - advice->time_fs)) : json_null(), "time_ns",
        applies ? json_real(ns(advice->time_fs)) : json_null(), "changes",
        changes_json(&advice->diff), "condition", *advice->condition ? advice->condition : NULL);
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
    json_t *answer = program_answer_json(question->file, question->hw);
    if (answer)
        json_object_set_new(answer, "cores", json_integer(question->cores));
    if (!members || json_object_update_new(answer, members) != 0) {
        json_decref(answer);
        answer = NULL;
    }
    return json_write(answer, out, error);
}

enum status advise_write_json(const struct advise_question *question, const struct advices *advices,
                              const struct advice_chain *chain, FILE *out, struct error *error)
{
    const struct diagnosis *diagnosis = &advices->diagnosis;
    json_t *advice = json_array();
    for (int i = 0; i < advices->count; i++)
        json_array_append_new(advice, advice_json(&advices->items[i], advices->time_fs));
    const char *component = advices->safe && diagnosis->component >= 0
                                ? diagnosis->components[diagnosis->component].name
                                : NULL;
    json_t *time = advices->time_fs < 0 ? json_null() : json_real(ns(advices->time_fs));
    return put_json(question,
                    json_pack("{s:b, s:s?, s:o, s:s?, s:s?, s:o, s:o}", "safe", advices->safe,
                              "note", advices->safe ? NULL : advices->why, "time_ns", time,
                              "verdict", verdict_name(diagnosis->verdict), "component", component,
                              "advice", advice, "chain", chain_json(chain)),
                    out, error);
}

enum status advise_write_program(const struct advise_question *question,
                                 const struct program *program, const struct advice_chain *chain,
                                 FILE *out, struct error *error)
{
    fputs("# ", out);
    put_question(question, out);
    fputs(", changed by `autotune advise`:\n", out);
    for (int i = 0; i < chain->count; i++) {
        const struct advice_step *step = &chain->steps[i];
        fprintf(out, "# %s: %.6f ns instead of %.6f (%s)\n", step->strategy->name,
                ns(step->after_fs), ns(step->before_fs), step->strategy->title);
    }
    return program_print(program, out, error);
}

enum status advise_write_program_json(const struct advise_question *question,
                                      const struct program *program,
                                      const struct advice_chain *chain, FILE *out,
                                      struct error *error)
{
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    if (!stream)
        return error_memory(error);
    enum status status = advise_write_program(question, program, chain, stream, error);
    if (fclose(stream) && status == STATUS_OK)
        status = error_memory(error);
    if (status == STATUS_OK)
        status = put_json(question,
                          json_pack("{s:f, s:o, s:s}", "time_ns",
                                    ns(chain->steps[chain->count - 1].after_fs), "applied",
                                    chain_json(chain), "program", text),
                          out, error);
    free(text);
    return status;
}
