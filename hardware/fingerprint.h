/* What a chip is, as a name for its content: two descriptions with the same numbers have the same
 * fingerprint, whatever they are called, wherever they lie and whatever they say of their sources;
 * a number changed by --set-hw changes it. */
#ifndef AUTOTUNE_HARDWARE_FINGERPRINT_H
#define AUTOTUNE_HARDWARE_FINGERPRINT_H

#include "core/hardware.h"

enum { FINGERPRINT_SIZE = 33 }; /* 32 hexadecimal digits and a 0: 128 bits, XXH3 */

/* Of everything in *hw that a result may depend on: all but name, file and facts. */
void hardware_fingerprint(const struct hardware *hw, char fingerprint[FINGERPRINT_SIZE]);

/* Of what a kernel's simulated time depends on: the same without how many cores there are, what
 * the cache holds, and how well the numbers are known. */
void hardware_price_fingerprint(const struct hardware *hw, char fingerprint[FINGERPRINT_SIZE]);

#endif
