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
#include "search/restrict.h"
#include "search/search.h"

#include <math.h>
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

/* With all that the axes offer. */
static const struct space *problem_space(const struct task *task)
{
    return task->whole.kind ? &task->whole : &task->job.space;
}

/* Are the values together on the axes of a block? */
static bool is_offered(const struct space *space, const struct tiling *fixed)
{
    for (int b = 0; b < space->block_count; b++) {
        int a = 0;
        while (a < space->axis_count &&
               (fixed->value[a] == AXIS_FREE || block_has(&space->blocks[b], a, fixed->value[a])))
            a++;
        if (a == space->axis_count)
            return true;
    }
    return false;
}

/* What no tiling of the problem beats: the roofline, once a kernel has been started on a core. */
static double problem_bound_ns(const struct verdict *v)
{
    struct tune_answer answer = v->answer;
    answer.space = problem_space(v->task);
    return (double)hardware_start_fs(answer.space->hw, 1) / FS_PER_NS + tune_roofline_ns(&answer);
}

static void simulate_tiling(struct verdict *v)
{
    const struct job *job = &v->task->job;
    v->answer =
        (struct tune_answer){.problem = &job->problem, .space = &job->space, .cores = job->cores};
    v->bound_ns = problem_bound_ns(v);
    if (isnan(v->bound_ns))
        cli_require(error_memory(&v->why), &v->why);
    v->is_timed = search_simulate(&job->space, v->tiling, &v->found, &v->why) == STATUS_OK;
    if (v->is_timed)
        v->gap = fmax((found_ns(&v->found) - v->bound_ns) / found_ns(&v->found), 0);
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
    fprintf(out, "  gap          at most %.2f %% to gain: the space has none below %s\n\n",
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
    json_object_set_new(document, "offered",
                        json_boolean(space_index(problem_space(v->task), v->tiling) >= 0));
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

/* Values that the kernel allows and no axis has. */
static void put_not_offered(const struct verdict *v, FILE *out)
{
    const struct space *whole = problem_space(v->task);
    if (v->count || space_index(whole, v->tiling) >= 0)
        return;
    fputs("  no search tries it: ", out);
    const char *comma = "";
    for (int a = 0; a < whole->axis_count; a++) {
        char value[24];
        struct tiling one;
        for (int other = 0; other < whole->axis_count; other++)
            one.value[other] = other == a ? v->tiling->value[a] : AXIS_FREE;
        if (is_offered(whole, &one))
            continue;
        fprintf(out, "%s%s=%s", comma, whole->axes[a].name,
                axis_value_text(&whole->axes[a], v->tiling->value[a], value));
        comma = ", ";
    }
    fputs(*comma ? " is on no axis of the kernel\n" : "no block of the space has all of it\n", out);
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
    put_not_offered(v, out);
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

/* The best of a space, or of a part of it. */
static bool find_best(const struct space *space, struct tiling *tiling)
{
    struct error error;
    struct search_result result;
    struct search_options how = {.threads = cli_threads(0), .top = 1};
    cli_require(search(space, &how, &result, &error), &error);
    bool found = result.count > 0;
    if (found)
        *tiling = result.best[0].tiling;
    search_result_clear(&result);
    return found;
}

static bool is_whole(const struct space *space, const struct tiling *tiling)
{
    for (int a = 0; a < space->axis_count; a++)
        if (tiling->value[a] == AXIS_FREE)
            return false;
    return true;
}

/* Makes the space of these values alone the job's; where there is none, says why. */
static void open_at(struct task *task, const struct tiling *fixed)
{
    struct job *job = &task->job;
    struct space space;
    enum status status = space_open_at(&job->problem, job->space.kind, job->hw, job->cores, fixed,
                                       &space, &task->refused);
    if (status == STATUS_NO_MEMORY)
        cli_require(status, &task->refused);
    if (status != STATUS_OK)
        return;
    task->refused = (struct error){.status = STATUS_OK};
    space.fixed = NULL;
    task->whole = job->space;
    job->space = space;
}

/* Some values are given: the best that has them. */
static bool find_best_with(struct task *task, const struct tiling *fixed, struct tiling *tiling)
{
    struct space part;
    struct error error;
    if (task->job.space.kind->any_value) {
        open_at(task, fixed);
        cli_require(task->refused.status, &task->refused);
        return find_best(&task->job.space, tiling);
    }
    cli_require(space_restrict(&task->job.space, fixed, &part, &error), &error);
    bool found = find_best(&part, tiling);
    space_restrict_clear(&part);
    return found;
}

bool verdict_choose(struct task *task, struct tiling *tiling)
{
    const struct space *space = &task->job.space;
    struct tiling fixed;
    struct error error;
    if (!task->set)
        return find_best(space, tiling);
    cli_require(tiling_parse_part(space, task->set, &fixed, &error), &error);
    if (!is_whole(space, &fixed))
        return find_best_with(task, &fixed, tiling);
    if (space->kind->any_value && !is_offered(space, &fixed))
        open_at(task, &fixed);
    *tiling = fixed;
    return true;
}

void verdict_write_none(const struct space *space, bool json, FILE *out)
{
    if (json)
        fputs("{\n  \"schema\": 1,\n  \"tiling\": null\n}\n", out);
    else
        put_none(space, out);
}

/* Those that are more than that no search tries it. */
static int find_violations(const struct task *task, const struct tiling *tiling,
                           struct violation list[MAX_VIOLATIONS])
{
    int count = task->job.space.kind->violations(&task->job.space, tiling, list), kept = 0;
    for (int i = 0; i < count; i++)
        if (!list[i].outside)
            list[kept++] = list[i];
    if (kept && task->refused.text[0] && kept < MAX_VIOLATIONS) {
        list[kept] = (struct violation){.limit = "kernel"};
        snprintf(list[kept].text, sizeof list[kept].text, "%.*s", (int)sizeof list[kept].text - 1,
                 task->refused.text);
        kept++;
    }
    return kept;
}

bool verdict_is_legal(const struct task *task, const struct tiling *tiling)
{
    struct violation list[MAX_VIOLATIONS];
    return find_violations(task, tiling, list) == 0;
}

bool verdict_write(const struct task *task, const struct tiling *tiling, bool json,
                   struct answer *answer)
{
    struct verdict verdict = {.task = task, .tiling = tiling};
    struct error error;
    verdict.count = find_violations(task, tiling, verdict.violations);
    if (verdict.count)
        cli_require(search_nearest(problem_space(task), tiling, &verdict.nearest,
                                   &verdict.has_nearest, &error),
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
