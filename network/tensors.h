/* Lists of tensors as tables of calls write them: shapes, layouts and types, each with an entry a
 * tensor between semicolons; sizes between 'x' or commas, an empty entry for a scalar. */
#ifndef AUTOTUNE_NETWORK_TENSORS_H
#define AUTOTUNE_NETWORK_TENSORS_H

#include "network/network.h"

enum { TENSOR_WHY_SIZE = 160 };

struct tensor_lists {
    const char *shapes, *formats, *types;
    int (*find_type)(const char *name, int length); /* -1: there is no such type */
};

/* How many tensors the lists tell of; -1 where they disagree, or have more than CALL_MAX_TENSORS.
 * Without types there is none, whatever the others say: a list of one scalar is empty too. */
int tensors_count(const struct tensor_lists *lists);

/* Fills so many of them, or says in one line what is wrong with which and what was expected. */
bool tensors_read(const struct tensor_lists *lists, int count, struct operator_tensor *tensors,
                  char why[TENSOR_WHY_SIZE]);

#endif
