/* How a search goes about it. Three things meet:
 *
 *   a source    says which candidates there are, what bounds them, and how they are simulated: all
 *               tilings of a space (listed_source), prefixes of tilings (search/nested.h), the
 *               stages of a k-NN (kernels/knn/knn_search.c);
 *   a strategy  chooses among them: what is tried next, when it is done, and what that proves;
 *   the driver  (search/search.c) simulates batches on all threads, minds the limits, and keeps the
 *               best times, the trace and the answer.
 *
 * The driver calls, as often as it says:
 *
 *   init                                  once: takes a source
 *   refill; { done; next; observe }       until nothing more can be opened: after each refill, in
 *                                         batches, until done, or told to stop
 *   prove; tell                           once: the answer (and prove after each batch)
 *
 * A strategy is a file search/strategy_NAME.c, its line here and a row of search_strategies[]. */
#ifndef AUTOTUNE_SEARCH_STRATEGY_H
#define AUTOTUNE_SEARCH_STRATEGY_H

#include "search/clock.h"
#include "search/prefix.h"
#include "search/workers.h"

struct open_box; /* search/boxes.c */

enum { SEARCH_BATCH = 64, COUNTED_MOST = 1 << 14 };

/* Of a source with nothing open. */
#define NOTHING_OPEN INT64_MAX

/* One of a batch: a tiling to simulate, or a prefix of tilings to split. */
struct piece {
    struct candidate candidate; /* time_fs: 0 until it is simulated */
    bool is_prefix, ran;        /* ran: of prefixes, split to the end */
    bool failed;                /* … without memory */
    int level;                  /* … how long it is, and will be after: the source's to say */
    int64_t bounded, count, capacity;
    struct open_node *longer; /* what it is split into; owned until it is observed */
    struct open_box *boxes;   /* likewise, itself first, of a box (search/boxes.h) */
};

struct batch {
    int most, count; /* most: no more may be put into it */
    struct piece items[SEARCH_BATCH];
};

/* What is known of the tilings that were not simulated. */
struct proof {
    int64_t feasible; /* legal tilings that there are, as far as they were counted; -1: not */
    int64_t next_fs;  /* no tiling that is open is faster; NOTHING_OPEN: none is */
    bool counted;     /* these are all: what is not open cannot matter */
    bool bounded;     /* next_fs holds for all that was not simulated; else the roofline does */
    bool unasked;     /* of others it was not asked whether they are legal */
    int64_t pruned_by[SEARCH_MAX_RULES];
};

struct search_run {
    const struct space *space; /* with the limits of the search */
    const struct search_options *options;
    const struct search_strategy *strategy;
    const struct search_source *source;
    void *state, *pool; /* the strategy's own and the source's own, owned */
    const void *boxes;  /* of struct operator_boxes, the space's; NULL: there are none */
    int threads;
    bool more; /* can be opened, beside what is open */
    struct timespec started;
    struct limited hurry;
    struct recorder recorder;
    struct bounder bounder;
    struct workers workers;
    struct incumbents incumbents;
    /* The first `simulated` are those that were simulated, in no order that depends on the threads;
     * those after them are open, in the order in which list_take takes them. */
    struct candidates candidates;
    int64_t simulated;
    int64_t bounded; /* of tilings, or of many at once */
};

/* Where candidates come from. NULL where nothing is to be done. */
struct search_source {
    size_t size;    /* of run->pool, which starts as zero */
    int batch;      /* candidates at a time, up to SEARCH_BATCH */
    bool best_only; /* from COUNTED_MOST candidates on, how many are within one percent is not worth
                       simulating for */
    const char *idle; /* the phase before anything is open, to report at the start; or NULL */
    enum status (*open)(struct search_run *run, struct error *error);
    void (*close)(struct search_run *run);
    /* Opens the next part of the space, of several; *more: there is another one. What cannot matter
     * may be left out, but not with `all`. STATUS_STOPPED: before there was anything to say. */
    enum status (*refill)(struct search_run *run, bool all, bool *more, struct error *error);
    int64_t (*next_fs)(const struct search_run *run); /* the least bound of what is open */
    int64_t (*open_count)(const struct search_run *run);
    /* Takes candidates whose bounds do not exceed the limit, in order of bound. */
    void (*take)(struct search_run *run, int64_t limit_fs, struct batch *batch);
    /* Takes in what was simulated or split; what was not is open again. */
    enum status (*observe)(struct search_run *run, struct batch *batch, struct error *error);
    /* Splits a prefix; by any thread. */
    void (*split)(struct search_run *run, struct piece *piece);
    /* Simulates all of a batch, as far as there is time; NULL: each is one program. */
    enum status (*simulate)(struct search_run *run, struct batch *batch, struct error *error);
    /* All that an answer says of one that was simulated; NULL: likewise. */
    enum status (*fill)(struct search_run *run, const struct space *space,
                        const struct candidate *candidate, struct found *found,
                        struct error *error);
    void (*prove)(const struct search_run *run, struct proof *proof);
    /* What an answer says of all others: how many are near the best, and with keep_reached all that
     * were reached. */
    enum status (*tell)(struct search_run *run, struct search_result *result, struct error *error);
};

struct search_strategy {
    const char *name;
    const char *title;
    int64_t simulates; /* so many tilings, or all; 0: those that bounds leave */
    size_t size;       /* of run->state, which starts as zero */
    enum status (*init)(struct search_run *run, struct error *error);
    void (*free)(struct search_run *run); /* what the state owns; or NULL */
    enum status (*refill)(struct search_run *run, bool *more, struct error *error);
    bool (*done)(const struct search_run *run); /* is nothing open that has to be simulated? */
    void (*next)(struct search_run *run, struct batch *batch);
    enum status (*observe)(struct search_run *run, struct batch *batch, struct error *error);
    void (*prove)(const struct search_run *run, struct proof *proof);
    enum status (*tell)(struct search_run *run, struct search_result *result, struct error *error);
};

extern const struct search_strategy strategy_bound, strategy_exhaustive, strategy_random;

/* Ends with NULL. */
extern const struct search_strategy *const search_strategies[];
/* The strategy called `name` in any case, or NULL; without a name the first. */
const struct search_strategy *search_strategy_find(const char *name);

/* A source's own, for strategies that take all that comes from it. */
enum status source_observe(struct search_run *run, struct batch *batch, struct error *error);
void source_prove(const struct search_run *run, struct proof *proof);
enum status source_tell(struct search_run *run, struct search_result *result, struct error *error);

/* What init needs where a search is part of another: search_strategy apart, *run is filled in from
 * the space and the options; run->source is set. The caller closes it, whatever is returned. */
enum status search_run_open(struct search_run *run, struct error *error);
void search_run_close(struct search_run *run);

/* The source of candidates that lists the tilings of a space, block by block, with their bounds;
 * and what other sources and strategies use whose candidates are a list as well. */
extern const struct search_source listed_source;

/* struct search_source, of what is open in run->candidates. */
int64_t list_next_fs(const struct search_run *run);
int64_t list_open_count(const struct search_run *run);
void list_take(struct search_run *run, int64_t limit_fs, struct batch *batch);
enum status list_observe(struct search_run *run, struct batch *batch, struct error *error);
void list_prove(const struct search_run *run, struct proof *proof);

/* The same where no more than so many tilings are legal. */
void list_tell_among(struct search_run *run, int64_t legal, struct search_result *result);

/* Told to stop before there is any tiling it opens the first one. */
enum status list_take_first(struct search_run *run, struct error *error);

/* Hands all candidates over to the result. */
void list_keep(struct search_run *run, struct search_result *result);

#endif
