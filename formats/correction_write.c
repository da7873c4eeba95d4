/* The small parts are laid out by jansson; of the long ones every feature and every tree is a line,
 * so that two files can be compared. */
#include "formats/correction_file.h"
#include "formats/json.h"

#include <stdlib.h>
#include <string.h>

static bool beside(const char *description, const char *suffix, char *file, size_t size)
{
    const char *dot = strrchr(description, '.');
    bool ends = dot && (strcmp(dot, ".cfg") == 0 || strcmp(dot, ".ini") == 0);
    size_t length = ends ? (size_t)(dot - description) : strlen(description);
    int written = snprintf(file, size, "%.*s%s", (int)length, description, suffix);
    return written > 0 && (size_t)written < size;
}

bool correction_file_name(const char *description, char *file, size_t size)
{
    return beside(description, CORRECTION_SUFFIX, file, size);
}

bool network_file_name(const char *description, char *file, size_t size)
{
    return beside(description, NETWORK_SUFFIX, file, size);
}

/* ------------------------------------------------------------------ members */

static void put_comma(int i, int count, FILE *out)
{
    fputs(i + 1 < count ? ",\n" : "\n", out);
}

/* A value on one line. */
static bool put_line(json_t *value, FILE *out)
{
    bool fits = value && json_dumpf(value, out,
                                    JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(15)) == 0;
    json_decref(value);
    return fits;
}

static bool put_member(const char *name, json_t *value, FILE *out)
{
    fprintf(out, "  \"%s\": ", name);
    bool fits = put_line(value, out);
    fputs(",\n", out);
    return fits;
}

static json_t *figures_json(const double figures[3])
{
    json_t *list = json_array();
    for (int i = 0; i < 3; i++)
        json_array_append_new(list, json_number(figures[i]));
    return list;
}

static bool put_banks(const struct correction *c, FILE *out)
{
    bool fits = true;
    fputs("  \"banks\": [\n", out);
    for (int i = 0; i < c->bank_count; i++) {
        const struct trained_bank *b = &c->banks[i];
        fits &= put_line(json_pack("{s:o, s:o, s:I, s:b}", "file", json_text(b->file), "chip",
                                   json_text(b->chip), "rows", (json_int_t)b->rows, "own", b->own),
                         out);
        put_comma(i, c->bank_count, out);
    }
    fputs("  ],\n", out);
    return fits;
}

static bool put_qualities(const struct correction *c, FILE *out)
{
    bool fits = true;
    fputs("  \"cross_validated\": [\n", out);
    for (int i = 0; i < c->quality_count; i++) {
        const struct trained_quality *q = &c->qualities[i];
        fits &= put_line(json_pack("{s:s, s:I, s:o, s:o, s:o, s:o}", "rows", q->rows, "used",
                                   (json_int_t)q->used, "simulated", figures_json(q->simulated),
                                   "line", figures_json(q->line), "corrected",
                                   figures_json(q->corrected), "covers", json_number(q->covers)),
                         out);
        put_comma(i, c->quality_count, out);
    }
    fputs("  ],\n", out);
    return fits;
}

static bool put_laws(const struct correction *c, FILE *out)
{
    bool fits = true;
    if (!c->law_count)
        return true;
    fits &= put_member("margin_unknown", json_real(c->margin_unknown), out);
    fits &= put_member("together", json_real(c->together), out);
    fputs("  \"laws\": [\n", out);
    for (int i = 0; i < c->law_count; i++) {
        const struct trained_law *law = &c->laws[i];
        json_t *costs = json_array();
        for (int t = 0; t < law->term_count; t++)
            json_array_append_new(costs, json_real(law->costs_us[t]));
        fits &= put_line(json_pack("{s:o, s:I, s:f, s:f, s:o}", "kind", json_text(law->kind),
                                   "rows", (json_int_t)law->rows, "spread", law->spread, "lean",
                                   law->lean, "costs_us", costs),
                         out);
        put_comma(i, c->law_count, out);
    }
    fputs("  ],\n", out);
    return fits;
}

static bool put_features(const struct correction *c, FILE *out)
{
    bool fits = true;
    fputs("  \"features\": [\n", out);
    for (int i = 0; i < c->feature_count; i++) {
        const struct trained_feature *f = &c->features[i];
        json_t *cuts = json_array();
        for (int k = 0; k < f->cut_count; k++)
            json_array_append_new(cuts, json_real(f->cuts[k]));
        fits &= put_line(json_pack("{s:o, s:f, s:f, s:o}", "name", json_text(f->name), "low",
                                   f->low, "high", f->high, "cuts", cuts),
                         out);
        put_comma(i, c->feature_count, out);
    }
    fputs("  ],\n", out);
    return fits;
}

/* [feature,cut,…],[leaf,…] */
static void put_tree(const struct boosted_tree *tree, FILE *out)
{
    fputs("[[", out);
    for (int d = 0; d < tree->depth; d++)
        fprintf(out, "%s%d,%d", d ? "," : "", tree->feature[d], tree->cut[d]);
    fputs("],[", out);
    for (int l = 0; l < 1 << tree->depth; l++)
        fprintf(out, "%s%d", l ? "," : "", tree->leaf[l]);
    fputs("]]", out);
}

static void put_forests(const struct correction *c, FILE *out)
{
    fputs("  \"forests\": [\n", out);
    for (int i = 0; i < CORRECT_FORESTS; i++) {
        const struct forest *f = &c->forests[i];
        fprintf(out, "    {\"quantile\": %.15g, \"start\": %d, \"trees\": [\n", f->quantile,
                f->start);
        for (int t = 0; t < f->tree_count; t++) {
            put_tree(&f->trees[t], out);
            put_comma(t, f->tree_count, out);
        }
        fprintf(out, "    ]}%s\n", i + 1 < CORRECT_FORESTS ? "," : "");
    }
    fputs("  ]\n", out);
}

static json_t *problems_json(const struct correction *c)
{
    json_t *list = json_array();
    for (int64_t i = 0; i < c->problem_count; i++)
        json_array_append_new(list, json_integer(c->problems[i]));
    return list;
}

static bool put_all(const struct correction *c, FILE *out)
{
    fputs("{\n", out);
    bool fits = put_member("schema", json_integer(1), out);
    fits &= put_member("chip", json_text(c->chip), out);
    fits &= put_member("op", json_text(c->op), out);
    fits &= put_member("space", json_text(c->space), out);
    fits &= put_member("model_version", json_integer(c->model_version), out);
    fits &= put_member("fingerprint", json_text(c->fingerprint), out);
    fits &= put_member("clock_mhz", json_real(c->clock_mhz), out);
    fits &= put_member("seed", json_integer((json_int_t)c->seed), out);
    fits &= put_banks(c, out) && put_qualities(c, out);
    fits &= put_member("covers", json_real(c->covers), out);
    fits &= put_member("margin", json_real(c->margin), out);
    fits &= put_member("problems", problems_json(c), out);
    fits &= put_laws(c, out);
    fits &= put_features(c, out);
    put_forests(c, out);
    fputs("}\n", out);
    return fits;
}

enum status correction_text(const struct correction *correction, char **text, size_t *length,
                            struct error *error)
{
    *text = NULL;
    FILE *out = open_memstream(text, length);
    if (!out)
        return error_memory(error);
    bool fits = put_all(correction, out);
    if (fclose(out) == 0 && fits)
        return STATUS_OK;
    free(*text);
    *text = NULL;
    return error_memory(error);
}
