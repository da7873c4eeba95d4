/* What `autotune evaluate` adds to its figures. Of the learned correction two tables: what it was
 * learned from and how well it does on problems left out, and how it does on the rows at hand. And
 * --ranking: the job with its progress line, and the tables that people read of its answer, which
 * has a line for each class and time. */
#include "cli/evaluate_answer.h"

#include "cli/progress.h"
#include "cli/signals.h"
#include "jobs/evaluate/evaluate.h"
#include "kernels/operator_bank.h"

#include <math.h>
#include <stdlib.h>

/* ---- the correction ---- */

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

/* ---- the ranking ---- */

enum { DEFAULT_SEED = 1 };

static void tell_ranked(void *context, int64_t done, int64_t total)
{
    (void)context;
    progress_count("ranking", done, total);
}

/* NAN where it cannot be corrected, which no time is faster than. */
static double corrected_ns(const void *correcting, const struct bank_row *row,
                           const struct space *space, const struct tiling *tiling,
                           const struct prediction *prediction)
{
    struct error error;
    struct problem problem;
    struct corrected corrected;
    (void)prediction;
    enum status status = space->kind->bank->problem(row, &problem, &error);
    if (status == STATUS_OK)
        status = correct_tiling(correcting, &problem, space, tiling, &corrected, &error);
    return status == STATUS_OK ? corrected.corrected_ns : NAN;
}

json_t *evaluate_rank(const struct bank *bank, const struct prediction predictions[],
                      const struct hardware *hw, const struct correcting *correcting, int threads,
                      int64_t seed)
{
    struct error error;
    json_t *answer;
    struct ranked *ranked = cli_require_memory(calloc(bank->count + 1, sizeof *ranked));
    struct ranking_options how = {
        .threads = threads,
        .seed = seed > 0 ? (uint64_t)seed : DEFAULT_SEED,
        .stop = stop_asked(),
        .progress = tell_ranked,
        .corrected_ns = correcting ? corrected_ns : NULL,
        .correction = correcting,
    };
    enum status status = ranking_draw(bank, predictions, hw, &how, ranked, &error);
    progress_phase("comparing");
    cli_require(status, &error);
    cli_require(ranking_make(bank, predictions, ranked, &how, &answer, &error), &error);
    free(ranked);
    return answer;
}

json_t *evaluate_reasons(const json_t *left_out)
{
    json_t *counts = json_object(), *table = json_array(), *row;
    size_t index;
    const char *reason;
    json_array_foreach(left_out, index, row)
    {
        reason = json_string_value(json_object_get(row, "reason"));
        json_object_set_new(counts, reason,
                            json_integer(1 + json_integer_value(json_object_get(counts, reason))));
    }
    json_object_foreach(counts, reason, row)
        json_array_append_new(table, json_pack("{s:O, s:s}", "rows", row, "reason", reason));
    json_decref(counts);
    return table;
}

/* One line of the table of rankings, by one of its scores. */
static void add_ranking_row(json_t *table, const char *by, const char *name, const char *score,
                            const json_t *from)
{
    if (from)
        json_array_append_new(
            table,
            json_pack("{s:s, s:s, s:s, s:O, s:O, s:O, s:O}", "by", by, "rows", name, "time", score,
                      "problems", json_object_get(from, "problems"), "predicted_faster_share",
                      json_object_get(from, "predicted_faster"), "recorded_in_best_1_percent_share",
                      json_object_get(from, "recorded_in_best_1_percent"),
                      "recorded_in_best_5_percent_share",
                      json_object_get(from, "recorded_in_best_5_percent")));
}

void evaluate_ranking_tables(json_t *tables, const json_t *ranking)
{
    json_t *table = json_array(), *row;
    size_t index;
    add_ranking_row(table, "", "all", "simulated", ranking);
    add_ranking_row(table, "", "all", "corrected", json_object_get(ranking, "corrected"));
    json_array_foreach(json_object_get(ranking, "classes"), index, row)
    {
        add_ranking_row(table, json_string_value(json_object_get(row, "by")),
                        json_string_value(json_object_get(row, "class")), "simulated", row);
        add_ranking_row(table, json_string_value(json_object_get(row, "by")),
                        json_string_value(json_object_get(row, "class")), "corrected",
                        json_object_get(row, "corrected"));
    }
    if (ranking)
        json_object_set(tables, "ranking", table);
    if (json_array_size(json_object_get(ranking, "left_out")))
        json_object_set_new(tables, "not_ranked",
                            evaluate_reasons(json_object_get(ranking, "left_out")));
    json_decref(table);
}
