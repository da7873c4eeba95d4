/* Prints C that compiles as C99 and as C++11: sorted arrays with a bisection for exact shapes and a
 * linear search for near ones. Names that the languages take for themselves get a line behind them,
 * and literals only characters that no compiler reads otherwise. */
#include "formats/table_c.h"
#include "core/number.h"
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

void table_put_op(const struct table *table, const struct table_part *part, FILE *out)
{
    fprintf(out, "%s_", table->prefix);
    table_put_member(part->op, out);
}

void table_put_name(const struct table *table, const struct table_part *part, FILE *out)
{
    table_put_op(table, part, out);
    fprintf(out, "_%s", part->type);
    for (int i = 0; i < part->choice_count; i++) {
        fputc('_', out);
        for (const char *c = part->choice_names[i]; *c; c++)
            fputc(isalnum((unsigned char)*c) ? *c : '_', out);
        fprintf(out, "_%s", part->choices[i]);
    }
}

void table_put_sizes(const struct table_part *part, const char *type, FILE *out)
{
    for (int i = 0; i < part->size_count; i++) {
        fprintf(out, "%s%s", i ? ", " : "", type);
        table_put_member(part->size_names[i], out);
    }
}

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
    table_put_op(table, part, out);
    fputs(" {\n    int64_t size[", out);
    fprintf(out, "%d]; /* ", part->size_count);
    table_put_sizes(part, "", out);
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
    table_put_name(table, part, out);
    fprintf(out, "_count = %lld };\nstatic const struct ", (long long)part->count);
    table_put_op(table, part, out);
    fputc(' ', out);
    table_put_name(table, part, out);
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
    table_put_op(table, part, out);
    fputs(" *", out);
    table_put_name(table, part, out);
    fprintf(out, "_%s(", function);
    table_put_sizes(part, "int64_t ", out);
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
    table_put_name(table, part, out);
    fprintf(out, "[middle].size, %d);\n        if (order == 0)\n            return &",
            part->size_count);
    table_put_name(table, part, out);
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
    table_put_name(table, part, out);
    fprintf(out, "[i].size, %d);\n        if (%s", part->size_count,
            part->limits_count ? "(!nearest || distance < least) &&\n            "
                               : "!nearest || distance < least");
    if (part->limits_count) {
        table_put_name(table, part, out);
        fputs("_is_legal(&", out);
        table_put_name(table, part, out);
        fputs("[i], ", out);
        table_put_sizes(part, "", out);
        fputc(')', out);
    }
    fputs(") {\n"
          "            least = distance;\n"
          "            nearest = &",
          out);
    table_put_name(table, part, out);
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
    table_put_op(table, part, out);
    fputs(" *nearest = ", out);
    table_put_name(table, part, out);
    fputs("_find(", out);
    table_put_sizes(part, "", out);
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
    table_put_arithmetic(table, out);
    for (int p = 0; p < table->part_count; p++) {
        const struct table_part *part = &table->parts[p];
        if (p == 0 || strcmp(part->op, table->parts[p - 1].op) != 0)
            put_struct(table, part, out);
        put_entries(table, part, out);
        put_find(table, part, out);
        if (part->limits_count)
            table_put_limits(table, part, out);
        put_lookup(table, part, out);
    }
    fputs("\n#endif\n", out);
    return ferror(out) ? error_set(error, STATUS_IO, "cannot write the table") : STATUS_OK;
}
