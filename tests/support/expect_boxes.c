#include "tests/support/expect_boxes.h"

#include "kernels/text/plan/kernel_plan.h"
#include "kernels/text/space/kernel_space_internal.h"
#include "search/candidates.h"
#include "search/search.h"
#include "search/tiling_simulator.h"

#include <criterion/criterion.h>
#include <gsl/gsl_rng.h>
#include <stdlib.h>
#include <string.h>

enum { MEMBERS = 40 };

struct checker {
    const struct space *space;
    const struct operator_boxes *kind;
    const void *made;
    void *scratch;
    struct bounder bounder;
    struct tiling_simulator simulator;
    gsl_rng *rng;
    struct boxes_seen *seen;
    const char *what;
};

static int draw(gsl_rng *rng, int count)
{
    return (int)gsl_rng_uniform_int(rng, (unsigned long)count);
}

/* A part of a root: narrow along some axes, one value along others. */
static struct space_box draw_box(const struct checker *c, const struct space_box *root)
{
    struct space_box box = *root;
    int kind = draw(c->rng, 3);
    for (int a = 0; a < c->space->axis_count; a++) {
        int count = root->last[a] - root->first[a] + 1;
        int first = draw(c->rng, count), last = first + draw(c->rng, count - first);
        bool is_one = kind == 0 || (kind == 1 && draw(c->rng, 2));
        box.first[a] = root->first[a] + first;
        box.last[a] = root->first[a] + (is_one ? first : last);
    }
    return box;
}

static double points_in(const struct checker *c, const struct space_box *box)
{
    double points = 1;
    for (int a = 0; a < c->space->axis_count; a++)
        points *= box->last[a] - box->first[a] + 1;
    return points;
}

/* All of a few, else some. */
static struct tiling member(const struct checker *c, const struct space_box *box, int number,
                            bool all)
{
    const struct space_block *block = &c->space->blocks[box->block];
    struct tiling tiling = {.value = {0}};
    for (int a = 0; a < c->space->axis_count; a++) {
        int count = box->last[a] - box->first[a] + 1;
        tiling.value[a] =
            block->values[a][box->first[a] + (all ? number % count : draw(c->rng, count))];
        number /= count;
    }
    return tiling;
}

static void show(const struct checker *c, const struct tiling *tiling, char text[512])
{
    tiling_text(c->space->axes, c->space->axis_count, tiling, text, 512);
}

static void check_member(struct checker *c, const struct tiling *tiling, enum box_fits fits,
                         int64_t bound_fs, bool is_alone)
{
    char text[512];
    struct timeline timeline;
    struct error error;
    show(c, tiling, text);
    if (!c->space->kind->possible(c->space, tiling, c->space->axis_count)) {
        cr_expect_neq(fits, FITS_ALL, "%s: all is said to fit, but %s does not", c->what, text);
        return;
    }
    c->seen->members++;
    cr_expect_neq(fits, FITS_NONE, "%s: nothing is said to fit, but %s does", c->what, text);
    if (fits == FITS_NONE)
        return;
    cr_assert_eq(tiling_simulator_run(&c->simulator, c->space, tiling, 0, &timeline, &error),
                 STATUS_OK, "%s: %s", c->what, error.text);
    cr_expect_leq(bound_fs, timeline.end_fs, "%s: %s takes %lld fs, its box %lld fs or more",
                  c->what, text, (long long)timeline.end_fs, (long long)bound_fs);
    int64_t own_fs = bounder_tiling_fs(&c->bounder, c->space, tiling);
    c->seen->points += is_alone;
    c->seen->tight += is_alone && (double)bound_fs >= 0.95 * (double)own_fs;
}

static void check_box(struct checker *c)
{
    struct work work;
    int root = draw(c->rng, c->kind->root_count(c->made));
    struct space_box box = draw_box(c, c->kind->root(c->made, root));
    double points = points_in(c, &box);
    bool all = points <= MEMBERS;
    enum box_fits fits = c->kind->fits(c->made, root, &box, c->scratch);
    c->kind->summarise(c->made, root, &box, c->scratch, &work);
    int64_t bound_fs = bounder_fs(&c->bounder, &work);
    c->seen->boxes++;
    c->seen->empty += fits == FITS_NONE;
    c->seen->full += fits == FITS_ALL;
    for (int i = 0; i < (all ? (int)points : MEMBERS); i++) {
        struct tiling tiling = member(c, &box, i, all);
        check_member(c, &tiling, fits, bound_fs, points == 1);
    }
}

/* Every tiling that is legal is in one root. */
static void check_roots(const struct checker *c)
{
    for (int64_t i = 0; i < c->space->candidates; i += 1 + c->space->candidates / 500) {
        struct tiling tiling;
        int roots = 0;
        space_tiling(c->space, i, &tiling);
        if (!c->space->kind->possible(c->space, &tiling, c->space->axis_count))
            continue;
        for (int r = 0; r < c->kind->root_count(c->made); r++) {
            const struct space_box *box = c->kind->root(c->made, r);
            const struct space_block *block = &c->space->blocks[box->block];
            bool is_in = true;
            for (int a = 0; a < c->space->axis_count; a++)
                is_in &= block->values[a][box->first[a]] <= tiling.value[a] &&
                         tiling.value[a] <= block->values[a][box->last[a]];
            roots += is_in;
        }
        cr_expect_eq(roots, 1, "%s: tiling %lld is in %d roots", c->what, (long long)i, roots);
    }
}

/* The plan of a tiling is that of its choices. */
static void check_plans(const struct checker *c)
{
    const struct kernel_space *ks = c->space->detail;
    for (int64_t i = 0; i < c->space->candidates; i += 1 + c->space->candidates / 500) {
        struct tiling tiling;
        struct kernel_values values;
        struct plan_choices choices;
        struct error error;
        space_tiling(c->space, i, &tiling);
        const struct space_plan *plan = kernel_find_plan(ks, &tiling);
        cr_assert(kernel_set_tiling(ks, &tiling, &values, NULL));
        bool can = kernel_plan_choices(&values, &choices, &error) == STATUS_OK;
        cr_assert_eq(can, plan != NULL, "%s: tiling %lld: %s", c->what, (long long)i, error.text);
        if (plan)
            cr_expect_eq(memcmp(choices.values, plan->choices.values,
                                (size_t)choices.count * sizeof *choices.values),
                         0, "%s: tiling %lld has another plan", c->what, (long long)i);
    }
}

void expect_boxes(const struct space *space, unsigned long seed, int boxes, struct boxes_seen *seen,
                  const char *what)
{
    struct error error;
    struct checker c = {.space = space, .kind = &kernel_boxes, .seen = seen, .what = what};
    cr_assert_eq(kernel_boxes.open(space, &c.made, &error), STATUS_OK, "%s: %s", what, error.text);
    if (!c.made)
        return;
    seen->spaces++;
    c.rng = gsl_rng_alloc(gsl_rng_taus);
    gsl_rng_set(c.rng, seed);
    c.scratch = malloc(c.kind->scratch_bytes(c.made) + 1);
    cr_assert_eq(bounder_open(&c.bounder, space, &error), STATUS_OK);
    cr_assert_eq(tiling_simulator_open(&c.simulator, &error), STATUS_OK);
    check_roots(&c);
    check_plans(&c);
    for (int b = 0; b < boxes && c.kind->root_count(c.made) > 0; b++)
        check_box(&c);
    tiling_simulator_close(&c.simulator);
    bounder_close(&c.bounder);
    gsl_rng_free(c.rng);
    free(c.scratch);
}

/* ------------------------------------------------------------------ searches */

static int opened; /* spaces of which there are boxes */

static struct search_result ask(const struct space *space, const char *strategy, int threads)
{
    struct search_result result;
    struct error error;
    const struct search_options options = {.strategy = strategy, .threads = threads, .top = 3};
    cr_assert_eq(search(space, &options, &result, &error), STATUS_OK, "%s", error.text);
    return result;
}

static void expect_same(const struct search_result *a, const struct search_result *b,
                        const char *what)
{
    cr_expect_eq(a->optimal, b->optimal, "%s", what);
    cr_assert_eq(a->count, b->count, "%s: %d tilings, by boxes %d", what, a->count, b->count);
    for (int i = 0; i < a->count; i++) {
        cr_expect_eq(a->best[i].timeline.end_fs, b->best[i].timeline.end_fs,
                     "%s: number %d takes %lld fs, by boxes %lld fs", what, i,
                     (long long)a->best[i].timeline.end_fs, (long long)b->best[i].timeline.end_fs);
        cr_expect_eq(a->best[i].index, b->best[i].index, "%s: number %d", what, i);
    }
}

/* However few tilings there are. */
static enum status open_boxes(const struct space *space, const void **made, struct error *error)
{
    enum status status = kernel_boxes.open(space, made, error);
    opened += *made != NULL;
    return status;
}

/* Those that are known to be legal, or all. */
static void expect_count(const struct search_result *list, const struct search_result *found,
                         struct boxes_seen *seen, const char *what)
{
    if (found->unasked)
        cr_expect_leq(found->feasible, list->feasible, "%s", what);
    else
        cr_expect_eq(found->feasible, list->feasible, "%s: %lld legal, by boxes %lld", what,
                     (long long)list->feasible, (long long)found->feasible);
    seen->counted += !found->unasked;
}

void expect_same_by_boxes(const struct space *space, struct boxes_seen *seen, const char *what)
{
    struct operator_boxes boxes = kernel_boxes;
    struct operator_space kind = *space->kind;
    struct space by_boxes = *space;
    boxes.open = open_boxes;
    kind.boxes = &boxes;
    by_boxes.kind = &kind;
    struct search_result list = ask(space, "exhaustive", 1);
    for (int threads = 1; threads <= 3; threads++) {
        int before = opened;
        struct search_result found = ask(&by_boxes, "bound", threads);
        expect_same(&list, &found, what);
        expect_count(&list, &found, seen, what);
        cr_expect_leq(found.within_1_percent.surely, list.within_1_percent.surely, "%s", what);
        cr_expect_geq(found.within_1_percent.at_most, list.within_1_percent.surely, "%s", what);
        seen->searched += opened - before;
        seen->simulated += opened > before ? (int)found.simulated : 0;
        seen->listed += opened > before ? (int)list.simulated : 0;
        search_result_clear(&found);
    }
    search_result_clear(&list);
}
