/* Prints C that compiles as C99 and as C++11: sorted arrays with a bisection for exact shapes and a
 * linear search for near ones. Names that the languages take for themselves get a line behind them,
 * and literals only characters that no compiler reads otherwise. */
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

/* A name of a member; one that C or C++ takes for itself gets a line behind it. */
static void put_member(const char *name, FILE *out)
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
    put_member(part->op, out);
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

/* "int64_t m, int64_t k, int64_t n" */
static void put_sizes(const struct table_part *part, const char *type, FILE *out)
{
    for (int i = 0; i < part->size_count; i++) {
        fprintf(out, "%s%s", i ? ", " : "", type);
        put_member(part->size_names[i], out);
    }
}

/* ------------------------------------------------------------------ the head */

static void put_head(const struct table *table, FILE *out)
{
    fputs("/* The fastest tilings known, for including; made by\n *   ", out);
    text_put_comment(table->command, out);
    fprintf(out, "\n * with autotune %s, model version %d. Not to be edited.\n *\n * ",
            table->version, table->model_version);
    text_put_comment(table->hardware, out);
    fprintf(out, ", %d core%s, fingerprint %s; times are %s.\n", table->cores,
            table->cores == 1 ? "" : "s", table->fingerprint, table->kind);
    fputs(
        " *\n"
        " * For each table NAME there are two functions of a shape:\n"
        " *   NAME_find    the entry of this very shape, or a null pointer; O(log entries)\n"
        " *   NAME_lookup  the same, or else the nearest entry; O(entries) where it is not exact\n"
        " * Nearest is the entry with the least sum of |ln(asked size / its size)| over all "
        "sizes,\n"
        " * found as the least product of ratios (larger / smaller, in double, multiplied in the\n"
        " * order of the sizes); of equally near ones the first in the table. Its tiling may "
        "break\n"
        " * a limit for the shape asked about: `autotune explain` says whether it does. A size\n"
        " * below 1 gives a null pointer. */\n"
        "/* clang-format off */\n",
        out);
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
        put_member(part->axis_names[a], out);
        fputs(";\n", out);
    }
    fprintf(
        out,
        "    } tiling;\n"
        "    double time_ns; /* %s */\n"
        "    int optimal;    /* 1: nothing in the space is faster; 0: the search was cut off */\n"
        "};\n",
        table->kind);
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
    fprintf(out, ", %d},\n", entry->optimal);
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
        put_member(part->size_names[i], out);
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

static void put_lookup(const struct table *table, const struct table_part *part, FILE *out)
{
    put_signature(table, part, "lookup", out);
    fprintf(out,
            "    int64_t size[%d];\n    double least, distance;\n    int i, nearest = 0;\n    "
            "const struct ",
            part->size_count);
    put_op(table, part, out);
    fputs(" *exact = ", out);
    put_name(table, part, out);
    fputs("_find(", out);
    put_sizes(part, "", out);
    fputs(");\n    if (exact)\n        return exact;\n", out);
    for (int i = 0; i < part->size_count; i++) {
        fprintf(out, "    size[%d] = ", i);
        put_member(part->size_names[i], out);
        fputs(";\n", out);
    }
    fprintf(out,
            "    for (i = 0; i < %d; i++)\n"
            "        if (size[i] < 1)\n"
            "            return NULL;\n"
            "    least = %s_table_distance(size, ",
            part->size_count, table->prefix);
    put_name(table, part, out);
    fprintf(out, "[0].size, %d);\n    for (i = 1; i < %lld; i++) {\n", part->size_count,
            (long long)part->count);
    fprintf(out, "        distance = %s_table_distance(size, ", table->prefix);
    put_name(table, part, out);
    fprintf(out,
            "[i].size, %d);\n"
            "        if (distance < least) {\n"
            "            least = distance;\n"
            "            nearest = i;\n"
            "        }\n"
            "    }\n"
            "    return &",
            part->size_count);
    put_name(table, part, out);
    fputs("[nearest];\n}\n", out);
}

enum status table_write_c(const struct table *table, FILE *out, struct error *error)
{
    put_head(table, out);
    put_macros(table, out);
    put_helpers(table, out);
    for (int p = 0; p < table->part_count; p++) {
        const struct table_part *part = &table->parts[p];
        if (p == 0 || strcmp(part->op, table->parts[p - 1].op) != 0)
            put_struct(table, part, out);
        put_entries(table, part, out);
        put_find(table, part, out);
        put_lookup(table, part, out);
    }
    fputs("\n#endif\n", out);
    return ferror(out) ? error_set(error, STATUS_IO, "cannot write the table") : STATUS_OK;
}
