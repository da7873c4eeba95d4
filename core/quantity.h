/* Times, rates and counts as people read them, in all answers alike. */
#ifndef AUTOTUNE_CORE_QUANTITY_H
#define AUTOTUNE_CORE_QUANTITY_H

#include <stdint.h>

enum { TEXT_SIZE = 32 };

/* "123.4 us": four significant digits and the unit that suits. Returns `text`. */
const char *text_time(double ns, char text[TEXT_SIZE]);

/* "512.4 GFLOP/s", "5.131 TFLOP/s". Returns `text`. */
const char *text_rate(double gflops, char text[TEXT_SIZE]);

/* "1,234,567". Returns `text`. */
const char *text_count(int64_t count, char text[TEXT_SIZE]);

#endif
