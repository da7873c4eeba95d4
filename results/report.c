/* Writes a page. A page is three pieces: what stands before and after the data is built into the
 * program (tools/report), the data between are one JSON document in a script element, escaped so
 * that no text can end it. A section that could not be made leaves the report without any, which
 * shows at the end: those who fill it need no checks. */
#include "results/report.h"

#include "core/version.h"
#include "formats/json.h"
#include "results/report_page.h"

#include <stdarg.h>
#include <string.h>

void report_clear(struct report *report)
{
    json_decref(report->sections);
    report->sections = NULL;
}

void report_add(struct report *report, json_t *section)
{
    if (section && json_array_append_new(report->sections, section) == 0)
        return;
    json_decref(report->sections);
    report->sections = NULL;
}

/* ------------------------------------------------------------------ sections */

json_t *report_section(const char *kind, const char *title, const char *note)
{
    json_t *section = json_pack("{s:s, s:o}", "kind", kind, "title", json_text(title));
    if (note)
        json_object_set_new(section, "note", json_text(note));
    return section;
}

static json_t *section_with(const char *kind, const char *title, const char *note,
                            const char *member)
{
    json_t *section = report_section(kind, title, note);
    json_object_set_new(section, member, json_array());
    return section;
}

json_t *report_facts(const char *title)
{
    return section_with("facts", title, NULL, "rows");
}

void report_fact(json_t *facts, const char *name, const char *format, ...)
{
    char text[1024];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    json_array_append_new(json_object_get(facts, "rows"),
                          json_pack("[s, o]", name, json_text(text)));
}

json_t *report_table(const char *title, const char *note)
{
    json_t *table = section_with("table", title, note, "columns");
    json_object_set_new(table, "rows", json_array());
    return table;
}

void report_column(json_t *table, const char *name, const char *unit)
{
    json_t *column = json_pack("{s:s}", "name", name);
    if (unit)
        json_object_set_new(column, "unit", json_string(unit));
    json_array_append_new(json_object_get(table, "columns"), column);
}

json_t *report_row(json_t *table)
{
    json_t *row = json_array();
    return json_array_append_new(json_object_get(table, "rows"), row) == 0 ? row : NULL;
}

/* ------------------------------------------------------------------ the page */

/* The data stand in a script element: no text in them may look like its end, or like a comment.
 * What is not ASCII is escaped by Jansson. */
static int put_escaped(const char *text, size_t size, void *context)
{
    FILE *out = context;
    size_t from = 0;
    for (size_t i = 0; i < size; i++) {
        if (!strchr("<>&", text[i]) || !text[i])
            continue;
        fwrite(text + from, 1, i - from, out);
        fprintf(out, "\\u%04x", (unsigned)text[i]);
        from = i + 1;
    }
    fwrite(text + from, 1, size - from, out);
    return ferror(out) ? -1 : 0;
}

static json_t *document(const struct report *report)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:i, s:O}", "title", json_text(report->title), "lead",
                     json_text(report->lead), "command", json_text(report->command), "version",
                     json_text(report->version), "model", MODEL_VERSION, "sections",
                     report->sections);
}

enum status report_write(const struct report *report, FILE *out, struct error *error)
{
    json_t *data = report->sections ? document(report) : NULL;
    if (!data)
        return error_memory(error);
    fwrite(report_before, 1, report_before_size, out);
    int failed = json_dump_callback(data, put_escaped, out,
                                    JSON_COMPACT | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(10));
    json_decref(data);
    fwrite(report_after, 1, report_after_size, out);
    return failed || ferror(out) ? error_set(error, STATUS_IO, "cannot write the page") : STATUS_OK;
}
