/* What answers say of a corrected time: it stands below the simulated one, with the interval and
 * how far the kernel is from those that it was learned from. */
#include "results/tune.h"

void tune_write_corrected(const struct tune_correction *c, const struct style *style, FILE *out)
{
    char time[TEXT_SIZE], low[TEXT_SIZE], high[TEXT_SIZE];
    const struct corrected *best = &c->best;
    if (!(best->corrected_ns > 0)) {
        text_put_line("correction", style, out, "none: %s", c->about);
        return;
    }
    text_put_line("corrected", style, out, "%s%s%s, %.0f %% of such kernels within %s to %s",
                  style->bold, text_time(best->corrected_ns, time), style->end, 100 * c->covers,
                  text_time(best->low_ns, low), text_time(best->high_ns, high));
    if (best->outside > 0)
        text_put_line("", style, out, "outside what it was learned from, by %.2g ranges of \"%s\"",
                      best->outside, best->outside_by);
    text_put_line("", style, out, "%s", c->about);
}

void tune_put_corrected(const struct corrected *c, json_t *found)
{
    if (c->corrected_ns > 0)
        json_object_update_new(found,
                               json_pack("{s:f, s:[f, f], s:f, s:s}", "corrected_ns",
                                         c->corrected_ns, "interval_ns", c->low_ns, c->high_ns,
                                         "outside", c->outside, "outside_by", c->outside_by));
}

json_t *tune_correction_json(const struct tune_correction *c)
{
    bool used = c->best.corrected_ns > 0;
    return json_pack("{s:o, s:b, s:o, s:o}", "file", json_text(c->file), "used", used,
                     used ? "about" : "reason", json_text(c->about), "covers",
                     json_number_above_0(c->covers));
}
