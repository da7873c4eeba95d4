/* The table of keys that schema.c checks a description against. */
#ifndef AUTOTUNE_HARDWARE_SCHEMA_KEYS_H
#define AUTOTUNE_HARDWARE_SCHEMA_KEYS_H

#include <stdbool.h>
#include <stddef.h>

enum kind {
    KIND_COUNT,      /* a whole number */
    KIND_REAL,       /* a number, whole or not */
    KIND_FLAG,       /* true or false */
    KIND_TEXT,       /* up to `high` characters */
    KIND_IDENTIFIER, /* as program text and dotted keys can hold it */
    KIND_SOURCE,     /* where the numbers of the group come from */
    KIND_GROUP,      /* one of `items` */
    KIND_GROUPS,     /* a list of `low`…`high` groups */
    KIND_REALS,      /* a list of `low`…`high` numbers within the range of the `items` key */
    KIND_TEXTS,      /* a list of `low`…`high` texts */
};

enum need {
    OPTIONAL,
    REQUIRED,
    INHERITED, /* a source that is the group's around unless it is here */
};

struct key {
    const char *name;
    enum kind kind;
    enum need need;
    double low, high; /* inclusive */
    const char *unit;
    const struct group *items;
};

struct group {
    bool wrapped; /* numbers stand as { value, source } */
    size_t count;
    const struct key *keys;
};

extern const struct key schema_source;
extern const struct group schema_description, schema_processor, schema_variant;

#endif
