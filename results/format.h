/* The forms of answers, as --format and `autotune list formats` name them. A form of the main job's
 * answer, or of a table of a store's best tilings, is a writer and its row of formats[]; forms that
 * one command has alone are named here, and written by it. */
#ifndef AUTOTUNE_RESULTS_FORMAT_H
#define AUTOTUNE_RESULTS_FORMAT_H

#include "formats/bank_write.h"
#include "formats/table.h"
#include "results/tune.h"

/* What an answer holds decides what is done with characters that are not shown (core/utf8.h). */
enum answer_kind {
    ANSWER_LINES, /* tables, CSV: question marks */
    ANSWER_JSON,  /* escapes */
    ANSWER_EXACT, /* programs, patches, descriptions, pages: on a terminal only, as lines */
};

struct format {
    const char *name, *title;
    enum answer_kind kind;
    tune_writer *tune;     /* the main job's answer; or NULL */
    table_writer *table;   /* a table; or NULL */
    bank_writer *bank;     /* tilings as an operator library loads them; or NULL */
    enum bank_format rows; /* … as which rows */
    bool many;             /* … of many problems in one file, so that a table may have it */
    const char *beside;    /* … of -o NAME.h also NAME.json, in the form of this name; or NULL */
    const char *note;      /* … what is not known of it; or NULL */
};

/* Those that commands ask for; formats[] begins with them. */
enum format_name {
    FORMAT_TABLE,
    FORMAT_JSON,
    FORMAT_CSV,
    FORMAT_C,
    FORMAT_MARKDOWN,
    FORMAT_HTML,
    FORMAT_DIFF
};

/* Ends with a row without a name. */
extern const struct format formats[];

/* Is it a form of the main job's answer, of a library's rows, of a table? */
bool format_is_answer(const struct format *format);
bool format_is_answer_or_bank(const struct format *format);
bool format_is_table(const struct format *format);

/* Those of which that holds: bit by place in formats[]. */
unsigned formats_with(bool (*holds)(const struct format *));

/* The one called `name`, or NULL. */
const struct format *format_find(const char *name);

#endif
