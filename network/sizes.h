/* Sizes that a file of a network leaves open, as they are given: "batch=8,seq=128". */
#ifndef AUTOTUNE_NETWORK_SIZES_H
#define AUTOTUNE_NETWORK_SIZES_H

#include "network/network.h"

enum { SIZES_MAX = 8, SIZE_NAME_SIZE = 64 };

struct sizes {
    int count;
    struct size_given {
        char name[SIZE_NAME_SIZE];
        int64_t size; /* from 1 to INT32_MAX */
        bool is_used; /* the reader's */
    } given[SIZES_MAX];
};

/* The sizes of a request; its batch replaces the one among them. */
enum status sizes_read(const struct network_request *request, struct sizes *sizes,
                       struct error *error);

/* NULL: it is not given. */
struct size_given *sizes_find(struct sizes *sizes, const char *name);

#endif
