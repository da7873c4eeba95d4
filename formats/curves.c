/* Columns are found by the header's names. Points are collected by curve, then sorted by size, the
 * first of equal ones being kept; a kind's unit of x and the unit of its values come from
 * tables. */
#include "formats/curves.h"

#include "core/array.h"
#include "formats/csv.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum column { KIND, NAME, CHIP, X, VALUE, UNIT_X, UNIT_VALUE, COLUMN_COUNT };

static const char *const column_names[COLUMN_COUNT] = {"kind",  "name",   "chip",      "x",
                                                       "value", "unit_x", "unit_value"};

struct reader {
    struct csv csv;
    struct curves *curves;
    struct error *error;
    int column[COLUMN_COUNT]; /* position of each in the record */
    int field_count, point_count;
};

static const char *field(const struct reader *r, enum column column)
{
    return r->csv.fields[r->column[column]];
}

static enum status read_header(struct reader *r)
{
    bool found;
    TRY(csv_next(&r->csv, &found, r->error));
    if (!found)
        return error_at(r->error, r->csv.file, 1,
                        "empty, expected a header with the columns kind, "
                        "name, chip, x, value, unit_x and unit_value");
    r->field_count = r->csv.field_count;
    for (int c = 0; c < COLUMN_COUNT; c++) {
        TRY(csv_find(&r->csv, column_names[c], &r->column[c], r->error));
        if (r->column[c] < 0)
            return csv_wrong(&r->csv, r->error,
                             "no column %s, expected kind, name, chip, x, value, unit_x and "
                             "unit_value",
                             column_names[c]);
    }
    return STATUS_OK;
}

/* What a curve's kind says about its points: the unit of x and what one of it is, and the unit of
 * their values. Numbers of x stand between x. The curves of repeats say GB/s, but coincide with
 * those of sizes, which say GB/s(GiB), only where both are 2^30 bytes a second: 439.33 for
 * L1_TO_L0A is then 255 bytes a cycle at 1850 MHz, as measured by size, and would be 237 otherwise.
 */
static const struct kind {
    const char *name, *unit_x;
    int sizes;      /* whole numbers; 0: x is a number … */
    double x_bytes; /* … that counts this */
    const char *unit, *other_unit;
    double factor;
} kinds[] = {
    [CURVE_MOVE] = {"mov", "KiB", 0, 1024, "GB/s(GiB)", "GB/s", 1073741824.0},
    [CURVE_REPEAT] = {"mov_repeat", "repeat", 0, 1, "GB/s(GiB)", "GB/s", 1073741824.0},
    [CURVE_MMAD] = {"mmad", "MxKxN", 3, 0, "ops_per_cycle(bytes*MAC)", NULL, 1},
    [CURVE_START] = {"start", "CORES", 1, 0, "ns", NULL, 1},
    [CURVE_SKEW] = {"skew", "CORES", 1, 0, "ns", NULL, 1},
    [CURVE_ORDER] = {"order", "BARRIERS", 1, 0, "ns", NULL, 1},
    [CURVE_MOVES] = {"moves", "CORESxMOVESxBYTES", 3, 0, "ns", NULL, 1},
    [CURVE_PAIR] = {"pair", "CORESxBYTESxBYTES", 3, 0, "ns", NULL, 1},
    [CURVE_PIECES] = {"pieces", "PIECESxBYTESxALIGN", 3, 0, "ns", NULL, 1},
    [CURVE_PRODUCTS] = {"products", "PRODUCTSxMxKxN", 4, 0, "ns", NULL, 1},
    [CURVE_VECTORS] = {"vectors", "ELEMENTS", 1, 0, "ns", NULL, 1},
    [CURVE_SCALARS] = {"scalars", "OPERATIONS", 1, 0, "ns", NULL, 1},
    [CURVE_FLAG] = {"flag", "FLAGS", 1, 0, "ns", NULL, 1},
    [CURVE_WORKING_SET] = {"working_set", "BYTES", 1, 0, "ns", NULL, 1},
};

static bool is_program(enum curve_kind kind)
{
    return kind >= CURVE_START && kind < CURVE_OTHER;
}

const char *curve_program_kind(enum curve_kind kind, const char **unit_x)
{
    *unit_x = is_program(kind) ? kinds[kind].unit_x : NULL;
    return is_program(kind) ? kinds[kind].name : NULL;
}

static enum curve_kind find_kind(const char *name)
{
    int kind = 0;
    while (kind < CURVE_OTHER && strcmp(kinds[kind].name, name) != 0)
        kind++;
    return (enum curve_kind)kind;
}

/* Decimal, positive and finite; 0 for anything else. */
static double positive(const char *text)
{
    char *end;
    if (!*text || text[strspn(text, "+.0123456789eE-")])
        return 0;
    double number = strtod(text, &end);
    return *end == '\0' && isfinite(number) && number > 0 ? number : 0;
}

static bool read_shape(const char *text, int count, int64_t most, int64_t size[])
{
    for (int i = 0; i < count; i++) {
        char *end;
        if (!isdigit((unsigned char)*text))
            return false;
        size[i] = strtoll(text, &end, 10);
        if (size[i] < 1 || size[i] > most || *end != (i < count - 1 ? 'x' : '\0'))
            return false;
        text = end + 1;
    }
    return true;
}

static bool read_size(const char *text, double unit_bytes, int64_t size[])
{
    double count = positive(text) * unit_bytes;
    size[0] = count <= 1e12 ? llround(count) : 0;
    return size[0] >= 1 && fabs(count - (double)size[0]) < 1e-6 * count;
}

/* NULL when the record is a point, otherwise why it is none. */
static const char *read_point(const struct reader *r, enum curve_kind kind,
                              struct curve_point *point)
{
    const struct kind *k = &kinds[kind];
    const char *unit = field(r, UNIT_VALUE);
    if (strcmp(unit, k->unit) != 0 && (!k->other_unit || strcmp(unit, k->other_unit) != 0))
        return "unit_value: not a unit of this kind";
    if (strcmp(field(r, UNIT_X), k->unit_x) != 0)
        return "unit_x: not the unit of this kind";
    *point = (struct curve_point){.line = r->csv.line};
    int64_t most = is_program(kind) ? INT64_C(1) << 50 : 1 << 20;
    if (!(k->sizes ? read_shape(field(r, X), k->sizes, most, point->size)
                   : read_size(field(r, X), k->x_bytes, point->size)))
        return "x: not a positive size";
    double value = positive(field(r, VALUE)) * k->factor;
    *(is_program(kind) ? &point->ns : &point->rate) = value;
    return value > 0 && isfinite(value) ? NULL : "value: not a positive number";
}

static void reject(struct reader *r, int line, const char *reason)
{
    struct curves *curves = r->curves;
    if (!curves->rejected++) {
        curves->first_rejected_line = line;
        snprintf(curves->first_reason, sizeof curves->first_reason, "%s", reason);
    }
}

/* A name as in "GM_TO_L1_910b1". */
static enum status check_name(const struct reader *r, enum column column, size_t size)
{
    const char *name = field(r, column);
    char copy[40];
    size_t length = 0;
    while (isalnum((unsigned char)name[length]) || name[length] == '_')
        length++;
    if (length > 0 && length < size && !name[length])
        return STATUS_OK;
    return csv_wrong(&r->csv, r->error, "%s: \"%s\", expected 1 to %zu letters, digits and _",
                     column_names[column], csv_shown(name, copy), size - 1);
}

/* The curve of the record, made when it is the first of it; NULL without memory. */
static struct curve *find_curve(struct reader *r, enum curve_kind kind)
{
    struct curves *curves = r->curves;
    for (int i = curves->curve_count; i-- > 0;) /* records of a curve stand together */
        if (curves->curves[i].kind == kind && strcmp(curves->curves[i].name, field(r, NAME)) == 0 &&
            strcmp(curves->curves[i].chip, field(r, CHIP)) == 0)
            return &curves->curves[i];
    if (!array_room(&curves->curves, curves->curve_count, sizeof *curves->curves))
        return NULL;
    struct curve *curve = &curves->curves[curves->curve_count++];
    *curve = (struct curve){.kind = kind};
    snprintf(curve->name, sizeof curve->name, "%s", field(r, NAME));
    snprintf(curve->chip, sizeof curve->chip, "%s", field(r, CHIP));
    return curve;
}

static enum status add_point(struct reader *r, struct curve *curve, const struct curve_point *point)
{
    if (r->point_count++ >= CURVES_MAX_POINTS)
        return error_set(r->error, STATUS_TOO_LARGE, "%s:%d: more than %d points", r->csv.file,
                         r->csv.line, CURVES_MAX_POINTS);
    if (!array_room(&curve->points, curve->point_count, sizeof *curve->points))
        return error_memory(r->error);
    curve->points[curve->point_count++] = *point;
    return STATUS_OK;
}

static enum status read_record(struct reader *r)
{
    struct curve_point point;
    if (r->csv.field_count != r->field_count)
        return csv_wrong(&r->csv, r->error, "%d fields, expected %d as in the header",
                         r->csv.field_count, r->field_count);
    TRY(check_name(r, NAME, CURVE_NAME_SIZE));
    TRY(check_name(r, CHIP, CURVE_CHIP_SIZE));
    enum curve_kind kind = find_kind(field(r, KIND));
    bool in_ns = strcmp(field(r, UNIT_VALUE), "ns") == 0;
    if (kind == CURVE_OTHER || (in_ns && !is_program(kind))) /* a figure's */
        return STATUS_OK;
    const char *reason = read_point(r, kind, &point);
    if (reason) {
        reject(r, r->csv.line, reason);
        return STATUS_OK;
    }
    struct curve *curve = find_curve(r, kind);
    if (r->curves->curve_count > CURVES_MAX_COUNT)
        return error_set(r->error, STATUS_TOO_LARGE, "%s:%d: more than %d curves", r->csv.file,
                         r->csv.line, CURVES_MAX_COUNT);
    return curve ? add_point(r, curve, &point) : error_memory(r->error);
}

static int compare_points(const void *a, const void *b)
{
    const struct curve_point *left = a, *right = b;
    for (int i = 0; i < CURVE_MAX_SIZES; i++)
        if (left->size[i] != right->size[i])
            return left->size[i] < right->size[i] ? -1 : 1;
    return left->line < right->line ? -1 : left->line > right->line;
}

/* Brings the points in order; of those of one size the first in the file stays. */
static void sort_points(struct reader *r, struct curve *curve)
{
    int kept = 0;
    qsort(curve->points, (size_t)curve->point_count, sizeof *curve->points, compare_points);
    for (int i = 0; i < curve->point_count; i++)
        if (kept && memcmp(curve->points[kept - 1].size, curve->points[i].size,
                           sizeof curve->points[i].size) == 0)
            reject(r, curve->points[i].line, "the same x again");
        else
            curve->points[kept++] = curve->points[i];
    curve->point_count = kept;
}

static enum status read_all(struct reader *r)
{
    bool found = true;
    TRY(read_header(r));
    while (found) {
        TRY(csv_next(&r->csv, &found, r->error));
        if (found)
            TRY(read_record(r));
    }
    for (int i = 0; i < r->curves->curve_count; i++)
        sort_points(r, &r->curves->curves[i]);
    if (r->point_count == 0)
        return error_set(
            r->error, STATUS_INVALID,
            "%s:%d: no point of a kind that can be fitted, expected mov, mov_repeat, mmad "
            "or times of programs",
            r->csv.file, r->csv.line);
    return STATUS_OK;
}

enum status curves_read(const char *file, struct curves *curves, struct error *error)
{
    struct reader reader = {.curves = curves, .error = error};
    memset(curves, 0, sizeof *curves);
    TRY(csv_open(file, &reader.csv, error));
    enum status status = read_all(&reader);
    csv_close(&reader.csv);
    if (status != STATUS_OK)
        curves_clear(curves);
    return status;
}

void curves_clear(struct curves *curves)
{
    for (int i = 0; i < curves->curve_count; i++)
        free(curves->curves[i].points);
    free(curves->curves);
    memset(curves, 0, sizeof *curves);
}

const struct curve *curves_find(const struct curves *curves, enum curve_kind kind, const char *name,
                                const char *chip)
{
    char wanted[CURVE_NAME_SIZE + CURVE_CHIP_SIZE];
    snprintf(wanted, sizeof wanted, "%s_%s", name, chip);
    for (int i = 0; i < curves->curve_count; i++)
        if (curves->curves[i].kind == kind && strcasecmp(curves->curves[i].chip, chip) == 0 &&
            strcasecmp(curves->curves[i].name, wanted) == 0)
            return &curves->curves[i];
    return NULL;
}
