#include "cli/landscape_file.h"

#include "results/landscape_write.h"
#include "search/landscape_make.h"

#include <stdlib.h>
#include <string.h>

/* *json is NULL where no such map can be made. */
static enum status make(const struct space *space, const struct search_result *result,
                        const int axes[2], enum landscape_kind kind, int threads, json_t **json,
                        struct error *error)
{
    struct landscape map;
    *json = NULL;
    if (!landscape_possible(space, result, kind))
        return STATUS_OK;
    TRY(landscape_make(space, result, axes, kind, threads, &map, error));
    *json = landscape_json(&map);
    landscape_clear(&map);
    return *json ? STATUS_OK : error_memory(error);
}

void landscape_file_check(const struct landscape_file *file, const struct task *task)
{
    static const struct search_result none;
    struct error error;
    int axes[2];
    if (file->axes && !file->path)
        cli_die("--landscape-axes: expected --landscape, whose axes it names");
    if (file->path && landscape_axes(&task->job.space, &none, file->axes, axes, &error))
        cli_die("--landscape-axes %.100s: %s", file->axes ? file->axes : "", error.text);
}

enum status landscape_file_write(const struct landscape_file *file, const struct task *task,
                                 const struct search_result *result, int threads,
                                 struct error *error)
{
    const struct space *space = &task->job.space;
    json_t *slice = NULL, *envelope = NULL;
    int axes[2];
    enum status status = landscape_axes(space, result, file->axes, axes, error);
    if (status == STATUS_OK)
        status = make(space, result, axes, LANDSCAPE_SLICE, threads, &slice, error);
    if (status == STATUS_OK)
        status = make(space, result, axes, LANDSCAPE_ENVELOPE, threads, &envelope, error);
    json_t *both =
        json_pack("{s:i, s:o?, s:o?}", "schema", 1, "slice", slice, "envelope", envelope);
    char *text = both ? json_dumps(both, JSON_REAL_PRECISION(15)) : NULL;
    if (status == STATUS_OK)
        status = text ? files_write(&task->common.files, file->path, text, strlen(text), error)
                      : error_memory(error);
    free(text);
    json_decref(both);
    return status;
}
