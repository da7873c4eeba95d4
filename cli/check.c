#include "analysis/check.h"
#include "cli/commands.h"
#include "core/program_text.h"
#include "results/text.h"
#include "results/tune.h"

static const struct argp_child children[] = {{&common_argp, 0, NULL, 0}, {0}};

static const struct argp argp = {
    .parser = cli_parse_child,
    .children = children,
    .args_doc = "FILE",
    .doc =
        "Checks that a program is safe on the chip: no two accesses to the same bytes that could "
        "happen in either order, no flag set twice, no wait for ever, nothing beyond a buffer. "
        "Exact: what it finds can happen, and what it does not find cannot. FILE - is the "
        "standard input.\v"
        "Examples:\n"
        "  autotune check docs/examples/kernels/softmax.txt\n"
        "  autotune program --op matmul --shape 512x512x512 | autotune check - --json\n",
};

static void write_table(const char *file, const struct check *check, bool colour, FILE *out)
{
    struct style style = text_style(colour);
    if (check->count == 0) {
        fprintf(out, "%s: %sok%s: no hazard, double set, deadlock or overflow\n", file, style.good,
                style.end);
        return;
    }
    for (size_t i = 0; i < check->count; i++) {
        const struct finding *finding = &check->findings[i];
        fprintf(out, "%s:%d: %s%s%s: %s", file, finding->line_count ? finding->lines[0] : 0,
                style.warn, finding_kind_name(finding->kind), style.end, finding->text);
        for (int l = 0; l < finding->line_count && finding->line_count > 1; l++)
            fprintf(out, "%s%d", l ? ", " : " (lines ", finding->lines[l]);
        fputs(finding->line_count > 1 ? ")\n" : "\n", out);
    }
    fprintf(out, "%zu finding%s", check->count, check->count == 1 ? "" : "s");
    if (check->truncated)
        fprintf(out, ", and more: at most %d of a kind are shown", CHECK_MAX_FINDINGS);
    fputc('\n', out);
}

static enum status write_json(const struct check *check, FILE *out, struct error *error)
{
    json_t *findings = json_array();
    for (size_t i = 0; i < check->count; i++) {
        const struct finding *finding = &check->findings[i];
        json_t *lines = json_array();
        for (int l = 0; l < finding->line_count; l++)
            json_array_append_new(lines, json_integer(finding->lines[l]));
        json_array_append_new(findings,
                              json_pack("{s:s, s:o, s:s}", "kind", finding_kind_name(finding->kind),
                                        "lines", lines, "text", finding->text));
    }
    return json_write(json_pack("{s:i, s:b, s:b, s:o}", "schema", 1, "ok", check->count == 0,
                                "truncated", check->truncated, "findings", findings),
                      out, error);
}

int cmd_check(int argc, char **argv)
{
    struct common common = {.formats = 1 << FORMAT_TABLE | 1 << FORMAT_JSON};
    struct hardware hw;
    struct program program;
    struct check check;
    struct error error;
    struct answer answer;
    const char *file;
    if (cli_parse(&argp, "autotune check", argc, argv, &common, &file, 1) == 0)
        cli_die("check: a program file is missing; `autotune check --help` has examples");
    cli_load_hardware(&common, &hw);
    cli_require(program_read(&hw, file, &program, &error), &error);
    cli_require_of(file, program_check(&program, &check, &error), &error);
    cli_answer_open(&answer, &common);
    if (common.format == FORMAT_JSON)
        cli_require(write_json(&check, answer.stream, &error), &error);
    else
        write_table(file, &check, answer.colour, answer.stream);
    cli_answer_close(&answer);
    int status = check.count ? EXIT_NONE : EXIT_ANSWER;
    check_clear(&check);
    program_clear(&program);
    hardware_clear(&hw);
    return status;
}
