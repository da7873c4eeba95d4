/* A document is read member by member, each by a function that says what was expected of it; a
 * member's name in messages is its way from the top, as in features[3].cuts[2]. Members that nobody
 * asked for are passed over. It is written with the small parts laid out by jansson; of the long
 * ones every feature and every tree is a line, so that two files can be compared. */
#include "formats/correction_file.h"
#include "core/text_stream.h"
#include "formats/json.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct reader {
    const char *file;
    struct error *error;
    char place[64]; /* of the object at hand, with a dot: "features[3]." */
};

static enum status refuse_member(const struct reader *r, const char *name, const char *expected)
{
    return error_at(r->error, r->file, 0, "%s%s: expected %s", r->place, name, expected);
}

/* Into an item of a list at the top, or out of it again. */
static void enter_item(struct reader *r, const char *list, size_t item)
{
    snprintf(r->place, sizeof r->place, "%s[%zu].", list, item);
}

static void leave_item(struct reader *r)
{
    r->place[0] = '\0';
}

static enum status take_integer(const struct reader *r, const json_t *object, const char *name,
                                int64_t low, int64_t high, int64_t *value)
{
    char expected[96];
    const json_t *number = json_object_get(object, name);
    *value = json_integer_value(number);
    if (json_is_integer(number) && *value >= low && *value <= high)
        return STATUS_OK;
    snprintf(expected, sizeof expected, "an integer from %lld to %lld", (long long)low,
             (long long)high);
    return refuse_member(r, name, expected);
}

static enum status take_number(const struct reader *r, const json_t *object, const char *name,
                               double low, double high, double *value)
{
    char expected[96];
    const json_t *number = json_object_get(object, name);
    *value = json_number_value(number);
    if (json_is_number(number) && *value >= low && *value <= high)
        return STATUS_OK;
    snprintf(expected, sizeof expected, "a number from %g to %g", low, high);
    return refuse_member(r, name, expected);
}

static enum status take_text(const struct reader *r, const json_t *object, const char *name,
                             char *text, size_t size)
{
    char expected[96];
    const char *value = json_string_value(json_object_get(object, name));
    snprintf(expected, sizeof expected, "a text of 1 to %zu bytes", size - 1);
    if (!value || !*value || strlen(value) >= size)
        return refuse_member(r, name, expected);
    memcpy(text, value, strlen(value) + 1);
    return STATUS_OK;
}

static enum status take_list(const struct reader *r, const json_t *object, const char *name,
                             size_t most, const json_t **list)
{
    char expected[96];
    *list = json_object_get(object, name);
    if (json_is_array(*list) && json_array_size(*list) <= most)
        return STATUS_OK;
    snprintf(expected, sizeof expected, "a list of at most %zu", most);
    return refuse_member(r, name, expected);
}

/* ------------------------------------------------------------------ what it was learned from */

static enum status take_banks(struct reader *r, const json_t *top, struct correction *c)
{
    const json_t *list;
    TRY(take_list(r, top, "banks", CORRECTION_MAX_BANKS, &list));
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *bank = json_array_get(list, i);
        struct trained_bank *b = &c->banks[c->bank_count++];
        enter_item(r, "banks", i);
        TRY(take_text(r, bank, "file", b->file, sizeof b->file));
        TRY(take_text(r, bank, "chip", b->chip, sizeof b->chip));
        TRY(take_integer(r, bank, "rows", 0, INT64_MAX, &b->rows));
        b->own = json_is_true(json_object_get(bank, "own"));
    }
    leave_item(r);
    return STATUS_OK;
}

static double number_or_nan(const json_t *value)
{
    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

static enum status take_figures(const struct reader *r, const json_t *object, const char *name,
                                double figures[3])
{
    const json_t *list;
    TRY(take_list(r, object, name, 3, &list));
    for (size_t i = 0; i < 3; i++)
        figures[i] = number_or_nan(json_array_get(list, i));
    return STATUS_OK;
}

static enum status take_qualities(struct reader *r, const json_t *top, struct correction *c)
{
    const json_t *list;
    TRY(take_list(r, top, "cross_validated", CORRECTION_MAX_QUALITIES, &list));
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *quality = json_array_get(list, i);
        struct trained_quality *q = &c->qualities[c->quality_count++];
        enter_item(r, "cross_validated", i);
        TRY(take_text(r, quality, "rows", q->rows, sizeof q->rows));
        TRY(take_integer(r, quality, "used", 0, INT64_MAX, &q->used));
        TRY(take_figures(r, quality, "simulated", q->simulated));
        TRY(take_figures(r, quality, "line", q->line));
        TRY(take_figures(r, quality, "corrected", q->corrected));
        q->covers = number_or_nan(json_object_get(quality, "covers"));
    }
    leave_item(r);
    return STATUS_OK;
}

static enum status take_problems(const struct reader *r, const json_t *top, struct correction *c)
{
    const json_t *list;
    TRY(take_list(r, top, "problems", CORRECTION_MAX_PROBLEMS, &list));
    c->problems = calloc(json_array_size(list) + 1, sizeof *c->problems);
    if (!c->problems)
        return error_memory(r->error);
    json_int_t last = -1;
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *item = json_array_get(list, i);
        json_int_t value = json_integer_value(item);
        if (!json_is_integer(item) || value <= last || value > UINT32_MAX)
            return refuse_member(r, "problems", "integers below 2^32 that ascend");
        c->problems[c->problem_count++] = (uint32_t)value;
        last = value;
    }
    return STATUS_OK;
}

/* ------------------------------------------------------------------ what was learned */

static enum status take_cuts(const struct reader *r, const json_t *object,
                             struct trained_feature *f)
{
    const json_t *list;
    TRY(take_list(r, object, "cuts", CORRECTION_MAX_CUTS, &list));
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *cut = json_array_get(list, i);
        double value = json_number_value(cut);
        if (!json_is_number(cut) || (i > 0 && !(value > f->cuts[i - 1])))
            return refuse_member(r, "cuts", "numbers that ascend");
        f->cuts[f->cut_count++] = value;
    }
    return STATUS_OK;
}

static enum status take_features(struct reader *r, const json_t *top, struct correction *c)
{
    const json_t *list;
    TRY(take_list(r, top, "features", FEATURES_MAX, &list));
    c->features = calloc(json_array_size(list) + 1, sizeof *c->features);
    if (!c->features)
        return error_memory(r->error);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *feature = json_array_get(list, i);
        struct trained_feature *f = &c->features[c->feature_count++];
        enter_item(r, "features", i);
        TRY(take_text(r, feature, "name", f->name, sizeof f->name));
        TRY(take_number(r, feature, "low", -1e300, 1e300, &f->low));
        TRY(take_number(r, feature, "high", f->low, 1e300, &f->high));
        TRY(take_cuts(r, feature, f));
    }
    leave_item(r);
    return STATUS_OK;
}

static enum status take_costs(const struct reader *r, const json_t *item, struct trained_law *law)
{
    const json_t *list;
    TRY(take_list(r, item, "costs_us", LAW_MAX_TERMS, &list));
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *cost = json_array_get(list, i);
        double value = json_number_value(cost);
        if (!json_is_number(cost) || !(value >= 0 && value <= 1e6))
            return refuse_member(r, "costs_us", "numbers from 0 to 1e+06");
        law->costs_us[law->term_count++] = value;
    }
    return STATUS_OK;
}

/* Only what corrects laws has them. */
static enum status take_laws(struct reader *r, const json_t *top, struct correction *c)
{
    const json_t *list;
    if (!json_object_get(top, "laws"))
        return STATUS_OK;
    TRY(take_number(r, top, "margin_unknown", -100, 100, &c->margin_unknown));
    TRY(take_number(r, top, "together", 0, 100, &c->together));
    TRY(take_list(r, top, "laws", CORRECTION_MAX_LAWS, &list));
    c->laws = calloc(json_array_size(list) + 1, sizeof *c->laws);
    if (!c->laws)
        return error_memory(r->error);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *item = json_array_get(list, i);
        struct trained_law *law = &c->laws[c->law_count];
        enter_item(r, "laws", i);
        TRY(take_text(r, item, "kind", law->kind, sizeof law->kind));
        if (correction_law(c, law->kind))
            return refuse_member(r, "kind", "a kind that no law before it has");
        TRY(take_integer(r, item, "rows", 0, INT64_MAX, &law->rows));
        TRY(take_number(r, item, "spread", 0, 100, &law->spread));
        TRY(take_number(r, item, "lean", -100, 100, &law->lean));
        TRY(take_costs(r, item, law));
        c->law_count++;
    }
    leave_item(r);
    return STATUS_OK;
}

/* A tree asks of features that there are about cuts that they have. */
static enum status take_tree(const struct reader *r, const json_t *item, const struct correction *c,
                             struct boosted_tree *tree)
{
    const json_t *asks = json_array_get(item, 0), *leaves = json_array_get(item, 1);
    size_t numbers = json_array_size(asks);
    if (!json_is_array(asks) || numbers % 2 || numbers / 2 > CORRECTION_MAX_DEPTH ||
        json_array_size(leaves) != (size_t)1 << numbers / 2)
        return refuse_member(r, "", "[[feature,cut,...],[leaf,...]] with a leaf for all answers");
    for (size_t i = 0; i < numbers; i += 2) {
        json_int_t f = json_integer_value(json_array_get(asks, i));
        json_int_t cut = json_integer_value(json_array_get(asks, i + 1));
        if (f < 0 || f >= c->feature_count || cut < 0 || cut >= c->features[f].cut_count)
            return refuse_member(r, "", "a feature and a cut that are listed");
        tree->feature[tree->depth] = (uint8_t)f;
        tree->cut[tree->depth++] = (uint8_t)cut;
    }
    for (size_t i = 0; i < json_array_size(leaves); i++) {
        const json_t *leaf = json_array_get(leaves, i);
        json_int_t value = json_integer_value(leaf);
        if (!json_is_integer(leaf) || value < -1000000000 || value > 1000000000)
            return refuse_member(r, "", "leaves that are integers up to 10^9");
        tree->leaf[i] = (int32_t)value;
    }
    return STATUS_OK;
}

static enum status take_forest(struct reader *r, const json_t *item, size_t number,
                               struct correction *c)
{
    const json_t *list;
    int64_t start;
    struct forest *forest = &c->forests[number];
    enter_item(r, "forests", number);
    TRY(take_number(r, item, "quantile", 0, 1, &forest->quantile));
    TRY(take_integer(r, item, "start", -1000000000, 1000000000, &start));
    TRY(take_list(r, item, "trees", CORRECTION_MAX_TREES, &list));
    forest->start = (int32_t)start;
    forest->trees = calloc(json_array_size(list) + 1, sizeof *forest->trees);
    if (!forest->trees)
        return error_memory(r->error);
    for (size_t t = 0; t < json_array_size(list); t++) {
        snprintf(r->place, sizeof r->place, "forests[%zu].trees[%zu]", number, t);
        TRY(take_tree(r, json_array_get(list, t), c, &forest->trees[forest->tree_count++]));
    }
    leave_item(r);
    return STATUS_OK;
}

static enum status take_all(struct reader *r, const json_t *top, struct correction *c)
{
    int64_t schema, version, seed;
    TRY(take_integer(r, top, "schema", 1, 1, &schema));
    TRY(take_text(r, top, "chip", c->chip, sizeof c->chip));
    TRY(take_text(r, top, "op", c->op, sizeof c->op));
    TRY(take_text(r, top, "space", c->space, sizeof c->space));
    TRY(take_integer(r, top, "model_version", 1, INT32_MAX, &version));
    TRY(take_text(r, top, "fingerprint", c->fingerprint, sizeof c->fingerprint));
    TRY(take_number(r, top, "clock_mhz", 1, 1e6, &c->clock_mhz));
    TRY(take_integer(r, top, "seed", 0, INT64_MAX, &seed));
    c->model_version = (int)version;
    c->seed = (uint64_t)seed;
    TRY(take_banks(r, top, c));
    TRY(take_qualities(r, top, c));
    TRY(take_number(r, top, "covers", 0, 1, &c->covers));
    TRY(take_number(r, top, "margin", -100, 100, &c->margin));
    TRY(take_problems(r, top, c));
    TRY(take_laws(r, top, c));
    TRY(take_features(r, top, c));
    const json_t *list = json_object_get(top, "forests");
    if (json_array_size(list) != CORRECT_FORESTS)
        return refuse_member(r, "forests", "a list of 3: the middle, the low and the high end");
    for (size_t f = 0; f < CORRECT_FORESTS; f++)
        TRY(take_forest(r, json_array_get(list, f), f, c));
    return STATUS_OK;
}

enum status correction_read(const char *file, struct correction *correction, struct error *error)
{
    json_error_t problem;
    struct reader r = {.file = file, .error = error};
    *correction = (struct correction){0};
    json_t *top = json_load_file(file, JSON_REJECT_DUPLICATES, &problem);
    if (!top && json_error_code(&problem) == json_error_cannot_open_file)
        return error_set(error, STATUS_IO, "%s: cannot be read", file);
    if (!top)
        return error_at(error, file, problem.line, "%s, expected a learned correction as JSON",
                        problem.text);
    enum status status = take_all(&r, top, correction);
    json_decref(top);
    if (status != STATUS_OK)
        correction_clear(correction);
    return status;
}

/* ------------------------------------------------------------------ names */

static bool name_beside(const char *description, const char *suffix, char *file, size_t size)
{
    const char *dot = strrchr(description, '.');
    bool ends = dot && (strcmp(dot, ".cfg") == 0 || strcmp(dot, ".ini") == 0);
    size_t length = ends ? (size_t)(dot - description) : strlen(description);
    int written = snprintf(file, size, "%.*s%s", (int)length, description, suffix);
    return written > 0 && (size_t)written < size;
}

bool correction_file_name(const char *description, char *file, size_t size)
{
    return name_beside(description, CORRECTION_SUFFIX, file, size);
}

bool network_file_name(const char *description, char *file, size_t size)
{
    return name_beside(description, NETWORK_SUFFIX, file, size);
}

/* ------------------------------------------------------------------ writing */

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
    FILE *out = text_stream_open(text, length);
    if (!out)
        return error_memory(error);
    bool fits = put_all(correction, out);
    if (fclose(out) == 0 && fits)
        return STATUS_OK;
    free(*text);
    *text = NULL;
    return error_memory(error);
}
