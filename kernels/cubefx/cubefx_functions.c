/* Reads the functions that a user names. A list is cut at its commas; what the table of series
 * does not know is read as coefficients between colons. Those are of powers of x − p, so that they
 * are their own expansion about p, and are evaluated by Horner's rule. The autocorrelation's
 * cos(x)·cos(x + lag) is (cos(lag) + cos(2x + lag))/2: but for the constant its terms are those of
 * cos, of twice the argument. */
#include "kernels/cubefx/cubefx_functions.h"
#include "core/suggest.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define AUTOCORRELATION "autocorrelation"

static enum status refuse(const char *text, int length, struct error *error)
{
    char list[256] = "";
    struct suggestion like = suggest_for(text, length);
    for (const struct series *s = series_functions; s->name; s++) {
        strcat(strcat(list, *list ? ", " : ""), s->name);
        suggest_try(&like, s->name);
    }
    return error_set(error, STATUS_INVALID,
                     "'%.*s': expected one of %s, " AUTOCORRELATION
                     ":LAG:WINDOW (1 to %d inputs), or up to %d coefficients such as 1:0:-0.5%s",
                     length > 64 ? 64 : length, text, list, CUBEFX_MAX_WINDOW, SERIES_MAX_TERMS,
                     like.text);
}

/* "c0:c1:…", `length` characters; false when it is no list of finite numbers. */
static bool parse_coefficients(const char *text, int length, struct cubefx_function *function)
{
    const char *end = text + length;
    for (function->terms = 0; function->terms < SERIES_MAX_TERMS;) {
        char *after;
        errno = 0;
        double value = strtod(text, &after);
        if (after == text || after > end || errno || !isfinite(value) ||
            strchr(" \t\n\v\f\r", *text))
            return false;
        function->coefficients[function->terms++] = value;
        if (after == end)
            return true;
        if (*after != ':')
            return false;
        text = after + 1;
    }
    return false;
}

/* "autocorrelation:LAG:WINDOW" */
static bool parse_autocorrelation(const char *text, int length, struct cubefx_function *function)
{
    const int name = (int)strlen(AUTOCORRELATION ":");
    struct cubefx_function numbers;
    if (length <= name || strncasecmp(text, AUTOCORRELATION ":", (size_t)name) != 0 ||
        !parse_coefficients(text + name, length - name, &numbers) || numbers.terms != 2)
        return false;
    double window = numbers.coefficients[1];
    if (!(window >= 1 && window <= CUBEFX_MAX_WINDOW && window == floor(window)))
        return false;
    function->lag = numbers.coefficients[0];
    function->window = (int)window;
    return true;
}

static enum status parse_one(const char *text, int length, struct cubefx_function *function,
                             struct error *error)
{
    memset(function, 0, sizeof *function);
    function->window = 1;
    function->series = series_find(text, length);
    if (function->series)
        snprintf(function->name, sizeof function->name, "%s", function->series->name);
    else
        snprintf(function->name, sizeof function->name, "%.*s", length, text);
    if (function->series || parse_autocorrelation(text, length, function) ||
        (length > 0 && parse_coefficients(text, length, function)))
        return STATUS_OK;
    return refuse(text, length, error);
}

enum status cubefx_functions_parse(const char *text, int most, struct cubefx_function *functions,
                                   int *count, struct error *error)
{
    *count = 0;
    for (const char *at = text; at;) {
        int length = (int)strcspn(at, ",");
        if (*count == most)
            return error_set(error, STATUS_TOO_LARGE, "expected at most %d functions", most);
        TRY(parse_one(at, length, &functions[*count], error));
        ++*count;
        at = at[length] ? at + length + 1 : NULL;
    }
    return STATUS_OK;
}

double cubefx_function_value(const struct cubefx_function *function, double point, double x)
{
    double sum = 0;
    if (function->series)
        return function->series->value(x);
    if (!function->terms)
        return cos(x) * cos(x + function->lag);
    for (int i = function->terms - 1; i >= 0; i--)
        sum = sum * (x - point) + function->coefficients[i];
    return sum;
}

static bool expand_autocorrelation(double lag, double point, int terms, double *coefficients)
{
    if (!series_expand(series_find("cos", 3), 2 * point + lag, terms, coefficients))
        return false;
    for (int i = 1; i < terms; i++)
        coefficients[i] = ldexp(coefficients[i], i - 1);
    coefficients[0] = cos(point) * cos(point + lag);
    return true;
}

bool cubefx_function_expand(const struct cubefx_function *function, double point, int terms,
                            double *coefficients)
{
    if (function->series)
        return series_expand(function->series, point, terms, coefficients);
    if (!function->terms)
        return expand_autocorrelation(function->lag, point, terms, coefficients);
    for (int i = 0; i < terms; i++)
        coefficients[i] = i < function->terms ? function->coefficients[i] : 0;
    return true;
}
