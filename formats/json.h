/* JSON documents: what several of them have, and how they are written. */
#ifndef AUTOTUNE_FORMATS_JSON_H
#define AUTOTUNE_FORMATS_JSON_H

#include "core/hardware.h"
#include "core/space.h"

#include <jansson.h>
#include <stdio.h>

/* A value of a tiling: its number, or its name. */
json_t *axis_value_json(const struct axis *axis, int64_t value);

/* "tiling": {axis: value, …}. NULL when out of memory. */
json_t *tiling_json(const struct axis *axes, int axis_count, const struct tiling *tiling);

/* A string for JSON: bytes that are no UTF-8 (file names may hold any) become '?'. */
json_t *json_text(const char *text);

/* A number, or null for what is not known: NaN and the infinite; what is below 0 as well; 0 as
 * well. */
json_t *json_number(double number);
json_t *json_number_from_0(double number);
json_t *json_number_above_0(double number);

/* The numbers of a description that --set-hw changed: {key: value text, …}, empty without any. */
json_t *overrides_json(const struct hardware *hw);

/* The members that an answer about a program begins with: schema, file, hardware, hardware_file and
 * hardware_changes. NULL when out of memory. */
json_t *program_answer_json(const char *file, const struct hardware *hw);

/* Writes a JSON document and a newline, and frees it. Times keep 15 significant digits. */
enum status json_write(json_t *document, FILE *out, struct error *error);

#endif
