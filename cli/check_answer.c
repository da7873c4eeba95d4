/* A finding's witness has different parts for each kind; both writers go through all parts and
 * leave out those that are empty, so that a kind needs no writer of its own. */
#include "cli/check_answer.h"

#include "core/program_text.h"
#include "formats/json.h"
#include "formats/text.h"

enum { LINE_SIZE = 256 };

static const char *step_text(const struct program *program, int32_t item, char text[LINE_SIZE])
{
    if (program->items[item].kind == INSTRUCTION_BARRIER &&
        program->items[item].pipe == PROGRAM_PIPE_ALL)
        return "barrier";
    instruction_print(program, item, text, LINE_SIZE);
    return text;
}

static const char *pipe_of(const struct program *program, int32_t item)
{
    int pipe = program->items[item].pipe;
    return pipe == PROGRAM_PIPE_ALL ? "all" : program->hw->pipes[pipe].name;
}

/* What the list of steps is, for each kind. */
static const char *steps_name(enum finding_kind kind)
{
    return kind == FINDING_DEADLOCK         ? "cycle"
           : kind == FINDING_OVER_SYNC      ? "path"
           : kind == FINDING_UNMATCHED_FLAG ? "unmatched"
                                            : "steps";
}

static void put_access(const struct program *program, const struct finding *finding, int which,
                       FILE *out)
{
    const struct witness_access *access = &finding->witness.accesses[which];
    char text[LINE_SIZE];
    bool hazard = finding->kind == FINDING_HAZARD;
    fprintf(out, "    %s line %d: %s",
            !hazard          ? "access"
            : access->writes ? "write"
                             : "read",
            program->items[access->item].line, step_text(program, access->item, text));
    for (int i = 0; i < access->index_count; i++)
        fprintf(out, "%s%lld", i ? ", " : "; iteration ", (long long)access->index[i]);
    fputc('\n', out);
}

/* Why there is no path to show; "": there is one. */
static const char *because(const struct witness *witness)
{
    static const char no_conflict[] = "nothing that it puts behind touches bytes that something "
                                      "before it touches, one of them writing";
    static const char *const words[OVERSYNC_REASONS] = {
        [OVERSYNC_UNKNOWN] = "every order stays without it; the program is too long to show one",
        [OVERSYNC_NO_CONFLICT] = no_conflict,
        [OVERSYNC_SAME_PIPE] = "a pipe does one after the other",
    };
    return words[witness->reason] ? words[witness->reason] : "";
}

static void put_witness(const struct program *program, const struct finding *finding, FILE *out)
{
    const struct witness *witness = &finding->witness;
    char text[LINE_SIZE];
    for (int i = 0; i < witness->access_count; i++)
        put_access(program, finding, i, out);
    if (witness->buffer >= 0)
        fprintf(out, "    bytes %s[%lld, %lld)\n", program->hw->buffers[witness->buffer].name,
                (long long)witness->low, (long long)witness->high);
    if (witness->edge)
        fprintf(out, "    missing: set %s %s after line %d, wait before line %d\n",
                pipe_of(program, witness->accesses[0].item),
                pipe_of(program, witness->accesses[1].item),
                program->items[witness->accesses[0].item].line,
                program->items[witness->accesses[1].item].line);
    if (finding->kind == FINDING_UNMATCHED_FLAG)
        fprintf(out, "    %lld sets, %lld waits\n", (long long)witness->sets,
                (long long)witness->waits);
    if (finding->kind == FINDING_OVER_SYNC && *because(witness))
        fprintf(out, "    because %s\n", because(witness));
    for (int i = 0; i < witness->step_count; i++)
        fprintf(out, "    %s line %d: %s\n",
                i && finding->kind != FINDING_UNMATCHED_FLAG ? "then" : steps_name(finding->kind),
                program->items[witness->steps[i]].line,
                step_text(program, witness->steps[i], text));
}

static void put_finding(const char *file, const struct finding *finding, const struct style *style,
                        FILE *out)
{
    char line[TEXT_LINE_SIZE];
    fprintf(out, "%s:%d: %s%s%s: %s", text_line(file, line),
            finding->line_count ? finding->lines[0] : 0, style->warn,
            finding_kind_name(finding->kind), style->end, finding->text);
    for (int l = 0; l < finding->line_count && finding->line_count > 1; l++)
        fprintf(out, "%s%d", l ? ", " : " (lines ", finding->lines[l]);
    fputs(finding->line_count > 1 ? ")\n" : "\n", out);
}

void check_write_table(const char *file, const struct program *program, const struct check *check,
                       bool verbose, const struct style *style, FILE *out)
{
    char line[TEXT_LINE_SIZE];
    for (size_t i = 0; i < check->count; i++) {
        put_finding(file, &check->findings[i], style, out);
        if (verbose)
            put_witness(program, &check->findings[i], out);
    }
    if (check_is_safe(check))
        fprintf(out, "%s: %sok%s: no hazard, double set, deadlock or overflow\n",
                text_line(file, line), style->good, style->end);
    if (check->count == 0)
        return;
    fprintf(out, "%zu finding%s", check->count, check->count == 1 ? "" : "s");
    if (check->truncated)
        fprintf(out, ", and more: at most %d of a kind are shown", CHECK_MAX_FINDINGS);
    fputc('\n', out);
}

static json_t *step_json(const struct program *program, int32_t item)
{
    char text[LINE_SIZE];
    return json_pack("{s:i, s:s, s:s}", "line", program->items[item].line, "pipe",
                     pipe_of(program, item), "text", step_text(program, item, text));
}

/* "iteration": of the loops around it, outermost first; null where it is not known. */
static json_t *access_json(const struct program *program, const struct finding *finding, int which)
{
    const struct witness_access *access = &finding->witness.accesses[which];
    json_t *json = step_json(program, access->item);
    json_t *iteration = access->index_count < 0 ? json_null() : json_array();
    for (int i = 0; i < access->index_count; i++)
        json_array_append_new(iteration, json_integer(access->index[i]));
    json_object_set_new(json, "iteration", iteration);
    if (finding->kind == FINDING_HAZARD)
        json_object_set_new(json, "access", json_string(access->writes ? "write" : "read"));
    return json;
}

static void add_edge(const struct program *program, const struct witness *witness, json_t *json)
{
    const struct witness_access *first = &witness->accesses[0], *second = &witness->accesses[1];
    json_object_set_new(json, "missing",
                        json_pack("{s:s, s:s, s:i, s:i}", "from", pipe_of(program, first->item),
                                  "to", pipe_of(program, second->item), "set_after_line",
                                  program->items[first->item].line, "wait_before_line",
                                  program->items[second->item].line));
}

/* The reason's name in JSON: "ordered", … */
static const char *oversync_reason_name(enum oversync_reason reason)
{
    static const char *const names[OVERSYNC_REASONS] = {
        [OVERSYNC_UNKNOWN] = "unknown",
        [OVERSYNC_ORDERED] = "ordered",
        [OVERSYNC_ORDERED_BEFORE] = "ordered_before",
        [OVERSYNC_NO_CONFLICT] = "no_conflict",
        [OVERSYNC_SAME_PIPE] = "same_pipe",
    };
    return names[reason];
}

static json_t *witness_json(const struct program *program, const struct finding *finding)
{
    const struct witness *witness = &finding->witness;
    json_t *json = json_object(), *accesses = json_array(), *steps = json_array();
    for (int i = 0; i < witness->access_count; i++)
        json_array_append_new(accesses, access_json(program, finding, i));
    for (int i = 0; i < witness->step_count; i++)
        json_array_append_new(steps, step_json(program, witness->steps[i]));
    if (witness->access_count)
        json_object_set(json, "accesses", accesses);
    if (witness->buffer >= 0) {
        json_object_set_new(json, "buffer",
                            json_string(program->hw->buffers[witness->buffer].name));
        json_object_set_new(
            json, "bytes",
            json_pack("[I, I]", (json_int_t)witness->low, (json_int_t)witness->high));
    }
    if (witness->edge)
        add_edge(program, witness, json);
    if (finding->kind == FINDING_UNMATCHED_FLAG)
        json_object_update_new(json, json_pack("{s:I, s:I}", "sets", (json_int_t)witness->sets,
                                               "waits", (json_int_t)witness->waits));
    if (finding->kind == FINDING_OVER_SYNC)
        json_object_set_new(json, "because", json_string(oversync_reason_name(witness->reason)));
    if (witness->step_count || finding->kind == FINDING_OVER_SYNC)
        json_object_set(json, steps_name(finding->kind), steps);
    json_decref(accesses);
    json_decref(steps);
    return json;
}

enum status check_write_json(const char *file, const struct program *program,
                             const struct check *check, FILE *out, struct error *error)
{
    json_t *answer = program_answer_json(file, program->hw);
    json_t *findings = json_array();
    for (size_t i = 0; i < check->count; i++) {
        const struct finding *finding = &check->findings[i];
        json_t *lines = json_array();
        for (int l = 0; l < finding->line_count; l++)
            json_array_append_new(lines, json_integer(finding->lines[l]));
        json_array_append_new(findings,
                              json_pack("{s:s, s:o, s:s, s:o}", "kind",
                                        finding_kind_name(finding->kind), "lines", lines, "text",
                                        finding->text, "witness", witness_json(program, finding)));
    }
    if (json_object_update_new(answer,
                               json_pack("{s:b, s:b, s:o}", "ok", check_is_safe(check), "truncated",
                                         check->truncated, "findings", findings)) != 0) {
        json_decref(answer);
        answer = NULL;
    }
    return json_write(answer, out, error);
}
