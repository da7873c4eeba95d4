/* Vector clocks of a record without some of its synchronisation.
 * A replay stops being allowed at the first step that does not come after all it has to come after.
 *
 *   replay_init(&replay, &record, &error);
 *   while (replay.at < record.count && replay_step(&replay, gone)) … */
#ifndef AUTOTUNE_ANALYSIS_CHECK_REPLAY_H
#define AUTOTUNE_ANALYSIS_CHECK_REPLAY_H

#include "analysis/check/record.h"

struct replay {
    const struct record *record;
    int64_t at; /* the next step */
    int pipes;
    bool lost; /* the last step did not come after an access that it has to come after */
    size_t state_count;
    uint32_t *state; /* owned: clocks, by pipe; clocks of sets, by slot; by register, the number of
                        the last wait (0: no set will ask for it), and how many sets have had no
                        wait so far */
};

enum status replay_init(struct replay *replay, const struct record *record, struct error *error);
void replay_clear(struct replay *replay);

/* Makes `to` stand where `from` stands, of the same record. */
void replay_copy(struct replay *to, const struct replay *from);

/* Stand both at the same step, in the same state? What follows is then the same too. */
bool replay_equal(const struct replay *a, const struct replay *b);

/* Takes the step at replay->at, or only passes it when it is `gone` (a set, wait or barrier that
 * has been taken out). False when its order is not what it has to be. Where that is `lost`, it is
 * with still less synchronisation, too; a set that comes too early is none once its wait is gone.
 */
bool replay_step(struct replay *replay, bool gone);

/* Writes the state at a mark of the record to out[0, state_count), sets by age instead of by slot.
 */
void replay_state_at(const struct replay *replay, const struct record_mark *mark, uint32_t *out);

/* Of two such states at marks of a folded loop: has every number stayed or grown with its pipe's
 * events, of which `grown` came in between? */
bool replay_recurs(const struct replay *replay, const uint32_t *then, const uint32_t *now,
                   const uint32_t *grown);

/* The number of the last event of pipe `of` that `pipe` knows of. */
uint32_t replay_knows(const struct replay *replay, int pipe, int of);

#endif
