/* What a store holds, for people and for machines. Texts of a store are data: no byte of them
 * steers a terminal or breaks a line. */
#ifndef AUTOTUNE_RESULTS_STORE_WRITE_H
#define AUTOTUNE_RESULTS_STORE_WRITE_H

#include "formats/text.h"
#include "results/store_rows.h"

#include <jansson.h>
#include <stdio.h>

/* Lists: a line a row, without the answers. */
typedef enum status store_list_writer(const struct store_rows *rows, const struct style *style,
                                      FILE *out, struct error *error);
store_list_writer store_list_table, store_list_json, store_list_csv;

/* The same with the whole answers. */
store_list_writer store_show_table, store_show_json;

/* One row as one line of JSON, every member of it, in this order:
 * kind, op, shape, options, dtype, space, query, hardware, cores, model_version, hardware_name,
 * tiling, time_ns, optimal, limit_s, answer. An answer is a JSON object where it is one written
 * without blanks, else a text. Equal rows give equal bytes. */
enum status store_export_row(const struct store_row *row, FILE *out, struct error *error);

/* "matmul 512x1024x512 batch=4 f16 thesis, Ascend 310, 2 cores": what a row is about; unprintable
 * bytes become '?'. */
void store_put_key(const struct store_row *row, FILE *out);

/* Prints a text of a store with '?' for every control character; returns the columns taken. */
int store_put_text(const char *text, FILE *out);

/* The members of a key and what describes a result, for larger JSON documents. */
json_t *store_row_json(const struct store_row *row);

#endif
