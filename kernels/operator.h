/* What runs: operators, and how each turns a tiling into a kernel.
 *
 * An operator is one row of the registry (operators[] in registry.c) and one or more spaces. To add
 * one: write a file that fills a struct operator, add the row; the command line, the search and
 * the tests that iterate over the registry pick it up.
 *
 *   problem_parse(op, "512x1024x512", &problem, &error)
 *   space_open(&problem, "thesis", hw, cores, &space, &error)
 *   space.kind->legal / summarise / generate …
 *   space_close(&space) */
#ifndef AUTOTUNE_KERNELS_OPERATOR_H
#define AUTOTUNE_KERNELS_OPERATOR_H

#include "core/host.h"
#include "core/program.h"
#include "core/space.h"
#include "core/status.h"
#include "core/work.h"

enum { OPERATOR_MAX_SIZES = 6, OPERATOR_MAX_CHOICES = 8, MAX_VIOLATIONS = 32 };

/* One instance of an operator: its sizes, in the order of operator->size_names, and its choices. */
struct problem {
    const struct operator* op;
    int64_t size[OPERATOR_MAX_SIZES];
    int choice[OPERATOR_MAX_CHOICES];
    enum dtype type;
};

/* One limit that a tiling breaks. Limits that are not counted in bytes have needed = available = 0
 * and say themselves in `text`. */
struct violation {
    char limit[32]; /* the buffer, or the axis */
    bool outside;   /* of the space only: the kernel can be written and played all the same */
    int64_t needed_bytes, available_bytes;
    char text[160];
};

/* Could a legal tiling begin so? */
enum beginning {
    BEGINS_NOT,  /* with this last value */
    BEGINS_NONE, /* nor with any larger one */
    BEGINS_SOME, /* with all values fixed: it is legal */
};

/* What a search needs to prove an optimum without listing the space. A beginning is the first
 * `fixed` values of a tiling; values after it are not read. */
struct operator_nesting {
    /* Of beginnings that are worth a bound, ascending, ended by 0: at least one, all shorter than a
     * tiling. From the first of them on the cores that work are known. */
    const int *lengths;
    /* Asked about beginnings whose shorter ones begin some tiling, for all that is known; instead
     * of `possible` and `legal`, and agrees with them. */
    enum beginning (*begins)(const struct space *space, const struct tiling *tiling, int fixed);
    /* A summary whose bound holds for every legal tiling that begins so; of one of the lengths. */
    void (*summarise)(const struct space *space, const struct tiling *tiling, int fixed,
                      struct work *work);
    /* How many legal tilings begin so; exact, unless space->stop has ended the count meanwhile; of
     * one of the lengths. */
    int64_t (*completions)(const struct space *space, const struct tiling *tiling, int fixed);
    /* Have two beginnings of the first length equally many, for all that is known? */
    bool (*alike)(const struct space *space, const struct tiling *a, const struct tiling *b);
};

/* One way to tile an operator. All functions but create and generate are closed forms that neither
 * fail nor allocate. Tilings have the values of tiling_parse: numbers > 0 and values of
 * enumerations, on the axes or not; only `possible` asks for points of the space. */
struct operator_space {
    const char *name;
    const char *title; /* one line for `autotune list spaces` */
    /* Fills *space (already zeroed but for kind and hw). */
    enum status (*create)(struct space *space, const struct problem *problem, int cores,
                          struct error *error);
    void (*destroy)(struct space *space);
    /* Could any point of the space with the first `fixed` values of *tiling be legal? False must
     * stay false when the last of these values grows, and when more are fixed. With all of them
     * fixed: is it legal? NULL with `nesting`. */
    bool (*possible)(const struct space *space, const struct tiling *tiling, int fixed);
    /* Turns a tiling into the one that stands for all that mean the same kernel, which takes the
     * same time; NULL: no two do. */
    void (*agree)(const struct space *space, struct tiling *tiling);
    /* Is it a point that a search counts: agreed, and without violations? */
    bool (*legal)(const struct space *space, const struct tiling *tiling);
    /* Every limit that the tiling breaks, agreed or not, values that are on no axis among them; 0
     * when legal: then it can be written and played, and the search has covered it. */
    int (*violations)(const struct space *space, const struct tiling *tiling,
                      struct violation list[MAX_VIOLATIONS]);
    /* Cores that have work in a part, all running the largest share's program in step. */
    int (*cores_used)(const struct space *space, const struct tiling *tiling, int part);
    /* Of an agreed tiling. NULL where a tiling's time is not that of one program. */
    void (*summarise)(const struct space *space, const struct tiling *tiling, struct work *work);
    /* A summary whose bound holds for every legal tiling of a block, so that blocks without hope
     * are counted and not bounded one by one; NULL: none is known. */
    void (*least)(const struct space *space, const struct space_block *block, struct work *work);
    /* NULL where a space is small enough to list. */
    const struct operator_nesting *nesting;
    /* The programs of a tiling by name, NULL-terminated. With one, its time is the tiling's. */
    const char *const *parts;
    /* Appends one part's program of one core to *program (reset by the caller) and closes it. */
    enum status (*generate)(const struct space *space, const struct tiling *tiling, int part,
                            struct program *program, struct error *error);
    /* On processors (hw->host), instead of summarise and generate: what a tiling asks of it, whose
     * time is a closed form (costmodel/host_time.h). NULL for spaces of chips. */
    void (*ask)(const struct space *space, const struct tiling *tiling, struct host_work *work);
    /* A time that no tiling beats: padded operations over peak, compulsory bytes over the bus. */
    double (*roofline_ns)(const struct space *space);
};

/* A way to write or to count a kernel, by name; the first value is the default. */
struct operator_choice {
    const char *name; /* and option name: --loop */
    int count;
    const char *const *values;
};

struct operator
{
    const char *name;
    const char *title;
    const char *shape_form;        /* "MxKxN" */
    int shape_sizes;               /* of these come from --shape */
    int size_count;                /* the rest have options: --batch */
    const char *const *size_names; /* JSON keys under "shape", and option names */
    const int64_t *size_defaults;  /* of sizes with options; 0: must be given */
    int choice_count;
    const struct operator_choice *choices;
    /* Are the sizes within what can be tuned? */
    enum status (*check)(const struct problem *problem, struct error *error);
    /* Operations that the user asked for (unpadded; 2·m·k·n for a product). */
    double (*operations)(const struct problem *problem);
    const struct operator_space *const *spaces; /* NULL-terminated */
    /* The space of a chip where none is named; NULL: the first of `spaces` on every chip. */
    const struct operator_space *(*default_space)(const struct hardware *hw);
};

/* NULL-terminated, in the order of `autotune list ops`. */
extern const struct operator* const operators[];

/* The operator or space called `name` in any case, or NULL. */
const struct operator* operator_find(const char *name);
const struct operator_space *operator_space_find(const struct operator* op, const char *name);

/* The space that is taken where none is named: on a processor the first with `ask`, or NULL. */
const struct operator_space *operator_default_space(const struct operator* op,
                                                    const struct hardware *hw);

/* Reads "AxBxC": positive decimal integers, no blanks, signs or exponents. Sizes that have options
 * of their own start at their defaults. */
enum status problem_parse(const struct operator* op, const char *shape, struct problem *problem,
                          struct error *error);

/* Sets a size or a choice that has an option of its own: name "batch", text "4". */
enum status problem_set(struct problem *problem, const char *name, const char *text,
                        struct error *error);

/* Is every size given, and does the operator accept them all? To be asked before space_open. */
enum status problem_check(const struct problem *problem, struct error *error);

/* The space of a problem on `cores` cores of a chip, or on as many threads of a processor; the
 * caller closes it. STATUS_INVALID: a space of chips on a processor, or the other way round, and on
 * processors what their kernels do not know: types but f32, sizes and choices but the defaults. */
enum status space_open(const struct problem *problem, const struct operator_space *kind,
                       const struct hardware *hw, int cores, struct space *space,
                       struct error *error);
void space_close(struct space *space);

/* Reads "name=value,name=value,…" into a tiling; every axis must be given once, but those that have
 * a usual value. A number need not be a point of the space. */
enum status tiling_parse(const struct space *space, const char *text, struct tiling *tiling,
                         struct error *error);

#endif
