/* What is left of a gain that the model claims. */
#include "validate/shrink.h"

#include <criterion/criterion.h>
#include <math.h>

Test(shrink, a_quarter_is_worth_a_fifth)
{
    struct shrunk shrunk = shrunk_gain(0.25);
    cr_expect_float_eq(shrunk.claimed, 0.25, 1e-15);
    cr_expect_float_eq(shrunk.gain, pow(1.25, 0.78) - 1, 1e-12);
    cr_expect_float_eq(shrunk.gain, 0.19, 0.003);
    cr_expect_float_eq(shrunk.low, pow(1.25, 0.72) - 1, 1e-12);
    cr_expect_float_eq(shrunk.high, pow(1.25, 0.84) - 1, 1e-12);
}

/* What is lost shrinks as well, and the interval stays in order. */
Test(shrink, losses_and_nothing)
{
    struct shrunk none = shrunk_gain(0), loss = shrunk_gain(-0.2);
    cr_expect(none.gain == 0 && none.low == 0 && none.high == 0);
    cr_expect_float_eq(loss.gain, pow(0.8, 0.78) - 1, 1e-12);
    cr_expect_lt(loss.low, loss.gain);
    cr_expect_lt(loss.gain, loss.high);
    cr_expect_lt(loss.high, 0);
}
