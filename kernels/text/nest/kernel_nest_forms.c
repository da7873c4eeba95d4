/* The linear forms of steps in numbers. Loops that are cut from one another are summed up from the
 * innermost one outwards: exactly while ranges and steps are known; of ranges that are not, a sum
 * over a range of r elements is at least `per`·r and at least `each`, whatever r is. */
#include "kernels/slices.h"
#include "kernels/text/nest/kernel_nest_least.h"

#include <math.h>

/* Of a sum over a range of r elements, 1 <= r: at least per·r, and at least `each`. */
struct least_sum {
    double per, each;
};

struct chain {
    const struct least_loop *loops;
    int count;
    bool counts; /* lengths count; else executions do */
    const struct kernel_box *box;
};

/* For any range of up to `most` elements. */
static struct least_sum sum_of_any(const struct chain *c, int k, double most)
{
    if (k == c->count)
        return (struct least_sum){1 / most, 1};
    struct span by = box_span(c->box, c->loops[k].text->by);
    double longest = fmin((double)by.most, most);
    struct least_sum round = sum_of_any(c, k + 1, longest);
    if (c->counts && c->loops[k].counts)
        round.per = round.each;
    if (c->loops[k].is_once)
        return (struct least_sum){(double)by.least >= most ? round.per : round.each / most,
                                  round.each};
    return (struct least_sum){fmax(round.per, round.each / longest), round.each};
}

/* Over a range that is known. */
static double sum_of(const struct chain *c, int k, int64_t range)
{
    if (k == c->count)
        return 1;
    const struct least_loop *loop = &c->loops[k];
    bool counts = c->counts && loop->counts;
    struct span by = box_span(c->box, loop->text->by);
    if (!span_is_known(by)) {
        double most = fmin((double)by.most, (double)range);
        struct least_sum round = sum_of_any(c, k + 1, most);
        if (counts)
            round.per = round.each;
        if (loop->is_once)
            return fmax(round.each, round.per * fmin((double)by.least, (double)range));
        return fmax(round.per * (double)range, ceil((double)range / most) * round.each);
    }
    if (by.least >= range)
        return (counts ? (double)range : 1) * sum_of(c, k + 1, range);
    double full = (counts ? (double)by.least : 1) * sum_of(c, k + 1, by.least);
    if (loop->is_once)
        return full;
    int64_t rounds = divide_up(range, by.least), rest = range - (rounds - 1) * by.least;
    double last = rest == by.least ? full : (counts ? (double)rest : 1) * sum_of(c, k + 1, rest);
    return (double)(rounds - 1) * full + last;
}

static double sum_of_chain(const struct chain *c)
{
    struct span in = box_span(c->box, c->loops->text->in);
    if (c->loops->text->in->op == EXPRESSION_LOOP) /* of a loop that is not listed before it */
        return 1;
    if (span_is_known(in))
        return sum_of(c, 0, in.least);
    struct least_sum sum = sum_of_any(c, 0, (double)in.most);
    return fmax(sum.each, sum.per * (double)in.least);
}

/* The length of the first round that counts, and of the last one. */
static void ends_of_chain(const struct chain *c, double *first, double *last)
{
    struct span longest = box_span(c->box, c->loops->text->in), range = longest;
    if (c->loops->text->in->op == EXPRESSION_LOOP)
        return;
    for (int k = 0; k < c->count; k++) {
        struct span by = box_span(c->box, c->loops[k].text->by);
        longest.least = by.least < longest.least ? by.least : longest.least;
        if (span_is_known(by) && span_is_known(range)) {
            int64_t rounds = divide_up(range.least, by.least);
            int64_t rest = range.least - (rounds - 1) * by.least;
            int64_t length = c->loops[k].is_once && rounds > 1 ? by.least : rest;
            range = (struct span){length, length};
        } else {
            range = (struct span){1, range.most};
        }
        if (c->loops[k].counts) {
            *first *= (double)longest.least;
            *last *= (double)range.least;
        }
    }
}

void kernel_least_step(const struct least_step *step, const struct kernel_box *box,
                       struct least_work *work)
{
    double product = step->scale, units = 1, first = 1, last = 1;
    *work = (struct least_work){.instructions = 1};
    if (step->is_sometimes) {
        work->instructions = 0;
        return;
    }
    for (int i = 0; i < step->count_count; i++) {
        struct span count = box_span(box, step->counts[i]);
        product *= count.least > 1 ? (double)count.least : 1;
    }
    for (int l = 0, end; l < step->loop_count; l = end) {
        bool counts = step->loops[l].counts;
        for (end = l + 1; end < step->loop_count && !step->loops[end].begins; end++)
            counts |= step->loops[end].counts;
        struct chain chain = {&step->loops[l], end - l, false, box};
        double times = sum_of_chain(&chain);
        work->instructions *= times;
        chain.counts = counts;
        units *= counts ? sum_of_chain(&chain) : times;
        if (counts)
            ends_of_chain(&chain, &first, &last);
    }
    work->units = fmax(0, product * units - step->off * work->instructions);
    work->first_units = fmax(0, product * first - step->off);
    work->last_units = fmax(0, product * last - step->off);
}
