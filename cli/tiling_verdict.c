/* The limits come from the space; where one is broken, the nearest legal tiling is searched, else
 * the tiling is simulated and set against the problem's roofline, which no tiling beats. */
#include "cli/tiling_verdict.h"
#include "cli/answer.h"
#include "cli/correction.h"
#include "cli/threads.h"

#include "formats/text.h"
#include "results/outline.h"
#include "results/tune.h"
#include "search/nearest.h"
#include "search/search.h"

#include <stdlib.h>
#include <string.h>

struct verdict {
    const struct task *task;
    const struct tiling *tiling;
    int count;
    struct violation violations[MAX_VIOLATIONS];
    bool has_nearest;
    struct tiling nearest;
    /* where it is legal */
    struct tune_answer answer;
    struct found found;
    bool is_timed;
    struct error why; /* it is not */
    double bound_ns, gap;
    json_t *picture; /* of its kernel; NULL: none */
};

/* What no tiling of the problem beats: the roofline, once a kernel has been started on a core. */
static double problem_bound_ns(const struct verdict *v)
{
    return (double)hardware_start_fs(v->answer.space->hw, 1) / FS_PER_NS +
           tune_roofline_ns(&v->answer);
}

static void simulate_tiling(struct verdict *v)
{
    const struct job *job = &v->task->job;
    v->answer =
        (struct tune_answer){.problem = &job->problem, .space = &job->space, .cores = job->cores};
    v->bound_ns = problem_bound_ns(v);
    v->is_timed = search_simulate(&job->space, v->tiling, &v->found, &v->why) == STATUS_OK;
    if (v->is_timed)
        v->gap = (found_ns(&v->found) - v->bound_ns) / found_ns(&v->found);
    if (v->is_timed && v->task->correction)
        correction_of_answer(v->task->correction, v->task, &v->found, &v->answer);
}

static json_t *simulated_json(const struct verdict *v)
{
    if (!v->is_timed)
        return json_pack("{s:n, s:o}", "time_ns", "reason", json_text(v->why.text));
    json_t *json = tune_found_json(&v->answer, &v->found);
    json_object_set_new(json, "bound_ns", json_real(v->bound_ns));
    json_object_set_new(json, "gap", json_real(v->gap));
    if (v->answer.correction) {
        tune_put_corrected(&v->answer.correction->best, json);
        json_object_set_new(json, "correction", tune_correction_json(v->answer.correction));
    }
    return json;
}

static void draw(struct verdict *v)
{
    const struct space *space = &v->task->job.space;
    struct error error;
    if (!space->kind->picture)
        return;
    v->picture = cli_require_memory(json_object());
    cli_require(space->kind->picture(space, v->tiling, v->picture, &error), &error);
}

/* The search from a legal tiling, the nearest one from another. */
static void put_next(const struct verdict *v, const struct style *style, FILE *out)
{
    if (v->count && !v->has_nearest)
        return;
    char *next = task_command(v->task, v->count ? "explain" : NULL, v->count ? &v->nearest : NULL);
    fputs(v->count ? "\nnext  " : "\n  next         ", out);
    text_put_command(next, v->count ? 6 : 15, style, out);
    fputc('\n', out);
    free(next);
}

static void put_simulated(const struct verdict *v, const struct style *style, FILE *out)
{
    char bound[TEXT_SIZE];
    fputc('\n', out);
    if (!v->is_timed) {
        fprintf(out, "  time         unknown: %s\n", v->why.text);
        return;
    }
    tune_write_time(&v->answer, &v->found, style, out);
    if (v->answer.correction)
        tune_write_corrected(v->answer.correction, style, out);
    fprintf(out, "  gap          at most %.2f %% to gain: no tiling takes less than %s\n\n",
            100 * v->gap, text_time(v->bound_ns, bound));
    tune_write_shares(&v->answer, &v->found, style, out);
}

static void write_json(const struct verdict *v, FILE *out)
{
    const struct space *space = &v->task->job.space;
    struct error error;
    json_t *list = json_array();
    for (int i = 0; i < v->count; i++) {
        const struct violation *violation = &v->violations[i];
        json_array_append_new(
            list, json_pack("{s:s, s:I, s:I, s:I, s:s}", "limit", violation->limit, "needed_bytes",
                            (json_int_t)violation->needed_bytes, "available_bytes",
                            (json_int_t)violation->available_bytes, "excess_bytes",
                            (json_int_t)(violation->needed_bytes - violation->available_bytes),
                            "text", violation->text));
    }
    json_t *nearest =
        v->has_nearest ? tiling_json(space->axes, space->axis_count, &v->nearest) : json_null();
    json_t *document = json_pack("{s:i, s:s, s:b, s:o, s:o, s:o}", "schema", 1, "cache",
                                 hardware_cache_word(space->hw), "legal", v->count == 0, "tiling",
                                 tiling_json(space->axes, space->axis_count, v->tiling),
                                 "violations", list, "nearest", nearest);
    if (v->count == 0)
        json_object_update_new(document, simulated_json(v));
    if (v->picture)
        json_object_set(document, "picture", v->picture);
    cli_require(json_write(document, out, &error), &error);
}

static void put_none(const struct space *space, FILE *out)
{
    fprintf(out, "no tiling of this space is legal%s%s\n", space->empty[0] ? ": " : "",
            space->empty);
}

static void write_table(const struct verdict *v, const struct style *style, FILE *out)
{
    const struct space *space = &v->task->job.space;
    char text[TILING_TEXT_SIZE], title[PROBLEM_TITLE_SIZE];
    tiling_text(space->axes, space->axis_count, v->tiling, text, sizeof text);
    const char *word = hardware_cache_word(space->hw);
    bool has_cache = space->hw->cache.behind >= 0;
    fprintf(out, "%s%s%s: %s\n  of %s on %s, %d core%s, space %s%s%s%s\n",
            v->count ? style->warn : style->good, v->count ? "illegal" : "legal", style->end, text,
            problem_title(&v->task->job.problem, title), space->hw->name, v->task->job.cores,
            v->task->job.cores == 1 ? "" : "s", space->kind->name, has_cache ? ", " : "",
            has_cache ? word : "", has_cache ? " cache" : "");
    for (int i = 0; i < v->count; i++)
        fprintf(out, "  %s\n", v->violations[i].text);
    if (v->count == 0) {
        put_simulated(v, style, out);
        outline_write(v->picture, style, out);
        put_next(v, style, out);
        return;
    }
    outline_write(v->picture, style, out);
    fputs(json_object_size(v->picture) ? "\n" : "", out);
    tiling_text(space->axes, space->axis_count, &v->nearest, text, sizeof text);
    if (v->has_nearest)
        fprintf(out, "nearest legal: --set %s\n", text);
    else
        put_none(space, out);
    put_next(v, style, out);
}

bool verdict_choose(const struct task *task, struct tiling *tiling)
{
    struct error error;
    struct search_result result;
    struct search_options how = {.threads = cli_threads(0), .top = 1};
    if (task->set) {
        cli_require(tiling_parse(&task->job.space, task->set, tiling, &error), &error);
        return true;
    }
    cli_require(search(&task->job.space, &how, &result, &error), &error);
    bool found = result.count > 0;
    if (found)
        *tiling = result.best[0].tiling;
    search_result_clear(&result);
    return found;
}

void verdict_write_none(const struct space *space, bool json, FILE *out)
{
    if (json)
        fputs("{\n  \"schema\": 1,\n  \"tiling\": null\n}\n", out);
    else
        put_none(space, out);
}

bool verdict_write(const struct task *task, const struct tiling *tiling, bool json,
                   struct answer *answer)
{
    struct verdict verdict = {.task = task, .tiling = tiling};
    struct error error;
    verdict.count = task->job.space.kind->violations(&task->job.space, tiling, verdict.violations);
    if (verdict.count)
        cli_require(search_nearest(&task->job.space, tiling, &verdict.nearest, &verdict.has_nearest,
                                   &error),
                    &error);
    else
        simulate_tiling(&verdict);
    draw(&verdict);
    if (json)
        write_json(&verdict, answer->stream);
    else
        write_table(&verdict, &answer->style, answer->stream);
    json_decref(verdict.picture);
    return verdict.count == 0;
}
