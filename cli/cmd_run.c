/* `autotune run`. Tensors come from files or from a generator of random numbers, the kernel's steps
 * run on them (core/numbers.h), and what they leave goes to a folder. The text of the answer is
 * its JSON document laid out. */
#include "cli/answer.h"
#include "cli/commands.h"
#include "cli/tiling_verdict.h"
#include "core/element.h"
#include "core/numbers.h"
#include "formats/json.h"
#include "formats/npy.h"
#include "results/outline.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_NAME = 4096 };

struct running {
    struct task task; /* first */
    const char *folder;
    int64_t seed;
    const char *words[NUMBERS_MAX_TENSORS]; /* of --in */
    int word_count;
    const char *files[NUMBERS_MAX_TENSORS]; /* by tensor; NULL: none */
    struct numbers_run run;
};

static void take_in(const struct cli_option *option, void *place, const char *text)
{
    struct running *running = place;
    const char *equals = strchr(text, '=');
    if (!equals || !equals[1])
        cli_die("--%s %.64s: expected NAME=FILE", option->name, text);
    if (running->word_count == NUMBERS_MAX_TENSORS)
        cli_die("--%s: at most %d of them", option->name, NUMBERS_MAX_TENSORS);
    running->words[running->word_count++] = text;
    files_note(&running->task.common.files, FILE_READ, NULL, equals + 1);
}

static const struct cli_option options[] = {
    {"set", "NAME=VALUE,...",
     "the tiling: a value for every name of its space (default: the best one)", 1,
     .text = offsetof(struct running, task.set), .take = task_check_set},
    {"in", "NAME=FILE",
     "what tensor NAME holds, an array of NumPy's (.npy); may be repeated (default: random "
     "numbers, "
     "and 0 in one that is added to)",
     1, .take = take_in},
    {"seed", "N", "of the random numbers (default 1)", 1, .count = offsetof(struct running, seed),
     .most = INT32_MAX},
    {"output", "DIR", "write what each tensor holds at the end to DIR/NAME.npy", 1, .key = 'o',
     .text = offsetof(struct running, folder)},
    {0},
};

static const struct usage usage = {
    .name = "autotune run",
    .tables = {{options, 0}},
    .args_doc = "--kernel NAME|FILE --shape SHAPE",
    .doc =
        "Runs the steps of a kernel's text on numbers, in the types of the chip, for one tiling: "
        "what it computes must not depend on the tiling, nor differ from what was meant.\v"
        "Examples:\n"
        "  autotune run --kernel add_relu --shape 1000\n"
        "  autotune run --kernel add_relu --shape 1000 --in X=x.npy --in Y=y.npy \\\n"
        "    -o results\n",
};

/* ------------------------------------------------------------------ what comes in */

static int find_tensor(const struct numbers_run *run, const char *word)
{
    size_t length = strcspn(word, "=");
    for (int t = 0; t < run->tensor_count; t++)
        if (strlen(run->tensors[t].name) == length &&
            memcmp(run->tensors[t].name, word, length) == 0)
            return t;
    char names[256] = "";
    for (int t = 0; t < run->tensor_count && strlen(names) < 200; t++)
        sprintf(names + strlen(names), "%s%s", t ? ", " : "", run->tensors[t].name);
    cli_die("--in %.64s: no such tensor, expected one of %s", word, names);
}

static void read_file(const char *file, struct numbers_tensor *tensor)
{
    struct npy npy;
    struct error error;
    char found[128], expected[128];
    FILE *in = fopen(file, "rb");
    if (!in)
        cli_die("%s: %s", file, strerror(errno));
    cli_require(npy_read_header(in, file, &npy, &error), &error);
    npy_shape_text(npy.dim_count, npy.extent, found, sizeof found);
    npy_shape_text(tensor->dim_count, tensor->extent, expected, sizeof expected);
    if (strcmp(found, expected) != 0)
        cli_die("%s: an array of %s elements, expected %s for tensor %s", file,
                *found ? found : "no dimensions of", expected, tensor->name);
    cli_require(npy_read_elements(in, file, &npy, tensor->given, &error), &error);
    fclose(in);
    for (int64_t i = 0; i < tensor->count; i++)
        tensor->given[i] = element_round(tensor->type, tensor->given[i]);
}

static void give(struct running *running)
{
    struct numbers_run *run = &running->run;
    for (int w = 0; w < running->word_count; w++) {
        const char *word = running->words[w];
        running->files[find_tensor(run, word)] = strchr(word, '=') + 1;
    }
    const struct numbers_runner *numbers = running->task.job.space.kind->numbers;
    for (int t = 0; t < run->tensor_count; t++) {
        struct numbers_tensor *tensor = &run->tensors[t];
        if (!tensor->is_loaded && !running->files[t])
            continue;
        tensor->given = cli_require_memory(malloc((size_t)tensor->count * sizeof *tensor->given));
        if (running->files[t])
            read_file(running->files[t], tensor);
        else
            numbers->draw(tensor, running->seed * NUMBERS_MAX_TENSORS + t);
    }
}

/* ------------------------------------------------------------------ what goes out */

static void file_of(const struct running *running, int tensor, char path[MAX_NAME])
{
    if (snprintf(path, MAX_NAME, "%s/%s.npy", running->folder, running->run.tensors[tensor].name) >=
        MAX_NAME)
        cli_die("-o: expected at most %d bytes", MAX_NAME - 64);
}

/* Before the work: the folder is there or can be, and nothing in it is among what is read. */
static void note_outputs(struct running *running)
{
    char path[MAX_NAME];
    struct stat info;
    if (!running->folder)
        return;
    if (stat(running->folder, &info) != 0) {
        if (mkdir(running->folder, 0777) != 0)
            cli_die("%s: %s", running->folder, strerror(errno));
        rmdir(running->folder); /* until there is something to put there */
        return;
    }
    if (!S_ISDIR(info.st_mode))
        cli_die("-o %s: expected a folder", running->folder);
    for (int t = 0; t < running->run.tensor_count; t++)
        if (running->run.tensors[t].is_stored) {
            file_of(running, t, path);
            files_note(&running->task.common.files, FILE_WRITTEN, NULL, path);
        }
}

static bool put_tensor(const void *context, FILE *out)
{
    const struct numbers_tensor *tensor = context;
    npy_write(out, tensor->type, tensor->dim_count, tensor->extent, tensor->left);
    return !ferror(out);
}

static void write_outputs(struct running *running)
{
    char path[MAX_NAME];
    struct error error;
    bool is_new = running->folder && mkdir(running->folder, 0777) == 0;
    for (int t = 0; t < running->run.tensor_count && running->folder; t++)
        if (running->run.tensors[t].is_stored) {
            file_of(running, t, path);
            if (is_new)
                files_note(&running->task.common.files, FILE_WRITTEN, NULL, path);
            cli_require(files_write_by(&running->task.common.files, path, put_tensor,
                                       &running->run.tensors[t], &error),
                        &error);
        }
}

/* ------------------------------------------------------------------ the answer */

/* What a tensor holds: its finite numbers, and how many are none. */
struct summary {
    double least, most, sum;
    int64_t numbers, nan, infinite;
};

static struct summary summarise(const double *x, int64_t count)
{
    struct summary summary = {.least = NAN, .most = NAN};
    for (int64_t i = 0; i < count && x; i++) {
        summary.nan += isnan(x[i]) != 0;
        summary.infinite += isinf(x[i]) != 0;
        if (!isfinite(x[i]))
            continue;
        summary.least = fmin(summary.least, x[i]);
        summary.most = fmax(summary.most, x[i]);
        summary.sum += x[i];
        summary.numbers++;
    }
    return summary;
}

static const char *role_of(const struct numbers_tensor *tensor)
{
    if (!tensor->is_stored)
        return "in";
    return tensor->is_loaded ? "in and out" : tensor->is_added ? "added to" : "out";
}

static json_t *given_json(const struct running *running, int number)
{
    const struct numbers_tensor *tensor = &running->run.tensors[number];
    if (running->files[number])
        return json_text(running->files[number]);
    if (tensor->given)
        return json_text("random");
    return tensor->is_stored ? json_null() : json_text("zeros");
}

static json_t *tensor_json(const struct running *running, int number)
{
    const struct numbers_tensor *tensor = &running->run.tensors[number];
    struct summary summary =
        summarise(tensor->is_stored ? tensor->left : tensor->given, tensor->count);
    double mean = summary.numbers ? summary.sum / (double)summary.numbers : NAN;
    char shape[160], path[MAX_NAME] = "";
    npy_shape_text(tensor->dim_count, tensor->extent, shape, sizeof shape);
    if (tensor->is_stored && running->folder)
        file_of(running, number, path);
    return json_pack("{s:s, s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:I, s:I, s:I, s:o}", "tensor",
                     tensor->name, "type", dtype_name(tensor->type), "shape", shape, "role",
                     role_of(tensor), "given", given_json(running, number), "least",
                     json_number(summary.least), "mean", json_number(mean), "most",
                     json_number(summary.most), "nan", (json_int_t)summary.nan, "infinite",
                     (json_int_t)summary.infinite, "not_stored", (json_int_t)tensor->missed, "file",
                     *path ? json_text(path) : json_null());
}

static json_t *answer_json(const struct running *running, const struct tiling *tiling)
{
    const struct space *space = &running->task.job.space;
    char title[PROBLEM_TITLE_SIZE];
    json_t *tensors = json_array();
    for (int t = 0; t < running->run.tensor_count; t++)
        json_array_append_new(tensors, tensor_json(running, t));
    return json_pack("{s:i, s:s, s:s, s:o, s:I, s:I, s:o}", "schema", 1, "problem",
                     problem_title(&running->task.job.problem, title), "hardware",
                     running->task.job.hw->name, "tiling",
                     tiling_json(space->axes, space->axis_count, tiling), "cores",
                     (json_int_t)running->run.cores, "steps", (json_int_t)running->run.steps,
                     "tensors", tensors);
}

static void write_text(const struct running *running, const struct tiling *tiling, json_t *document,
                       struct answer *answer)
{
    const struct space *space = &running->task.job.space;
    char title[PROBLEM_TITLE_SIZE], text[TILING_TEXT_SIZE];
    json_t *tensors = json_pack("{s:O}", "tensors", json_object_get(document, "tensors"));
    tiling_text(space->axes, space->axis_count, tiling, text, sizeof text);
    fprintf(answer->stream, "%s on %s\n  tiling  %s\n  ran     %lld steps on %lld core%s\n",
            problem_title(&running->task.job.problem, title), running->task.job.hw->name, text,
            (long long)running->run.steps, (long long)running->run.cores,
            running->run.cores == 1 ? "" : "s");
    outline_write(tensors, &answer->style, answer->stream);
    json_decref(tensors);
}

static void write_answer(const struct running *running, const struct tiling *tiling,
                         struct answer *answer)
{
    struct error error;
    json_t *document = answer_json(running, tiling);
    if (running->task.common.format == FORMAT_JSON) {
        cli_require(json_write(document, answer->stream, &error), &error);
        return;
    }
    write_text(running, tiling, document, answer);
    json_decref(document);
}

int cmd_run(int argc, char **argv)
{
    struct running running = {.task.common.formats = 1 << FORMAT_TABLE | 1 << FORMAT_JSON,
                              .seed = 1};
    struct task *task = &running.task;
    const struct space *space = &task->job.space;
    struct tiling tiling;
    struct answer answer;
    struct error error;
    task_parse(&usage, argc, argv, task, false);
    task_open(task);
    const struct numbers_runner *numbers = space->kind->numbers;
    if (!numbers)
        cli_die("space %s: numbers run through kernels that are texts, expected --kernel or a "
                "space that is one",
                space->kind->name);
    cli_require(numbers->open(space, &running.run, &error), &error);
    note_outputs(&running);
    cli_check_files(&task->common);
    bool found = verdict_choose(task, &tiling);
    bool legal = found && verdict_is_legal(task, &tiling);
    if (legal) {
        give(&running);
        cli_require(numbers->play(&task->job.space, &tiling, &running.run, &error), &error);
        write_outputs(&running);
    }
    cli_answer_open(&answer, &task->common);
    bool json = task->common.format == FORMAT_JSON;
    if (legal)
        write_answer(&running, &tiling, &answer);
    else if (found)
        verdict_write(task, &tiling, json, &answer);
    else
        verdict_write_none(&task->job.space, json, answer.stream);
    cli_answer_close(&answer);
    for (int t = 0; t < running.run.tensor_count; t++)
        free(running.run.tensors[t].given);
    numbers->close(&running.run);
    task_close(task);
    return legal ? EXIT_ANSWER : EXIT_NONE;
}
