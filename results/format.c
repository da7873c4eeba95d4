/* All forms, in the order in which commands list them. Whose a form is follows from its writers:
 * one of the main job's answer, one of tables, or one of rows that an operator library loads. */
#include "results/format.h"

#include <string.h>

const struct format formats[] = {
    [FORMAT_TABLE] = {"table", "for people", .tune = tune_write_table},
    [FORMAT_JSON] = {"json", "for machines; the keys are stable", ANSWER_JSON,
                     .tune = tune_write_json, .table = table_write_json},
    [FORMAT_CSV] = {"csv", "a line for each tiling, kernel or result", .tune = tune_write_csv,
                    .table = table_write_csv},
    [FORMAT_C] = {"c", "table: a header for C99 and C++11 with the entries and a lookup",
                  .table = table_write_c},
    [FORMAT_MARKDOWN] = {"markdown", "table: for people and for review",
                         .table = table_write_markdown},
    [FORMAT_HTML] = {"html", "analyse: a page of charts and tables, as --report writes",
                     ANSWER_EXACT},
    [FORMAT_DIFF] = {"diff", "advise --apply: a patch", ANSWER_EXACT},
    {"tcubetiling",
     "matmul in cann: a header of AscendC's TCubeTiling; tune -o NAME.h writes NAME.json too",
     .bank = bank_write_tcubetiling_header, .rows = BANK_TCUBETILING, .many = true,
     .beside = "tcubetiling-json"},
    {"tcubetiling-json", "its 50 fields in order, as JSON alone", ANSWER_JSON,
     .bank = bank_write_tcubetiling_json, .rows = BANK_TCUBETILING},
    {"runtime_kb", "matmul in cann: JSON lines that CANN's MatMulV3 loads", ANSWER_JSON,
     .bank = bank_write_runtime_kb, .rows = BANK_RUNTIME_KB, .many = true,
     .note = "rows have id 0 (a hash that is not published), one L2 piece of all blocks and "
             "tilingEnable 0, or 3 where k is split"},
    {"static_bank", "matmul in cann: CANN's static bank of MatMul", ANSWER_JSON,
     .bank = bank_write_static, .rows = BANK_STATIC,
     .note = "the key is 32 zeros (a hash that is not published), cost_time is simulated"},
    {NULL},
};

bool format_is_answer(const struct format *format)
{
    return format->tune;
}

bool format_is_answer_or_bank(const struct format *format)
{
    return format->tune || format->bank;
}

bool format_is_table(const struct format *format)
{
    return format->table || format->many;
}

unsigned formats_with(bool (*holds)(const struct format *))
{
    unsigned set = 0;
    for (int f = 0; formats[f].name; f++)
        set |= holds(&formats[f]) ? 1U << f : 0;
    return set;
}

const struct format *format_find(const char *name)
{
    for (const struct format *format = formats; format->name; format++)
        if (strcmp(format->name, name) == 0)
            return format;
    return NULL;
}
