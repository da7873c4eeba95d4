/* What a network's step takes, as an answer: every call with its predicted, measured and best time,
 * what its kinds make together, and what the graph says. The JSON keys are a contract
 * (docs/network.md). */
#ifndef AUTOTUNE_RESULTS_NETWORK_H
#define AUTOTUNE_RESULTS_NETWORK_H

#include "core/hardware.h"
#include "formats/text.h"
#include "network/graph.h"
#include "network/operator_time.h"

#include <stdio.h>

/* What a search found for a call. */
struct call_tuned {
    double best_ns; /* 0: none */
    double gap;     /* of it, that a tiling may take less; 0: none does */
    char *why;      /* there is none, of a kind that is searched; NULL: there is, or it is not */
};

/* The step under other circumstances, after the first, the step as it is. */
struct network_variant {
    const struct hardware *hw; /* with what was changed in it */
    int64_t batch;             /* 0: not known */
    struct operator_time total;
    bool is_front; /* no other has as few cores, as short a step and as little time a sample, and
                      less of one of them */
};

/* All of it is the caller's. */
struct network_answer {
    const char *file;
    const struct network *network;
    const struct hardware *hw;
    const struct operator_time *times; /* a call each; 0 where it is not covered */
    struct operator_time total;
    const struct call_tuned *tuned;  /* a call each; NULL: nothing was tuned */
    const struct subgraph *subgraph; /* NULL: none was given, and `graph` says nothing */
    struct graph_times graph;
    int top; /* rows of a table */
    struct network_variant *variants;
    int64_t variant_count; /* 0: none were asked for */
    const char *next;      /* the command to go on with; or NULL */
};

enum status network_write_table(const struct network_answer *answer, const struct style *style,
                                FILE *out, struct error *error);
enum status network_write_json(const struct network_answer *answer, const struct style *style,
                               FILE *out, struct error *error);
enum status network_write_csv(const struct network_answer *answer, const struct style *style,
                              FILE *out, struct error *error);

/* Fills is_front of them all. */
void network_mark_front(struct network_variant *variants, int64_t count);

/* ------------------------------------------------------------------ for the writers */

/* Sums over calls and their counts, in nanoseconds; measured_ns is negative where a call of them
 * was not measured, and error_ns, the sum of their absolute errors, says nothing then. */
struct network_sum {
    int64_t rows, calls;
    double predicted_ns, low_ns, high_ns, measured_ns, error_ns;
};

/* Of all calls that are covered, and of L's kinds among them or of those that are not covered. */
enum network_part { PART_COVERED, PART_L_KINDS, PART_UNCOVERED };
struct network_sum network_sum_of(const struct network_answer *answer, enum network_part part);

/* Of the time of all, measured where all of it is, else predicted. */
double network_share(const struct network_sum *part, const struct network_sum *all);

/* What the answer says in words about the whole step: "predicted", "177.3 us, four of five …".
 * Returns how many lines. */
enum { NETWORK_LINES = 4 };
struct network_line {
    const char *name;
    char text[192];
};
int network_lines(const struct network_answer *answer, struct network_line line[NETWORK_LINES]);

/* A kind of operator; those that take most come first: measured where all calls are, else
 * predicted. To be freed. */
struct network_kind {
    const char *op_type;
    struct network_sum sum;
};
enum status network_kinds(const struct network_answer *answer, struct network_kind **kinds,
                          int64_t *count, struct error *error);

/* All covered calls, by what the best tiling would save where something was tuned, then by what
 * they take. To be freed. */
enum status network_order(const struct network_answer *answer, int64_t **order, int64_t *count,
                          struct error *error);

/* What was found for it; of an answer without, nothing. */
struct call_tuned network_tuned_of(const struct network_answer *answer, int64_t call);

/* What all calls of a row take now, measured or else predicted, and what its best tiling would save
 * of that, 0 where that is not known. */
double network_all_now_ns(const struct network_answer *answer, int64_t call);
double network_saved_ns(const struct network_answer *answer, int64_t call);

/* What all covered calls take now, and what of it would be saved. */
struct network_saving {
    double now_ns, saved_ns;
};
struct network_saving network_saving(const struct network_answer *answer);

/* Is there something to save? NULL: not known. */
const char *network_verdict(const struct network_answer *answer, int64_t call);

/* "6400x768 768x768 -> 6400x768 f16", cut to the size. Returns `text`. */
enum { CALL_SHAPES_SIZE = 160 };
const char *network_shapes(const struct operator_call *call, char text[CALL_SHAPES_SIZE]);

#endif
