/* Internal to jobs/: the details of each operator. */
#ifndef AUTOTUNE_JOBS_DETAILS_PARTS_H
#define AUTOTUNE_JOBS_DETAILS_PARTS_H

#include "jobs/details.h"
#include "search/player.h"

typedef enum status details_maker(const struct problem *problem, const struct space *space,
                                  const struct search_result *result,
                                  const struct details_options *options, json_t *details,
                                  struct error *error);
details_maker knn_details, cubefx_details;

/* The pipe or bus with the largest share of `busy_ns`, and its time; buses at their best rate. */
struct limiter {
    const char *name;
    double busy_ns;
};
struct limiter limiter_of(const struct hardware *hw, const double busy_ns[HARDWARE_MAX_PIPES],
                          const double bus_bytes[HARDWARE_MAX_BUSES]);

/* What one program does on `cores` cores in step. */
struct played {
    double time_ns; /* launch included */
    double busy_ns[HARDWARE_MAX_PIPES];
    double bus_bytes[HARDWARE_MAX_BUSES]; /* of all cores */
};

/* Plays player->program, as the search does (player_tidy). */
enum status play_program(struct player *player, int cores, struct played *played,
                         struct error *error);

#endif
