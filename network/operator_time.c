/* A launch, then all bytes of inputs and outputs at the rate that all cores together have to the
 * outer memory; the interval is a factor of two to either side. */
#include "network/operator_time.h"

static double outer_bytes_per_ns(const struct hardware *hw)
{
    int64_t most = 0;
    for (int b = 0; b < hw->bus_count; b++)
        for (int n = 0; n < hw->buses[b].sharers; n++)
            most =
                hw->buses[b].total_bytes_per_s[n] > most ? hw->buses[b].total_bytes_per_s[n] : most;
    return most > 0 ? (double)most / 1e9 : 1;
}

enum status operator_times(const struct network *network, const struct hardware *hw,
                           struct operator_time *times, struct error *error)
{
    (void)error;
    enum { LAUNCH_NS = 2000 };
    for (int64_t i = 0; i < network->call_count; i++) {
        double ns = LAUNCH_NS + (double)call_bytes(&network->calls[i]) / outer_bytes_per_ns(hw);
        times[i] = (struct operator_time){ns, ns / 2, ns * 2};
    }
    return STATUS_OK;
}

struct operator_time network_interval(const struct network *network,
                                      const struct operator_time *times)
{
    struct operator_time sum = {0};
    for (int64_t i = 0; i < network->call_count; i++) {
        double count = (double)network->calls[i].count;
        sum.predicted_ns += count * times[i].predicted_ns;
        sum.low_ns += count * times[i].low_ns;
        sum.high_ns += count * times[i].high_ns;
    }
    return sum;
}
