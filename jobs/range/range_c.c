/* A header with one array, sorted by size, and a bisection over its parts. */
#include "jobs/range/range_write.h"

#include "core/number.h"
#include "formats/text.h"

#include <ctype.h>
#include <string.h>

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

enum status range_write_c(const struct range_question *question, const struct range_answer *answer,
                          const char *version, const char *command, FILE *out, struct error *error)
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
