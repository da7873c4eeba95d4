#include "tests/kernels/text/plain_kernel.h"
