/* `autotune reproduce`. The job gives rows of JSON, in the order of the sources; a reason is
 * printed once, below the first of the rows that share it. */
#include "cli/answer.h"
#include "cli/commands.h"
#include "cli/threads.h"
#include "formats/json.h"
#include "formats/text.h"
#include "jobs/reproduce/reproduce.h"

#include <string.h>

static const struct usage usage = {
    .name = "autotune reproduce",
    .args_doc = "[SOURCE]",
    .tables = {{hardware_options, 0}},
    .doc = "Recomputes the published numbers that the model can produce, on the described Ascend "
           "310, and prints paper | ours | ratio with the reason for a difference. Times of "
           "networks' operators are of the Ascend 910. Numbers that need silicon that is not at "
           "hand are shown without ours. SOURCE is how the source of wanted rows begins.\v"
           "Examples:\n"
           "  autotune reproduce\n"
           "  autotune reproduce 'T 4.4' --json -o cubefx.json\n",
};

static const char *text_of(const json_t *row, const char *key)
{
    return json_string_value(json_object_get(row, key));
}

/* Four significant digits, or a dash. */
static const char *number_text(const json_t *row, const char *key, char text[TEXT_SIZE])
{
    const json_t *value = json_object_get(row, key);
    if (!json_is_number(value))
        return "-";
    snprintf(text, TEXT_SIZE, "%.4g", json_number_value(value));
    return text;
}

static void put_why(const char *why, const struct style *style, FILE *out)
{
    const int column = 20;
    fprintf(out, "%s%*s", style->dim, column, "");
    text_put_wrapped(why, column, style, out);
    fprintf(out, "%s\n", style->end);
}

static void put_rows(const json_t *rows, const struct style *style, FILE *out)
{
    char paper[TEXT_SIZE], ours[TEXT_SIZE], ratio[TEXT_SIZE];
    const char *why = "";
    size_t index;
    json_t *row;
    fprintf(out, "%s%-13s %9s %9s %7s  %-9s %s%s\n", style->bold, "source", "paper", "ours",
            "ratio", "unit", "what", style->end);
    json_array_foreach(rows, index, row)
    {
        fprintf(out, "%-13s %9s %9s %7s  %-9s %s\n", text_of(row, "source"),
                number_text(row, "paper", paper), number_text(row, "ours", ours),
                number_text(row, "ratio", ratio), text_of(row, "unit"), text_of(row, "quantity"));
        if (strcmp(why, text_of(row, "why")) != 0)
            put_why(text_of(row, "why"), style, out);
        why = text_of(row, "why");
    }
}

static void write_table(const struct hardware *hw, const json_t *rows, struct answer *answer)
{
    const struct style *style = &answer->style;
    fprintf(answer->stream, "published numbers, recomputed on %s\n", hw->name);
    text_put_hardware(hw, style, answer->stream);
    fputs("T: Y. Tang's thesis; R: Y. Zhou et al. on the component roofline; A: Y. Xiao and Z. "
          "Wang's "
          "AIBench and\nL: R. Wu et al. on networks' times, both of the Ascend 910 as it is "
          "described. A ratio is ours over the paper's.\n\n",
          answer->stream);
    put_rows(rows, style, answer->stream);
}

int cmd_reproduce(int argc, char **argv)
{
    struct common common = {.formats = 1 << FORMAT_TABLE | 1 << FORMAT_JSON};
    struct hardware hw;
    struct answer answer;
    struct error error;
    json_t *rows;
    const char *source = "";
    cli_parse(&usage, argc, argv, &common, &source, 1);
    cli_load_chip(&common, &hw);
    cli_reads_hardware(&common, REPRODUCE_NETWORK_CHIP);
    cli_reads_hardware(&common, REPRODUCE_APART_CHIP);
    cli_check_files(&common);
    cli_require(reproduce(&hw, source, cli_threads(0), &rows, &error), &error);
    cli_answer_open(&answer, &common);
    if (common.format == FORMAT_JSON)
        cli_require(json_write(json_pack("{s:i, s:o, s:o, s:o, s:s, s:o}", "schema", 1, "hardware",
                                         json_text(hw.name), "hardware_file", json_text(hw.file),
                                         "hardware_changes", overrides_json(&hw), "cache",
                                         hardware_cache_word(&hw), "rows", rows),
                               answer.stream, &error),
                    &error);
    else
        write_table(&hw, rows, &answer);
    cli_answer_close(&answer);
    if (common.format != FORMAT_JSON)
        json_decref(rows);
    hardware_clear(&hw);
    cli_close(&common);
    return EXIT_ANSWER;
}
