/* A correction is of times that one version of the model gives for one set of numbers: all but the
 * count of cores and the errors of the fit are compared by a fingerprint. */
#include "jobs/correct/correct.h"

#include "core/quantity.h"
#include "core/version.h"
#include "costmodel/features.h"
#include "formats/correction_file.h"
#include "hardware/fingerprint.h"
#include "hardware/load.h"
#include "search/tiling_simulator.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void compare_with(const struct hardware *hw, struct correcting *correcting)
{
    char fingerprint[FINGERPRINT_SIZE];
    const struct correction *c = &correcting->correction;
    hardware_price_fingerprint(hw, fingerprint);
    if (c->model_version != MODEL_VERSION)
        snprintf(correcting->reason, sizeof correcting->reason,
                 "learned for version %d of the model, this is %d", c->model_version,
                 MODEL_VERSION);
    else if (strcmp(c->fingerprint, fingerprint) != 0)
        snprintf(correcting->reason, sizeof correcting->reason,
                 "learned for other numbers of the description");
}

/* FNV-1a (Fowler, Noll, Vo). */
static enum status name_content(struct correcting *correcting, struct error *error)
{
    char *text;
    size_t length;
    uint64_t hash = 14695981039346656037U;
    TRY(correction_text(&correcting->correction, &text, &length, error));
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)text[i]) * 1099511628211U;
    snprintf(correcting->content, sizeof correcting->content, "%016llx", (unsigned long long)hash);
    free(text);
    return STATUS_OK;
}

static enum status load_campaign(const struct hardware *hw, struct correcting *correcting,
                                 struct error *error)
{
    char change[64];
    double mhz = correcting->correction.clock_mhz;
    if (llround(mhz * 1e6) == hw->clock_hz)
        return STATUS_OK;
    snprintf(change, sizeof change, "clock_mhz=%.15g", mhz);
    return hardware_reload(hw, change, &correcting->campaign, error);
}

enum status correcting_open(const struct hardware *hw, struct correcting *correcting,
                            struct error *error)
{
    *correcting = (struct correcting){0};
    char file[sizeof correcting->file];
    if (hw->host || !correction_file_name(hw->file, file, sizeof file) || access(file, F_OK) != 0)
        return STATUS_OK;
    TRY(correction_read(file, &correcting->correction, error));
    memcpy(correcting->file, file, sizeof file);
    compare_with(hw, correcting);
    if (*correcting->reason)
        return STATUS_OK;
    TRY(name_content(correcting, error));
    return load_campaign(hw, correcting, error);
}

const struct hardware *correcting_chip(const struct correcting *correcting,
                                       const struct hardware *hw)
{
    return correcting->campaign.clock_hz ? &correcting->campaign : hw;
}

void correcting_close(struct correcting *correcting)
{
    hardware_clear(&correcting->campaign);
    correction_clear(&correcting->correction);
}

const struct correction *correcting_of(struct correcting *correcting, const struct operator* op,
                                       const struct operator_space *kind)
{
    const struct correction *c = &correcting->correction;
    bool of_op = *correcting->file && strcmp(c->op, op->name) == 0;
    if (!of_op)
        *correcting->reason = '\0';
    else if (!*correcting->reason && strcmp(c->space, kind->name) != 0)
        snprintf(correcting->reason, sizeof correcting->reason, "learned for the space %.60s",
                 c->space);
    return of_op && !*correcting->reason ? c : NULL;
}

static enum status simulate_features(struct tiling_simulator *simulator,
                                     const struct problem *problem, const struct space *space,
                                     const struct tiling *tiling, struct features *features,
                                     double *time_ns, struct error *error)
{
    struct timeline timeline;
    double busy_ns[HARDWARE_MAX_PIPES];
    TRY(tiling_simulator_run(simulator, space, tiling, 0, &timeline, error));
    for (int p = 0; p < space->hw->pipe_count; p++)
        busy_ns[p] = (double)timeline.busy_fs[p] / FS_PER_NS;
    *time_ns = (double)timeline.end_fs / FS_PER_NS;
    int cores = space->kind->cores_used(space, tiling, 0);
    features_of(&(struct simulated_kernel){problem, space, tiling, &simulator->program, cores,
                                           *time_ns, busy_ns},
                features);
    return STATUS_OK;
}

static enum status simulate_alone(const struct problem *problem, const struct space *space,
                                  const struct tiling *tiling, struct features *features,
                                  double *time_ns, struct error *error)
{
    struct tiling_simulator simulator;
    TRY(tiling_simulator_open(&simulator, error));
    enum status status =
        simulate_features(&simulator, problem, space, tiling, features, time_ns, error);
    tiling_simulator_close(&simulator);
    return status;
}

enum status correct_tiling(const struct correcting *correcting, const struct problem *problem,
                           const struct space *space, const struct tiling *tiling,
                           struct corrected *corrected, struct error *error)
{
    struct features features;
    struct space there;
    double time_ns;
    const struct hardware *chip = correcting_chip(correcting, space->hw);
    if (chip == space->hw) {
        TRY(simulate_alone(problem, space, tiling, &features, &time_ns, error));
    } else {
        TRY(space_open(problem, space->kind, chip, chip->cores, &there, error));
        enum status status = simulate_alone(problem, &there, tiling, &features, &time_ns, error);
        space_close(&there);
        TRY(status);
    }
    correction_apply(&correcting->correction, &features, time_ns, corrected);
    return STATUS_OK;
}

const char *correcting_summary(const struct correction *c, char *text, size_t size)
{
    char kernels[TEXT_SIZE];
    int64_t rows = 0;
    for (int b = 0; b < c->bank_count; b++)
        rows += c->banks[b].rows;
    const struct trained_quality *all = &c->qualities[0];
    int length = snprintf(text, size, "learned from %s kernels", text_count(rows, kernels));
    if (c->quality_count > 0 && length > 0 && (size_t)length < size)
        snprintf(text + length, size - (size_t)length,
                 "; mean error on problems left out %.1f %%, simulated %.1f %%",
                 100 * all->corrected[TRAINED_MEAN], 100 * all->simulated[TRAINED_MEAN]);
    return text;
}
