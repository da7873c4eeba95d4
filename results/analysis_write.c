/* Writes a profile's analysis. A format is three functions: what stands before the rows, one row,
 * what stands after them. A row is read, diagnosed, counted and written before the next is read, so
 * profiles may be of any length; the table is the summary alone, laid out by results/outline.h. */
#include "results/analysis_write.h"
#include "analysis/advice/advice.h"
#include "analysis/roofline.h"
#include "core/utf8.h"
#include "formats/csv.h"
#include "formats/json.h"
#include "formats/profile_join.h"
#include "formats/text.h"
#include "results/analysis_summary.h"
#include "results/diagnosis_write.h"
#include "results/outline.h"

#include <stdlib.h>
#include <string.h>

struct writer {
    const struct analyse_job *job;
    FILE *out;
    struct analyse_result *result;
    struct summary *summary;
    struct profile_join join;
    int lines[PROFILE_MAX_FILES]; /* of the row at hand in each file; 0: it has none */
};

/* A row and what it is found to be. */
struct finding {
    const struct profile_row *row;
    const struct diagnosis *diagnosis;
    int open, next; /* a component, and enum profile_mode or NEXT_CHIP; -1 */
};

/* ------------------------------------------------------------------ JSON */

static json_t *modes_json(unsigned modes)
{
    json_t *names = json_array();
    for (int mode = 0; mode < PROFILE_MODES; mode++)
        if (modes >> mode & 1)
            json_array_append_new(names, json_string(profile_mode_name(mode)));
    if (!modes)
        json_array_append_new(names, json_string(profile_mode_name(PROFILE_MODES)));
    return names;
}

static json_t *files_json(const struct profile_join *join)
{
    json_t *files = json_array();
    for (int f = 0; f < join->file_count; f++)
        json_array_append_new(files, json_pack("{s:o, s:s, s:o}", "file",
                                               json_text(join->files[f].csv.file), "format",
                                               join->files[f].format, "modes",
                                               modes_json(join->files[f].modes)));
    return files;
}

/* That it is 0 at least says nothing. */
static double at_least(const struct component *c)
{
    return c->utilisation >= 0 || c->utilisation_least > 0 ? c->utilisation_least : -1;
}

static json_t *component_json(const struct component *c)
{
    return json_pack(
        "{s:s, s:o, s:o, s:o, s:o, s:o, s:o}", "name", c->name, "utilisation",
        json_number_from_0(c->utilisation), "utilisation_at_least", json_number_from_0(at_least(c)),
        "utilisation_at_most", json_number_from_0(c->utilisation_most), "efficiency",
        json_number_from_0(c->efficiency), "active_ratio", json_number_from_0(c->active_ratio),
        "busy_us", json_number_from_0(c->busy_ns < 0 ? -1 : c->busy_ns / 1e3));
}

/* Strategies against a verdict, those of the table of advice. */
static json_t *strategies_json(enum verdict verdict)
{
    json_t *names = json_array();
    for (const struct advice_strategy *s = advice_strategies; s->name; s++)
        if (s->cause == verdict)
            json_array_append_new(names, json_string(s->name));
    return names;
}

static double hit_share(const struct profile_row *row)
{
    double miss = counters_miss_share(row, false);
    return miss < 0 ? -1 : 1 - miss;
}

static json_t *lines_json(const struct writer *w)
{
    json_t *lines = json_array();
    for (int f = 0; f < w->join.file_count; f++)
        json_array_append_new(lines, w->lines[f] ? json_integer(w->lines[f]) : json_null());
    return lines;
}

static json_t *row_json(const struct writer *w, const struct finding *found)
{
    const struct diagnosis *d = found->diagnosis;
    const struct profile_row *row = found->row;
    json_t *components = json_array();
    for (int c = 0; c < d->component_count; c++)
        json_array_append_new(components, component_json(&d->components[c]));
    return json_pack(
        "{s:s, s:s, s:i, s:o, s:o, s:o, s:s?, s:s?, s:s?, s:o, s:s?, s:o, s:o, s:o, s:s}", "name",
        d->name, "type", row->type, "line", row->line, "lines", lines_json(w), "time_us",
        json_number_from_0(analyse_time_us(row, d)), "core_time_us",
        json_number_from_0(d->time_ns < 0 ? -1 : d->time_ns / 1e3), "verdict",
        verdict_name(d->verdict), "component",
        d->component >= 0 ? d->components[d->component].name : NULL, "may_be_bound_by",
        found->open >= 0 ? d->components[found->open].name : NULL, "try",
        strategies_json(d->verdict), "collect_next", analyse_next_name(found->next), "l2_hit_share",
        json_number_from_0(hit_share(row)), "vector_conflict_share",
        json_number_from_0(counters_conflicts(row)), "components", components, "note", d->note);
}

static enum status put_json(struct writer *w, json_t *object, size_t flags, struct error *error)
{
    if (!object)
        return error_memory(error);
    int failed = json_dumpf(object, w->out, JSON_REAL_PRECISION(15) | flags);
    json_decref(object);
    return failed ? error_set(error, STATUS_IO, "cannot write the JSON") : STATUS_OK;
}

/* The members before "operators". */
static enum status json_begin(struct writer *w, struct error *error)
{
    const struct hardware *hw = w->job->how.hw;
    json_t *head = json_pack("{s:i, s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "schema", 1,
                             "file", json_text(w->job->name), "format", w->join.format, "modes",
                             modes_json(w->join.modes), "files", files_json(&w->join), "hardware",
                             hw ? json_text(hw->name) : json_null(), "hardware_file",
                             hw ? json_text(hw->file) : json_null(), "hardware_changes",
                             hw ? overrides_json(hw) : json_object(), "cache",
                             hw ? json_string(hardware_cache_word(hw)) : json_null(), "thresholds",
                             thresholds_json(&w->job->how.thresholds));
    fputc('{', w->out);
    enum status status = put_json(w, head, JSON_EMBED, error);
    fputs(", \"operators\": [", w->out);
    return status;
}

static enum status json_row(struct writer *w, const struct finding *found, struct error *error)
{
    fputs(summary_rows(w->summary) > 1 ? ",\n" : "\n", w->out);
    return put_json(w, row_json(w, found), 0, error);
}

static enum status json_end(struct writer *w, struct error *error)
{
    fputs("\n], \"summary\": ", w->out);
    enum status status = put_json(w, summary_json(w->summary, w->job->top), 0, error);
    fputs("}\n", w->out);
    return status;
}

/* ------------------------------------------------------------------ CSV */

static void put_known(double value, FILE *out)
{
    fputc(',', out);
    if (value >= 0)
        fprintf(out, "%.9g", value);
}

static enum status csv_begin(struct writer *w, struct error *error)
{
    (void)error;
    fputs("line,name,type,time_us,core_time_us,verdict,component,utilisation,efficiency,"
          "active_ratio,may_be_bound_by,note,utilisation_at_least,utilisation_at_most,try,"
          "collect_next\n",
          w->out);
    return STATUS_OK;
}

static enum status csv_row(struct writer *w, const struct finding *found, struct error *error)
{
    static const struct component none = {.utilisation = -1,
                                          .efficiency = -1,
                                          .active_ratio = -1,
                                          .utilisation_least = -1,
                                          .utilisation_most = -1};
    const struct profile_row *row = found->row;
    const struct diagnosis *d = found->diagnosis;
    const struct component *c = d->component >= 0 ? &d->components[d->component] : &none;
    const char *verdict = verdict_name(d->verdict), *next = analyse_next_name(found->next);
    char strategies[STRATEGIES_SIZE];
    fprintf(w->out, "%d,", row->line);
    csv_put(d->name, w->out);
    fputc(',', w->out);
    csv_put(row->type, w->out);
    put_known(analyse_time_us(row, d), w->out);
    put_known(d->time_ns < 0 ? -1 : d->time_ns / 1e3, w->out);
    fprintf(w->out, ",%s,%s", verdict ? verdict : "", c->name);
    put_known(c->utilisation, w->out);
    put_known(c->efficiency, w->out);
    put_known(c->active_ratio, w->out);
    fprintf(w->out, ",%s,", found->open >= 0 ? d->components[found->open].name : "");
    csv_put(d->note, w->out);
    put_known(at_least(c), w->out);
    put_known(c->utilisation_most, w->out);
    fprintf(w->out, ",%s,%s\n", strategies_against(d->verdict, strategies), next ? next : "");
    return ferror(w->out) ? error_set(error, STATUS_IO, "cannot write the CSV") : STATUS_OK;
}

enum status analyse_write_csv(const struct diagnosis *diagnosis, FILE *out, struct error *error)
{
    static const struct profile_row row = {.line = 1, .duration_us = -1};
    struct writer w = {.out = out};
    TRY(csv_begin(&w, error));
    return csv_row(&w, &(struct finding){&row, diagnosis, -1, -1}, error);
}

/* ------------------------------------------------------------------ table */

static enum status write_nothing(struct writer *w, struct error *error)
{
    (void)w;
    (void)error;
    return STATUS_OK;
}

static enum status row_nothing(struct writer *w, const struct finding *found, struct error *error)
{
    (void)w;
    (void)found;
    (void)error;
    return STATUS_OK;
}

/* A name that is too long for a line loses its middle, and no part of a character stays. */
static json_t *shortened(const char *whole)
{
    enum { SHOWN = 56, BEGIN = SHOWN / 2 };
    char text[SHOWN + sizeof "..."];
    size_t length = strlen(whole), end = length - (SHOWN - BEGIN);
    if (length <= SHOWN)
        return json_text(whole);
    while (utf8_start(whole, end) != end)
        end++;
    snprintf(text, sizeof text, "%.*s...%s", (int)utf8_start(whole, BEGIN), whole, whole + end);
    return json_text(text);
}

/* The members of a list's rows that fit a line. */
static json_t *columns_of(json_t *rows, const char *name)
{
    static const char *const keys[] = {
        "line",    "count",     "count_share",       "time_us",      "time_share", "overlap_us",
        "verdict", "component", "utilisation_share", "active_share", "try",        "collect_next"};
    json_t *list = json_array(), *row;
    size_t index;
    json_array_foreach(rows, index, row)
    {
        json_t *shown = json_object();
        json_object_set_new(shown, name, shortened(json_string_value(json_object_get(row, name))));
        for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
            if (strcmp(keys[k], name) != 0 && json_object_get(row, keys[k]))
                json_object_set(shown, keys[k], json_object_get(row, keys[k]));
        json_array_append_new(list, shown);
    }
    return list;
}

/* What to collect next, in a sentence. */
static void put_next(json_t *summary, const struct style *style, FILE *out)
{
    const char *words = json_string_value(json_object_get(summary, "collect_next_words"));
    if (!words)
        return;
    fputs("\n  next     ", out);
    text_put_wrapped(words, 11, style, out);
    fputc('\n', out);
}

/* What the words of the table above mean, where it has them. */
static void put_legend(json_t *summary, const struct style *style, FILE *out)
{
    if (json_integer_value(json_object_get(summary, "open")) > 0) {
        fputs("\n  open     ", out);
        text_put_wrapped("verdicts that could be Bound instead: not all bytes and operations are "
                         "known, so what is active all the time may work at its limit; --json and "
                         "--format csv name the component (may_be_bound_by)",
                         11, style, out);
    }
    if (json_array_size(json_object_get(summary, "components")) == 0)
        return;
    fputs("\n  overlap  ", out);
    text_put_wrapped("what is saved at most if the busiest component never waits for another", 11,
                     style, out);
    fputc('\n', out);
}

static enum status table_end(struct writer *w, struct error *error)
{
    char line[TEXT_LINE_SIZE];
    static const char *const lists[][2] = {{"causes", "verdict"},
                                           {"components", "component"},
                                           {"types", "type"},
                                           {"names", "name"},
                                           {"longest_rows", "name"}};
    const struct style plain = text_style(false, TEXT_WIDTH);
    const struct style *style = w->job->style ? w->job->style : &plain;
    const struct hardware *hw = w->job->how.hw;
    json_t *summary = summary_json(w->summary, w->job->top), *tables = json_object();
    json_t *counts = json_copy(summary);
    if (!summary || !tables || !counts)
        return error_memory(error);
    fprintf(w->out, "%s%s%s (%s)%s%s\n", style->bold, text_line(text_file_name(w->job->name), line),
            style->end, w->join.format, hw ? " on " : "", hw ? hw->name : "");
    if (hw)
        text_put_hardware_lines(hw, style, w->out);
    json_object_set_new(tables, "operators", counts);
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        json_t *rows = json_object_get(summary, lists[i][0]);
        if (json_array_size(rows))
            json_object_set_new(tables, lists[i][0], columns_of(rows, lists[i][1]));
        json_object_del(counts, lists[i][0]);
    }
    json_object_del(counts, "collect_next");
    json_object_del(counts, "collect_next_words");
    outline_write(tables, style, w->out);
    put_legend(summary, style, w->out);
    put_next(summary, style, w->out);
    json_decref(tables);
    json_decref(summary);
    return ferror(w->out) ? error_set(error, STATUS_IO, "cannot write the table") : STATUS_OK;
}

/* ------------------------------------------------------------------ all of it */

struct writing {
    enum status (*begin)(struct writer *, struct error *);
    enum status (*row)(struct writer *, const struct finding *, struct error *);
    enum status (*end)(struct writer *, struct error *);
};

static const struct writing writings[] = {
    [ANALYSE_TABLE] = {write_nothing, row_nothing, table_end},
    [ANALYSE_JSON] = {json_begin, json_row, json_end},
    [ANALYSE_CSV] = {csv_begin, csv_row, write_nothing},
    [ANALYSE_SUMMARY] = {write_nothing, row_nothing, write_nothing},
};

static void report_missing(struct writer *w)
{
    char text[PROFILE_MISSING_SIZE + 512];
    if (!w->join.missing[0])
        return;
    snprintf(text, sizeof text, "%s%s1: no column %s",
             w->join.file_count > 1 ? w->join.files[0].csv.file : "",
             w->join.file_count > 1 ? ":" : "", w->join.missing);
    w->job->problem(w->job->context, text);
}

static enum status read_rows(struct writer *w, struct diagnosis *diagnosis, struct error *error)
{
    const struct writing *writing = &writings[w->job->format];
    struct profile_row row;
    bool found = true;
    enum status status = writing->begin(w, error);
    while (status == STATUS_OK && !(w->job->stop && *w->job->stop)) {
        status = profile_join_next(&w->join, &row, &found, w->lines, error);
        if (status != STATUS_OK || !found)
            break;
        struct finding finding = {.row = &row, .diagnosis = diagnosis};
        finding.open = analyse_row(&row, &w->job->how, diagnosis);
        finding.next = analyse_next(&row, w->job->how.hw, diagnosis, finding.open);
        status = summary_add(w->summary, &row, diagnosis, finding.open, finding.next, error);
        if (status == STATUS_OK)
            status = writing->row(w, &finding, error);
    }
    return status == STATUS_OK ? writing->end(w, error) : status;
}

enum { SUMMARY_LEAST_TOP = 50 };

static enum status keep_summary(struct writer *w, struct error *error)
{
    const struct analyse_job *job = w->job;
    if (!job->summary)
        return STATUS_OK;
    *job->summary =
        summary_json(w->summary, job->top < SUMMARY_LEAST_TOP ? SUMMARY_LEAST_TOP : job->top);
    return *job->summary &&
                   json_object_set_new(*job->summary, "format", json_string(w->join.format)) == 0
               ? STATUS_OK
               : error_memory(error);
}

enum status analyse_profile(const struct analyse_job *job, FILE *out, struct analyse_result *result,
                            struct error *error)
{
    struct writer w = {.job = job, .out = out, .result = result};
    *result = (struct analyse_result){0};
    enum status status =
        profile_join_open(job->files, job->file_count, job->problem, job->context, &w.join, error);
    if (status != STATUS_OK)
        return status;
    struct diagnosis *diagnosis = malloc(sizeof *diagnosis);
    w.summary = summary_new(job->top);
    report_missing(&w);
    status = w.summary && diagnosis ? read_rows(&w, diagnosis, error) : error_memory(error);
    if (status == STATUS_OK)
        status = keep_summary(&w, error);
    if (w.summary) {
        result->rows = summary_rows(w.summary);
        result->broken = summary_broken_rows(w.summary);
    }
    summary_free(w.summary);
    free(diagnosis);
    profile_join_close(&w.join);
    return status;
}
