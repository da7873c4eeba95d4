/* Each form says of every table what made it: members of the JSON, columns of every row of the CSV,
 * the head of the Markdown. In each, what could be a mark of the form is escaped. */
#include "core/number.h"
#include "core/utf8.h"
#include "formats/csv.h"
#include "formats/json.h"
#include "formats/table.h"
#include "formats/text.h"

#include <string.h>

static enum status written(FILE *out, struct error *error)
{
    return ferror(out) ? error_set(error, STATUS_IO, "cannot write the table") : STATUS_OK;
}

/* "m_slice=64,resident=a" */
static void put_tiling(const struct table_part *part, const struct table_entry *entry, FILE *out)
{
    for (int a = 0; a < part->axis_count; a++) {
        fprintf(out, "%s%s=", a ? "," : "", part->axis_names[a]);
        if (entry->value[a].word)
            fputs(entry->value[a].word, out);
        else
            fprintf(out, "%lld", (long long)entry->value[a].number);
    }
}

/* ------------------------------------------------------------------ JSON */

static json_t *entry_json(const struct table_part *part, const struct table_entry *entry)
{
    json_t *shape = json_object(), *tiling = json_object();
    for (int i = 0; i < part->size_count; i++)
        json_object_set_new(shape, part->size_names[i], json_integer(entry->size[i]));
    for (int a = 0; a < part->axis_count; a++)
        json_object_set_new(tiling, part->axis_names[a],
                            entry->value[a].word ? json_string(entry->value[a].word)
                                                 : json_integer(entry->value[a].number));
    return json_pack("{s:o, s:o, s:f, s:b}", "shape", shape, "tiling", tiling, "time_ns",
                     entry->time_ns, "optimal", entry->optimal);
}

static json_t *part_json(const struct table_part *part)
{
    json_t *choices = json_object(), *entries = json_array();
    for (int i = 0; i < part->choice_count; i++)
        json_object_set_new(choices, part->choice_names[i], json_string(part->choices[i]));
    for (int64_t i = 0; i < part->count; i++)
        json_array_append_new(entries, entry_json(part, &part->entries[i]));
    json_t *json = json_pack("{s:s, s:s, s:s, s:o}", "op", part->op, "dtype", part->type, "space",
                             part->space, "choices", choices);
    if (part->kernel)
        json_object_set_new(json, "kernel", json_string(part->kernel));
    json_object_set_new(json, "entries", entries);
    return json;
}

enum status table_write_json(const struct table *table, FILE *out, struct error *error)
{
    json_t *parts = json_array();
    for (int p = 0; p < table->part_count; p++)
        json_array_append_new(parts, part_json(&table->parts[p]));
    return json_write(json_pack("{s:i, s:s, s:i, s:o, s:s, s:i, s:s, s:o, s:o}", "schema", 1,
                                "autotune", table->version, "model_version", table->model_version,
                                "hardware", json_text(table->hardware), "fingerprint",
                                table->fingerprint, "cores", table->cores, "kind", table->kind,
                                "command", json_text(table->command), "tables", parts),
                      out, error);
}

/* ------------------------------------------------------------------ CSV */

static void put_shape(const struct table_part *part, const struct table_entry *entry, FILE *out)
{
    for (int i = 0; i < part->size_count; i++)
        fprintf(out, "%s%s=%lld", i ? " " : "", part->size_names[i], (long long)entry->size[i]);
}

/* The text that a kernel comes from is one of them. */
static void put_choices(const struct table_part *part, FILE *out)
{
    for (int i = 0; i < part->choice_count; i++)
        fprintf(out, "%s%s=%s", i ? " " : "", part->choice_names[i], part->choices[i]);
    if (part->kernel)
        fprintf(out, "%skernel=%s", part->choice_count ? " " : "", part->kernel);
}

/* Where a table is from stands in every row: a comment is no part of CSV. */
enum status table_write_csv(const struct table *table, FILE *out, struct error *error)
{
    fputs("op,shape,choices,dtype,space,tiling,time_ns,optimal,kind,hardware,fingerprint,cores,"
          "model_version,autotune,command\n",
          out);
    for (int p = 0; p < table->part_count; p++)
        for (int64_t i = 0; i < table->parts[p].count; i++) {
            const struct table_part *part = &table->parts[p];
            const struct table_entry *entry = &part->entries[i];
            char time[32];
            fprintf(out, "%s,", part->op);
            put_shape(part, entry, out);
            fputc(',', out);
            put_choices(part, out);
            fprintf(out, ",%s,%s,\"", part->type, part->space);
            put_tiling(part, entry, out);
            fprintf(out, "\",%s,%d,%s,", number_text(entry->time_ns, time), entry->optimal,
                    table->kind);
            csv_put(table->hardware, out);
            fprintf(out, ",%s,%d,%d,%s,", table->fingerprint, table->cores, table->model_version,
                    table->version);
            csv_put(table->command, out);
            fputc('\n', out);
        }
    return written(out, error);
}

/* ------------------------------------------------------------------ Markdown */

/* Text of a table's cell, in which nothing is a mark. */
static void put_cell(const char *text, FILE *out)
{
    for (; *text; text++) {
        if (strchr("|\\`*_<>[]#", *text))
            fputc('\\', out);
        fputc((unsigned char)*text < ' ' || *text == 127 ? '?' : *text, out);
    }
}

/* Text between backticks has no escapes; a backtick within becomes a quotation mark. */
static void put_code(const char *text, FILE *out)
{
    fputc('`', out);
    for (; *text; text++)
        fputc((unsigned char)*text < ' ' || *text == 127 ? '?' : *text == '`' ? '\'' : *text, out);
    fputc('`', out);
}

static void put_part(const struct table_part *part, const char *kind, FILE *out)
{
    fprintf(out, "\n## %s, %s", part->op, part->type);
    for (int i = 0; i < part->choice_count; i++)
        fprintf(out, ", %s %s", part->choice_names[i], part->choices[i]);
    fprintf(out, " (space %s", part->space);
    if (part->kernel)
        fprintf(out, ", kernel %s", part->kernel);
    fputs(")\n\n|", out);
    for (int i = 0; i < part->size_count; i++)
        fprintf(out, " %s |", part->size_names[i]);
    for (int a = 0; a < part->axis_count; a++) {
        fputc(' ', out);
        put_cell(part->axis_names[a], out);
        fputs(" |", out);
    }
    fprintf(out, " time, %s | optimal |\n|", kind);
    for (int c = 0; c < part->size_count + part->axis_count + 1; c++)
        fputs("---:|", out);
    fputs("---|\n", out);
    for (int64_t i = 0; i < part->count; i++) {
        const struct table_entry *entry = &part->entries[i];
        char time[TEXT_SIZE];
        fputc('|', out);
        for (int s = 0; s < part->size_count; s++)
            fprintf(out, " %lld |", (long long)entry->size[s]);
        for (int a = 0; a < part->axis_count; a++)
            if (entry->value[a].word)
                fprintf(out, " %s |", entry->value[a].word);
            else
                fprintf(out, " %lld |", (long long)entry->value[a].number);
        fprintf(out, " %s | %s |\n", text_time(entry->time_ns, time),
                entry->optimal ? "yes" : "no");
    }
}

enum status table_write_markdown(const struct table *table, FILE *out, struct error *error)
{
    fputs("# Fastest tilings on ", out);
    put_cell(table->hardware, out);
    fprintf(out, ", %d core%s\n\nautotune %s, model version %d, fingerprint `%s`:\n", table->cores,
            table->cores == 1 ? "" : "s", table->version, table->model_version, table->fingerprint);
    put_code(table->command, out);
    fputc('\n', out);
    for (int p = 0; p < table->part_count; p++)
        put_part(&table->parts[p], table->kind, out);
    return written(out, error);
}
