/* What re-checks a tiling for another shape. The bodies are made elsewhere (kernels/limits_code.h);
 * here is the arithmetic that they call, which never overflows: numbers stay within 2^62, and what
 * does not is noted in *ok, as is what cannot be. */
#include "formats/table_c.h"
#include "formats/text.h"

#include <string.h>

/* '@' stands for the prefix. */
static const char arithmetic[] =
    "\n/* Whole numbers for NAME_is_legal; *ok becomes 0 beyond 2^62 and where there is no result. "
    "*/\n"
    "static inline int64_t @_table_within(int64_t a, int *ok)\n"
    "{\n"
    "    const int64_t most = (int64_t)1 << 62;\n"
    "    *ok = *ok && a <= most && a >= -most;\n"
    "    return *ok ? a : 1;\n"
    "}\n\n"
    "static inline int64_t @_table_add(int64_t a, int64_t b, int *ok)\n"
    "{\n"
    "    return @_table_within(a + b, ok);\n"
    "}\n\n"
    "static inline int64_t @_table_sub(int64_t a, int64_t b, int *ok)\n"
    "{\n"
    "    return @_table_within(a - b, ok);\n"
    "}\n\n"
    "static inline int64_t @_table_mul(int64_t a, int64_t b, int *ok)\n"
    "{\n"
    "    const int64_t most = (int64_t)1 << 62;\n"
    "    const int64_t x = a < 0 ? -a : a, y = b < 0 ? -b : b;\n"
    "    *ok = *ok && (x == 0 || y <= most / x);\n"
    "    return *ok ? a * b : 1;\n"
    "}\n\n"
    "/* Rounded down. */\n"
    "static inline int64_t @_table_div(int64_t a, int64_t b, int *ok)\n"
    "{\n"
    "    *ok = *ok && b != 0;\n"
    "    return *ok ? a / b - (a % b != 0 && (a < 0) != (b < 0)) : 1;\n"
    "}\n\n"
    "static inline int64_t @_table_rem(int64_t a, int64_t b, int *ok)\n"
    "{\n"
    "    const int64_t quotient = @_table_div(a, b, ok);\n"
    "    return *ok ? a - quotient * b : 1;\n"
    "}\n\n"
    "static inline int64_t @_table_cdiv(int64_t a, int64_t b, int *ok)\n"
    "{\n"
    "    *ok = *ok && b > 0;\n"
    "    return *ok ? -@_table_div(-a, b, ok) : 1;\n"
    "}\n\n"
    "static inline int64_t @_table_up(int64_t a, int64_t b, int *ok)\n"
    "{\n"
    "    return @_table_mul(@_table_cdiv(a, b, ok), b, ok);\n"
    "}\n\n"
    "static inline int64_t @_table_log2(int64_t a, int *ok)\n"
    "{\n"
    "    int64_t log = 0;\n"
    "    *ok = *ok && a >= 1;\n"
    "    while (log < 62 && (int64_t)1 << log < a)\n"
    "        log++;\n"
    "    return log;\n"
    "}\n\n"
    "static inline int64_t @_table_pow2(int64_t a, int *ok)\n"
    "{\n"
    "    *ok = *ok && a >= 0 && a <= 62;\n"
    "    return *ok ? (int64_t)1 << a : 1;\n"
    "}\n\n"
    "static inline int64_t @_table_gcd(int64_t a, int64_t b, int *ok)\n"
    "{\n"
    "    *ok = *ok && a >= 1 && b >= 1;\n"
    "    while (*ok && b) {\n"
    "        const int64_t rest = a % b;\n"
    "        a = b;\n"
    "        b = rest;\n"
    "    }\n"
    "    return *ok ? a : 1;\n"
    "}\n\n"
    "static inline int64_t @_table_min(int64_t a, int64_t b, int *ok)\n"
    "{\n"
    "    (void)ok;\n"
    "    return a < b ? a : b;\n"
    "}\n\n"
    "static inline int64_t @_table_max(int64_t a, int64_t b, int *ok)\n"
    "{\n"
    "    (void)ok;\n"
    "    return a > b ? a : b;\n"
    "}\n\n";

static const char checks[] =
    "static inline int @_table_is(const char *a, const char *b)\n"
    "{\n"
    "    while (*a && *a == *b) {\n"
    "        a++;\n"
    "        b++;\n"
    "    }\n"
    "    return *a == *b;\n"
    "}\n\n"
    "/* The largest share of `whole` in blocks of `pad`; so many of `left` cores get one. */\n"
    "static inline int64_t @_table_share(int64_t whole, int64_t pad, int64_t shares, int64_t "
    "*left,\n"
    "                                    int64_t *used, int *ok)\n"
    "{\n"
    "    const int64_t blocks = @_table_cdiv(whole, pad, ok);\n"
    "    int64_t each;\n"
    "    *ok = *ok && shares >= 1 && shares <= *left && blocks >= 1;\n"
    "    each = @_table_cdiv(blocks, shares, ok);\n"
    "    *used = @_table_mul(*used, @_table_cdiv(blocks, each, ok), ok);\n"
    "    *left = @_table_div(*left, shares, ok);\n"
    "    return @_table_mul(each, pad, ok);\n"
    "}\n\n"
    "static inline int64_t @_table_extent(int64_t count, int *ok)\n"
    "{\n"
    "    *ok = *ok && count >= 1;\n"
    "    return *ok ? count : 1;\n"
    "}\n\n"
    "/* Of a loop: how many rounds, how long one is, and the next that can differ from the first. "
    "*/\n"
    "static inline int64_t @_table_rounds(int64_t in, int64_t by, int *ok)\n"
    "{\n"
    "    *ok = *ok && in >= 1 && by >= 1;\n"
    "    return @_table_cdiv(in, by, ok);\n"
    "}\n\n"
    "static inline int64_t @_table_length(int64_t in, int64_t by, int64_t round)\n"
    "{\n"
    "    return in - round * by < by ? in - round * by : by;\n"
    "}\n\n"
    "static inline int64_t @_table_last(int64_t round, int64_t rounds)\n"
    "{\n"
    "    return round + 1 < rounds ? rounds - 1 : rounds;\n"
    "}\n\n"
    "/* The most that a tile takes in any round. */\n"
    "static inline void @_table_keep(int64_t *most, int64_t bytes)\n"
    "{\n"
    "    if (*most < bytes)\n"
    "        *most = bytes;\n"
    "}\n\n"
    "/* Copies of a tile, each in whole units, into what is left of a buffer. */\n"
    "static inline void @_table_fill(int64_t *left, int64_t bytes, int64_t unit, int64_t copies,\n"
    "                                int *ok)\n"
    "{\n"
    "    *left -= @_table_mul(@_table_up(bytes, unit, ok), copies, ok);\n"
    "    *ok = *ok && *left >= 0;\n"
    "    *left = *ok ? *left : 0;\n"
    "}\n";

static void put_prefixed(const struct table *table, const char *text, FILE *out)
{
    for (; *text; text++)
        if (*text == '@')
            fputs(table->prefix, out);
        else
            fputc(*text, out);
}

void table_put_arithmetic(const struct table *table, FILE *out)
{
    bool any = false;
    for (int p = 0; p < table->part_count; p++)
        for (int i = 0; i < table->parts[p].limits_count; i++)
            any = any || table->parts[p].limits[i].text;
    if (!any)
        return;
    put_prefixed(table, arithmetic, out);
    put_prefixed(table, checks, out);
}

/* ------------------------------------------------------------------ a part */

static void put_function(const struct table *table, const struct table_part *part, int number,
                         FILE *out)
{
    fputs("\nstatic inline int ", out);
    table_put_name(table, part, out);
    fprintf(out, "_limits_%d(const struct ", number);
    table_put_op(table, part, out);
    fprintf(out, " *entry, const int64_t *size)\n{\n%s    return ok;\n}\n",
            part->limits[number - 1].text);
}

static void put_cases(const struct table *table, const struct table_part *part, FILE *out)
{
    fputs("    switch (entry->limits) {\n", out);
    for (int i = 0; i < part->limits_count; i++) {
        fprintf(out, "    case %d:\n        return ", i + 1);
        if (part->limits[i].text) {
            table_put_name(table, part, out);
            fprintf(out, "_limits_%d(entry, size);\n", i + 1);
        } else {
            fputs("0; /* not known: ", out);
            text_put_comment(part->limits[i].why, out);
            fputs(" */\n", out);
        }
    }
    fputs("    default:\n        return 0;\n    }\n", out);
}

static void put_is_legal(const struct table *table, const struct table_part *part, FILE *out)
{
    fputs("\nstatic inline int ", out);
    table_put_name(table, part, out);
    fputs("_is_legal(const struct ", out);
    table_put_op(table, part, out);
    fputs(" *entry, ", out);
    table_put_sizes(part, "int64_t ", out);
    fprintf(out, ")\n{\n    int64_t size[%d];\n    int i;\n", part->size_count);
    for (int i = 0; i < part->size_count; i++) {
        fprintf(out, "    size[%d] = ", i);
        table_put_member(part->size_names[i], out);
        fputs(";\n", out);
    }
    fprintf(out,
            "    if (!entry)\n"
            "        return 0;\n"
            "    if (%s_table_compare(size, entry->size, %d) == 0)\n"
            "        return 1;\n"
            "    for (i = 0; i < %d; i++)\n"
            "        if (size[i] < 1 || size[i] > INT32_MAX)\n"
            "            return 0;\n",
            table->prefix, part->size_count, part->size_count);
    put_cases(table, part, out);
    fputs("}\n", out);
}

void table_put_limits(const struct table *table, const struct table_part *part, FILE *out)
{
    for (int i = 0; i < part->limits_count; i++)
        if (part->limits[i].text)
            put_function(table, part, i + 1, out);
    put_is_legal(table, part, out);
}
