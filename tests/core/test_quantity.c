/* Times, rates and counts as people read them. */
#include "core/quantity.h"

#include <criterion/criterion.h>

/* The unit that suits, and four significant digits; of seconds all that stand before the point. */
Test(quantity, times)
{
    static const struct {
        double ns;
        const char *text;
    } cases[] = {
        {0, "0.000 ns"},      {1.25, "1.250 ns"},    {12.5, "12.50 ns"}, {125, "125.0 ns"},
        {1250, "1.250 us"},   {999.9e3, "999.9 us"}, {1e6, "1.000 ms"},  {12.5e6, "12.50 ms"},
        {1.5e9, "1.500 s"},   {999.9e9, "999.9 s"},  {1000e9, "1000 s"}, {1023.4e9, "1023 s"},
        {5000.4e9, "5000 s"}, {86400e9, "86400 s"},
    };
    char text[TEXT_SIZE];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        cr_expect_str_eq(text_time(cases[i].ns, text), cases[i].text, "%s", text);
}

Test(quantity, rates)
{
    static const struct {
        double gflops;
        const char *text;
    } cases[] = {
        {0.5, "0.500000 GFLOP/s"}, {512.4, "512.4 GFLOP/s"},  {1000, "1.000 TFLOP/s"},
        {5131, "5.131 TFLOP/s"},   {353894, "353.9 TFLOP/s"}, {1.01e6, "1010 TFLOP/s"},
    };
    char text[TEXT_SIZE];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        cr_expect_str_eq(text_rate(cases[i].gflops, text), cases[i].text, "%s", text);
}

Test(quantity, counts)
{
    static const struct {
        int64_t count;
        const char *text;
    } cases[] = {
        {0, "0"},
        {999, "999"},
        {1000, "1,000"},
        {-1000, "-1,000"},
        {-100, "-100"},
        {1234567, "1,234,567"},
        {INT64_MAX, "9,223,372,036,854,775,807"},
        {INT64_MIN, "-9,223,372,036,854,775,808"},
    };
    char text[TEXT_SIZE];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        cr_expect_str_eq(text_count(cases[i].count, text), cases[i].text, "%s", text);
}
