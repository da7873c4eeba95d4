/* The effective clock of a measuring campaign: the one at which the simulator is least wrong about
 * the kernels of it, in the mean of |ln(simulated / measured)|. The mean has small dents, and
 * nobody knows a clock better than to 10 MHz: so clocks from three quarters of the description's to
 * a twentieth above it are tried in coarse steps, and those around the best in fine ones. What else
 * a campaign had of its own (another driver, a throttled memory) goes into this one number too. */
#include "jobs/calibrate/learn.h"

#include "hardware/load.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { FINE_MHZ = 10, COARSE_MHZ = 50 };
#define LEAST_OF_CLOCK 0.75
#define MOST_OF_CLOCK  1.05

/* Adds a bank's rows at a clock to the sum of |ln|, and their count. */
static enum status add_bank(const struct learn_bank *bank, long mhz,
                            const struct learn_options *options, double *sum, size_t *count,
                            struct error *error)
{
    char change[64];
    struct hardware hw;
    snprintf(change, sizeof change, "clock_mhz=%ld", mhz);
    TRY(hardware_reload(bank->hw, change, &hw, error));
    struct prediction *predictions = calloc(bank->count + 1, sizeof *predictions);
    enum status status = predictions ? evaluate_rows(bank->rows, bank->count, &hw, options->threads,
                                                     options->stop, predictions, error)
                                     : error_memory(error);
    for (size_t i = 0; status == STATUS_OK && i < bank->count; i++)
        if (bank->rows[i].measured_ns > 0 && predictions[i].predicted_ns > 0) {
            *sum += fabs(log(predictions[i].predicted_ns / bank->rows[i].measured_ns));
            ++*count;
        }
    free(predictions);
    hardware_clear(&hw);
    return status;
}

struct best_clock {
    long mhz; /* 0: none yet */
    double error;
};

static enum status try_clock(const struct learn_bank banks[], int count, long mhz,
                             const struct learn_options *options, struct best_clock *best,
                             struct error *error)
{
    double sum = 0;
    size_t rows = 0;
    for (int b = 0; b < count; b++)
        if (banks[b].own)
            TRY(add_bank(&banks[b], mhz, options, &sum, &rows, error));
    if (rows && (best->mhz == 0 || sum / (double)rows < best->error))
        *best = (struct best_clock){mhz, sum / (double)rows};
    return STATUS_OK;
}

static enum status try_clocks(const struct learn_bank banks[], int count, long from, long to,
                              long step, const struct learn_options *options,
                              struct best_clock *best, struct error *error)
{
    for (long mhz = from; mhz <= to; mhz += step) {
        if (options->stop && *options->stop)
            return error_set(error, STATUS_STOPPED, "interrupted");
        TRY(try_clock(banks, count, mhz, options, best, error));
    }
    return STATUS_OK;
}

enum status learn_clock(const struct learn_bank banks[], int count,
                        const struct learn_options *options, double *clock_mhz, struct error *error)
{
    struct best_clock best = {0, INFINITY};
    for (int b = 0; b < count; b++)
        if (banks[b].own)
            *clock_mhz = (double)banks[b].hw->clock_hz / 1e6;
    long least = lround(*clock_mhz * LEAST_OF_CLOCK / COARSE_MHZ) * COARSE_MHZ;
    long most = lround(*clock_mhz * MOST_OF_CLOCK);
    TRY(try_clocks(banks, count, least, most, COARSE_MHZ, options, &best, error));
    least = best.mhz - COARSE_MHZ + FINE_MHZ;
    most = best.mhz + COARSE_MHZ - FINE_MHZ;
    if (best.mhz > 0)
        TRY(try_clocks(banks, count, least, most, FINE_MHZ, options, &best, error));
    if (best.mhz > 0 && fabs((double)best.mhz / *clock_mhz - 1) >= CAMPAIGN_LEAST)
        *clock_mhz = (double)best.mhz;
    return STATUS_OK;
}
