/* The tilings that operator libraries load: AscendC's TCubeTiling, as CANN's tables hold it.
 *
 * A core computes singleCoreM × singleCoreN of the product over singleCoreK, in base blocks of
 * baseM × baseN × baseK; depthA1 and depthB1 base blocks of A and B stand in L1, stepM·stepKa and
 * stepN·stepKb of them loaded at once. Sizes are in elements. Source of the rules: the vendor's
 * documentation of TCubeTiling. */
#ifndef AUTOTUNE_KERNELS_TCUBE_H
#define AUTOTUNE_KERNELS_TCUBE_H

#include "core/hardware.h"
#include "core/status.h"
#include "formats/bank_row.h"

enum tcube_field {
    TCUBE_USED_CORES,
    TCUBE_SINGLE_M,
    TCUBE_SINGLE_N,
    TCUBE_SINGLE_K,
    TCUBE_BASE_M,
    TCUBE_BASE_N,
    TCUBE_BASE_K,
    TCUBE_DEPTH_A1,
    TCUBE_DEPTH_B1,
    TCUBE_STEP_M,
    TCUBE_STEP_N,
    TCUBE_STEP_KA,
    TCUBE_STEP_KB,
    TCUBE_DB_L0A,
    TCUBE_DB_L0B,
    TCUBE_DB_L0C,
    TCUBE_FIELDS,
};

extern const enum bank_field tcube_fields[TCUBE_FIELDS]; /* where a bank's row has them */

struct tcube {
    int32_t field[TCUBE_FIELDS]; /* all >= 1 */
    enum dtype type, out_type;   /* of A and B, and of C */
    bool bias;                   /* of 4 bytes an element */
};

enum { TCUBE_MAX_BREACHES = 16 };

/* One rule that a tiling breaks. */
struct tcube_breach {
    const char *rule; /* "l0a", "step_m", … */
    bool warning;     /* documented, but shipped tables do it too */
    char text[160];
};

/* Every rule that the tiling breaks on a chip, in the order of the rules; 0 when legal.
 * STATUS_INVALID names a buffer that the chip lacks. */
enum status tcube_check(const struct hardware *hw, const struct tcube *tiling,
                        struct tcube_breach breaches[TCUBE_MAX_BREACHES], int *count,
                        struct error *error);

#endif
