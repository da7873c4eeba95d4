/* Documents and values are jansson's, and go out indented by 2. What JSON has no word for is mended
 * here: bytes that are no UTF-8, numbers that are not finite or not known. A part that cannot be
 * made for lack of memory is NULL, which jansson hands on until json_write makes it an error. */
#include "formats/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum status json_write(json_t *document, FILE *out, struct error *error)
{
    if (!document)
        return error_memory(error);
    int failed = json_dumpf(document, out, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
    json_decref(document);
    fputc('\n', out);
    return failed || ferror(out) ? error_set(error, STATUS_IO, "cannot write the JSON") : STATUS_OK;
}

json_t *json_text(const char *text)
{
    json_t *string = json_string(text);
    char *ascii = string ? NULL : strdup(text);
    for (char *c = ascii; c && *c; c++)
        if ((unsigned char)*c > 127)
            *c = '?';
    if (ascii)
        string = json_string(ascii);
    free(ascii);
    return string;
}

json_t *json_number(double number)
{
    return isfinite(number) ? json_real(number) : json_null();
}

json_t *json_number_from_0(double number)
{
    return json_number(number >= 0 ? number : (double)NAN);
}

json_t *json_number_above_0(double number)
{
    return json_number(number > 0 ? number : (double)NAN);
}

json_t *program_answer_json(const char *file, const struct hardware *hw)
{
    return json_pack("{s:i, s:o, s:o, s:o, s:o, s:s}", "schema", 1, "file", json_text(file),
                     "hardware", json_text(hw->name), "hardware_file", json_text(hw->file),
                     "hardware_changes", overrides_json(hw), "cache", hardware_cache_word(hw));
}

json_t *axis_value_json(const struct axis *axis, int64_t value)
{
    char text[24];
    return axis->value_names ? json_string(axis_value_text(axis, value, text))
                             : json_integer(value);
}

json_t *tiling_json(const struct axis *axes, int axis_count, const struct tiling *tiling)
{
    json_t *object = json_object();
    for (int a = 0; a < axis_count; a++)
        json_object_set_new(object, axes[a].name, axis_value_json(&axes[a], tiling->value[a]));
    return object;
}

json_t *overrides_json(const struct hardware *hw)
{
    json_t *object = json_object();
    for (size_t i = 0; i < hw->fact_count; i++)
        if (fact_is_override(&hw->facts[i]))
            json_object_set_new(object, hw->facts[i].key, json_string(hw->facts[i].value));
    return object;
}
