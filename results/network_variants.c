/* The front is that of V. Pareto, found by comparing all with all, in cores, the step's time and
 * the time of a sample: of one batch the last two go together, and it is time against cores; on one
 * chip it is latency against throughput (results/network_variants.h). */
#include "results/network_variants.h"

#include "formats/csv.h"
#include "formats/json.h"

#include <string.h>

/* Of a step of which the batch is not known, that of the step. */
static double sample_ns(const struct network_variant *variant)
{
    double samples = variant->batch > 0 ? (double)variant->batch : 1;
    return variant->total.predicted_ns / samples;
}

static double speedup(const struct network_answer *answer, const struct network_variant *variant)
{
    double ns = sample_ns(variant);
    return ns > 0 ? sample_ns(&answer->variants[0]) / ns : 0;
}

/* Is a nowhere worse than b, and somewhere better? */
static bool beats(const struct network_variant *a, const struct network_variant *b)
{
    double x = sample_ns(a), y = sample_ns(b);
    double s = a->total.predicted_ns, t = b->total.predicted_ns;
    return a->hw->cores <= b->hw->cores && s <= t && x <= y &&
           (a->hw->cores < b->hw->cores || s < t || x < y);
}

void network_mark_front(struct network_variant *variants, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        variants[i].is_front = true;
        for (int64_t j = 0; j < count && variants[i].is_front; j++)
            variants[i].is_front = !beats(&variants[j], &variants[i]);
    }
}

/* ------------------------------------------------------------------ tables */

/* "cores=20 clock_mhz=900", cut to the size. Returns `text`. */
enum { CHANGES_SIZE = 512 };
static const char *changes(const struct network_variant *variant, char text[CHANGES_SIZE])
{
    size_t used = 0;
    *text = '\0';
    for (size_t i = 0; i < variant->hw->fact_count && used < CHANGES_SIZE; i++) {
        const struct fact *fact = &variant->hw->facts[i];
        if (fact_is_override(fact))
            used += (size_t)snprintf(text + used, CHANGES_SIZE - used, "%s%s=%s", used ? " " : "",
                                     fact->key, fact->value);
    }
    return text;
}

static void put_variant(const struct network_answer *answer, const struct network_variant *variant,
                        FILE *out)
{
    char batch[TEXT_SIZE], time[TEXT_SIZE], low[TEXT_SIZE], high[TEXT_SIZE], sample[TEXT_SIZE];
    char line[TEXT_LINE_SIZE], text[CHANGES_SIZE];
    bool known = variant->batch > 0;
    fprintf(out, "  %c %8s  %5d  %10s  %10s  %10s  %10s  %7.2fx  %-8s  %s",
            variant->is_front ? '*' : ' ', known ? text_count(variant->batch, batch) : "-",
            variant->hw->cores, text_time(variant->total.predicted_ns, time),
            text_time(variant->total.low_ns, low), text_time(variant->total.high_ns, high),
            known ? text_time(sample_ns(variant), sample) : "-", speedup(answer, variant),
            variant->total.is_learned ? "learned" : "expected", text_line(variant->hw->name, line));
    if (*changes(variant, text))
        fprintf(out, " %s", text_line(text, line));
    fputc('\n', out);
}

void network_put_variants(const struct network_answer *answer, FILE *out)
{
    bool expected = false;
    fprintf(out,
            "\n  what if; first the step as it is:\n  %10s  %5s  %10s  %10s  %10s  %10s  %8s  "
            "%-8s  chip\n",
            "batch", "cores", "predicted", "from", "to", "a sample", "speed-up", "costs");
    for (int64_t i = 0; i < answer->variant_count; i++) {
        put_variant(answer, &answer->variants[i], out);
        expected |= !answer->variants[i].total.is_learned;
    }
    fputs("  * Pareto front: no other has as few cores, as short a step and as little time a "
          "sample\n",
          out);
    if (expected)
        fputs(
            "  expected: nothing was learned for the chip, and times are within a factor of two\n",
            out);
}

/* ------------------------------------------------------------------ for machines */

void network_put_variants_csv(const struct network_answer *answer, FILE *out)
{
    char text[CHANGES_SIZE];
    fputs("batch,hardware,hardware_changes,cores,clock_mhz,predicted_us,low_us,high_us,sample_us,"
          "speedup,learned,"
          "pareto\n",
          out);
    for (int64_t i = 0; i < answer->variant_count; i++) {
        const struct network_variant *variant = &answer->variants[i];
        if (variant->batch > 0)
            fprintf(out, "%lld", (long long)variant->batch);
        fputc(',', out);
        csv_put(variant->hw->name, out);
        fputc(',', out);
        csv_put(changes(variant, text), out);
        fprintf(out, ",%d,%.9g,%.9g,%.9g,%.9g,", variant->hw->cores,
                (double)variant->hw->clock_hz / 1e6, variant->total.predicted_ns / 1e3,
                variant->total.low_ns / 1e3, variant->total.high_ns / 1e3);
        if (variant->batch > 0)
            fprintf(out, "%.9g", sample_ns(variant) / 1e3);
        fprintf(out, ",%.9g,%d,%d\n", speedup(answer, variant), variant->total.is_learned,
                variant->is_front);
    }
}

json_t *network_variants_json(const struct network_answer *answer)
{
    json_t *list = json_array();
    for (int64_t i = 0; i < answer->variant_count; i++) {
        const struct network_variant *variant = &answer->variants[i];
        bool known = variant->batch > 0;
        json_array_append_new(
            list,
            json_pack("{s:o, s:o, s:o, s:i, s:f, s:f, s:[f, f], s:o, s:f, s:b, s:b}", "batch",
                      known ? json_integer((json_int_t)variant->batch) : json_null(), "hardware",
                      json_text(variant->hw->name), "hardware_changes", overrides_json(variant->hw),
                      "cores", variant->hw->cores, "clock_mhz", (double)variant->hw->clock_hz / 1e6,
                      "total_us", variant->total.predicted_ns / 1e3, "interval_us",
                      variant->total.low_ns / 1e3, variant->total.high_ns / 1e3, "sample_us",
                      known ? json_real(sample_ns(variant) / 1e3) : json_null(), "speedup",
                      speedup(answer, variant), "learned", variant->total.is_learned, "pareto",
                      variant->is_front));
    }
    return list;
}
