#include "tests/support/cases.h"

#include <stdlib.h>

int test_thinning(void)
{
    return getenv("AUTOTUNE_SLOW") ? 20 : 1;
}

int test_cases(int all)
{
    int some = all / test_thinning();
    return some > 0 ? some : 1;
}
