#include "core/number.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum status number_count(const char *option, const char *text, int64_t least, int64_t largest,
                         int64_t *value, struct error *error)
{
    char *end = NULL;
    errno = 0;
    long long number = text[0] >= '0' && text[0] <= '9' ? strtoll(text, &end, 10) : 0;
    if (!end || *end || errno || number < least || number > largest)
        return error_set(error, STATUS_INVALID,
                         "%s %.64s: expected a whole number from %lld to "
                         "%lld",
                         option, text, (long long)least, (long long)largest);
    *value = number;
    return STATUS_OK;
}

double number_real(const char *text)
{
    char *end;
    double number = strtod(text, &end);
    return *end || end == text || isspace((unsigned char)*text) || !isfinite(number) ? NAN : number;
}

enum status number_seconds(const char *option, const char *text, double *value, struct error *error)
{
    double seconds = number_real(text);
    if (!(seconds > 0))
        return error_set(error, STATUS_INVALID, "%s %.64s: expected seconds, more than 0", option,
                         text);
    *value = seconds;
    return STATUS_OK;
}

const char *number_text(double number, char text[32])
{
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, 32, "%.*g", digits, number);
        if (strtod(text, NULL) == number)
            break;
    }
    return text;
}
