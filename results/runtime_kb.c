#include "results/runtime_kb.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct reader {
    const char *file;
    int line;
    struct error *error;
};

static const json_t *member(const struct reader *r, const json_t *object, const char *where,
                            const char *name, enum status *status)
{
    const json_t *value = json_object_get(object, name);
    if (!value && *status == STATUS_OK)
        *status = error_at(r->error, r->file, r->line, "%s has no member '%s'", where, name);
    return value;
}

/* A whole number from 1 to 2^31 − 1. */
static enum status read_field(const struct reader *r, const json_t *knowledge, const char *name,
                              int32_t *field)
{
    enum status status = STATUS_OK;
    const json_t *value = member(r, knowledge, "knowledge", name, &status);
    if (status != STATUS_OK)
        return status;
    if (!json_is_integer(value) || json_integer_value(value) < 1 ||
        json_integer_value(value) > INT32_MAX)
        return error_at(r->error, r->file, r->line,
                        "knowledge.%s: expected a whole number from 1 to %d", name, INT32_MAX);
    *field = (int32_t)json_integer_value(value);
    return STATUS_OK;
}

/* The runtime's numbers of element types. */
static enum status read_type(const struct reader *r, const json_t *info, enum dtype *type)
{
    static const struct {
        json_int_t number;
        enum dtype type;
    } types[] = {{0, DTYPE_F32}, {1, DTYPE_F16}, {27, DTYPE_BF16}};
    enum status status = STATUS_OK;
    const json_t *value = member(r, info, "info_dict", "a_dtype", &status);
    if (status != STATUS_OK)
        return status;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (json_is_integer(value) && json_integer_value(value) == types[i].number) {
            *type = types[i].type;
            return STATUS_OK;
        }
    return error_at(r->error, r->file, r->line,
                    "info_dict.a_dtype: expected 0 (f32), 1 (f16) or 27 (bf16)");
}

static enum status read_row(const struct reader *r, const json_t *object, const char *const *names,
                            int name_count, struct runtime_kb_row *row)
{
    enum status status = STATUS_OK;
    const json_t *info = member(r, object, "the row", "info_dict", &status);
    const json_t *knowledge = member(r, object, "the row", "knowledge", &status);
    if (status == STATUS_OK)
        status = read_type(r, info, &row->type);
    if (status == STATUS_OK) {
        const json_t *bias = member(r, info, "info_dict", "bias_flag", &status);
        if (status == STATUS_OK && !json_is_boolean(bias))
            status =
                error_at(r->error, r->file, r->line, "info_dict.bias_flag: expected true or false");
        row->bias = json_is_true(bias);
    }
    for (int i = 0; i < name_count && status == STATUS_OK; i++)
        status = read_field(r, knowledge, names[i], &row->field[i]);
    row->line = r->line;
    return status;
}

static enum status read_line(const struct reader *r, const char *text, size_t length,
                             const char *const *names, int name_count, struct runtime_kb_row *row)
{
    json_error_t problem;
    json_t *object = json_loadb(text, length, JSON_REJECT_DUPLICATES, &problem);
    if (!object)
        return error_at(r->error, r->file, r->line, "%.200s (column %d), expected a JSON object",
                        problem.text, problem.column);
    enum status status = json_is_object(object)
                             ? read_row(r, object, names, name_count, row)
                             : error_at(r->error, r->file, r->line, "expected a JSON object");
    json_decref(object);
    return status;
}

static bool is_blank(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (!strchr(" \t\r", text[i]) || text[i] == 0)
            return false;
    return true;
}

static enum status read_lines(FILE *in, struct reader *r, const char *const *names, int name_count,
                              runtime_kb_visitor *visit, void *context)
{
    struct runtime_kb_row row = {.field = calloc((size_t)name_count + 1, sizeof(int32_t))};
    enum status status = STATUS_OK;
    char *text = NULL;
    size_t size = 0, seen = 0;
    ssize_t length;
    if (!row.field)
        return error_memory(r->error);
    while (status == STATUS_OK && (length = getline(&text, &size, in)) >= 0) {
        r->line++;
        seen += (size_t)length;
        length -= length > 0 && text[length - 1] == '\n';
        if (seen > RUNTIME_KB_MAX_BYTES)
            status =
                error_at(r->error, r->file, r->line, "more than %d bytes", RUNTIME_KB_MAX_BYTES);
        else if (!is_blank(text, (size_t)length))
            status = read_line(r, text, (size_t)length, names, name_count, &row);
        else
            continue;
        if (status == STATUS_OK)
            status = visit(context, &row, r->error);
    }
    free(text);
    free(row.field);
    return status;
}

enum status runtime_kb_read(const char *file, const char *const *names, int name_count,
                            runtime_kb_visitor *visit, void *context, struct error *error)
{
    struct reader reader = {.file = file, .error = error};
    FILE *in = fopen(file, "re");
    if (!in)
        return error_set(error, STATUS_IO, "%s: cannot open it: %s", file, strerror(errno));
    errno = 0;
    enum status status = read_lines(in, &reader, names, name_count, visit, context);
    if (status == STATUS_OK && ferror(in))
        status = error_set(error, STATUS_IO, "%s: cannot read it: %s", file, strerror(errno));
    fclose(in);
    return status;
}
