/* A call takes what the law of its kind says (network/call_law.h), times what trees say of such
 * calls (core/correction.h). Both are learned and stand in NAME.network.json beside the chip's
 * description; without that file, or where it is another chip's, the law has the expected costs and
 * the interval is a factor of two to either side. Errors of one network's calls go together, but
 * not in step: of the sum of their intervals it has the share that holds four fifths of the runs
 * that were left out of training. */
#include "network/operator_time.h"

#include "formats/correction_file.h"
#include "network/call_features.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

enum { NS_PER_US = 1000 };

double call_law_us(const struct operator_call *call, const struct call_sizes *sizes,
                   const struct correction *learned, const double terms[CALL_TERMS],
                   const struct trained_law **known)
{
    char kinds[CALL_LEVELS][CALL_KIND_SIZE];
    double us = 0;
    *known = NULL;
    call_kinds(call, sizes, kinds);
    for (int level = 0; learned && level < CALL_LEVELS && !*known; level++)
        *known = correction_law(learned, kinds[level]);
    for (int t = 0; t < CALL_TERMS; t++)
        us += terms[t] * (*known ? (*known)->costs_us[t] : call_terms[t].expected_us);
    return fmax(us, CALL_LEAST_US);
}

static struct operator_time time_of(const struct operator_call *call, const struct hardware *hw,
                                    const struct correction *learned)
{
    struct call_sizes sizes;
    struct features features;
    struct corrected corrected;
    const struct trained_law *known;
    double terms[CALL_TERMS];
    call_measure(call, hw, &sizes);
    call_fill_terms(call, &sizes, hw, terms);
    double us = call_law_us(call, &sizes, learned, terms, &known), ns = us * NS_PER_US;
    if (!known)
        return (struct operator_time){ns, ns / 2, ns * 2, 1, false};
    call_features(call, &sizes, terms, us, known, &features);
    correction_apply(learned, &features, ns, &corrected);
    if (strcmp(known->kind, call->op_type) != 0)
        corrected_widen(&corrected, learned->margin_unknown - learned->margin);
    return (struct operator_time){corrected.corrected_ns, corrected.low_ns, corrected.high_ns,
                                  learned->together, true};
}

static enum status check(const char *file, const struct correction *learned, struct error *error)
{
    for (int i = 0; i < learned->law_count; i++)
        if (learned->laws[i].term_count != CALL_TERMS)
            return error_at(error, file, 0, "laws[%d].costs_us: expected %d costs", i, CALL_TERMS);
    return STATUS_OK;
}

enum status operator_times_open(const struct hardware *hw, struct correction *learned,
                                struct error *error)
{
    char file[sizeof hw->file + sizeof NETWORK_SUFFIX];
    *learned = (struct correction){0};
    if (!network_file_name(hw->file, file, sizeof file) || access(file, F_OK) != 0)
        return STATUS_OK;
    TRY(correction_read(file, learned, error));
    enum status status = check(file, learned, error);
    if (status != STATUS_OK || strcmp(learned->chip, hw->name) != 0)
        correction_clear(learned);
    return status;
}

enum status operator_times(const struct network *network, const struct hardware *hw,
                           struct operator_time *times, struct error *error)
{
    struct correction learned;
    TRY(operator_times_open(hw, &learned, error));
    memset(times, 0, (size_t)network->call_count * sizeof *times);
    for (int64_t i = 0; i < network->call_count; i++)
        if (!network->calls[i].uncovered)
            times[i] = time_of(&network->calls[i], hw, &learned);
    correction_clear(&learned);
    return STATUS_OK;
}

struct operator_time network_interval(const struct network *network,
                                      const struct operator_time *times)
{
    struct operator_time sum = {.together = 1};
    double below = 0, above = 0;
    for (int64_t i = 0; i < network->call_count; i++) {
        const struct operator_time *t = &times[i];
        double count = (double)network->calls[i].count;
        sum.is_learned |= t->is_learned;
        sum.predicted_ns += count * t->predicted_ns;
        below += count * t->together * (t->predicted_ns - t->low_ns);
        above += count * t->together * (t->high_ns - t->predicted_ns);
    }
    sum.low_ns = fmax(sum.predicted_ns - below, 0);
    sum.high_ns = sum.predicted_ns + above;
    return sum;
}
