/* AIP, adjust instruction parameters: vector instructions of few repeats, in a loop or one after
 * the other, become one of many, which pays for its start once. Why that computes the same:
 * advice_grow.h; but where scalar instructions work on data, vector
 * instructions may take a scalar register, which the text does not show, so they stay. */
#include "analysis/advice/advice_grow.h"
#include "analysis/advice/advice_table.h"

enum status advice_aip(struct trial *trial, struct error *error)
{
    for (int32_t i = 0; i < trial->first->count; i++)
        if (trial->first->items[i].kind == INSTRUCTION_SCALAR &&
            trial->first->items[i].region_count > 0)
            return STATUS_OK;
    return advice_grow(trial, INSTRUCTION_VECTOR, error);
}
