/* Writes procedures. A number is found, described and published side by side; what cannot be told
 * is a dash.
 *
 * The numbers that several procedures conclude, each from one curve, and the piecewise laws that
 * they are told by. Stairs are found by trying every period: with the period given the law is
 * linear in what is left, so each try is a regression, and the least residual wins. A knee is
 * Hudson's (1966): each way to divide the points has a line on either side, and where these meet
 * between the two is the knee; of all ways the least residual wins. A law with more freedom has to
 * leave much less than a line. */
#include "formats/json.h"
#include "jobs/probe/probe_parts.h"

#include <gsl/gsl_fit.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ laws */

enum { LEAST_STAIRS = 2, LEAST_POINTS = 3, LEAST_ON_A_SIDE = 2, MAX_POINTS = 4096 };

/* What a law may leave of a line's residual to be taken for it. */
static const double much_less = 0.1;

static struct line fit_line(const double *x, const double *y, int count)
{
    struct line line;
    double covariance[3];
    gsl_fit_linear(x, 1, y, 1, (size_t)count, &line.at_0, &line.slope, &covariance[0],
                   &covariance[1], &covariance[2], &line.squares);
    return line;
}

/* Do they rise by too little to be measured by? */
static bool is_level(const struct segment_points *points)
{
    double least = INFINITY, most = -INFINITY;
    for (int i = 0; i < points->count; i++) {
        least = fmin(least, points->y[i]);
        most = fmax(most, points->y[i]);
    }
    return most - least < SEGMENT_LEAST_RISE;
}

bool line_fit(const struct segment_points *points, struct line *line)
{
    if (points->count < LEAST_POINTS)
        return false;
    *line = fit_line(points->x, points->y, points->count);
    if (is_level(points))
        line->slope = 0;
    return true;
}

static struct line fit_stairs(const struct segment_points *points, double period)
{
    double stair[MAX_POINTS];
    for (int i = 0; i < points->count; i++)
        stair[i] = ceil(points->x[i] / period);
    return fit_line(stair, points->y, points->count);
}

bool stairs_fit(const struct segment_points *points, double step, struct stairs *stairs)
{
    if (points->count < LEAST_POINTS || points->count > MAX_POINTS || is_level(points))
        return false;
    double last = points->x[points->count - 1];
    struct line line = fit_stairs(points, step), best = line;
    stairs->period = step;
    for (int steps = 2; LEAST_STAIRS * steps * step < last; steps++) {
        double period = steps * step;
        struct line next = fit_stairs(points, period);
        if (next.squares >= best.squares || next.squares > much_less * line.squares)
            continue;
        best = next;
        stairs->period = period;
    }
    stairs->at_0 = best.at_0;
    stairs->height = best.slope;
    return best.slope > 0;
}

bool knee_fit(const struct segment_points *points, struct knee *knee)
{
    const double *x = points->x, *y = points->y;
    int count = points->count;
    if (count <= 2 * LEAST_ON_A_SIDE || is_level(points))
        return false;
    double least = much_less * fit_line(x, y, count).squares;
    bool found = false;
    for (int left = LEAST_ON_A_SIDE; left <= count - LEAST_ON_A_SIDE; left++) {
        struct line before = fit_line(x, y, left),
                    after = fit_line(x + left, y + left, count - left);
        double at = (before.at_0 - after.at_0) / (after.slope - before.slope);
        if (!(at >= x[left - 1] && at <= x[left]) || before.squares + after.squares >= least)
            continue;
        least = before.squares + after.squares;
        *knee = (struct knee){at, before, after};
        found = true;
    }
    return found;
}

/* ------------------------------------------------------------------ numbers */

const struct probe_curve *quantity_curve(const struct probe_answer *answer,
                                         const struct probe_quantity *q)
{
    return answer->series[q->curve].curve;
}

double quantity_found(const struct probe_answer *answer, const struct probe_quantity *q)
{
    return q->found(answer, q);
}

double quantity_described(const struct probe_answer *answer, const struct probe_quantity *q)
{
    return q->described ? q->described(answer, q) : NAN;
}

struct curve_points {
    double *x, *y; /* freed by curve_points_clear */
    struct segment_points points;
};

static bool curve_points_open(const struct probe_answer *answer, int curve,
                              struct curve_points *points)
{
    const struct probe_series *series = &answer->series[curve];
    size_t count = (size_t)series->count;
    points->x = calloc(2 * count + 1, sizeof *points->x);
    if (!points->x)
        return false;
    points->y = points->x + count;
    for (size_t i = 0; i < count; i++) {
        points->x[i] = (double)series->points[i].x;
        points->y[i] = point_ns(&series->points[i]);
    }
    points->points = (struct segment_points){points->x, points->y, series->count};
    return true;
}

static void curve_points_clear(struct curve_points *points)
{
    free(points->x);
}

bool curve_line(const struct probe_answer *answer, int curve, struct line *line)
{
    struct curve_points points;
    if (!curve_points_open(answer, curve, &points))
        return false;
    bool found = line_fit(&points.points, line);
    curve_points_clear(&points);
    return found;
}

double curve_slope_ns(const struct probe_answer *answer, int curve)
{
    struct line line;
    return curve_line(answer, curve, &line) && line.slope > 0 ? line.slope : NAN;
}

bool curve_stairs(const struct probe_answer *answer, int curve, struct stairs *stairs)
{
    struct curve_points points;
    if (!curve_points_open(answer, curve, &points))
        return false;
    bool found = stairs_fit(&points.points, (double)answer->series[curve].curve->step, stairs);
    curve_points_clear(&points);
    return found;
}

double curve_period(const struct probe_answer *answer, int curve)
{
    struct stairs stairs;
    return curve_stairs(answer, curve, &stairs) ? stairs.period : NAN;
}

double curve_knee(const struct probe_answer *answer, int curve)
{
    struct curve_points points;
    struct knee knee;
    if (!curve_points_open(answer, curve, &points))
        return NAN;
    bool found = knee_fit(&points.points, &knee);
    curve_points_clear(&points);
    return found ? knee.at : NAN;
}

double point_ns(const struct probe_point *point)
{
    return point->ns - point->empty_ns;
}

const struct probe_point *curve_at(const struct probe_answer *answer, int curve, int64_t x)
{
    const struct probe_series *series = &answer->series[curve];
    for (int i = 0; i < series->count; i++)
        if (series->points[i].x == x)
            return &series->points[i];
    return NULL;
}

double in_cycles(const struct hardware *hw, double ns)
{
    return ns * (double)hw->clock_hz / 1e9;
}

double price_unit_ns(const struct price *price)
{
    return (double)price->rate.fs / (double)price->rate.units / FS_PER_NS;
}

double price_gbps(const struct hardware *hw, const struct price *price, int cores)
{
    if (!price)
        return NAN;
    return price->bus < 0 ? 1 / price_unit_ns(price)
                          : (double)hardware_bus_share(hw, price, cores) / 1e9;
}

/* ------------------------------------------------------------------ text */

enum { NAME_COLUMNS = 26, NUMBER_COLUMNS = 11 };

static const char *number_of(double number, char text[TEXT_SIZE])
{
    snprintf(text, TEXT_SIZE, isfinite(number) ? "%.4g" : "-", number);
    return text;
}

static bool is_published(const struct probe_quantity *q)
{
    return q->paper_high > 0;
}

/* "6...9", "2 or more", or one number. */
static const char *paper_of(const struct probe_quantity *q, char text[TEXT_SIZE])
{
    if (!is_published(q) || q->paper_low == q->paper_high)
        return number_of(is_published(q) ? q->paper_low : NAN, text);
    if (isinf(q->paper_high))
        snprintf(text, TEXT_SIZE, "%.4g or more", q->paper_low);
    else if (q->paper_low > 0)
        snprintf(text, TEXT_SIZE, "%.4g to %.4g", q->paper_low, q->paper_high);
    else
        snprintf(text, TEXT_SIZE, "at most %.4g", q->paper_high);
    return text;
}

static void put_quantities(const struct probe_answer *answer, const struct style *style, FILE *out)
{
    char found[TEXT_SIZE], described[TEXT_SIZE], paper[TEXT_SIZE];
    const struct probe *probe = answer->probe;
    if (!probe->quantity_count)
        return;
    fprintf(out, "  %s%-*s %*s %*s %*s  %-10s %s%s\n", style->bold, NAME_COLUMNS, "concluded",
            NUMBER_COLUMNS, "found", NUMBER_COLUMNS, "described", NUMBER_COLUMNS, "A's 910", "unit",
            "source", style->end);
    for (int i = 0; i < probe->quantity_count; i++) {
        const struct probe_quantity *q = &probe->quantities[i];
        fprintf(out, "  %-*s %*s %*s %*s  ", NAME_COLUMNS, q->name, NUMBER_COLUMNS,
                number_of(quantity_found(answer, q), found), NUMBER_COLUMNS,
                number_of(quantity_described(answer, q), described), NUMBER_COLUMNS,
                paper_of(q, paper));
        fprintf(out, is_published(q) ? "%-10s %s\n" : "%s%s\n", q->unit, q->source);
    }
}

/* The place of x among a curve's points, or -1. */
static int place_of(const struct probe_series *series, int64_t x)
{
    for (int i = 0; i < series->count; i++)
        if (series->points[i].x == x)
            return i;
    return -1;
}

/* The longest curve's: that it has more than others have. */
static const struct probe_series *longest(const struct probe_answer *answer)
{
    const struct probe_series *most = &answer->series[0];
    for (int s = 1; s < answer->series_count; s++)
        if (answer->series[s].count > most->count)
            most = &answer->series[s];
    return most;
}

static void put_point(const struct probe_answer *answer, int64_t x, FILE *out)
{
    fprintf(out, "  %*lld", NUMBER_COLUMNS, (long long)x);
    for (int s = 0; s < answer->series_count; s++) {
        char text[TEXT_SIZE];
        int place = place_of(&answer->series[s], x);
        fprintf(out, "  %*s",
                (int)strlen(answer->series[s].curve->name) < NUMBER_COLUMNS
                    ? NUMBER_COLUMNS
                    : (int)strlen(answer->series[s].curve->name),
                place < 0 ? "-" : text_time(point_ns(&answer->series[s].points[place]), text));
    }
    fputc('\n', out);
}

static void put_points(const struct probe_answer *answer, const struct style *style, FILE *out)
{
    const struct probe_series *most = longest(answer);
    fputs(answer->hw->host ? "\n  times:\n"
                           : "\n  times beyond an empty program's, which is the launch:\n",
          out);
    fprintf(out, "  %s%*s", style->bold, NUMBER_COLUMNS, answer->probe->x);
    for (int s = 0; s < answer->series_count; s++)
        fprintf(out, "  %*s", NUMBER_COLUMNS, answer->series[s].curve->name);
    fprintf(out, "%s\n", style->end);
    for (int i = 0; i < most->count; i++)
        put_point(answer, most->points[i].x, out);
}

static void put_missing(const struct probe_answer *answer, const struct style *style, FILE *out)
{
    for (int s = 0; s < answer->series_count; s++)
        if (answer->series[s].why[0]) {
            char label[TEXT_SIZE];
            snprintf(label, sizeof label, "  without %s: ", answer->series[s].curve->name);
            fprintf(out, "%s%s", style->dim, label);
            text_put_wrapped(answer->series[s].why, (int)strlen(label), style, out);
            fprintf(out, "%s\n", style->end);
        }
}

void probe_write_text(const struct probe_answer *answer, bool points, const struct style *style,
                      FILE *out)
{
    const struct probe *probe = answer->probe;
    fprintf(out, "\n%s%s%s  %s (%s)\n", style->bold, probe->name, style->end, probe->title,
            probe->figure);
    if (probe_why(answer)) {
        const char *where = answer->hw->host ? "  not here: " : "  not on this chip: ";
        fputs(where, out);
        text_put_wrapped(probe_why(answer), (int)strlen(where), style, out);
        fputc('\n', out);
        return;
    }
    put_quantities(answer, style, out);
    put_missing(answer, style, out);
    if (points)
        put_points(answer, style, out);
}

/* ------------------------------------------------------------------ JSON */

static json_t *point_json(const struct probe_point *point)
{
    return json_pack("{s:I, s:f, s:i, s:f}", "x", (json_int_t)point->x, "ns", point->ns, "cores",
                     point->cores, "empty_ns", point->empty_ns);
}

static json_t *series_json(const struct probe_series *series)
{
    json_t *points = json_array();
    for (int i = 0; i < series->count; i++)
        json_array_append_new(points, point_json(&series->points[i]));
    return json_pack("{s:s, s:o, s:o}", "name", series->curve->name, "why_not",
                     series->why[0] ? json_text(series->why) : json_null(), "points", points);
}

static json_t *paper_json(const struct probe_quantity *q)
{
    return is_published(q)
               ? json_pack("[o, o]", json_number(q->paper_low), json_number(q->paper_high))
               : json_null();
}

static json_t *quantity_json(const struct probe_answer *answer, const struct probe_quantity *q)
{
    return json_pack("{s:s, s:s, s:o, s:o, s:o, s:o}", "name", q->name, "unit", q->unit, "found",
                     json_number(quantity_found(answer, q)), "described",
                     json_number(quantity_described(answer, q)), "ascend910", paper_json(q),
                     "source", is_published(q) ? json_string(q->source) : json_null());
}

json_t *probe_json(const struct probe_answer *answer)
{
    const struct probe *probe = answer->probe;
    json_t *series = json_array(), *quantities = json_array();
    for (int s = 0; s < answer->series_count; s++)
        json_array_append_new(series, series_json(&answer->series[s]));
    for (int i = 0; i < probe->quantity_count && !probe_why(answer); i++)
        json_array_append_new(quantities, quantity_json(answer, &probe->quantities[i]));
    return json_pack("{s:s, s:s, s:s, s:s, s:o, s:o, s:o}", "name", probe->name, "title",
                     probe->title, "figure", probe->figure, "x", probe->x, "why_not",
                     probe_why(answer) ? json_text(probe_why(answer)) : json_null(), "series",
                     series, "concluded", quantities);
}

/* ------------------------------------------------------------------ curves */

void probe_write_curves_header(FILE *out)
{
    fputs("kind,name,chip,x,value,unit_x,unit_value\n", out);
}

static void put_x(const struct probe_curve *curve, int64_t x, FILE *out)
{
    if (strcmp(curve->unit, "KiB") == 0)
        fprintf(out, "%.10g", (double)x / 1024);
    else if (strcmp(curve->unit, "MxKxN") != 0)
        fprintf(out, "%lld", (long long)x);
    else
        fprintf(out, "%lldx%lldx%lld", (long long)(curve->m ? curve->m : x),
                (long long)(curve->k ? curve->k : x), (long long)(curve->n ? curve->n : x));
}

void probe_write_curves(const struct probe_answer *answer, const char *chip, FILE *out)
{
    for (int s = 0; s < answer->series_count; s++) {
        const struct probe_series *series = &answer->series[s];
        const struct probe_curve *curve = series->curve;
        for (int i = 0; curve->kind && i < series->count; i++) {
            fprintf(out, "%s,%s_%s,%s,", curve->kind, curve->label, chip, chip);
            put_x(curve, series->points[i].x, out);
            fprintf(out, ",%.15g,%s,ns\n", series->points[i].ns, curve->unit);
        }
    }
}

/* ------------------------------------------------------------------ pages */

static json_t *figure_of(const struct probe_answer *answer)
{
    const struct probe *probe = answer->probe;
    char title[128];
    snprintf(title, sizeof title, "%s (%s)", probe->name, probe->figure);
    json_t *section = report_section("curves", title, probe->title), *curves = json_array();
    for (int s = 0; s < answer->series_count; s++)
        if (answer->series[s].count)
            json_array_append_new(curves, series_json(&answer->series[s]));
    json_object_set_new(section, "curves", curves);
    json_object_set_new(section, "x", json_string(probe->x));
    json_object_set_new(section, "log", json_boolean(probe->curves[0].step == 0));
    return section;
}

static json_t *concluded_of(const struct probe_answer *answer)
{
    static const char *const columns[] = {"concluded",      "found", "described",
                                          "A's Ascend 910", "unit",  "source"};
    const struct probe *probe = answer->probe;
    char title[128];
    snprintf(title, sizeof title, "%s: what it concludes", probe->name);
    json_t *table = report_table(title, NULL);
    for (size_t c = 0; c < sizeof columns / sizeof *columns; c++)
        report_column(table, columns[c], NULL);
    for (int i = 0; i < probe->quantity_count; i++) {
        const struct probe_quantity *q = &probe->quantities[i];
        char paper[TEXT_SIZE];
        json_t *row = report_row(table);
        json_array_append_new(row, json_string(q->name));
        json_array_append_new(row, json_number(quantity_found(answer, q)));
        json_array_append_new(row, json_number(quantity_described(answer, q)));
        json_array_append_new(row, json_string(paper_of(q, paper)));
        json_array_append_new(row, json_string(q->unit));
        json_array_append_new(row, json_string(q->source));
    }
    return table;
}

void probe_report(struct report *report, const struct probe_answer *answer)
{
    char note[PROBE_WHY_SIZE + 32];
    snprintf(note, sizeof note, "%s: %s.", answer->hw->host ? "Not here" : "Not on this chip",
             probe_why(answer) ? probe_why(answer) : "");
    if (probe_why(answer)) {
        report_add(report, report_section("text", answer->probe->name, note));
        return;
    }
    report_add(report, figure_of(answer));
    if (answer->probe->quantity_count)
        report_add(report, concluded_of(answer));
}
