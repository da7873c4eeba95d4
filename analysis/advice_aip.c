/* AIP, adjust instruction parameters: vector instructions of few repeats, in a loop or one after the
 * other, become one of many, which pays for its start once. Why that computes the same:
 * advice_grow.h. */
#include "analysis/advice_grow.h"
#include "analysis/advice_table.h"

enum status advice_aip(struct trial *trial, struct error *error)
{
    return advice_grow(trial, INSTRUCTION_VECTOR, error);
}
