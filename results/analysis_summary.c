/* Sums a profile up. Rows are added up as they come: by verdict, and in groups by type, name and
 * bottleneck, which are found in a binary tree (tsearch) and sorted by time at the end. The number
 * of groups is limited, and what finds no place counts as one more, so that memory does not grow
 * with the file; the longest rows are an array in order of time, into which each that is long
 * enough is put at its place. The figures are those of Zhou et al. 2025, Figs. 13 and 14. */
#include "results/analysis_summary.h"
#include "analysis/advice/advice.h"
#include "analysis/profile/analyse.h"
#include "analysis/roofline.h"
#include "core/array.h"
#include "formats/json.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ the longest rows */

/* Of the longest rows, what a line shows. */
struct long_row {
    int line;
    double time_us, utilisation_least, utilisation_most, active_ratio;
    enum verdict verdict;
    int next; /* as analyse_next returns it */
    char component[HARDWARE_NAME_SIZE];
    char *name; /* owned */
};

struct longest {
    int count, most;
    struct long_row *rows; /* the longest first; owned */
};

/* As many as a page or a terminal shows. */
enum { MOST_LONG_ROWS = 1000 };

static bool longest_make(int top, struct longest *longest)
{
    longest->count = 0;
    longest->most = top < MOST_LONG_ROWS ? top : MOST_LONG_ROWS;
    longest->rows = calloc((size_t)longest->most + 1, sizeof *longest->rows);
    return longest->rows != NULL;
}

static void longest_clear(struct longest *longest)
{
    for (int i = 0; i < longest->count; i++)
        free(longest->rows[i].name);
    free(longest->rows);
}

/* Of what has no verdict, the component that is known to be used most; -1. */
static int most_used(const struct diagnosis *d)
{
    int most = -1;
    for (int c = 0; c < d->component_count; c++)
        if (d->components[c].utilisation_least > 0 &&
            (most < 0 ||
             d->components[c].utilisation_least > d->components[most].utilisation_least))
            most = c;
    return most;
}

/* The first of equally long ones stays before the others. */
static bool longest_add(struct longest *longest, const struct profile_row *row,
                        const struct diagnosis *d, int next, double time_us)
{
    int at = longest->count;
    while (at > 0 && longest->rows[at - 1].time_us < time_us)
        at--;
    if (at == longest->most)
        return true;
    struct long_row kept = {.line = row->line,
                            .time_us = time_us,
                            .utilisation_least = -1,
                            .utilisation_most = -1,
                            .active_ratio = -1,
                            .verdict = d->verdict,
                            .next = next,
                            .name = strdup(row->name)};
    if (!kept.name)
        return false;
    int component = d->component >= 0 ? d->component : most_used(d);
    if (component >= 0) {
        const struct component *c = &d->components[component];
        snprintf(kept.component, sizeof kept.component, "%s", c->name);
        kept.utilisation_least = c->utilisation_least;
        kept.utilisation_most = c->utilisation_most;
        kept.active_ratio = c->active_ratio;
    }
    if (longest->count == longest->most)
        free(longest->rows[--longest->count].name);
    memmove(&longest->rows[at + 1], &longest->rows[at],
            (size_t)(longest->count++ - at) * sizeof kept);
    longest->rows[at] = kept;
    return true;
}

const char *strategies_against(enum verdict verdict, char text[STRATEGIES_SIZE])
{
    text[0] = 0;
    for (const struct advice_strategy *s = advice_strategies; s->name; s++)
        if (s->cause == verdict)
            snprintf(text + strlen(text), STRATEGIES_SIZE - strlen(text), "%s%s", *text ? " " : "",
                     s->name);
    return text;
}

/* Utilisation is what it is at least; what it is at most stands in the row itself. */
static json_t *long_row_json(const struct long_row *row)
{
    char strategies[STRATEGIES_SIZE];
    strategies_against(row->verdict, strategies);
    return json_pack("{s:s, s:i, s:f, s:s?, s:s?, s:o, s:o, s:s?, s:s?}", "name", row->name, "line",
                     row->line, "time_us", row->time_us, "verdict", verdict_name(row->verdict),
                     "component", row->component[0] ? row->component : NULL, "utilisation_share",
                     json_number_from_0(row->utilisation_least > 0 ||
                                                row->utilisation_least == row->utilisation_most
                                            ? row->utilisation_least
                                            : -1),
                     "active_share", json_number_from_0(row->active_ratio), "try",
                     *strategies ? strategies : NULL, "collect_next", analyse_next_name(row->next));
}

static json_t *longest_json(const struct longest *longest, int top)
{
    json_t *rows = json_array();
    for (int i = 0; i < longest->count && i < top; i++)
        json_array_append_new(rows, long_row_json(&longest->rows[i]));
    return rows;
}

/* ------------------------------------------------------------------ sums */

/* A model has some hundreds of types and some thousands of names. */
enum { MAX_GROUPS = 16384 };

struct tally {
    int64_t count;
    double time_us;
};

struct group {
    char *name; /* owned */
    struct tally all, verdicts[VERDICTS];
    double overlap_us; /* what would be saved if the busiest component never waited */
};

/* Groups of one kind, found by name. */
struct groups {
    void *tree; /* of search.h */
    int count;
    struct group **rows; /* owned, in the order of the file */
    struct group others; /* what came after the last that has a place */
};

struct summary {
    struct tally rows, diagnosed, broken, without, open, undecided, verdicts[VERDICTS];
    struct tally next[NEXTS];
    struct groups types, names, bottlenecks;
    struct longest longest;
};

static void tally_add(struct tally *tally, double time_us)
{
    tally->count++;
    tally->time_us += time_us;
}

/* ------------------------------------------------------------------ groups */

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct group *)a)->name, ((const struct group *)b)->name);
}

static void do_nothing(void *row)
{
    (void)row;
}

static void groups_clear(struct groups *groups)
{
    tdestroy(groups->tree, do_nothing);
    for (int i = 0; i < groups->count; i++) {
        free(groups->rows[i]->name);
        free(groups->rows[i]);
    }
    free(groups->rows);
}

static struct group *new_group(struct groups *groups, const char *name)
{
    if (!array_room(&groups->rows, groups->count, sizeof(struct group *)))
        return NULL;
    struct group *group = calloc(1, sizeof *group);
    char *copy = strdup(name);
    if (!group || !copy) {
        free(group);
        free(copy);
        return NULL;
    }
    group->name = copy;
    groups->rows[groups->count++] = group;
    return group;
}

/* NULL when out of memory. */
static struct group *group_of(struct groups *groups, char *name)
{
    struct group key = {.name = name};
    struct group **found = tfind(&key, &groups->tree, by_name);
    if (found)
        return *found;
    if (groups->count == MAX_GROUPS)
        return &groups->others;
    struct group *group = new_group(groups, name);
    return group && tsearch(group, &groups->tree, by_name) ? group : NULL;
}

static bool count_in(struct groups *groups, char *name, double time_us, double overlap_us,
                     enum verdict verdict)
{
    struct group *group = group_of(groups, name);
    if (!group)
        return false;
    tally_add(&group->all, time_us);
    tally_add(&group->verdicts[verdict], time_us);
    group->overlap_us += overlap_us;
    return true;
}

/* ------------------------------------------------------------------ rows */

struct summary *summary_new(int top)
{
    struct summary *summary = calloc(1, sizeof *summary);
    if (summary && !longest_make(top, &summary->longest)) {
        free(summary);
        return NULL;
    }
    return summary;
}

void summary_free(struct summary *summary)
{
    if (!summary)
        return;
    groups_clear(&summary->types);
    groups_clear(&summary->names);
    groups_clear(&summary->bottlenecks);
    longest_clear(&summary->longest);
    free(summary);
}

/* The cores' time less that of their busiest component: they cannot save more by overlapping. */
static double overlap_of(const struct diagnosis *diagnosis)
{
    double busiest_ns = 0;
    for (int c = 0; c < diagnosis->component_count; c++)
        if (diagnosis->components[c].busy_ns > busiest_ns)
            busiest_ns = diagnosis->components[c].busy_ns;
    return busiest_ns < diagnosis->time_ns ? (diagnosis->time_ns - busiest_ns) / 1e3 : 0;
}

enum status summary_add(struct summary *summary, const struct profile_row *row,
                        const struct diagnosis *diagnosis, int open, int next, struct error *error)
{
    char name[PROFILE_NAME_SIZE];
    double time_us = analyse_time_us(row, diagnosis);
    enum verdict verdict = diagnosis->verdict;
    bool diagnosed = verdict != VERDICT_NONE;
    time_us = time_us > 0 ? time_us : 0;
    tally_add(&summary->rows, time_us);
    bool undecided = !diagnosed && diagnosis->time_ns > 0;
    tally_add(row->broken ? &summary->broken
              : diagnosed ? &summary->diagnosed
              : undecided ? &summary->undecided
                          : &summary->without,
              time_us);
    tally_add(&summary->verdicts[verdict], time_us);
    if (open >= 0 && diagnosed)
        tally_add(&summary->open, time_us);
    if (next >= 0)
        tally_add(&summary->next[next], time_us);
    if (diagnosis->time_ns > 0 && !longest_add(&summary->longest, row, diagnosis, next, time_us))
        return error_memory(error);
    if (row->broken)
        return STATUS_OK;
    double overlap_us = diagnosed ? overlap_of(diagnosis) : 0;
    snprintf(name, sizeof name, "%s", row->type[0] ? row->type : row->name);
    bool counted = count_in(&summary->types, name, time_us, overlap_us, verdict);
    snprintf(name, sizeof name, "%s", row->name);
    counted = count_in(&summary->names, name, time_us, overlap_us, verdict) && counted;
    if (diagnosed && diagnosis->component >= 0) {
        snprintf(name, sizeof name, "%s", diagnosis->components[diagnosis->component].name);
        counted = count_in(&summary->bottlenecks, name, time_us, overlap_us, verdict) && counted;
    }
    return counted ? STATUS_OK : error_memory(error);
}

int64_t summary_rows(const struct summary *summary)
{
    return summary->rows.count;
}

int64_t summary_broken_rows(const struct summary *summary)
{
    return summary->broken.count;
}

/* ------------------------------------------------------------------ JSON */

static double share_of(double part, double whole)
{
    return whole > 0 ? part / whole : 0;
}

static json_t *tally_json(struct tally tally, struct tally of)
{
    return json_pack("{s:I, s:f, s:f, s:f}", "count", (json_int_t)tally.count, "count_share",
                     share_of((double)tally.count, (double)of.count), "time_us", tally.time_us,
                     "time_share", share_of(tally.time_us, of.time_us));
}

/* All five, as in the figures of Zhou et al. 2025. */
static json_t *causes_json(const struct summary *summary)
{
    json_t *causes = json_array();
    for (int v = VERDICT_NONE + 1; v < VERDICTS; v++) {
        json_t *cause = json_pack("{s:s}", "verdict", verdict_name((enum verdict)v));
        json_t *counts = tally_json(summary->verdicts[v], summary->diagnosed);
        json_object_update(cause, counts);
        json_decref(counts);
        json_array_append_new(causes, cause);
    }
    return causes;
}

/* What has no verdict (communication, kernels of the host) is nothing to optimise here: it comes
 * last. */
static int by_time(const void *a, const void *b)
{
    const struct group *x = *(struct group *const *)a, *y = *(struct group *const *)b;
    double s = x->all.time_us, t = y->all.time_us;
    double of_x = s - x->verdicts[VERDICT_NONE].time_us,
           of_y = t - y->verdicts[VERDICT_NONE].time_us;
    if (of_x != of_y)
        return of_x < of_y ? 1 : -1;
    return s != t ? (s < t ? 1 : -1) : strcmp(x->name, y->name);
}

/* The verdict that most of the time has; what has none counts last. */
static enum verdict main_verdict(const struct group *group)
{
    int most = VERDICT_NONE;
    for (int v = VERDICT_NONE + 1; v < VERDICTS; v++)
        if (group->verdicts[v].count &&
            (most == VERDICT_NONE || group->verdicts[v].time_us > group->verdicts[most].time_us))
            most = v;
    return (enum verdict)most;
}

static json_t *group_json(const struct group *group, const char *key, struct tally of)
{
    json_t *row = json_pack("{s:s}", key, group->name ? group->name : "(others)");
    json_t *counts = tally_json(group->all, of);
    json_object_update(row, counts);
    json_object_set_new(row, "overlap_us", json_real(group->overlap_us));
    enum verdict verdict = main_verdict(group);
    json_object_set_new(row, "verdict",
                        verdict == VERDICT_NONE ? json_null() : json_string(verdict_name(verdict)));
    json_object_set_new(
        row, "verdict_time_share",
        json_real(verdict == VERDICT_NONE
                      ? 0
                      : share_of(group->verdicts[verdict].time_us, group->all.time_us)));
    json_decref(counts);
    return row;
}

static json_t *groups_json(struct groups *groups, const char *key, int top, struct tally of)
{
    json_t *rows = json_array();
    if (groups->count)
        qsort(groups->rows, (size_t)groups->count, sizeof(struct group *), by_time);
    for (int i = 0; i < groups->count && i < top; i++)
        json_array_append_new(rows, group_json(groups->rows[i], key, of));
    if (groups->others.all.count)
        json_array_append_new(rows, group_json(&groups->others, key, of));
    return rows;
}

/* What most of the time needs; -1: nothing is open. */
static int most_needed(const struct summary *summary)
{
    int most = -1;
    for (int next = 0; next < NEXTS; next++)
        if (summary->next[next].count &&
            (most < 0 || summary->next[next].time_us > summary->next[most].time_us))
            most = next;
    return most;
}

static json_t *next_words(const struct summary *summary, int next)
{
    if (next < 0)
        return json_null();
    bool chip = next == NEXT_CHIP;
    return json_sprintf("%s %s: it has %s, which is open of %lld row%s, %.1f %% of the time",
                        chip ? "name the chip with" : "collect", analyse_next_name(next),
                        analyse_next_reason(next), (long long)summary->next[next].count,
                        summary->next[next].count == 1 ? "" : "s",
                        100 * share_of(summary->next[next].time_us, summary->rows.time_us));
}

json_t *summary_json(struct summary *summary, int top)
{
    int next = most_needed(summary);
    return json_pack(
        "{s:I, s:I, s:I, s:I, s:I, s:I, s:f, s:f, s:f, s:f, s:f, s:I, s:I, s:s?, s:o, s:o, s:o, "
        "s:o, s:o, s:o}",
        "rows", (json_int_t)summary->rows.count, "diagnosed", (json_int_t)summary->diagnosed.count,
        "open", (json_int_t)summary->open.count, "undecided", (json_int_t)summary->undecided.count,
        "without_core_times", (json_int_t)summary->without.count, "broken",
        (json_int_t)summary->broken.count, "time_us", summary->rows.time_us, "diagnosed_time_us",
        summary->diagnosed.time_us, "open_time_us", summary->open.time_us, "undecided_time_us",
        summary->undecided.time_us, "without_core_times_us", summary->without.time_us, "type_count",
        (json_int_t)summary->types.count, "name_count", (json_int_t)summary->names.count,
        "collect_next", analyse_next_name(next), "collect_next_words", next_words(summary, next),
        "causes", causes_json(summary), "components",
        groups_json(&summary->bottlenecks, "component", MAX_GROUPS, summary->diagnosed), "types",
        groups_json(&summary->types, "type", top, summary->rows), "names",
        groups_json(&summary->names, "name", top, summary->rows), "longest_rows",
        longest_json(&summary->longest, top));
}
