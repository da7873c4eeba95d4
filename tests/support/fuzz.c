#include "tests/support/fuzz.h"

#include "analysis/roofline.h"
#include "core/program_text.h"
#include "hardware/load.h"
#include "jobs/analyse_write.h"
#include "jobs/sweep.h"
#include "kernels/matmul_bank.h"
#include "kernels/matmul_host.h"
#include "results/bank.h"
#include "results/curves.h"
#include "results/store_import.h"
#include "results/store_write.h"
#include "runtime/autotune_sgemm.h"
#include "runtime/table.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* libconfig loses a string of up to 64 bytes where the syntax breaks right behind it, as in
 * tests/fuzz/description/lost.cfg: not ours to mend, and no reason to end a search for what is. */
const char *__lsan_default_suppressions(void); /* NOLINT(bugprone-reserved-identifier) */
const char *__lsan_default_suppressions(void)  /* NOLINT(bugprone-reserved-identifier) */
{
    return "leak:libconfig\n";
}

static void require(bool promise, const char *what)
{
    if (promise)
        return;
    fprintf(stderr, "broken promise: %s\n", what);
    abort();
}

/* A refusal is one line, and says where. */
static void require_line(enum status status, const struct error *error)
{
    if (status == STATUS_OK)
        return;
    require(error->text[0] && strlen(error->text) < sizeof error->text, "an error has a text");
    require(!strchr(error->text, '\n'), "an error is one line");
}

static void read_description(const char *file)
{
    struct hardware hw;
    struct error error = {STATUS_OK, ""};
    enum status status = hardware_load(file, NULL, &hw, &error);
    require_line(status, &error);
    require(status == STATUS_OK || !hw.facts, "a refused description holds nothing");
    require(status != STATUS_OK || (hw.cores >= 1 && (hw.host || hw.path_count >= 1)),
            "a description is whole");
    hardware_clear(&hw);
}

static void read_program(const char *file)
{
    static struct hardware hw;
    struct program program = {0};
    struct error error = {STATUS_OK, ""};
    if (hw.cores == 0)
        require(hardware_load("ascend310", NULL, &hw, &error) == STATUS_OK, error.text);
    enum status status = program_read(&hw, file, &program, &error);
    require_line(status, &error);
    require(status == STATUS_OK || program.count == 0, "a refused program is empty");
    program_clear(&program);
}

/* Also what a row means: no number of a bank may make the mapping overflow or divide by zero. */
static enum status take_row(void *context, const struct bank_row *row, struct error *error)
{
    struct problem problem;
    struct tiling tiling;
    struct bank_row back;
    require(row->record > *(int *)context, "rows come in order");
    require(row->text[row->text_length] == 0 && row->measured_ns >= 0, "a row is whole");
    *(int *)context = row->record;
    if (matmul_bank_problem(row, &problem, error) != STATUS_OK ||
        matmul_bank_tiling(row, &problem, &tiling, error) != STATUS_OK)
        return STATUS_OK;
    for (int a = 0; a < CANN_AXES; a++)
        require(tiling.value[a] > 0 || a == CANN_OUTER || a == CANN_L0B_HOLDS,
                "sizes are positive");
    for (int f = 0; f < BANK_FORMATS; f++)
        matmul_bank_row(&problem, &tiling, (enum bank_format)f, &back, error);
    return STATUS_OK;
}

static enum status pass_over(void *context, int record, int line, const struct error *why)
{
    (void)context;
    require(record >= 0 && line > 0, "a bad record has a place");
    require_line(STATUS_INVALID, why);
    return STATUS_OK;
}

static void read_bank(const char *file)
{
    struct error error = {STATUS_OK, ""};
    for (int format = 0; format <= BANK_AUTO; format++) {
        int last = 0;
        struct bank_reader reader = {
            .row = take_row, .context = &last, .tilings_only = format == BANK_RUNTIME_KB};
        require_line(bank_read(file, format, &reader, NULL, &error), &error);
        last = 0;
        reader.bad = pass_over;
        reader.tilings_only = false;
        require(bank_read(file, format, &reader, NULL, &error) == STATUS_OK || format == BANK_AUTO,
                "goes on after a bad record");
    }
}

static void read_curves(const char *file)
{
    struct curves curves = {0};
    struct error error = {STATUS_OK, ""};
    enum status status = curves_read(file, &curves, &error);
    int points = 0;
    require_line(status, &error);
    require(status == STATUS_OK || curves.curve_count == 0, "refused curves hold nothing");
    for (int c = 0; c < curves.curve_count; c++) {
        const struct curve *curve = &curves.curves[c];
        require(curves_find(&curves, curve->kind, curve->name, "") || curve->chip[0],
                "a curve is found");
        for (int p = 0; p < curve->point_count; p++)
            require(curve->points[p].size[0] > 0 && curve->points[p].rate > 0 &&
                        curve->points[p].line > 1,
                    "points are positive");
        points += curve->point_count;
    }
    require(status != STATUS_OK || points + curves.rejected > 0, "curves have points");
    curves_clear(&curves);
}

/* Also that a shape gets a tiling from whatever is in it. */
static void read_sgemm_table(const char *file)
{
    struct table table;
    struct error error = {STATUS_OK, ""};
    enum status status = table_read(file, matmul_host_axes, HOST_MATMUL_AXES, &table, &error);
    require_line(status, &error);
    require((status == STATUS_OK) == (table.count > 0), "a table has entries");
    for (int64_t i = 0; i < table.count; i++) {
        const struct table_entry *e = &table.entries[i];
        require(e->m >= 1 && e->k >= 1 && e->n >= 1 && e->line > 1, "an entry is whole");
        for (int a = 0; a < HOST_MATMUL_AXES; a++)
            require(e->tiling.value[a] >= 1, "values of tilings count from 1");
    }
    table_clear(&table);
    struct autotune_sgemm *sgemm = autotune_sgemm_open(file, 1, NULL, 0);
    require((sgemm != NULL) == (status == STATUS_OK), "a readable table opens");
    require(!sgemm || autotune_sgemm_explain(sgemm, 3, 5, 7, NULL) == AUTOTUNE_SGEMM_OK,
            "every shape gets a tiling");
    autotune_sgemm_close(sgemm);
}

/* What is taken is whole, and reads back as it is written. */
static enum status take_result(void *context, const struct store_row *row, struct error *error)
{
    const bool *again = context;
    char *text = NULL, file[64];
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    require(out != NULL, "memory");
    require(row->key.cores >= 1 && row->key.model_version >= 0, "counts are in range");
    require(row->time_ns >= 0 && row->limit_s >= 0, "times are not negative");
    require((row->time_ns > 0) == (*row->tiling != 0), "a tiling has a time");
    require(strlen(row->key.hardware) == 32, "a fingerprint is whole");
    require(store_export_row(row, out, error) == STATUS_OK, "a row can be written");
    require(fclose(out) == 0 && length > 0 && text[length - 1] == '\n', "as a line");
    if (!*again) {
        bool now = true;
        snprintf(file, sizeof file, "/dev/shm/autotune-fuzz-%d.again", (int)getpid());
        FILE *copy = fopen(file, "we");
        require(copy != NULL, file);
        size_t written = fwrite(text, 1, length, copy);
        require(fclose(copy) == 0 && written == length, file);
        require(store_lines_read(file, take_result, &now, error) == STATUS_OK, error->text);
        unlink(file);
    }
    free(text);
    return STATUS_OK;
}

static void read_results(const char *file)
{
    struct error error = {STATUS_OK, ""};
    bool again = false;
    require_line(store_lines_read(file, take_result, &again, &error), &error);
}

/* Jobs can be opened, and shards are all of them. */
static void read_sweep(const char *file)
{
    struct sweep_source source = {.name = file, .most_jobs = 100};
    struct sweep sweep;
    struct error error = {STATUS_OK, ""};
    enum status status = sweep_read(&source, &sweep, &error);
    require_line(status, &error);
    if (status != STATUS_OK)
        return;
    require(sweep.job_count + sweep.fault_count > 0, "a sweep has jobs");
    for (int64_t j = 0; j < sweep.job_count; j++) {
        struct job job;
        require(sweep.jobs[j].cost > 0 && sweep.jobs[j].line > 0, "a job has a line and a cost");
        require(sweep_open_job(&sweep, j, &job, &error) == STATUS_OK, "a job opens again");
        job_close(&job);
    }
    for (int64_t f = 0; f < sweep.fault_count; f++)
        require(sweep.faults[f].text[0], "a fault has a text");
    sweep_clear(&sweep);
}

static void require_problem(void *context, const char *text)
{
    (void)context;
    require(text[0] >= '1' && text[0] <= '9', "a problem has a line");
    for (; *text; text++)
        require((unsigned char)*text >= ' ', "a problem is one line of text");
}

/* Ratios are shares, a verdict names its component, and what has no times has neither. */
static void require_operator(json_t *one)
{
    static const char *const ratios[] = {"utilisation", "efficiency", "active_ratio"};
    bool verdict = json_is_string(json_object_get(one, "verdict"));
    json_t *components = json_object_get(one, "components"), *component;
    size_t index;
    require(verdict == json_is_string(json_object_get(one, "component")),
            "a verdict names a component");
    require(verdict == (json_array_size(components) > 0), "a verdict has components");
    require(json_number_value(json_object_get(one, "time_us")) >= 0, "times are not negative");
    json_array_foreach(components, index, component) for (size_t r = 0;
                                                          r < sizeof ratios / sizeof *ratios; r++)
        require(json_number_value(json_object_get(component, ratios[r])) >= 0 &&
                    json_number_value(json_object_get(component, ratios[r])) <= 1.0000001,
                ratios[r]);
}

static void require_answer(const char *text, size_t length, const struct analyse_result *result)
{
    json_error_t why;
    json_t *answer = json_loadb(text, length, 0, &why), *one;
    json_t *rows = json_object_get(answer, "operators");
    size_t index;
    require(answer != NULL, why.text);
    require(json_array_size(rows) == (size_t)result->rows, "an operator a row");
    require(json_is_object(json_object_get(answer, "summary")), "a summary");
    json_array_foreach(rows, index, one) require_operator(one);
    json_decref(answer);
}

/* In every format; what JSON says can be read again. */
static void read_profile(const char *file)
{
    static struct hardware hw;
    struct error error = {STATUS_OK, ""};
    struct analyse_result result;
    if (hw.cores == 0)
        require(hardware_load("ascend910b3", NULL, &hw, &error) == STATUS_OK, error.text);
    for (int format = ANALYSE_TABLE; format <= ANALYSE_CSV; format++) {
        char *text = NULL;
        size_t length = 0;
        struct analyse_job job = {.file = file,
                                  .how = {&hw, diagnosis_default_thresholds},
                                  .format = (enum analyse_format)format,
                                  .top = 3,
                                  .problem = require_problem};
        FILE *out = open_memstream(&text, &length);
        require(out != NULL, "memory");
        enum status status = analyse_profile(&job, out, &result, &error);
        require(fclose(out) == 0, "memory");
        require_line(status, &error);
        if (status == STATUS_OK && format == ANALYSE_JSON)
            require_answer(text, length, &result);
        free(text);
    }
}

const struct fuzz_target fuzz_targets[] = {
    {"platform", ".ini", read_description},
    {"description", ".cfg", read_description},
    {"program", ".txt", read_program},
    {"bank", ".json", read_bank},
    {"curves", ".csv", read_curves},
    {"sgemm-table", ".csv", read_sgemm_table},
    {"results", ".jsonl", read_results},
    {"sweep", ".cfg", read_sweep},
    {"sweep-table", ".csv", read_sweep},
    {"profile", ".csv", read_profile},
    {NULL, NULL, NULL},
};

const struct fuzz_target *fuzz_target_find(const char *name)
{
    for (const struct fuzz_target *t = fuzz_targets; t->name; t++)
        if (strcmp(t->name, name) == 0)
            return t;
    return NULL;
}

void fuzz_play(const struct fuzz_target *target, const uint8_t *bytes, size_t count)
{
    char file[64];
    snprintf(file, sizeof file, "/dev/shm/autotune-fuzz-%d%s", (int)getpid(), target->suffix);
    int fd = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    require(fd >= 0, file);
    ssize_t written = write(fd, bytes, count);
    require(close(fd) == 0 && written == (ssize_t)count, file);
    target->read(file);
    unlink(file);
}
