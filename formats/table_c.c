/* Prints C that compiles as C99 and as C++11: sorted arrays with a bisection for exact shapes and a
 * linear search for near ones. Names that the languages take for themselves get a line behind them,
 * and literals only characters that no compiler reads otherwise. What re-checks a tiling for
 * another shape has its body from elsewhere (kernels/limits_code.h); the arithmetic that it calls
 * never overflows: numbers stay within 2^62, and what does not is noted in *ok, as is what cannot
 * be. */
#include "core/number.h"
#include "formats/table.h"
#include "formats/text.h"

#include <ctype.h>
#include <string.h>

/* Words that name nothing in C or C++. */
static const char *const keywords[] = {
    "alignas",   "alignof",   "and",       "and_eq",   "asm",      "auto",      "bitand",
    "bitor",     "bool",      "break",     "case",     "catch",    "char",      "class",
    "co_await",  "co_return", "co_yield",  "compl",    "concept",  "const",     "consteval",
    "constexpr", "constinit", "continue",  "decltype", "default",  "delete",    "do",
    "double",    "else",      "enum",      "explicit", "export",   "extern",    "false",
    "float",     "for",       "friend",    "goto",     "if",       "inline",    "int",
    "long",      "mutable",   "namespace", "new",      "noexcept", "not",       "not_eq",
    "nullptr",   "operator",  "or",        "or_eq",    "private",  "protected", "public",
    "register",  "requires",  "restrict",  "return",   "short",    "signed",    "sizeof",
    "static",    "struct",    "switch",    "template", "this",     "throw",     "true",
    "try",       "typedef",   "typeid",    "typename", "union",    "unsigned",  "using",
    "virtual",   "void",      "volatile",  "while",    "xor",      "xor_eq",    "wchar_t",
};

bool table_is_prefix(const char *text)
{
    size_t length = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
    return length > 0 && length <= 64 && !text[length] && isalpha((unsigned char)*text);
}

void table_put_member(const char *name, FILE *out)
{
    bool taken = false;
    for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++)
        taken = taken || strcmp(keywords[i], name) == 0;
    for (const char *c = name; *c; c++)
        fputc(isalnum((unsigned char)*c) ? *c : '_', out);
    if (taken)
        fputc('_', out);
}

static void put_literal(const char *text, FILE *out)
{
    fputc('"', out);
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c < ' ' || c >= 127)
            fprintf(out, "\\%03o", c);
        else
            fprintf(out, strchr("\"\\?", c) ? "\\%c" : "%c", c);
    }
    fputc('"', out);
}

static void put_upper(const char *text, FILE *out)
{
    for (; *text; text++)
        fputc(isalnum((unsigned char)*text) ? toupper((unsigned char)*text) : '_', out);
}

/* "autotune_matmul" */
static void put_op(const struct table *table, const struct table_part *part, FILE *out)
{
    fprintf(out, "%s_", table->prefix);
    table_put_member(part->op, out);
}

/* "autotune_matmul_f16_transpose_a" */
static void put_name(const struct table *table, const struct table_part *part, FILE *out)
{
    put_op(table, part, out);
    fprintf(out, "_%s", part->type);
    for (int i = 0; i < part->choice_count; i++) {
        fputc('_', out);
        for (const char *c = part->choice_names[i]; *c; c++)
            fputc(isalnum((unsigned char)*c) ? *c : '_', out);
        fprintf(out, "_%s", part->choices[i]);
    }
}

/* Each size behind `type`. */
static void put_sizes(const struct table_part *part, const char *type, FILE *out)
{
    for (int i = 0; i < part->size_count; i++) {
        fprintf(out, "%s%s", i ? ", " : "", type);
        table_put_member(part->size_names[i], out);
    }
}

/* ------------------------------------------------------------------ arithmetic */

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

static void put_arithmetic(const struct table *table, FILE *out)
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
    put_name(table, part, out);
    fprintf(out, "_limits_%d(const struct ", number);
    put_op(table, part, out);
    fprintf(out, " *entry, const int64_t *size)\n{\n%s    return ok;\n}\n",
            part->limits[number - 1].text);
}

static void put_cases(const struct table *table, const struct table_part *part, FILE *out)
{
    fputs("    switch (entry->limits) {\n", out);
    for (int i = 0; i < part->limits_count; i++) {
        fprintf(out, "    case %d:\n        return ", i + 1);
        if (part->limits[i].text) {
            put_name(table, part, out);
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
    put_name(table, part, out);
    fputs("_is_legal(const struct ", out);
    put_op(table, part, out);
    fputs(" *entry, ", out);
    put_sizes(part, "int64_t ", out);
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

static void put_limits(const struct table *table, const struct table_part *part, FILE *out)
{
    for (int i = 0; i < part->limits_count; i++)
        if (part->limits[i].text)
            put_function(table, part, i + 1, out);
    put_is_legal(table, part, out);
}

/* ------------------------------------------------------------------ the header */

/* ------------------------------------------------------------------ the head */

/* Is there a part whose lookup re-checks, or one whose does not? */
static bool any_part(const struct table *table, bool is_checked)
{
    bool any = false;
    for (int p = 0; p < table->part_count; p++)
        any = any || (table->parts[p].limits_count > 0) == is_checked;
    return any;
}

static void put_what_is_checked(const struct table *table, FILE *out)
{
    bool checked = any_part(table, true), unchecked = any_part(table, false);
    if (checked)
        fputs(
            " *\n"
            " * NAME_lookup gives the nearest entry that NAME_is_legal says yes to, or a null "
            "pointer\n"
            " * where there is none. A yes means: on this chip every core has work, what the "
            "kernel\n"
            " * requires holds, and its tiles fit into the buffers. What cannot be said is a no.\n",
            out);
    if (unchecked)
        fprintf(out,
                " *\n"
                " * %s NAME_lookup does not check: the tiling of a near\n"
                " * entry may break a limit for the shape asked about. `autotune explain` says "
                "whether\n"
                " * it does.\n",
                checked ? "Where there is no NAME_is_legal,"
                        : "These tables have no NAME_is_legal, and");
    fputs(" */\n", out);
}

static void put_head(const struct table *table, FILE *out)
{
    fputs("/* The fastest tilings known, for including; made by\n *   ", out);
    text_put_comment(table->command, out);
    fprintf(out, "\n * with autotune %s, model version %d. Not to be edited.\n *\n * ",
            table->version, table->model_version);
    text_put_comment(table->hardware, out);
    fprintf(out, ", %d core%s, fingerprint %s; times are %s.\n", table->cores,
            table->cores == 1 ? "" : "s", table->fingerprint, table->kind);
    fputs(" *\n"
          " * For each table NAME there are functions of a shape:\n"
          " *   NAME_find      the entry of this very shape, or a null pointer; O(log entries)\n"
          " *   NAME_lookup    the same, or else the nearest entry; O(entries) where it is not "
          "exact\n",
          out);
    if (any_part(table, true))
        fputs(" *   NAME_is_legal  1: an entry's tiling breaks no limit for this shape\n", out);
    fputs(
        " * Nearest is the entry with the least sum of |ln(asked size / its size)| over all "
        "sizes,\n"
        " * found as the least product of ratios (larger / smaller, in double, multiplied in the\n"
        " * order of the sizes); of equally near ones the first in the table. A size below 1 "
        "gives\n"
        " * a null pointer.\n",
        out);
    put_what_is_checked(table, out);
    fputs("/* clang-format off */\n", out);
    fputs("#ifndef ", out);
    put_upper(table->prefix, out);
    fputs("_TABLE_H\n#define ", out);
    put_upper(table->prefix, out);
    fputs("_TABLE_H\n\n#include <stddef.h>\n#include <stdint.h>\n\n", out);
}

static void put_macro(const struct table *table, const char *name, const char *text, FILE *out)
{
    fputs("#define ", out);
    put_upper(table->prefix, out);
    fprintf(out, "_TABLE_%s ", name);
    put_literal(text, out);
    fputc('\n', out);
}

static void put_macros(const struct table *table, FILE *out)
{
    put_macro(table, "VERSION", table->version, out);
    put_macro(table, "HARDWARE", table->hardware, out);
    put_macro(table, "FINGERPRINT", table->fingerprint, out);
    put_macro(table, "KIND", table->kind, out);
    fputs("#define ", out);
    put_upper(table->prefix, out);
    fprintf(out, "_TABLE_CORES %d\n#define ", table->cores);
    put_upper(table->prefix, out);
    fprintf(out, "_TABLE_MODEL_VERSION %d\n", table->model_version);
}

static void put_helpers(const struct table *table, FILE *out)
{
    fprintf(
        out,
        "\n/* Sizes in the order of the table: less than, equal to or more than 0. */\n"
        "static inline int %s_table_compare(const int64_t *a, const int64_t *b, int count)\n"
        "{\n"
        "    int i;\n"
        "    for (i = 0; i < count; i++)\n"
        "        if (a[i] != b[i])\n"
        "            return a[i] < b[i] ? -1 : 1;\n"
        "    return 0;\n"
        "}\n\n"
        "/* How far two shapes are apart: the product of their sizes' ratios, 1 or more. */\n"
        "static inline double %s_table_distance(const int64_t *a, const int64_t *b, int count)\n"
        "{\n"
        "    double product = 1;\n"
        "    int i;\n"
        "    for (i = 0; i < count; i++)\n"
        "        product *= a[i] < b[i] ? (double)b[i] / (double)a[i] : (double)a[i] / "
        "(double)b[i];\n"
        "    return product;\n"
        "}\n",
        table->prefix, table->prefix);
}

/* ------------------------------------------------------------------ a part */

static void put_struct(const struct table *table, const struct table_part *part, FILE *out)
{
    fprintf(out, "\n/* %s in the space %s%s%s. */\nstruct ", part->op, part->space,
            part->kernel ? ", kernel " : "", part->kernel ? part->kernel : "");
    put_op(table, part, out);
    fputs(" {\n    int64_t size[", out);
    fprintf(out, "%d]; /* ", part->size_count);
    put_sizes(part, "", out);
    fputs(" */\n    struct {\n", out);
    for (int a = 0; a < part->axis_count; a++) {
        fputs(part->axis_is_word[a] ? "        const char *" : "        int64_t ", out);
        table_put_member(part->axis_names[a], out);
        fputs(";\n", out);
    }
    fprintf(
        out,
        "    } tiling;\n"
        "    double time_ns; /* %s */\n"
        "    int optimal;    /* 1: nothing in the space is faster; 0: the search was cut off */\n"
        "%s};\n",
        table->kind,
        part->limits_count ? "    int limits;     /* which of them NAME_is_legal asks */\n" : "");
}

static void put_real(double value, FILE *out)
{
    char text[32];
    number_text(value, text);
    fprintf(out, strpbrk(text, ".e") ? "%s" : "%s.0", text);
}

static void put_entry(const struct table_part *part, const struct table_entry *entry, FILE *out)
{
    fputs("    {{", out);
    for (int i = 0; i < part->size_count; i++)
        fprintf(out, "%s%lld", i ? ", " : "", (long long)entry->size[i]);
    fputs("}, {", out);
    for (int a = 0; a < part->axis_count; a++) {
        fputs(a ? ", " : "", out);
        if (entry->value[a].word)
            put_literal(entry->value[a].word, out);
        else
            fprintf(out, "%lld", (long long)entry->value[a].number);
    }
    fputs("}, ", out);
    put_real(entry->time_ns, out);
    fprintf(out, ", %d", entry->optimal);
    if (part->limits_count)
        fprintf(out, ", %d", entry->limits);
    fputs("},\n", out);
}

static void put_entries(const struct table *table, const struct table_part *part, FILE *out)
{
    fprintf(out, "\n/* %s, %s", part->op, part->type);
    for (int i = 0; i < part->choice_count; i++)
        fprintf(out, ", %s %s", part->choice_names[i], part->choices[i]);
    fprintf(out, ": %lld shape%s. */\nenum { ", (long long)part->count,
            part->count == 1 ? "" : "s");
    put_name(table, part, out);
    fprintf(out, "_count = %lld };\nstatic const struct ", (long long)part->count);
    put_op(table, part, out);
    fputc(' ', out);
    put_name(table, part, out);
    fprintf(out, "[%lld] = {\n", (long long)part->count);
    for (int64_t i = 0; i < part->count; i++)
        put_entry(part, &part->entries[i], out);
    fputs("};\n", out);
}

/* The head of one of the two functions, up to the array `size`. */
static void put_signature(const struct table *table, const struct table_part *part,
                          const char *function, FILE *out)
{
    fputs("\nstatic inline const struct ", out);
    put_op(table, part, out);
    fputs(" *", out);
    put_name(table, part, out);
    fprintf(out, "_%s(", function);
    put_sizes(part, "int64_t ", out);
    fputs(")\n{\n", out);
}

static void put_find(const struct table *table, const struct table_part *part, FILE *out)
{
    put_signature(table, part, "find", out);
    fprintf(out, "    int64_t size[%d];\n    int first = 0, last = %lld;\n", part->size_count,
            (long long)part->count);
    for (int i = 0; i < part->size_count; i++) {
        fprintf(out, "    size[%d] = ", i);
        table_put_member(part->size_names[i], out);
        fputs(";\n", out);
    }
    fputs("    while (first < last) {\n"
          "        int middle = first + (last - first) / 2;\n",
          out);
    fprintf(out, "        int order = %s_table_compare(size, ", table->prefix);
    put_name(table, part, out);
    fprintf(out, "[middle].size, %d);\n        if (order == 0)\n            return &",
            part->size_count);
    put_name(table, part, out);
    fputs("[middle];\n"
          "        if (order < 0)\n"
          "            last = middle;\n"
          "        else\n"
          "            first = middle + 1;\n"
          "    }\n"
          "    return NULL;\n"
          "}\n",
          out);
}

/* Of nearer ones only those count that are legal. */
static void put_nearer(const struct table *table, const struct table_part *part, FILE *out)
{
    fprintf(out,
            "    for (i = 0; i < %lld; i++) {\n"
            "        distance = %s_table_distance(size, ",
            (long long)part->count, table->prefix);
    put_name(table, part, out);
    fprintf(out, "[i].size, %d);\n        if (%s", part->size_count,
            part->limits_count ? "(!nearest || distance < least) &&\n            "
                               : "!nearest || distance < least");
    if (part->limits_count) {
        put_name(table, part, out);
        fputs("_is_legal(&", out);
        put_name(table, part, out);
        fputs("[i], ", out);
        put_sizes(part, "", out);
        fputc(')', out);
    }
    fputs(") {\n"
          "            least = distance;\n"
          "            nearest = &",
          out);
    put_name(table, part, out);
    fputs("[i];\n"
          "        }\n"
          "    }\n"
          "    return nearest;\n"
          "}\n",
          out);
}

static void put_lookup(const struct table *table, const struct table_part *part, FILE *out)
{
    put_signature(table, part, "lookup", out);
    fprintf(out,
            "    int64_t size[%d];\n    double least = 0, distance;\n    int i;\n    const struct ",
            part->size_count);
    put_op(table, part, out);
    fputs(" *nearest = ", out);
    put_name(table, part, out);
    fputs("_find(", out);
    put_sizes(part, "", out);
    fputs(");\n    if (nearest)\n        return nearest;\n", out);
    for (int i = 0; i < part->size_count; i++) {
        fprintf(out, "    size[%d] = ", i);
        table_put_member(part->size_names[i], out);
        fputs(";\n", out);
    }
    fprintf(out,
            "    for (i = 0; i < %d; i++)\n"
            "        if (size[i] < 1)\n"
            "            return NULL;\n",
            part->size_count);
    put_nearer(table, part, out);
}

enum status table_write_c(const struct table *table, FILE *out, struct error *error)
{
    put_head(table, out);
    put_macros(table, out);
    put_helpers(table, out);
    put_arithmetic(table, out);
    for (int p = 0; p < table->part_count; p++) {
        const struct table_part *part = &table->parts[p];
        if (p == 0 || strcmp(part->op, table->parts[p - 1].op) != 0)
            put_struct(table, part, out);
        put_entries(table, part, out);
        put_find(table, part, out);
        if (part->limits_count)
            put_limits(table, part, out);
        put_lookup(table, part, out);
    }
    fputs("\n#endif\n", out);
    return ferror(out) ? error_set(error, STATUS_IO, "cannot write the table") : STATUS_OK;
}
