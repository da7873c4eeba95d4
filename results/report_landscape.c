/* Makes the section that draws the map of a search. A cell is one JSON value whose type says what
 * is known of it: a time, a lower bound, the limit that was broken, nothing. */
#include "results/report_landscape.h"

#include "formats/text.h"

static double ns(int64_t fs)
{
    return (double)fs / FS_PER_NS;
}

/* A time; [a lower bound]; the limit that a cell breaks, "" where it is not known; null where there
 * is no tiling. */
static json_t *cell_json(const struct landscape_cell *cell)
{
    if (cell->time_fs)
        return json_real(ns(cell->time_fs));
    if (cell->bound_fs)
        return json_pack("[f]", ns(cell->bound_fs));
    return cell->points ? json_string(cell->limit) : json_null();
}

static json_t *axis_json(const struct landscape *landscape, int a)
{
    char text[24];
    json_t *values = json_array();
    for (int i = 0; i < landscape->count[a]; i++)
        json_array_append_new(
            values, json_string(axis_value_text(landscape->axis[a], landscape->value[a][i], text)));
    return json_pack("{s:s, s:o, s:i}", "name", landscape->axis[a]->name, "values", values, "best",
                     landscape->best[a]);
}

static void write_note(const struct landscape *landscape, char *note, size_t size)
{
    int used = snprintf(note, size, "%s",
                        landscape->kind == LANDSCAPE_SLICE
                            ? "All other values are the best tiling's. What the search left out "
                              "was simulated for this map."
                            : "The best over all other values of what the search has played.");
    for (int a = 0; a < 2; a++)
        if (landscape->left_out[a])
            used += snprintf(note + used, size - (size_t)used, " %d values of %s are not shown.",
                             landscape->left_out[a], landscape->axis[a]->name);
}

void report_landscape(struct report *report, const struct landscape *landscape)
{
    char title[96], note[320];
    json_t *cells = json_array();
    snprintf(title, sizeof title, "Time over %s and %s%s", landscape->axis[0]->name,
             landscape->axis[1]->name,
             landscape->kind == LANDSCAPE_SLICE ? "" : ", the best of all others");
    write_note(landscape, note, sizeof note);
    for (int y = 0; y < landscape->count[1]; y++) {
        json_t *row = json_array();
        for (int x = 0; x < landscape->count[0]; x++)
            json_array_append_new(row, cell_json(landscape_at(landscape, x, y)));
        json_array_append_new(cells, row);
    }
    json_t *section = report_section("landscape", title, note);
    json_object_set_new(section, "best_ns", json_real(ns(landscape->best_fs)));
    json_object_set_new(section, "x", axis_json(landscape, 0));
    json_object_set_new(section, "y", axis_json(landscape, 1));
    json_object_set_new(section, "cells", cells);
    report_add(report, section);
}
