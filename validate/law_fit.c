/* Iteratively reweighted least squares of relative errors (Holland and Welsch 1977), the weights so
 * that |ln(predicted / time)| counts and not its square; each round is a ridge about the expected
 * costs (Hoerl and Kennard 1970), solved within bounds by coordinate descent, which converges since
 * the ridge makes the sum strictly convex. A cost's penalty is in proportion to how much of the
 * times its term would explain, so that units do not matter. */
#include "validate/law_fit.h"

#include <math.h>
#include <string.h>

enum { ROUNDS = 12, SWEEPS = 300 };

struct normal {
    int terms;
    double matrix[LAW_FIT_MAX_TERMS][LAW_FIT_MAX_TERMS], right[LAW_FIT_MAX_TERMS];
};

double law_value(const double term[], const double costs[], int terms)
{
    double sum = 0;
    for (int i = 0; i < terms; i++)
        sum += term[i] * costs[i];
    return sum;
}

/* What makes the square of the relative error count as |ln|; nearly exact rows all count alike. */
static double weight_of(double predicted, double time)
{
    double ratio = fmax(predicted / time, 1e-3), distance = fabs(log(ratio));
    double scale = fabs(ratio - 1) > 1e-6 ? distance / fabs(ratio - 1) : 1;
    return scale * scale * 0.1 / fmax(distance, 0.03);
}

static void add_row(const double *term, double time, double weight, struct normal *normal)
{
    for (int i = 0; i < normal->terms; i++) {
        double share = weight * term[i] / time;
        normal->right[i] += share;
        for (int j = 0; j < normal->terms; j++)
            normal->matrix[i][j] += share * term[j] / time;
    }
}

static size_t fill(const struct law_data *data, const double costs[], struct normal *normal)
{
    size_t used = 0;
    *normal = (struct normal){.terms = data->terms};
    for (size_t r = 0; r < data->rows; r++) {
        const double *term = data->term + r * (size_t)data->terms;
        if (!data->used[r])
            continue;
        used++;
        add_row(term, data->times[r],
                weight_of(law_value(term, costs, data->terms), data->times[r]), normal);
    }
    return used;
}

/* A little is there of each term, so that one that no row has stays at what is expected. */
static void penalise(const double expected[], double shrink, size_t rows, struct normal *normal)
{
    for (int i = 0; i < normal->terms; i++) {
        double penalty = shrink * (normal->matrix[i][i] / (double)rows + 1e-9);
        normal->matrix[i][i] += penalty;
        normal->right[i] += penalty * expected[i];
    }
}

static void solve(const struct normal *normal, const double most[], double costs[])
{
    double moved = 1;
    for (int sweep = 0; sweep < SWEEPS && moved > 1e-9; sweep++) {
        moved = 0;
        for (int i = 0; i < normal->terms; i++) {
            double diagonal = normal->matrix[i][i], left = normal->right[i];
            for (int j = 0; j < normal->terms; j++)
                left -= j == i ? 0 : normal->matrix[i][j] * costs[j];
            double cost = fmin(fmax(left / diagonal, 0), most[i]);
            moved = fmax(moved, fabs(cost - costs[i]) * sqrt(diagonal));
            costs[i] = cost;
        }
    }
}

void law_fit(const struct law_data *data, const double expected[], const double most[],
             double shrink, double costs[])
{
    struct normal normal;
    for (int i = 0; i < data->terms; i++)
        costs[i] = fmin(fmax(expected[i], 0), most[i]);
    for (int round = 0; round < ROUNDS; round++) {
        size_t rows = fill(data, costs, &normal);
        if (!rows)
            return;
        penalise(expected, shrink, rows, &normal);
        solve(&normal, most, costs);
    }
}
