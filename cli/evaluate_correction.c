/* Two tables: what the correction was learned from and how well it does on problems left out, and
 * how it does on the rows at hand. */
#include "cli/evaluate_correction.h"

void evaluate_correction_open(struct common *common, bool left_out, const struct hardware *hw,
                              struct correcting *correcting)
{
    struct error error;
    *correcting = (struct correcting){0};
    if (left_out)
        return;
    cli_require(correcting_open(hw, correcting, &error), &error);
    if (*correcting->file)
        cli_reads(common, correcting->file);
}

static json_t *corrected_row(const char *name, const json_t *from)
{
    return json_pack(
        "{s:s, s:O, s:O, s:O, s:O}", "rows", name, "used", json_object_get(from, "used"),
        "mean_relative_error", json_object_get(from, "mape"), "median_relative_error",
        json_object_get(from, "median_ape"), "spearman", json_object_get(from, "spearman"));
}

void evaluate_correction_tables(json_t *tables, const json_t *answer)
{
    const json_t *corrected = json_object_get(answer, "corrected");
    json_t *table = json_array(), *about = json_copy(json_object_get(answer, "correction"));
    json_int_t seen = json_integer_value(json_object_get(about, "rows_learned_from"));
    if (about)
        json_object_set_new(tables, "correction", about);
    if (!json_is_object(corrected)) {
        json_decref(table);
        return;
    }
    json_array_append_new(table, corrected_row("all", corrected));
    json_array_append_new(table,
                          corrected_row("10 us and more", json_object_get(corrected, "ge_10us")));
    json_array_append_new(table,
                          corrected_row("large plain", json_object_get(corrected, "large_plain")));
    json_array_append_new(
        table, corrected_row("clean, 10 us and more", json_object_get(corrected, "clean")));
    json_object_set_new(tables, "corrected", table);
    json_object_set(about, "interval_covers_share", json_object_get(corrected, "interval_covers"));
    if (seen > 0)
        json_object_set_new(about, "note",
                            json_string("figures of rows that it was learned from flatter it: "
                                        "those that stand cross validated do not"));
    json_object_del(about, "learned_from");
}
