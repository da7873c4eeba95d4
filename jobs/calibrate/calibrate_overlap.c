/* Runs products to find how much of the traffic computing hides. Of each shape legal tilings are
 * drawn at random and ordered by what the model predicts before the fit; the best ones and others,
 * evenly over what is not hopeless, are timed against each other. The timings of all shapes
 * together determine the overlap (validate/host_fit.h). */
#include "jobs/calibrate/calibrate_host.h"

#include "costmodel/host_time.h"
#include "hardware/description.h"
#include "kernels/matmul/host/matmul_host.h"
#include "kernels/matmul/matmul.h"
#include "validate/measure.h"
#include "validate/random.h"
#include "validate/runner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of several aspects, row lengths and places in the memory, so that all that is fitted shows in
 * some; none is one that results are published of. */
static const char *const shapes[] = {
    "96x96x96",     "65x257x130",   "384x384x384",   "500x512x500",  "1024x96x768",
    "160x2048x160", "250x1500x3",   "768x1536x512",  "48x640x3072",  "2000x40x900",
    "600x1500x100", "6000x3000x24", "1400x700x1100", "200x100x12000"};
enum {
    SHAPES = sizeof shapes / sizeof *shapes,
    FIRST = 8,    /* tilings that are run of a shape: of the best predictions … */
    TILINGS = 24, /* … and with others from all over */
    DRAWN = 512,  /* of which they are chosen */
    ROUNDS = 7,
};
static const double budget_s = 1.5; /* of a shape */
static const double slowest = 6;    /* times the best prediction: others nobody would run */

struct drawn {
    struct tiling tiling;
    double predicted_ns;
};

struct training {
    struct host_calibration *calibration;
    const struct calibrate_control *control;
    struct hardware hw;
    struct host_timed timed[SHAPES * TILINGS];
    int count, failed;
};

/* The hardware that was measured so far: spaces are those of a description. */
static enum status open_hardware(const struct host *host, struct hardware *hw, struct error *error)
{
    static const struct host_sources sources = {.all = "measured", .overlap = "assumed"};
    struct description description;
    enum status status =
        description_of_host(host, host->cpu, "what was measured", &sources, &description, error);
    if (status != STATUS_OK)
        return status;
    status = description_build(&description, hw, error);
    description_clear(&description);
    return status;
}

/* Knuth's linear congruential generator of MMIX; its upper bits are the random ones. */
static int by_prediction(const void *a, const void *b)
{
    const struct drawn *left = a, *right = b;
    return (left->predicted_ns > right->predicted_ns) - (left->predicted_ns < right->predicted_ns);
}

/* Legal tilings of the space in the order of their predictions; returns how many. */
static int draw(const struct space *space, const struct host *host, gsl_rng *random,
                struct drawn *drawn)
{
    int count = 0;
    for (int tries = 0; tries < 64 * DRAWN && count < DRAWN; tries++) {
        struct host_work work;
        struct tiling *tiling = &drawn[count].tiling;
        space_tiling(space, random_below(random, space->candidates), tiling);
        if (!space->kind->legal(space, tiling))
            continue;
        space->kind->ask(space, tiling, &work);
        drawn[count++].predicted_ns = host_time_ns(host, &work);
    }
    qsort(drawn, (size_t)count, sizeof *drawn, by_prediction);
    return count;
}

/* The first ones, and evenly over the others that are not much slower than the best. */
static int choose(const struct drawn *drawn, int count, struct tiling *tilings, double *predicted)
{
    int within = 0, chosen = 0;
    while (within < count && drawn[within].predicted_ns <= slowest * drawn[0].predicted_ns)
        within++;
    for (int i = 0; i < TILINGS && i < within; i++, chosen++) {
        int beyond = i - FIRST + 1, rest = within - FIRST;
        int at = i < FIRST || within <= TILINGS
                     ? i
                     : FIRST - 1 + (int)((int64_t)beyond * rest / (TILINGS - FIRST));
        tilings[chosen] = drawn[at].tiling;
        predicted[chosen] = drawn[at].predicted_ns;
    }
    return chosen;
}

static void keep(struct training *t, const struct space *space, const struct tiling *tilings,
                 const struct measured *measured, int count, int shape)
{
    for (int i = 0; i < count; i++) {
        if (!(measured[i].timing.median_ns > 0)) {
            t->failed += measured[i].quarantine[0] != '\0';
            continue;
        }
        struct host_timed *timed = &t->timed[t->count++];
        space->kind->ask(space, &tilings[i], &timed->work);
        timed->measured_ns = measured[i].timing.median_ns;
        timed->shape = shape;
    }
}

static enum status run_space(struct training *t, const struct space *space, int shape,
                             struct drawn *drawn, struct error *error)
{
    struct tiling tilings[TILINGS];
    double predicted[TILINGS];
    struct measured measured[TILINGS];
    const struct measure_options options = {
        .timing = {.rounds = ROUNDS, .threads = 1, .budget_s = budget_s},
        .seed = 1,
        .stop = t->control->stop};
    gsl_rng *random = random_open(1, error);
    if (!random)
        return STATUS_NO_MEMORY;
    int count = choose(drawn, draw(space, t->hw.host, random, drawn), tilings, predicted);
    gsl_rng_free(random);
    if (count == 0)
        return STATUS_OK;
    memset(measured, 0, sizeof measured);
    TRY(measure(matmul_operator.runner, space, tilings, predicted, count, &options, measured,
                error));
    keep(t, space, tilings, measured, count, shape);
    return STATUS_OK;
}

static enum status run_shape(struct training *t, int shape, struct drawn *drawn,
                             struct error *error)
{
    struct problem problem;
    struct space space;
    enum status status = problem_parse(&matmul_operator, shapes[shape], &problem, error);
    problem.type = DTYPE_F32;
    if (status == STATUS_OK)
        status = space_open(&problem, &matmul_host_space, &t->hw, 1, &space, error);
    if (status != STATUS_OK)
        return status;
    status = run_space(t, &space, shape, drawn, error);
    space_close(&space);
    return status;
}

static void note(struct host_calibration *c, const char *why)
{
    if (c->note_count < CALIBRATE_MAX_NOTES)
        (void)snprintf(c->notes[c->note_count++], sizeof c->notes[0],
                       "the overlap is not fitted: %.120s", why);
}

/* What cannot be run or fitted is told; only memory that is not there ends the calibration. */
static enum status train(struct training *t, struct drawn *drawn, struct error *error)
{
    struct host_calibration *c = t->calibration;
    enum status status = STATUS_OK;
    for (int s = 0; s < SHAPES && status == STATUS_OK && !calibrate_stopped(t->control); s++) {
        calibrate_progress(t->control, "kernels", s, SHAPES);
        status = run_shape(t, s, drawn, error);
    }
    c->stopped = calibrate_stopped(t->control);
    if (status == STATUS_OK && !c->stopped)
        status = host_fit(&c->host, t->timed, t->count, &c->fit, error);
    if (status == STATUS_NO_MEMORY)
        return status;
    if (status != STATUS_OK)
        note(c, error->text);
    else if (!c->stopped)
        c->fitted_kernels = c->fit.used;
    for (int l = 0; l < c->host.level_count; l++) {
        c->host.overlap.exposed[l] = calibration_digits(c->host.overlap.exposed[l]);
        c->host.overlap.jump_ns[l] = calibration_digits(c->host.overlap.jump_ns[l]);
    }
    c->host.overlap.walk_ns = calibration_digits(c->host.overlap.walk_ns);
    c->host.overlap.copying = calibration_digits(c->host.overlap.copying);
    return STATUS_OK;
}

enum status calibrate_overlap(struct host_calibration *c, const struct calibrate_control *control,
                              struct error *error)
{
    struct training *t = calloc(1, sizeof *t);
    struct drawn *drawn = calloc(DRAWN, sizeof *drawn);
    double begin_ns = timing_now_ns();
    enum status status = STATUS_OK;
    if (!t || !drawn) {
        free(drawn);
        free(t);
        return error_memory(error);
    }
    t->calibration = c;
    t->control = control;
    status = open_hardware(&c->host, &t->hw, error);
    if (status == STATUS_OK) {
        status = train(t, drawn, error);
        hardware_clear(&t->hw);
    }
    free(drawn);
    free(t);
    if (status == STATUS_OK && !c->stopped)
        calibrate_judge(c);
    c->seconds += (timing_now_ns() - begin_ns) * 1e-9;
    return status;
}
