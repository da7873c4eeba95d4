/* Writes rows as lists, in full, and for export. Lists are gone through twice, the first time for
 * the widths of columns, in columns of a terminal rather than bytes. An export is written member
 * by member, in a fixed order; an answer is embedded as an object only if it reads back as the
 * very same text, and is a string otherwise, so that export and import change nothing. */
#include "results/store_write.h"
#include "core/number.h"
#include "core/utf8.h"
#include "core/version.h"
#include "formats/csv.h"
#include "formats/json.h"
#include "formats/text.h"
#include "results/outline.h"

#include <stdlib.h>
#include <string.h>

static enum status written(FILE *out, struct error *error)
{
    return ferror(out) ? error_set(error, STATUS_IO, "cannot write the answer") : STATUS_OK;
}

static int columns_of(const char *text)
{
    return utf8_put_line(text, strlen(text), NULL);
}

int store_put_text(const char *text, FILE *out)
{
    return utf8_put_line(text, strlen(text), out);
}

void store_put_key(const struct store_row *row, FILE *out)
{
    const struct store_key *key = &row->key;
    const char *const words[] = {key->op, key->shape, key->options, key->dtype, key->space};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (!*words[i])
            continue;
        if (i)
            fputc(' ', out);
        store_put_text(words[i], out);
    }
    fputs(", ", out);
    store_put_text(row->hardware_name, out);
    fprintf(out, ", %d core%s", key->cores, key->cores == 1 ? "" : "s");
    if (key->kind != STORE_SIMULATED)
        fprintf(out, ", %s", store_kind_name(key->kind));
    if (*key->query) {
        fputs(", ", out);
        store_put_text(key->query, out);
    }
}

/* ------------------------------------------------------------------ lists */

enum { COLUMNS = 10, CELL_SIZE = 96 };

struct line {
    char cell[COLUMNS][CELL_SIZE];
};

static const char *const headings[COLUMNS] = {"op",       "shape", "options", "dtype", "space",
                                              "hardware", "cores", "kind",    "time",  "state"};

/* Measuring proves nothing. */
static const char *state_of(const struct store_row *row)
{
    if (row->optimal)
        return "optimal";
    return row->key.kind == STORE_MEASURED ? "not proven" : "cut off";
}

/* Long texts are cut: `show` has the whole. */
static void fill_line(const struct store_row *row, struct line *line)
{
    const struct store_key *key = &row->key;
    char time[TEXT_SIZE], version[32] = "";
    const char *const texts[] = {key->op, key->shape, *key->options ? key->options : "-",
                                 key->dtype, key->space};
    for (int i = 0; i < 5; i++)
        snprintf(line->cell[i], CELL_SIZE, "%.80s", texts[i]);
    if (*store_kernel(row))
        snprintf(line->cell[0], CELL_SIZE, "%.60s %.8s", key->op, store_kernel(row));
    snprintf(line->cell[5], CELL_SIZE, "%.60s %.8s", row->hardware_name, key->hardware);
    snprintf(line->cell[6], CELL_SIZE, "%d", key->cores);
    snprintf(line->cell[7], CELL_SIZE, "%s", store_kind_name(key->kind));
    snprintf(line->cell[8], CELL_SIZE, "%s",
             row->time_ns > 0 ? text_time(row->time_ns, time) : "none legal");
    if (key->model_version != MODEL_VERSION)
        snprintf(version, sizeof version, ", model version %d", key->model_version);
    snprintf(line->cell[9], CELL_SIZE, "%s%s", state_of(row), version);
}

static void put_line(const struct line *line, const int widths[COLUMNS], FILE *out)
{
    for (int c = 0; c < COLUMNS; c++) {
        bool right = c == 6 || c == 8, last = c == COLUMNS - 1;
        int pad = widths[c] - columns_of(line->cell[c]);
        if (right)
            fprintf(out, "%*s", pad, "");
        store_put_text(line->cell[c], out);
        if (!last)
            fprintf(out, "%*s", (right ? 0 : pad) + 2, "");
    }
    fputc('\n', out);
}

enum status store_list_table(const struct store_rows *rows, const struct style *style, FILE *out,
                             struct error *error)
{
    struct line line = {0};
    int widths[COLUMNS] = {0};
    char count[TEXT_SIZE];
    for (size_t i = 0; i <= rows->count; i++) {
        if (i < rows->count)
            fill_line(&rows->rows[i], &line);
        for (int c = 0; c < COLUMNS; c++) {
            int width = columns_of(i < rows->count ? line.cell[c] : headings[c]);
            widths[c] = width > widths[c] ? width : widths[c];
        }
    }
    for (int c = 0; c < COLUMNS; c++)
        snprintf(line.cell[c], CELL_SIZE, "%s", headings[c]);
    if (rows->count) {
        fputs(style->dim, out);
        put_line(&line, widths, out);
        fputs(style->end, out);
    }
    for (size_t i = 0; i < rows->count; i++) {
        fill_line(&rows->rows[i], &line);
        put_line(&line, widths, out);
    }
    fprintf(out, "%s result%s\n", text_count((int64_t)rows->count, count),
            rows->count == 1 ? "" : "s");
    return written(out, error);
}

/* The texts of a row, as JSON and csv name them. */
enum { TEXTS = 10, EXPORTED_TEXTS = 7 };

static const char *const text_names[TEXTS] = {"kind",        "op",    "shape", "options",
                                              "dtype",       "space", "query", "hardware",
                                              "fingerprint", "tiling"};

static void get_texts(const struct store_row *row, const char *texts[TEXTS])
{
    const struct store_key *key = &row->key;
    const char *const all[TEXTS] = {store_kind_name(key->kind),
                                    key->op,
                                    key->shape,
                                    key->options,
                                    key->dtype,
                                    key->space,
                                    key->query,
                                    row->hardware_name,
                                    key->hardware,
                                    row->tiling};
    memcpy(texts, all, sizeof all);
}

json_t *store_row_json(const struct store_row *row)
{
    const char *texts[TEXTS];
    json_t *object = json_object();
    get_texts(row, texts);
    for (int t = 0; t < TEXTS; t++)
        json_object_set_new(object, text_names[t], json_text(texts[t]));
    json_object_set_new(object, "cores", json_integer(row->key.cores));
    json_object_set_new(object, "model_version", json_integer(row->key.model_version));
    json_object_set_new(object, "time_ns", json_number_above_0(row->time_ns));
    json_object_set_new(object, "optimal", json_boolean(row->optimal));
    if (row->limit_s > 0)
        json_object_set_new(object, "limit_s", json_real(row->limit_s));
    return object;
}

/* As the JSON value that it is; what is none as text. */
static json_t *answer_json(const char *answer)
{
    json_t *value = json_loads(answer, JSON_DECODE_ANY, NULL);
    return value ? value : json_text(answer);
}

static enum status write_json(const struct store_rows *rows, bool answers, FILE *out,
                              struct error *error)
{
    json_t *list = json_array();
    for (size_t i = 0; i < rows->count; i++) {
        json_t *row = store_row_json(&rows->rows[i]);
        if (answers)
            json_object_set_new(row, "answer", answer_json(rows->rows[i].answer));
        json_array_append_new(list, row);
    }
    return json_write(json_pack("{s:i, s:o}", "schema", 1, "results", list), out, error);
}

enum status store_list_json(const struct store_rows *rows, const struct style *style, FILE *out,
                            struct error *error)
{
    (void)style;
    return write_json(rows, false, out, error);
}

enum status store_show_json(const struct store_rows *rows, const struct style *style, FILE *out,
                            struct error *error)
{
    (void)style;
    return write_json(rows, true, out, error);
}

enum status store_list_csv(const struct store_rows *rows, const struct style *style, FILE *out,
                           struct error *error)
{
    (void)style;
    for (int t = 0; t < TEXTS; t++)
        fprintf(out, "%s,", text_names[t]);
    fputs("cores,model_version,time_ns,optimal,limit_s\n", out);
    for (size_t i = 0; i < rows->count; i++) {
        const struct store_row *row = &rows->rows[i];
        const char *texts[TEXTS];
        char time[32], limit[32];
        get_texts(row, texts);
        for (int t = 0; t < TEXTS; t++) {
            csv_put(texts[t], out);
            fputc(',', out);
        }
        fprintf(out, "%d,%d,%s,%d,%s\n", row->key.cores, row->key.model_version,
                row->time_ns > 0 ? number_text(row->time_ns, time) : "", row->optimal,
                row->limit_s > 0 ? number_text(row->limit_s, limit) : "");
    }
    return written(out, error);
}

/* ------------------------------------------------------------------ whole answers */

static void show_row(const struct store_row *row, const struct style *style, FILE *out)
{
    char time[TEXT_SIZE], exact[32];
    fputs(style->bold, out);
    store_put_key(row, out);
    fprintf(out, "%s\n%s  fingerprint  ", style->end, style->dim);
    store_put_text(row->key.hardware, out);
    fprintf(out, ", model version %d%s\n", row->key.model_version, style->end);
    if (row->time_ns > 0) {
        fprintf(out, "  time         %s  (%s ns), %s, %s\n  tiling       ",
                text_time(row->time_ns, time), number_text(row->time_ns, exact),
                store_kind_name(row->key.kind), state_of(row));
        store_put_text(row->tiling, out);
        fputc('\n', out);
    } else {
        fprintf(out, "  no legal tiling, %s\n", state_of(row));
    }
    if (row->limit_s > 0)
        fprintf(out, "  limit        %s s\n", number_text(row->limit_s, exact));
    json_t *answer = answer_json(row->answer);
    if (json_is_object(answer)) {
        if (json_object_size(answer))
            outline_write(answer, style, out);
    } else if (*row->answer) {
        fputs("  answer       ", out);
        store_put_text(row->answer, out);
        fputc('\n', out);
    }
    json_decref(answer);
}

enum status store_show_table(const struct store_rows *rows, const struct style *style, FILE *out,
                             struct error *error)
{
    for (size_t i = 0; i < rows->count; i++) {
        if (i)
            fputc('\n', out);
        show_row(&rows->rows[i], style, out);
    }
    return written(out, error);
}

/* ------------------------------------------------------------------ export */

static enum status put_string(const char *name, const char *text, FILE *out, struct error *error)
{
    json_t *string = json_text(text);
    fprintf(out, "\"%s\":", name);
    int failed = string ? json_dumpf(string, out, JSON_ENCODE_ANY) : 0;
    enum status status = !string  ? error_memory(error)
                         : failed ? error_set(error, STATUS_IO, "cannot write the row")
                                  : STATUS_OK;
    json_decref(string);
    return status;
}

/* An object that reads back as the very text, or NULL. The caller frees it. */
static char *compact_object(const char *answer)
{
    json_t *value = *answer == '{' ? json_loads(answer, JSON_REJECT_DUPLICATES, NULL) : NULL;
    char *text = value ? json_dumps(value, JSON_COMPACT) : NULL;
    json_decref(value);
    if (text && strcmp(text, answer) == 0)
        return text;
    free(text);
    return NULL;
}

static enum status put_answer(const char *answer, FILE *out, struct error *error)
{
    char *object = compact_object(answer);
    if (!object)
        return put_string("answer", answer, out, error);
    fprintf(out, "\"answer\":%s", object);
    free(object);
    return STATUS_OK;
}

enum status store_export_row(const struct store_row *row, FILE *out, struct error *error)
{
    const char *texts[TEXTS];
    char time[32], limit[32];
    get_texts(row, texts);
    fputc('{', out);
    for (int t = 0; t < EXPORTED_TEXTS; t++) {
        TRY(put_string(text_names[t], texts[t], out, error));
        fputc(',', out);
    }
    TRY(put_string("hardware", row->key.hardware, out, error));
    fprintf(out, ",\"cores\":%d,\"model_version\":%d,", row->key.cores, row->key.model_version);
    TRY(put_string("hardware_name", row->hardware_name, out, error));
    fputc(',', out);
    TRY(put_string("tiling", row->tiling, out, error));
    fprintf(out, ",\"time_ns\":%s,\"optimal\":%s,\"limit_s\":%s,", number_text(row->time_ns, time),
            row->optimal ? "true" : "false", number_text(row->limit_s, limit));
    TRY(put_answer(row->answer, out, error));
    fputs("}\n", out);
    return written(out, error);
}
