#include "core/quantity.h"

#include <stdio.h>

/* After the point, of four significant ones. */
static int digits_of(double value)
{
    return value < 10 ? 3 : value < 100 ? 2 : value < 1000 ? 1 : 0;
}

const char *text_time(double ns, char text[TEXT_SIZE])
{
    static const struct {
        double ns;
        const char *unit;
    } units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}};
    int u = 0;
    while (u < 3 && ns < units[u].ns)
        u++;
    double value = ns / units[u].ns;
    snprintf(text, TEXT_SIZE, "%.*f %s", digits_of(value), value, units[u].unit);
    return text;
}

const char *text_rate(double gflops, char text[TEXT_SIZE])
{
    double teraflops = gflops / 1000;
    if (teraflops < 1)
        snprintf(text, TEXT_SIZE, "%.*f GFLOP/s", gflops < 1 ? 6 : 1, gflops);
    else
        snprintf(text, TEXT_SIZE, "%.*f TFLOP/s", digits_of(teraflops), teraflops);
    return text;
}

const char *text_count(int64_t count, char text[TEXT_SIZE])
{
    char digits[TEXT_SIZE];
    int length = snprintf(digits, sizeof digits, "%lld", (long long)count), used = 0;
    for (int i = 0; i < length && used < TEXT_SIZE - 2; i++) {
        if (i && (length - i) % 3 == 0 && digits[i - 1] != '-')
            text[used++] = ',';
        text[used++] = digits[i];
    }
    text[used] = 0;
    return text;
}
