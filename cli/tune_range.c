/* The task is opened for the first size of the range; what is about one size only is refused. A
 * range's answer, arranged for people, for machines and for programs: a header has one array,
 * sorted by size, and a bisection over its parts. */
#include "cli/tune_range.h"

#include "cli/answer.h"
#include "cli/progress.h"
#include "cli/signals.h"
#include "cli/threads.h"
#include "core/number.h"
#include "formats/text.h"
#include "jobs/range/range.h"
#include "jobs/tune/export.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *axis_of(const struct range_question *question)
{
    return question->job->problem.op->size_names[question->range.size];
}

static const struct tiling *tiling_of(const struct range_answer *answer,
                                      const struct range_part *part)
{
    return &answer->transfer.tiling[part->tiling];
}

static const struct range_class *class_of(const struct range_answer *answer, int run)
{
    return &answer->classes[answer->runs[run].class];
}

static int cores_of(const struct range_answer *answer, const struct range_part *part, int run)
{
    const struct space *space = &class_of(answer, run)->space;
    return space->kind->cores_used(space, tiling_of(answer, part), 0);
}

/* ---- JSON ----------------------------------------------------------------------------------- */

/* Sizes that are one problem, of a part. */
static json_t *sizes_json(const struct range_answer *answer, const struct range_part *part)
{
    json_t *sizes = json_array();
    for (int run = part->first; run <= part->last; run++) {
        const struct range_class *class = class_of(answer, run);
        json_array_append_new(sizes,
                              json_pack("{s:I, s:I, s:i, s:f, s:f, s:f}", "from",
                                        (json_int_t)answer->runs[run].from, "to",
                                        (json_int_t)answer->runs[run].to, "cores_used",
                                        cores_of(answer, part, run), "time_ns",
                                        (double)range_time_fs(answer, part, run) / FS_PER_NS,
                                        "best_known_ns", (double)class->best_fs / FS_PER_NS,
                                        "lower_bound_ns", (double)class->least_fs / FS_PER_NS));
    }
    return sizes;
}

static json_t *parts_json(const struct range_answer *answer)
{
    const struct space *space = answer->spaces[0];
    json_t *parts = json_array();
    for (int p = 0; p < answer->part_count; p++) {
        const struct range_part *part = &answer->parts[p];
        json_array_append_new(
            parts, json_pack("{s:I, s:I, s:o, s:o, s:f, s:o}", "from",
                             (json_int_t)answer->runs[part->first].from, "to",
                             (json_int_t)answer->runs[part->last].to, "tiling",
                             tiling_json(space->axes, space->axis_count, tiling_of(answer, part)),
                             "regret_proven", json_number(part->regret), "regret_known",
                             part->regret_known, "sizes", sizes_json(answer, part)));
    }
    return parts;
}

static json_t *search_json(const struct range_question *question, const struct range_answer *answer)
{
    return json_pack("{s:i, s:I, s:I, s:I, s:I, s:I, s:i, s:b, s:f, s:i}", "problems",
                     answer->class_count, "searched", (json_int_t)answer->searched, "tilings",
                     (json_int_t)answer->transfer.tilings, "bounded", (json_int_t)answer->bounded,
                     "taken_over", (json_int_t)answer->taken_over, "simulated",
                     (json_int_t)answer->simulated, "rounds", answer->rounds, "cut_short",
                     answer->cut_short, "seconds", answer->seconds, "threads", question->threads);
}

static enum status range_write_json(const struct range_question *question,
                                    const struct range_answer *answer, FILE *out,
                                    struct error *error)
{
    const struct job *job = question->job;
    struct tune_answer asked = {
        .problem = &job->problem, .space = &job->space, .cores = job->cores};
    json_t *document = tune_question_json(&asked), *range;
    const char *axis = axis_of(question);
    json_object_set_new(json_object_get(document, "shape"), axis,
                        json_pack("{s:I, s:I}", "from", (json_int_t)question->range.from, "to",
                                  (json_int_t)question->range.to));
    range =
        json_pack("{s:s, s:I, s:I, s:o, s:o}", "axis", axis, "from",
                  (json_int_t)question->range.from, "to", (json_int_t)question->range.to,
                  "regret_proven", answer->part_count ? json_number(answer->regret) : json_null(),
                  "tilings", parts_json(answer));
    json_object_set_new(document, "search", search_json(question, answer));
    json_object_set_new(document, "range", range);
    if (job->problem.op->fingerprint)
        json_object_set_new(document, "kernel", json_string(job->problem.op->fingerprint));
    return json_write(document, out, error);
}

/* ---- for people ----------------------------------------------------------------------------- */

static void make_title(const struct range_question *question, char *text, size_t size)
{
    struct problem problem = question->job->problem;
    char options[PROBLEM_TITLE_SIZE / 2];
    size_t used = (size_t)snprintf(text, size, "%s ", problem.op->name);
    for (int i = 0; i < problem.op->shape_sizes && used < size; i++)
        if (i == question->range.size)
            used +=
                (size_t)snprintf(text + used, size - used, "%s%lld..%lld", i ? "x" : "",
                                 (long long)question->range.from, (long long)question->range.to);
        else
            used += (size_t)snprintf(text + used, size - used, "%s%lld", i ? "x" : "",
                                     (long long)problem.size[i]);
    problem_options(&problem, options, sizeof options);
    if (used < size)
        snprintf(text + used, size - used, "%s%s", *options ? " " : "", options);
}

static void put_part(const struct range_question *question, const struct range_answer *answer,
                     const struct range_part *part, const struct style *style, FILE *out)
{
    char label[48], tiling[TILING_TEXT_SIZE];
    const struct job *job = question->job;
    snprintf(label, sizeof label, "%lld..%lld", (long long)answer->runs[part->first].from,
             (long long)answer->runs[part->last].to);
    tiling_text(job->space.axes, job->space.axis_count, tiling_of(answer, part), tiling,
                sizeof tiling);
    text_put_line(label, style, out, "%s", tiling);
    text_put_line("", style, out,
                  "at most %.2f %% slower than the fastest; %.2f %% than the fastest known",
                  100 * part->regret, 100 * part->regret_known);
}

static void put_proof(const struct range_question *question, const struct range_answer *answer,
                      const struct style *style, FILE *out)
{
    char a[TEXT_SIZE], b[TEXT_SIZE], c[TEXT_SIZE];
    int64_t sizes = question->range.to - question->range.from + 1;
    text_put_line("search", style, out,
                  "%s sizes are %s problems; %lld were searched by themselves, the others together",
                  text_count(sizes, a), text_count(answer->class_count, b),
                  (long long)answer->searched);
    text_put_line("", style, out, "%s bounds, %s simulations, %.1f s",
                  text_count(answer->bounded, a), text_count(answer->simulated, b),
                  answer->seconds);
    if (answer->cut_short)
        text_put_line("regret", style, out,
                      "proven: at most %.2f %%, for there was no time to prove less",
                      100 * answer->regret);
    else
        text_put_line(
            "regret", style, out,
            "proven for every size: at most %.2f %%; no fewer of the %s tilings that were "
            "looked at do, a part each",
            100 * answer->regret, text_count(answer->transfer.tilings, c));
}

static enum status range_write_table(const struct range_question *question,
                                     const struct range_answer *answer, const char *next,
                                     const struct style *style, FILE *out, struct error *error)
{
    const struct job *job = question->job;
    char text[PROBLEM_TITLE_SIZE];
    make_title(question, text, sizeof text);
    fprintf(out, "%s%s%s in %s on %s, %d core%s, space %s\n", style->bold, text, style->end,
            dtype_name(job->problem.type), job->hw->name, job->cores, job->cores == 1 ? "" : "s",
            job->space.kind->name);
    text_put_hardware(job->hw, style, out);
    if (answer->without)
        fprintf(out, "  none: %s at %s %lld\n",
                answer->cut_short ? "cut short before there was a tiling"
                                  : "no tiling of this space is legal",
                axis_of(question), (long long)answer->without);
    for (int p = 0; p < answer->part_count; p++)
        put_part(question, answer, &answer->parts[p], style, out);
    if (answer->part_count) {
        fputc('\n', out);
        put_proof(question, answer, style, out);
        fprintf(out, "\n  %-*s", TEXT_LABEL - 2, "next");
        text_put_command(next, TEXT_LABEL, style, out);
        fputc('\n', out);
    }
    return ferror(out) ? error_set(error, STATUS_IO, "cannot write the answer") : STATUS_OK;
}

/* ---- rows of a library ---------------------------------------------------------------------- */

/* One for each size, in the words of the problem of that size. */
static void fill_rows(const struct range_question *question, const struct range_answer *answer,
                      struct export_row *rows, struct problem *problems)
{
    int64_t from = question->range.from;
    for (int p = 0; p < answer->part_count; p++)
        for (int run = answer->parts[p].first; run <= answer->parts[p].last; run++) {
            const struct range_class *class = class_of(answer, run);
            struct tiling tiling = *tiling_of(answer, &answer->parts[p]);
            if (class->space.kind->agree)
                class->space.kind->agree(&class->space, &tiling);
            for (int64_t size = answer->runs[run].from; size <= answer->runs[run].to; size++) {
                problems[size - from] = class->problem;
                problems[size - from].size[question->range.size] = size;
                rows[size - from] = (struct export_row){
                    .bank = class->space.kind->bank,
                    .problem = &problems[size - from],
                    .tiling = tiling,
                    .simulated_ns =
                        (double)range_time_fs(answer, &answer->parts[p], run) / FS_PER_NS};
            }
        }
}

/* Rows of an operator library: one for every size, for they are looked up by exact sizes. */
static enum status range_write_rows(const struct range_question *question,
                                    const struct range_answer *answer, const char *origin,
                                    const struct format *format, FILE *out, int *left_out,
                                    struct error *error)
{
    size_t sizes = (size_t)(question->range.to - question->range.from + 1);
    struct export_row *rows = calloc(sizes, sizeof *rows);
    struct problem *problems = calloc(sizes, sizeof *problems);
    enum status status = rows && problems ? STATUS_OK : error_memory(error);
    if (status == STATUS_OK) {
        fill_rows(question, answer, rows, problems);
        status = export_write_rows(rows, (int)sizes, NULL, origin, format, out, left_out, error);
    }
    free(rows);
    free(problems);
    return status;
}

/* ------------------------------------------------------------------ a header */

struct header {
    const struct range_question *question;
    const struct range_answer *answer;
    const struct job *job;
    FILE *out;
    char name[256]; /* what all names begin with: "autotune_matmul_m" */
};

static const char *size_name(const struct header *h, int size)
{
    return h->job->problem.op->size_names[size];
}

static void make_name(struct header *h)
{
    const struct problem *problem = &h->job->problem;
    size_t used = (size_t)snprintf(h->name, sizeof h->name, "autotune_%s_%s", problem->op->name,
                                   dtype_name(problem->type));
    for (int i = 0; i < problem->op->shape_sizes && used < sizeof h->name; i++)
        if (i != h->question->range.size)
            used += (size_t)snprintf(h->name + used, sizeof h->name - used, "_%s%lld",
                                     size_name(h, i), (long long)problem->size[i]);
    for (char *c = h->name; *c; c++)
        *c = isalnum((unsigned char)*c) ? *c : '_';
}

static void put_comment(const struct header *h, const char *label, const char *text)
{
    fprintf(h->out, " * %-9s ", label);
    text_put_comment(text, h->out);
    fputc('\n', h->out);
}

static void put_head(const struct header *h, const char *version, const char *command)
{
    char regret[96], options[PROBLEM_TITLE_SIZE];
    snprintf(regret, sizeof regret, "%.6g, proven for every size%s", h->answer->regret,
             h->answer->cut_short ? "; the proof was cut short" : "");
    problem_options(&h->job->problem, options, sizeof options);
    fprintf(h->out, "/* Tilings for %s from %lld to %lld, written by autotune %s.\n *\n",
            size_name(h, h->question->range.size), (long long)h->question->range.from,
            (long long)h->question->range.to, version);
    put_comment(h, "command", command);
    put_comment(h, "chip", h->job->hw->name);
    put_comment(h, "space", h->job->space.kind->name);
    if (*options)
        put_comment(h, "options", options);
    put_comment(h, "regret", regret);
    fputs(" *\n * A tiling takes at most that share longer than the fastest of its space, "
          "simulated. */"
          "\n",
          h->out);
}

static void put_guard(const struct header *h)
{
    char guard[sizeof h->name];
    strcpy(guard, h->name);
    for (char *c = guard; *c; c++)
        *c = (char)toupper((unsigned char)*c);
    fprintf(h->out, "#ifndef %s_H\n#define %s_H\n\n#include <stddef.h>\n#include <stdint.h>\n\n",
            guard, guard);
}

static void put_struct(const struct header *h)
{
    const struct space *space = &h->job->space;
    fprintf(h->out, "struct %s {\n    int64_t from, to;\n    struct {\n", h->name);
    for (int a = 0; a < space->axis_count; a++) {
        fputs(space->axes[a].value_names ? "        const char *" : "        int64_t ", h->out);
        table_put_member(space->axes[a].name, h->out);
        fputs(";\n", h->out);
    }
    fputs(
        "    } tiling;\n    double regret; /* proven for every size from `from` to `to` */\n};\n\n",
        h->out);
}

static void put_entry(const struct header *h, const struct range_part *part)
{
    const struct space *space = &h->job->space;
    const struct tiling *tiling = &h->answer->transfer.tiling[part->tiling];
    char text[32];
    fprintf(h->out, "    {%lld, %lld, {", (long long)h->answer->runs[part->first].from,
            (long long)h->answer->runs[part->last].to);
    for (int a = 0; a < space->axis_count; a++) {
        const char *quote = space->axes[a].value_names ? "\"" : "";
        fprintf(h->out, "%s%s%s%s", a ? ", " : "", quote,
                axis_value_text(&space->axes[a], tiling->value[a], text), quote);
    }
    number_text(part->regret, text);
    fprintf(h->out, "}, %s%s},\n", text, strpbrk(text, ".e") ? "" : ".0");
}

static void put_lookup(const struct header *h)
{
    const char *size = size_name(h, h->question->range.size);
    fprintf(h->out,
            "/* The tiling for a size, or NULL outside of the range. */\nstatic inline const "
            "struct %s *%s_find(int64_t ",
            h->name, h->name);
    table_put_member(size, h->out);
    fprintf(h->out,
            ")\n{\n"
            "    int first = 0, last = %s_count;\n"
            "    while (first < last) {\n"
            "        int middle = first + (last - first) / 2;\n"
            "        if (",
            h->name);
    table_put_member(size, h->out);
    fprintf(h->out, " < %s_parts[middle].from)\n            last = middle;\n        else if (",
            h->name);
    table_put_member(size, h->out);
    fprintf(h->out,
            " > %s_parts[middle].to)\n            first = middle + 1;\n        else\n"
            "            return &%s_parts[middle];\n    }\n    return NULL;\n}\n\n#endif\n",
            h->name, h->name);
}

/* A header for C99 and C++11: the tilings with their parts, and a lookup by size. */
static enum status range_write_c(const struct range_question *question,
                                 const struct range_answer *answer, const char *version,
                                 const char *command, FILE *out, struct error *error)
{
    struct header h = {.question = question, .answer = answer, .job = question->job, .out = out};
    make_name(&h);
    put_head(&h, version, command);
    put_guard(&h);
    put_struct(&h);
    fprintf(out, "enum { %s_count = %d };\nstatic const struct %s %s_parts[%d] = {\n", h.name,
            answer->part_count, h.name, h.name, answer->part_count);
    for (int p = 0; p < answer->part_count; p++)
        put_entry(&h, &answer->parts[p]);
    fputs("};\n\n", out);
    put_lookup(&h);
    return ferror(out) ? error_set(error, STATUS_IO, "cannot write the header") : STATUS_OK;
}

/* ---- the command ------------------------------------------------------------------------------
 */

/* Options of the job that are about one size. */
static const char *const of_one_size[] = {"strategy", "top",   "robust", "validate",
                                          "compare",  "count", NULL};

/* "5%" */
static double read_regret(const char *text)
{
    size_t length = strlen(text);
    char number[32] = "";
    double percent = NAN;
    if (length > 1 && length <= sizeof number && text[length - 1] == '%') {
        memcpy(number, text, length - 1);
        percent = cli_number(number);
    }
    if (!(percent >= 0 && percent <= 1000))
        cli_die("--regret %.64s: expected a percentage from 0%% to 1000%%, such as 5%%", text);
    return percent / 100;
}

bool range_is_asked(const struct task *task, const struct range_asked *asked)
{
    const char *shape = job_text(&task->job, "shape");
    bool is_range = shape && shape_has_range(shape);
    if (!is_range && (asked->tilings || asked->regret))
        cli_die("--%s: expected a --shape with a range of sizes, such as 1..8192x4096x11008",
                asked->regret ? "regret" : "tilings");
    return is_range;
}

static void check_options(const struct task *task, const struct range_asked *asked,
                          const char *other)
{
    enum format_name format = task->common.format;
    for (int i = 0; of_one_size[i] && !other; i++)
        if (job_text(&task->job, of_one_size[i]))
            other = of_one_size[i];
    if (other)
        cli_die("--%s: it is about one size, expected none with a range", other);
    if (!asked->tilings && !asked->regret)
        cli_die("--shape %.64s: expected --regret or --tilings with a range",
                job_text(&task->job, "shape"));
    if (asked->tilings && asked->regret)
        cli_die("--tilings: expected it or --regret, not both");
    if (format != FORMAT_TABLE && format != FORMAT_JSON && format != FORMAT_C &&
        !formats[format].many)
        cli_die("--format %s: expected table, json, c, runtime_kb or tcubetiling for a range",
                formats[format].name);
}

static void write_rows(const struct range_question *question, const struct range_answer *answer,
                       const struct common *common, const char *command, FILE *out)
{
    char origin[4096];
    int left_out = 0;
    struct error error;
    const struct format *format = &formats[common->format];
    snprintf(origin, sizeof origin, "autotune %s, %.64s, %s", AUTOTUNE_VERSION,
             question->job->hw->name, command);
    enum status status = range_write_rows(question, answer, origin, format, out, &left_out, &error);
    if (status != STATUS_OK)
        cli_die("--format %s: %s", format->name, error.text);
    if (left_out)
        cli_die("--format %s: it has no words for the tilings of %d sizes", format->name, left_out);
    if (!common->quiet && format->note)
        cli_warn("%s", format->note);
}

static void write_answer(const struct task *task, const struct range_question *question,
                         const struct range_answer *answer, const char *command)
{
    struct answer out;
    struct error error;
    enum status status = STATUS_OK;
    char *next =
        answer->part_count
            ? task_command(task, "program", &answer->transfer.tiling[answer->parts[0].tiling])
            : NULL;
    cli_answer_open(&out, &task->common);
    if (task->common.format == FORMAT_JSON)
        status = range_write_json(question, answer, out.stream, &error);
    else if (task->common.format == FORMAT_TABLE)
        status = range_write_table(question, answer, next, &out.style, out.stream, &error);
    else if (answer->part_count && task->common.format == FORMAT_C)
        status = range_write_c(question, answer, AUTOTUNE_VERSION, command, out.stream, &error);
    else if (answer->part_count)
        write_rows(question, answer, &task->common, command, out.stream);
    cli_require(status, &error);
    cli_answer_close(&out);
    free(next);
}

/* Opens the task for the first size. */
static void open_first(struct task *task, struct range_question *question)
{
    struct error error;
    cli_require(shape_range_parse(job_text(&task->job, "shape"), &question->range, &error), &error);
    task_set(task, "shape", question->range.first);
    task_open(task);
    cli_require(range_check(question, &error), &error);
    if (formats[task->common.format].bank)
        cli_require(export_check(&task->job.space, &error), &error);
    cli_check_files(&task->common);
}

int tune_range(struct task *task, const struct range_asked *asked, const char *other,
               const char *command)
{
    struct range_answer answer;
    struct error error;
    struct range_question question = {.job = &task->job,
                                      .tilings = asked->tilings,
                                      .stop = stop_asked(),
                                      .progress = progress_search};
    check_options(task, asked, other);
    question.regret = asked->regret ? read_regret(asked->regret) : 0;
    open_first(task, &question);
    question.threads = cli_threads(task->job.threads);
    enum status status = range_find(&question, &answer, &error);
    cli_require(status, &error);
    bool found = answer.part_count > 0;
    if (!found && !task->common.quiet)
        cli_warn(answer.cut_short ? "cut short before there was a tiling for size %lld of the range"
                                  : "no tiling is legal at size %lld of the range",
                 (long long)answer.without);
    write_answer(task, &question, &answer, command);
    range_clear(&answer);
    task_close(task);
    stop_close();
    return found ? EXIT_ANSWER : EXIT_NONE;
}
