/* Internal to formats/: one JSON record as a bank's row, by format. */
#ifndef AUTOTUNE_FORMATS_BANK_PARSE_H
#define AUTOTUNE_FORMATS_BANK_PARSE_H

#include "core/status.h"
#include "formats/bank_row.h"

#include <jansson.h>

struct record {
    const char *file;
    int line, number;
    bool numbered;     /* the line alone does not say which record it is */
    bool tilings_only; /* the problem's sizes may be missing */
    struct error *error;
};

/* STATUS_INVALID with "file:line: " before the text. */
enum status record_error(const struct record *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Members that must be there. `where` is the parent's name, for the text. */
enum status record_member(const struct record *r, const json_t *parent, const char *where,
                          const char *name, const json_t **value);
enum status record_integer(const struct record *r, const json_t *parent, const char *where,
                           const char *name, int64_t low, int64_t high, int64_t *value);
enum status record_bool(const struct record *r, const json_t *parent, const char *where,
                        const char *name, bool *value);

/* A member that says an element type by CANN's name, or by its number. */
enum status record_type(const struct record *r, const json_t *parent, const char *where,
                        const char *name, enum dtype_words words, enum dtype *type);

/* Likewise of a type that follows from another: B's is A's. */
enum status record_type_is(const struct record *r, const json_t *parent, const char *where,
                           const char *name, enum dtype_words words, enum dtype expected);

/* Of `shape` and of a static bank's `info_dict`. */
enum status parse_shape(const struct record *r, const json_t *shape, const char *where,
                        struct bank_row *row);

/* cost_time, once the shape is known. */
enum status parse_cost(const struct record *r, const json_t *record, struct bank_row *row);

typedef enum status record_parser(const struct record *r, const json_t *object,
                                  struct bank_row *row);
record_parser parse_repository, parse_static, parse_runtime_kb, parse_tcubetiling;

#endif
