/* An array in order of time, into which each row that is long enough is put at its place. */
#include "results/analysis_longest.h"

#include "analysis/advice/advice.h"
#include "analysis/profile/analyse.h"
#include "analysis/roofline.h"
#include "formats/json.h"

#include <stdlib.h>
#include <string.h>

/* As many as a page or a terminal shows. */
enum { MOST_LONG_ROWS = 1000 };

bool longest_make(int top, struct longest *longest)
{
    longest->count = 0;
    longest->most = top < MOST_LONG_ROWS ? top : MOST_LONG_ROWS;
    longest->rows = calloc((size_t)longest->most + 1, sizeof *longest->rows);
    return longest->rows != NULL;
}

void longest_clear(struct longest *longest)
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
bool longest_add(struct longest *longest, const struct profile_row *row, const struct diagnosis *d,
                 int next, double time_us)
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

json_t *longest_json(const struct longest *longest, int top)
{
    json_t *rows = json_array();
    for (int i = 0; i < longest->count && i < top; i++)
        json_array_append_new(rows, long_row_json(&longest->rows[i]));
    return rows;
}
