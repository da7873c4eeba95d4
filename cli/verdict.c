#include "cli/verdict.h"

#include "results/text.h"
#include "results/tune.h"
#include "search/nearest.h"

#include <string.h>

struct verdict {
    const struct task *task;
    const struct tiling *tiling;
    int count;
    struct violation violations[MAX_VIOLATIONS];
    bool has_nearest;
    struct tiling nearest;
};

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
    cli_require(
        json_write(json_pack("{s:i, s:b, s:o, s:o, s:o}", "schema", 1, "legal", v->count == 0,
                             "tiling", tiling_json(space->axes, space->axis_count, v->tiling),
                             "violations", list, "nearest", nearest),
                   out, &error),
        &error);
}

static void write_table(const struct verdict *v, bool colour, FILE *out)
{
    const struct space *space = &v->task->job.space;
    struct style style = text_style(colour);
    char text[512], title[128];
    job_title(&v->task->job, title, sizeof title);
    tiling_text(space->axes, space->axis_count, v->tiling, " ", text, sizeof text);
    fprintf(out, "%s%s%s: %s\n  of %s on %s, %d core%s, space %s\n",
            v->count ? style.warn : style.good, v->count ? "illegal" : "legal", style.end, text,
            title, space->hw->name, v->task->job.cores, v->task->job.cores == 1 ? "" : "s",
            space->kind->name);
    for (int i = 0; i < v->count; i++)
        fprintf(out, "  %s\n", v->violations[i].text);
    if (v->count == 0)
        return;
    tiling_text(space->axes, space->axis_count, &v->nearest, ",", text, sizeof text);
    if (v->has_nearest)
        fprintf(out, "nearest legal: --set %s\n", text);
    else
        fprintf(out, "no tiling of this space is legal\n");
}

void verdict_write(const struct task *task, const struct tiling *tiling, bool json,
                   struct answer *answer)
{
    struct verdict verdict = {.task = task, .tiling = tiling};
    struct error error;
    verdict.count = task->job.space.kind->violations(&task->job.space, tiling, verdict.violations);
    if (verdict.count)
        cli_require(search_nearest(&task->job.space, tiling, &verdict.nearest, &verdict.has_nearest,
                                   &error),
                    &error);
    if (json)
        write_json(&verdict, answer->stream);
    else
        write_table(&verdict, answer->colour, answer->stream);
}
