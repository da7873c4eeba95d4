/* What follows from an answer's parts. */
#include "results/tune.h"

#include "core/stop.h"

#include <math.h>
#include <string.h>

const struct found *tune_best(const struct tune_answer *a)
{
    const struct host_tune *tune = a->measured ? &a->measured->tune : NULL;
    if (tune && tune->measured)
        return &tune->items[0].model;
    if (tune && tune->count && !tune->left_out)
        return NULL;
    return a->search->count ? &a->search->best[0] : NULL;
}

bool tune_is_optimal(const struct tune_answer *a)
{
    const struct host_tune *tune = a->measured ? &a->measured->tune : NULL;
    if (a->chosen)
        return a->search->optimal && a->search->count &&
               a->search->best[0].timeline.end_fs <= a->search->lower_bound_fs;
    return a->search->optimal && (!tune || (tune->measured && tune->items[0].rank == 1));
}

double tune_gap(const struct tune_answer *a)
{
    const struct found *best = tune_best(a);
    if ((!a->measured && !a->chosen) || !best)
        return a->search->gap;
    double ns = found_ns(best);
    return (ns - (double)a->search->lower_bound_fs / FS_PER_NS) / ns;
}

double tune_gflops(const struct tune_answer *a, double time_ns)
{
    double operations = a->problem->op->operations(a->problem, a->space->hw);
    return operations > 0 ? operations / time_ns : (double)NAN;
}

double tune_peak_gflops(const struct tune_answer *a, const struct found *found)
{
    const struct hardware *hw = a->space->hw;
    if (hw->host)
        return hw->host->peak_gflops * a->cores;
    bool works = hw->matrix_pipe >= 0 && found->timeline.busy_fs[hw->matrix_pipe] > 0;
    return works ? hardware_matrix_peak(hw, a->problem->type) / 1e9 * a->cores : 0;
}

double tune_roofline_ns(const struct tune_answer *a)
{
    return a->space->kind->roofline_ns(a->space);
}

/* The first ones have the smallest sizes, with each choice: what is told is what stays wrong with
 * the best of those. */
enum { REASON_CANDIDATES = 64 };

const char *tune_reason(const struct tune_answer *a, char text[TUNE_REASON_SIZE])
{
    const struct space *space = a->space;
    int fewest = MAX_VIOLATIONS + 1;
    *text = 0;
    if (a->search->count || a->cut_short)
        return NULL;
    for (int64_t i = 0; i < space->candidates && i < REASON_CANDIDATES; i++) {
        struct violation violations[MAX_VIOLATIONS];
        struct tiling tiling;
        space_tiling(space, i, &tiling);
        int count = space->kind->violations(space, &tiling, violations);
        if (count == 0)
            return NULL;
        if (count < fewest)
            snprintf(text, TUNE_REASON_SIZE, "%s", violations[0].text);
        fewest = count < fewest ? count : fewest;
    }
    if (!space->candidates)
        snprintf(text, TUNE_REASON_SIZE, "%s", space->empty);
    return *text ? text : NULL;
}

/* "line 29" of "29:7: a part …" and "line 29: require …". */
static void name_limit(const struct violation *violation, char limit[TUNE_LIMIT_SIZE])
{
    static const char word[] = "line ";
    bool by_line =
        strcmp(violation->limit, "kernel") == 0 || strcmp(violation->limit, "require") == 0;
    const char *text = violation->text;
    text += strncmp(text, word, strlen(word)) == 0 ? strlen(word) : 0;
    int digits = (int)strspn(text, "0123456789");
    if (by_line && digits > 0 && text[digits] == ':')
        snprintf(limit, TUNE_LIMIT_SIZE, "%s%.*s", word, digits, text);
    else
        snprintf(limit, TUNE_LIMIT_SIZE, "%.31s", violation->limit);
}

static void count_reason(const struct violation *violation, struct tune_illegal *illegal)
{
    char limit[TUNE_LIMIT_SIZE];
    int r = 0;
    name_limit(violation, limit);
    while (r < illegal->count && strcmp(illegal->reasons[r].limit, limit) != 0)
        r++;
    if (r == TUNE_MOST_REASONS)
        return;
    if (r == illegal->count) {
        illegal->count++;
        memcpy(illegal->reasons[r].limit, limit, sizeof limit);
        snprintf(illegal->reasons[r].text, TUNE_REASON_SIZE, "%.159s", violation->text);
    }
    struct tune_limit counted = illegal->reasons[r];
    counted.tilings++;
    for (; r > 0 && illegal->reasons[r - 1].tilings < counted.tilings; r--)
        illegal->reasons[r] = illegal->reasons[r - 1];
    illegal->reasons[r] = counted;
}

enum { LOOKED_AT = 256 };

/* Beyond a time limit so much is left for them. */
static const double SOON_S = 0.05;

void tune_illegal(const struct tune_answer *a, struct tune_illegal *illegal)
{
    struct stop stop = {.told = a->space->stop ? a->space->stop->told : NULL,
                        .deadline_ns = stop_after_least_s(a->end_ns, SOON_S)};
    struct space space = *a->space;
    int64_t count = space.candidates < LOOKED_AT ? space.candidates : LOOKED_AT;
    *illegal = (struct tune_illegal){.looked_at = 0};
    if (!space.kind->possible || a->cut_short || a->search->feasible == a->search->candidates)
        return;
    space.stop = &stop;
    for (int64_t i = 0; i < count && !stop_due(&stop); i++) {
        struct violation violations[MAX_VIOLATIONS];
        struct tiling tiling;
        int64_t index = (int64_t)((double)i * (double)space.candidates / (double)count);
        space_tiling(&space, index, &tiling);
        illegal->looked_at++;
        if (!space.kind->possible(&space, &tiling, space.axis_count) &&
            space.kind->violations(&space, &tiling, violations))
            count_reason(&violations[0], illegal);
    }
    if (stop_due(&stop)) /* what was looked at until then is another number each time */
        *illegal = (struct tune_illegal){.looked_at = 0};
}

const char *tune_core_counts_text(const struct tune_answer *a, char text[2 * TEXT_SIZE])
{
    const size_t size = (size_t)2 * TEXT_SIZE;
    int count = 0;
    long long least = 0, most = 0;
    for (int64_t n = 0; (n = space_next_cores(a->space, n)) > 0; count++) {
        least = count ? least : n;
        most = n;
    }
    text[0] = 0;
    if (count == 1)
        snprintf(text, size, " on %lld core%s", most, most == 1 ? "" : "s");
    else if (count == 2)
        snprintf(text, size, " on %lld or %lld cores", least, most);
    else if (count && most - least + 1 == count)
        snprintf(text, size, " on %lld to %lld cores", least, most);
    else if (count)
        snprintf(text, size, " on %d numbers of cores up to %lld", count, most);
    return text;
}

const struct host_candidate *tune_measured_of(const struct tune_answer *a,
                                              const struct found *found)
{
    const struct host_tune *tune = a->measured ? &a->measured->tune : NULL;
    for (int i = 0; tune && i < tune->count; i++)
        if (memcmp(&tune->items[i].model.tiling, &found->tiling,
                   (size_t)a->space->axis_count * sizeof found->tiling.value[0]) == 0)
            return &tune->items[i];
    return NULL;
}

double tune_measured_ns(const struct host_candidate *candidate)
{
    return candidate ? candidate->measured.timing.median_ns : 0;
}

double tune_max_error(const struct host_candidate *candidate)
{
    return candidate->measured.allowed_error > 0 ? candidate->measured.max_error : (double)NAN;
}
