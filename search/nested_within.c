/* From two sides: of what was simulated it is known, of what was not the bounds leave it open. */
#include "search/nested_state.h"

/* How many tilings an open prefix adds that may be within a time; none that is known to be
 * outside. */
static int64_t open_within(const struct nested *nested, const struct space *space, int level,
                           struct open_node node, int64_t latest_fs)
{
    struct tiling tiling;
    if (node.bound_fs > latest_fs)
        return 0;
    int64_t leaves = level == 1 ? roots_leaves(&nested->roots, node.index) : -1;
    if (leaves >= 0)
        return leaves;
    space_tiling(space, node.index, &tiling);
    return prefix_leaf_count(&nested->levels, space, &tiling, level);
}

/* All legal tilings are simulated, or in the tally, or open, or beyond what either may count; an
 * uncounted search has no tally. Where the search was stopped, what is open is counted for a moment
 * at most: then it may be all there is. */
void nested_count_within(const struct search_run *run, struct within *within, double share,
                         int64_t best_fs)
{
    const struct nested *nested = run->pool;
    int64_t latest_fs = within_fs(best_fs, share);
    struct proof proof;
    run->source->prove(run, &proof);
    int64_t all = proof.counted ? proof.feasible : run->space->candidates;
    struct limited moment;
    const struct space *space = search_moment(run->space, &moment);
    for (int64_t i = 0; i < run->simulated; i++)
        within_note(within, &run->candidates.items[i], best_fs, share);
    if (run->options->uncounted) {
        within->at_most = all;
        return;
    }
    within->at_most += tally_sum(&nested->tally, latest_fs);
    for (int l = 1; l < nested->levels.count; l++)
        for (int64_t i = 0; i < nested->open[l].count; i++) {
            within->at_most += open_within(nested, space, l, nested->open[l].items[i], latest_fs);
            if (stop_due(space->stop)) {
                within->at_most = all;
                return;
            }
        }
    if (within->at_most > all)
        within->at_most = all;
}
