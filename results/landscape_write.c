#include "results/landscape_write.h"

#include "core/hardware.h"
#include "formats/json.h"

/* A time, null where there is none. */
static json_t *time_json(int64_t fs)
{
    return json_number_above_0((double)fs / FS_PER_NS);
}

static json_t *axis_json(const struct landscape *landscape, int a)
{
    const struct axis *axis = landscape->axis[a];
    json_t *values = json_array();
    for (int i = 0; i < landscape->count[a]; i++)
        json_array_append_new(values, axis_value_json(axis, landscape->value[a][i]));
    return json_pack("{s:s, s:s?, s:o, s:i}", "name", axis->name, "unit", axis->unit, "values",
                     values, "left_out", landscape->left_out[a]);
}

static json_t *cell_json(const struct landscape_cell *cell)
{
    return json_pack("{s:I, s:I, s:I, s:o, s:o, s:s?}", "points", (json_int_t)cell->points, "legal",
                     (json_int_t)cell->legal, "played", (json_int_t)cell->simulated, "time_ns",
                     time_json(cell->time_fs), "bound_ns", time_json(cell->bound_fs), "limit",
                     cell->limit[0] ? cell->limit : NULL);
}

json_t *landscape_json(const struct landscape *landscape)
{
    json_t *rows = json_array();
    for (int y = 0; y < landscape->count[1]; y++) {
        json_t *row = json_array();
        for (int x = 0; x < landscape->count[0]; x++)
            json_array_append_new(row, cell_json(landscape_at(landscape, x, y)));
        json_array_append_new(rows, row);
    }
    return json_pack("{s:s, s:f, s:[o, o], s:[i, i], s:o}", "kind",
                     landscape->kind == LANDSCAPE_SLICE ? "slice" : "envelope", "best_ns",
                     (double)landscape->best_fs / FS_PER_NS, "axes", axis_json(landscape, 0),
                     axis_json(landscape, 1), "best", landscape->best[0], landscape->best[1],
                     "cells", rows);
}
