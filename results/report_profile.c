/* Makes the sections of a profile's page. Tables are lists of the summary
 * (results/analysis_summary.h) of which a row of `struct member` picks what is shown and in which
 * unit; the longest operators are bars as well, with the share that they make together (a Pareto
 * chart). */
#include "results/report_profile.h"

#include "formats/text.h"

enum { MOST_ROWS = 1000, MOST_BARS = 200 };

static int64_t count_of(json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

static void add_counts(struct report *report, json_t *summary)
{
    static const struct {
        const char *key, *name;
    } counts[] = {
        {"rows", "rows"},
        {"diagnosed", "with a verdict"},
        {"open", "of them open: bytes and operations could change the verdict"},
        {"undecided", "undecided by what was collected"},
        {"without_core_times", "without times of AI cores"},
        {"broken", "broken"},
        {"type_count", "types of operators"},
        {"name_count", "names of operators"},
    };
    char text[TEXT_SIZE];
    json_t *facts = report_facts("The profile");
    report_fact(facts, "format", "%s", json_string_value(json_object_get(summary, "format")));
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        report_fact(facts, counts[i].name, "%s",
                    text_count(count_of(summary, counts[i].key), text));
    report_fact(facts, "time of all", "%s",
                text_time(1e3 * json_real_value(json_object_get(summary, "time_us")), text));
    const char *next = json_string_value(json_object_get(summary, "collect_next_words"));
    if (next)
        report_fact(facts, "next", "%s", next);
    report_add(report, facts);
}

/* A list of the summary as a table: its members in this order, times in ns. */
struct member {
    const char *key, *name, *unit;
};

static json_t *list_table(json_t *summary, const char *list, const char *title, const char *note,
                          const struct member members[])
{
    json_t *rows = json_object_get(summary, list), *row;
    size_t index;
    json_t *table = report_table(title, note);
    for (const struct member *m = members; m->key; m++)
        report_column(table, m->name, m->unit);
    json_array_foreach(rows, index, row)
    {
        if (index == MOST_ROWS)
            break;
        json_t *cells = report_row(table);
        for (const struct member *m = members; m->key; m++) {
            json_t *value = json_object_get(row, m->key);
            bool is_time = m->unit && *m->unit == 'n';
            json_array_append_new(cells, is_time ? json_real(1e3 * json_number_value(value))
                                                 : json_incref(value));
        }
    }
    return table;
}

/* The operators by time, the longest first, and how much of all they make together. */
static void add_operators(struct report *report, json_t *summary, const struct member members[])
{
    json_t *bars = json_array(), *row;
    size_t index;
    json_array_foreach(json_object_get(summary, "names"), index, row)
    {
        if (index < MOST_BARS)
            json_array_append_new(
                bars, json_pack("[O, f, O]", json_object_get(row, "name"),
                                1e3 * json_number_value(json_object_get(row, "time_us")),
                                json_object_get(row, "verdict")));
    }
    json_t *section = list_table(summary, "names", "Operators by time",
                                 "Each with the verdict that most of its time has; the line is how "
                                 "much those so far make together.",
                                 members);
    json_object_set_new(section, "kind", json_string("pareto"));
    json_object_set_new(section, "total_ns",
                        json_real(1e3 * json_number_value(json_object_get(summary, "time_us"))));
    json_object_set_new(section, "bars", bars);
    report_add(report, section);
}

void report_profile(struct report *report, json_t *summary)
{
    static const struct member causes[] = {
        {"verdict", "verdict", NULL},        {"time_share", "of the time", "bar"},
        {"time_us", "time", "ns"},           {"count", "operators", "count"},
        {"count_share", "of them", "share"}, {NULL, NULL, NULL}};
    static const struct member components[] = {
        {"component", "component", NULL}, {"time_share", "of the time", "bar"},
        {"time_us", "time", "ns"},        {"count", "operators", "count"},
        {"verdict", "most of it", NULL},  {NULL, NULL, NULL}};
    static const struct member types[] = {{"type", "type", NULL},
                                          {"time_share", "of the time", "bar"},
                                          {"time_us", "time", "ns"},
                                          {"count", "operators", "count"},
                                          {"overlap_us", "by overlapping, at most", "ns"},
                                          {"verdict", "most of it", NULL},
                                          {NULL, NULL, NULL}};
    static const struct member rows[] = {{"name", "name", NULL},
                                         {"time_us", "time", "ns"},
                                         {"verdict", "verdict", NULL},
                                         {"component", "component", NULL},
                                         {"utilisation_share", "utilisation", "share"},
                                         {"active_share", "active", "share"},
                                         {"try", "try", NULL},
                                         {"collect_next", "collect next", NULL},
                                         {NULL, NULL, NULL}};
    struct member names[sizeof types / sizeof *types];
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        names[i] = types[i];
    names[0] = (struct member){"name", "name", NULL};
    add_counts(report, summary);
    report_add(report, list_table(summary, "causes", "What limits operators", NULL, causes));
    add_operators(report, summary, names);
    report_add(report, list_table(summary, "longest_rows", "Longest rows",
                                  "What limits each, and what to try against it.", rows));
    report_add(report, list_table(summary, "types", "Types by time", NULL, types));
    report_add(report, list_table(summary, "components", "Components that verdicts name", NULL,
                                  components));
}
