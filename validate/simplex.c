/* Finds the least of a function without derivatives. The method is Nelder and Mead's of 1965, by
 * GSL's nmsimplex2. A simplex may collapse before it has arrived, so it is set up anew around the
 * best point with other and smaller steps, until two rounds in a row gain next to nothing. The
 * best point ever seen is kept here, whatever GSL ends with. */
#include "validate/simplex.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_multimin.h>
#include <math.h>
#include <string.h>

struct run {
    const struct simplex *simplex;
    double *best, value;
    bool stopped;
};

/* What GSL calls. After the stop every point is as bad as can be, which it cannot take for infinite
 * values: it gives up on those. */
static double call(const gsl_vector *at, void *context)
{
    struct run *run = context;
    double point[SIMPLEX_MAX_VARIABLES], value = 0;
    for (int i = 0; i < run->simplex->count; i++)
        point[i] = gsl_vector_get(at, (size_t)i);
    run->stopped = run->stopped || !run->simplex->value(run->simplex->context, point, &value);
    if (run->stopped || !isfinite(value))
        return 1e30;
    if (value < run->value) {
        run->value = value;
        memcpy(run->best, point, (size_t)run->simplex->count * sizeof *point);
    }
    return value;
}

/* A function with edges holds up a simplex that lies along one: so every second round begins with
 * the opposite steps, and each with smaller ones than the last. */
static double step_factor(int round)
{
    return (round % 2 ? -1.0 : 1.0) / (1 + 0.5 * round);
}

static void play_round(struct run *run, int round, gsl_multimin_fminimizer *minimizer,
                       gsl_vector *at, gsl_vector *step)
{
    gsl_multimin_function function = {call, (size_t)run->simplex->count, run};
    for (int i = 0; i < run->simplex->count; i++) {
        gsl_vector_set(at, (size_t)i, run->best[i]);
        gsl_vector_set(step, (size_t)i, step_factor(round) * run->simplex->steps[i]);
    }
    if (gsl_multimin_fminimizer_set(minimizer, &function, at, step) != GSL_SUCCESS)
        return;
    for (int i = 0; i < run->simplex->steps_a_round && !run->stopped; i++)
        if (gsl_multimin_fminimizer_iterate(minimizer) != GSL_SUCCESS ||
            gsl_multimin_fminimizer_size(minimizer) < run->simplex->size)
            return;
}

static enum simplex_end play_rounds(struct run *run, gsl_multimin_fminimizer *minimizer,
                                    gsl_vector *at, gsl_vector *step)
{
    int vain = 0; /* rounds in a row that hardly lowered the value */
    for (int round = 0; round < run->simplex->rounds; round++) {
        double before = run->value;
        play_round(run, round, minimizer, at, step);
        if (run->stopped)
            return SIMPLEX_STOPPED;
        bool gained = !isfinite(before) || before - run->value > run->simplex->gain * fabs(before);
        vain = gained ? 0 : vain + 1;
        if (vain == 2)
            return SIMPLEX_CONVERGED;
    }
    return SIMPLEX_ROUNDS;
}

enum status simplex_minimise(const struct simplex *simplex, double best[], double *value,
                             enum simplex_end *end, struct error *error)
{
    size_t count = (size_t)simplex->count;
    gsl_error_handler_t *handler = gsl_set_error_handler_off(); /* GSL's own ends the process */
    gsl_multimin_fminimizer *minimizer =
        gsl_multimin_fminimizer_alloc(gsl_multimin_fminimizer_nmsimplex2, count);
    gsl_vector *at = gsl_vector_alloc(count), *step = gsl_vector_alloc(count);
    struct run run = {simplex, best, INFINITY, false};
    bool good = minimizer && at && step;
    if (good)
        *end = play_rounds(&run, minimizer, at, step);
    *value = run.value;
    if (minimizer)
        gsl_multimin_fminimizer_free(minimizer);
    gsl_vector_free(at);
    gsl_vector_free(step);
    gsl_set_error_handler(handler);
    return good ? STATUS_OK : error_memory(error);
}
