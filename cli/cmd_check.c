/* `autotune check`. A program is read and checked as a whole; a table of tilings row by row, its
 * verdicts collected as JSON, from which the lines of text are made too. */
#include "analysis/check/check.h"
#include "cli/answer.h"
#include "cli/check_answer.h"
#include "cli/commands.h"
#include "core/program_text.h"
#include "formats/bank.h"
#include "formats/json.h"
#include "formats/text.h"
#include "kernels/tcube.h"

#include <string.h>

struct checking {
    struct common common;   /* first */
    const char *runtime_kb; /* a table of tilings instead of a program; NULL: none */
};

static const struct cli_option options[] = {
    {"runtime-kb", "FILE",
     "check a table of tilings, JSON lines as MatMulV3 loads them, instead of a program", 1,
     .text = offsetof(struct checking, runtime_kb)},
    {0},
};

static const struct usage usage = {
    .name = "autotune check",
    .tables = {{options, 0}, {hardware_options, 0}},
    .args_doc = "FILE\n--runtime-kb FILE",
    .doc =
        "Checks that a program is safe on the chip: no two accesses to the same bytes that could "
        "happen in either order, no flag set twice, no wait for ever, nothing beyond a buffer or "
        "off "
        "its alignment. Exact: what it finds can happen, and what it does not find cannot. Also "
        "finds "
        "synchronisation that orders nothing new (over_sync), which is no error: exit status 0. "
        "With "
        "-v, what shows each finding. FILE - is the standard input.\v"
        "Examples:\n"
        "  autotune check docs/examples/kernels/softmax.txt\n"
        "  autotune check kernel.txt -v\n"
        "  autotune program --op matmul --shape 512x512x512 | autotune check - --json\n"
        "  autotune check --runtime-kb runtime_kb.json --hw ascend910b1\n",
};

static int check_program(const struct common *common, const struct hardware *hw, const char *file)
{
    struct program program;
    struct check check;
    struct error error;
    struct answer answer;
    cli_require(program_read(hw, file, &program, &error), &error);
    cli_require_of(file, program_check(&program, &check, &error), &error);
    cli_answer_open(&answer, common);
    if (common->format == FORMAT_JSON)
        cli_require(check_write_json(file, &program, &check, answer.stream, &error), &error);
    else
        check_write_table(file, &program, &check, common->verbose, &answer.style, answer.stream);
    cli_answer_close(&answer);
    int status = check_is_safe(&check) ? EXIT_ANSWER : EXIT_NONE;
    check_clear(&check);
    program_clear(&program);
    return status;
}

/* What a table's rows break, as JSON. */
struct verdicts {
    const struct hardware *hw;
    int64_t rows;
    json_t *illegal, *warned;
};

static enum status judge_row(void *context, const struct bank_row *row, struct error *error)
{
    struct verdicts *v = context;
    struct tcube tiling = {.type = row->type, .out_type = row->out_type, .bias = row->bias};
    struct tcube_breach breaches[TCUBE_MAX_BREACHES];
    json_t *rules[2] = {json_array(), json_array()}, *texts[2] = {json_array(), json_array()};
    int count = 0;
    v->rows++;
    for (int f = 0; f < TCUBE_FIELDS; f++)
        tiling.field[f] = row->number[tcube_fields[f]];
    enum status status = tcube_check(v->hw, &tiling, breaches, &count, error);
    for (int i = 0; i < count; i++) {
        json_array_append_new(rules[breaches[i].warning], json_string(breaches[i].rule));
        json_array_append_new(texts[breaches[i].warning], json_string(breaches[i].text));
    }
    for (int w = 0; w < 2; w++) {
        bool any = json_array_size(rules[w]) > 0;
        json_t *entry =
            json_pack("{s:i, s:o, s:o}", "row", row->line, "rules", rules[w], "texts", texts[w]);
        if (any)
            json_array_append(w ? v->warned : v->illegal, entry);
        json_decref(entry);
    }
    return status;
}

static void put_rows(const char *file, const char *what, const json_t *rows, FILE *out)
{
    char line[TEXT_LINE_SIZE];
    size_t index, rule;
    const json_t *row, *text;
    json_array_foreach(rows, index, row)
    {
        json_array_foreach(json_object_get(row, "texts"), rule, text)
            fprintf(out, "%s:%" JSON_INTEGER_FORMAT ": %s%s\n", text_line(file, line),
                    json_integer_value(json_object_get(row, "row")), what, json_string_value(text));
    }
}

static void put_verdicts(const struct verdicts *v, const char *file, FILE *out)
{
    char line[TEXT_LINE_SIZE];
    char rows[TEXT_SIZE], illegal[TEXT_SIZE];
    put_rows(file, "", v->illegal, out);
    put_rows(file, "warning: ", v->warned, out);
    fprintf(out, "%s: %s row%s, %s illegal on %s\n", text_line(file, line),
            text_count(v->rows, rows), v->rows == 1 ? "" : "s",
            text_count((int64_t)json_array_size(v->illegal), illegal), v->hw->name);
}

static int check_table(const struct common *common, const struct hardware *hw, const char *file)
{
    struct verdicts v = {.hw = hw, .illegal = json_array(), .warned = json_array()};
    struct error error;
    struct answer answer;
    struct bank_reader reader = {.row = judge_row, .context = &v, .tilings_only = true};
    cli_require(bank_read(file, BANK_RUNTIME_KB, &reader, NULL, &error), &error);
    int status = json_array_size(v.illegal) ? EXIT_NONE : EXIT_ANSWER;
    cli_answer_open(&answer, common);
    if (common->format == FORMAT_JSON) {
        cli_require(
            json_write(json_pack("{s:i, s:I, s:o, s:o}", "schema", 1, "rows", (json_int_t)v.rows,
                                 "illegal", v.illegal, "warnings", v.warned),
                       answer.stream, &error),
            &error);
    } else {
        put_verdicts(&v, file, answer.stream);
        json_decref(v.illegal);
        json_decref(v.warned);
    }
    cli_answer_close(&answer);
    return status;
}

int cmd_check(int argc, char **argv)
{
    struct checking checking = {.common.formats = 1 << FORMAT_TABLE | 1 << FORMAT_JSON};
    struct hardware hw;
    const char *file = NULL;
    int files = cli_parse(&usage, argc, argv, &checking, &file, 1);
    if (files == 0 && !checking.runtime_kb)
        cli_die("check: a program file is missing; `autotune check --help` has examples");
    if (files > 0 && checking.runtime_kb)
        cli_die("check: '%.64s' and --runtime-kb: expected one of them", file);
    if (file)
        cli_reads(&checking.common, file);
    cli_load_chip(&checking.common, &hw);
    cli_check_files(&checking.common);
    int status = checking.runtime_kb ? check_table(&checking.common, &hw, checking.runtime_kb)
                                     : check_program(&checking.common, &hw, file);
    hardware_clear(&hw);
    cli_close(&checking.common);
    return status;
}
