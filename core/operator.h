/* What runs: operators, and how each turns a tiling into a kernel.
 *
 * An operator is a folder kernels/NAME/ that fills a struct operator, and a row of operators[] in
 * kernels/registry.c; or a kernel's text, of which one is made (kernels/text). All that anybody
 * else knows of it stands here: the command line, searches, answers, stores, sweeps, measurements
 * and exports ask these tables, and never which operator it is.
 *
 *   problem_parse(op, "512x1024x512", &problem, &error)
 *   problem_set(&problem, "batch", "4", &error) …; problem_settle(&problem, &error)
 *   space_open(&problem, kind, hw, cores, &space, &error)
 *   space.kind->legal / summarise / generate …
 *   space_close(&space) */
#ifndef AUTOTUNE_CORE_OPERATOR_H
#define AUTOTUNE_CORE_OPERATOR_H

#include "core/host.h"
#include "core/numbers.h"
#include "core/program.h"
#include "core/search_result.h"
#include "core/space.h"
#include "core/status.h"
#include "core/work.h"

enum {
    OPERATOR_MAX_SIZES = 16,
    OPERATOR_MAX_CHOICES = 8,
    OPERATOR_MAX_REQUESTS = 4,
    MAX_VIOLATIONS = 32,
};

/* What some of the functions are about is defined by who works with it. */
struct details_options; /* kernels/details.h */
struct chapter;         /* kernels/chapter.h */
struct operator_bank;   /* kernels/operator_bank.h */
struct limits_asked;    /* kernels/limits_code.h */
struct limits_code;     /* likewise */
struct host_runner;     /* validate/runner.h */
struct loop_family;     /* validate/loops.h */
struct search_options;  /* search/search.h */
struct search_source;   /* search/strategy.h */
struct json_t;          /* jansson */

/* One instance of an operator: its sizes, in the order of operator->size_names, its choices, and
 * the texts of its requests, NULL where there is none, which belong to the caller. */
struct problem {
    const struct operator* op;
    int64_t size[OPERATOR_MAX_SIZES];
    int choice[OPERATOR_MAX_CHOICES];
    const char *request[OPERATOR_MAX_REQUESTS];
    enum dtype type;
};

/* One limit that a tiling breaks. Limits that are not counted in bytes have needed = available = 0
 * and say themselves in `text`. */
struct violation {
    char limit[32]; /* the buffer, or the axis */
    bool outside;   /* of the space only: the kernel can be written and simulated all the same */
    int64_t needed_bytes, available_bytes;
    char text[160];
};

/* Could a legal tiling begin so? */
enum prefix_verdict {
    BEGINS_NOT,  /* with this last value */
    BEGINS_NONE, /* nor with any larger one */
    BEGINS_SOME, /* with all values fixed: it is legal */
};

/* What a search needs to prove an optimum without listing the space. A prefix is the first
 * `fixed` values of a tiling; values after it are not read. */
struct operator_nesting {
    /* Of prefixes that are worth a bound, ascending, ended by 0: at least one, all shorter than a
     * tiling. From the first of them on the cores that work are known. */
    const int *lengths;
    /* Asked about prefixes whose shorter ones begin some tiling, for all that is known; instead
     * of `possible` and `legal`, and agrees with them. */
    enum prefix_verdict (*begins)(const struct space *space, const struct tiling *tiling,
                                  int fixed);
    /* A summary whose bound holds for every legal tiling that begins so; of one of the lengths. */
    void (*summarise)(const struct space *space, const struct tiling *tiling, int fixed,
                      struct work *work);
    /* How many legal tilings begin so; exact, unless space->stop has ended the count meanwhile; of
     * one of the lengths. */
    int64_t (*leaf_count)(const struct space *space, const struct tiling *tiling, int fixed);
    /* Have two prefixes of the first length equally many, for all that is known? */
    bool (*alike)(const struct space *space, const struct tiling *a, const struct tiling *b);
    /* Have two spaces, of problems that differ in one size only, the same legal tilings that begin
     * so, of the same times? Of one of the first length that both have; NULL: that is not known. */
    bool (*same)(const struct space *a, const struct space *b, const struct tiling *tiling);
};

enum box_fits { FITS_NONE, FITS_SOME, FITS_ALL }; /* tilings that are legal */

/* Bounds of many tilings at once: of boxes in the boxes that roots are, which together are the
 * space. */
struct operator_boxes {
    /* *made is the space's. NULL: nothing is known of its boxes, or it was not made before
     * space->stop: then STATUS_STOPPED. */
    enum status (*open)(const struct space *space, const void **made, struct error *error);
    int (*root_count)(const void *made);
    const struct space_box *(*root)(const void *made, int number);
    size_t (*scratch_bytes)(const void *made); /* that a thread needs for bounds */
    /* Axes, bits, that bounds of the root's boxes hang on, and that what fits hangs on. */
    unsigned (*asked)(const void *made, int root);
    unsigned (*asked_to_fit)(const void *made, int root);
    /* FITS_SOME: for all that is known. */
    enum box_fits (*fits)(const void *made, int root, const struct space_box *box, void *scratch);
    /* A summary whose bound holds for every legal tiling of the box. */
    void (*summarise)(const void *made, int root, const struct space_box *box, void *scratch,
                      struct work *work);
};

/* A theorem by which a search rules tilings out without a bound of their own. */
struct operator_rule {
    const char *key;   /* of its count in JSON */
    const char *title; /* for people: "SelB's inequality" */
};

/* How long searches of a space take, about: log2 of µs where all sizes are 1, and a power of each
 * size. */
struct operator_cost {
    double base; /* 0: nothing is known */
    double power[OPERATOR_MAX_SIZES];
};

/* One way to tile an operator. All functions but create and generate are closed forms that neither
 * fail nor allocate. Tilings have the values of tiling_parse: numbers > 0 and values of
 * enumerations, on the axes or not; only `possible` asks for points of the space. */
struct operator_space {
    const char *name;
    const char *title; /* one line for `autotune list spaces` */
    /* Fills *space (already zeroed but for kind, hw and fixed). */
    enum status (*create)(struct space *space, const struct problem *problem, int cores,
                          struct error *error);
    bool any_value; /* create heeds space->fixed: the kernel is one of other values, too */
    void (*destroy)(struct space *space);
    /* Of all values that a size may have, the others staying what they are in *problem, of which
     * the space is: one that stands for those with the same tilings, which take the same times.
     * NULL: every value for itself. */
    int64_t (*size_class)(const struct space *space, const struct problem *problem, int size,
                          int64_t value);
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
     * when legal: then it can be written and simulated, and the search has covered it. */
    int (*violations)(const struct space *space, const struct tiling *tiling,
                      struct violation list[MAX_VIOLATIONS]);
    /* Cores that have work in a part, all running the largest share's program in step. */
    int (*cores_used)(const struct space *space, const struct tiling *tiling, int part);
    /* Of an agreed tiling; where a tiling's time is that of one program. */
    void (*summarise)(const struct space *space, const struct tiling *tiling, struct work *work);
    /* NULL where a space is small enough to list. */
    const struct operator_nesting *nesting;
    const struct operator_boxes *boxes; /* NULL: tilings have bounds one by one, or by prefixes */
    /* The programs of a tiling by name, NULL-terminated. */
    const char *const *parts;
    /* Where a tiling's time is a sum of several programs', each as often as it counts: how many
     * costs there are (found->part_fs); 0: its time is that of the one program. With them the space
     * is a source of candidates of its own, which keeps what search/search.h promises, simulates a
     * tiling by itself, and says whether the values behind the axes, which it has filled in, are a
     * legal choice. */
    int costs;
    unsigned launches; /* bit by cost: those that are a launch each time */
    const struct search_source *source;
    enum status (*simulate)(const struct space *space, const struct tiling *tiling,
                            struct found *found, struct error *error);
    bool (*own_legal)(const struct space *space, const struct tiling *tiling);
    const struct operator_rule *rules; /* ended by a row of NULL; NULL: none */
    /* Does the kernel of a legal tiling read only what it wrote? STATUS_INVALID if not. It can take
     * long, so a search asks it of what it answers; *sure is false where it took too long, or was
     * stopped. NULL: always. */
    enum status (*content)(const struct space *space, const struct tiling *tiling, bool *sure,
                           struct error *error);
    /* Appends one part's program of one core to *program (reset by the caller) and closes it. */
    enum status (*generate)(const struct space *space, const struct tiling *tiling, int part,
                            struct program *program, struct error *error);
    /* On processors (hw->host), instead of summarise and generate: what a tiling asks of it, whose
     * time is a closed form (costmodel/host_time.h). NULL for spaces of chips. */
    void (*ask)(const struct space *space, const struct tiling *tiling, struct host_work *work);
    /* A time that no tiling beats: padded operations over peak, compulsory bytes over the bus; 0:
     * none is known, NAN: there is no memory to find it. */
    double (*roofline_ns)(const struct space *space);
    /* How even an agreed tiling is: a bit for each of `evens` criteria that it meets, such as a
     * length that divides the one it cuts, or tiles that all start at a line of memory. What is
     * even has no remainders that a model may price wrongly. NULL: there are no such criteria. */
    unsigned (*even)(const struct space *space, const struct tiling *tiling);
    int evens;
    struct operator_cost cost;
    /* What an answer says beyond its best tiling: adds members to *details. `shorten` takes out
     * what only machines want. NULL: nothing. */
    enum status (*details)(const struct problem *problem, const struct space *space,
                           const struct search_result *result,
                           const struct details_options *options, struct json_t *details,
                           struct error *error);
    void (*shorten)(struct json_t *details);
    bool compares; /* what a user would use instead is among the details, where it is asked for */
    const struct numbers_runner *numbers; /* NULL: kernels do not run on numbers */
    /* What the kernel of a tiling, legal or not, looks like: adds members to *picture, which
     * results/outline.h lays out for people. NULL: there is nothing but its numbers. */
    enum status (*picture)(const struct space *space, const struct tiling *tiling,
                           struct json_t *picture, struct error *error);
    /* Code in C that says whether a tiling fits other sizes than its own: *number is that of its
     * body. NULL: there is none. */
    enum status (*limits_code)(const struct limits_asked *asked, struct limits_code *code,
                               int *number, struct error *error);
    const struct operator_bank
        *bank; /* tables of operator libraries; NULL: none hold its tilings */
};

/* A size that --shape does not give. */
struct operator_size {
    const char *value; /* what the command line calls it: "B" */
    const char *help;
    int64_t usual; /* 0: must be given, */
    bool may_be_0; /* unless it may be that */
};

/* A way to write or to count a kernel, by name; the first value is the default. Of an element type
 * the values are choice_types, and the default is dtype_result's. */
struct operator_choice {
    const char *name; /* and option name: --loop */
    int count;
    const char *const *values;
    const char *help;
};

/* "same" as the operands', "accumulator": that of sums of their products, and types that these are
 * converted to whatever the operands are. An operator may know the first few only. */
enum choice_type { CHOICE_SAME, CHOICE_ACCUMULATOR, CHOICE_F16, CHOICE_BF16, CHOICE_TYPES };
extern const char *const choice_types[CHOICE_TYPES];

/* An option that is neither: what an answer is asked to say. Its text is the operator's to read, in
 * `complete` and in the `details` of its spaces. */
struct operator_request {
    const char *name, *value, *help;
    bool of_answers; /* an option of the main job only, about chips only */
};

/* An operand that many calls share, such as weights: how it lies is a choice, whose second value is
 * the matrix unit's blocks; a kernel's text brings it there once. */
struct operator_weights {
    int choice;
    const char *kernel;
    /* The operand's rows and columns as it lies; false: not all products have the same one. */
    bool (*shape)(const struct problem *problem, int64_t rows_columns[2]);
};

struct operator
{
    const char *name;
    /* Of an operator that was made of a kernel's text: a name for what that says, 32 hexadecimal
     * digits; NULL of one in C. */
    const char *fingerprint;
    const char *title;
    const char *shape_form;              /* "MxKxN" */
    int shape_sizes;                     /* of these come from --shape */
    int size_count;                      /* the rest have options: --batch */
    const char *const *size_names;       /* JSON keys under "shape", and option names */
    const struct operator_size *options; /* the sizes that have one, in order */
    int choice_count;
    const struct operator_choice *choices;
    const struct operator_weights *weights; /* NULL: none */
    int request_count;
    const struct operator_request *requests;
    bool has_own_type;   /* kernels are of one element type: there is nothing to choose */
    enum dtype own_type; /* and it is this */
    /* Reads the requests, and fills in sizes that follow from them; NULL without requests. */
    enum status (*complete)(struct problem * problem, struct error * error);
    /* Are the sizes, which are all given, within what can be tuned? */
    enum status (*check)(const struct problem *problem, struct error *error);
    /* How many of its kernels a chip runs at once; NULL: as many as it has cores. */
    int (*most_cores)(const struct operator* op, const struct hardware *hw);
    /* Operations that the user asked for (unpadded; 2·m·k·n for a product); 0: not known. */
    double (*operations)(const struct problem *problem, const struct hardware *hw);
    const struct operator_space *const *spaces; /* NULL-terminated */
    /* The space of a chip where none is named; NULL: the first of `spaces` on every chip. */
    const struct operator_space *(*default_space)(const struct hardware *hw);
    const struct host_runner *runner;       /* of processors; NULL: no kernels for them */
    const struct loop_family *const *loops; /* of these kernels, NULL-terminated; or NULL */
    const struct chapter *const *chapters;  /* published figures, NULL-terminated; or NULL */
};

/* The space called `name` in any case, or NULL. */
const struct operator_space *operator_space_find(const struct operator* op, const char *name);

/* The space that is taken where none is named: on a processor the first with `ask`, or NULL. */
const struct operator_space *operator_default_space(const struct operator* op,
                                                    const struct hardware *hw);

/* Reads "AxBxC": positive decimal integers, no blanks, signs or exponents; "" of an operator whose
 * sizes all have options. Sizes that have options
 * of their own start at their defaults. */
enum status problem_parse(const struct operator* op, const char *shape, struct problem *problem,
                          struct error *error);

/* Sets the operands' element type, and the choices of one to what is usual with it; before
 * problem_set. Until then it is f16. */
void problem_set_type(struct problem *problem, enum dtype type);

/* Sets a size, a choice or a request, which have options of their own: name "batch", text "4". A
 * choice of an element type may also be said by the type's name. */
enum status problem_set(struct problem *problem, const char *name, const char *text,
                        struct error *error);

/* What a choice is called: its value's name, or that of the element type that it comes to. */
const char *problem_choice_name(const struct problem *problem, int choice);

/* Is it what it is where nothing is said? */
bool problem_choice_is_usual(const struct problem *problem, int choice);

/* The element type that a choice of one comes to. */
enum dtype problem_choice_type(const struct problem *problem, int choice);

/* The first value of a choice that comes to a type, or -1. */
int problem_choice_of_type(const struct problem *problem, int choice, int type);

/* Completes and checks what was set; before space_open. */
enum status problem_settle(struct problem *problem, struct error *error);

/* In words, cut to `size`: "512x1024x512"; sizes and choices that are not the default, as in
 * "batch=4 loop=early"; and the operator with both, "matmul 512x1024x512 batch 4 loop early", which
 * is returned. */
enum { PROBLEM_TITLE_SIZE = 256 };
void problem_shape(const struct problem *problem, char *text, size_t size);
void problem_options(const struct problem *problem, char *text, size_t size);
const char *problem_title(const struct problem *problem, char text[PROBLEM_TITLE_SIZE]);

/* The space of a problem on `cores` cores of a chip, or on as many threads of a processor; the
 * caller closes it. STATUS_INVALID: a space of chips on a processor, or the other way round, and on
 * processors what their kernels do not know: types but f32, sizes and choices but the defaults. */
enum status space_open(const struct problem *problem, const struct operator_space *kind,
                       const struct hardware *hw, int cores, struct space *space,
                       struct error *error);

/* The same of the tilings alone that have the values of *fixed, which stays, where these are not
 * AXIS_FREE; of a kind that has `any_value`. */
enum status space_open_at(const struct problem *problem, const struct operator_space *kind,
                          const struct hardware *hw, int cores, const struct tiling *fixed,
                          struct space *space, struct error *error);
void space_close(struct space *space);

/* Reads "name=value,name=value,…", each axis once at most; a number need not be a point of the
 * space. Others are AXIS_FREE, unless all of these have a usual value, and get it. */
enum status tiling_parse_part(const struct space *space, const char *text, struct tiling *tiling,
                              struct error *error);

/* The same where every axis must be given, but those that have a usual value. */
enum status tiling_parse(const struct space *space, const char *text, struct tiling *tiling,
                         struct error *error);

#endif
