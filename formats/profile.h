/* Profilers' tables of kernels, a row at a time: msprof's op_summary, torch_npu's kernel_details
 * and msopprof's tables of blocks, of every mode of collection, of unified chips (mac_time(us),
 * vec_ratio, …) and of split ones (aic_mac_time(us), aiv_vec_ratio, …). docs/profiles.md has the
 * names of columns.
 *
 * Call order: profile_open, profile_next until it finds no more, or profile_seek and profile_next
 * in any order, profile_close. Columns are found by name, in any order and case; what is not looked
 * for is passed over. Memory does not grow with the file. A row that cannot be read is a row all
 * the same: it says what is wrong with it. Several files of one run: formats/profile_join.h. */
#ifndef AUTOTUNE_FORMATS_PROFILE_H
#define AUTOTUNE_FORMATS_PROFILE_H

#include "core/diagnosis.h"
#include "core/status.h"
#include "formats/csv.h"

#include <stdbool.h>
#include <stdint.h>

/* Cube and Vector are cores of their own on split chips; a unified core is the first. */
enum profile_side { SIDE_CUBE, SIDE_VECTOR, PROFILE_SIDES };

enum profile_unit {
    UNIT_CUBE,
    UNIT_VECTOR,
    UNIT_SCALAR,
    UNIT_MTE1,
    UNIT_MTE2,
    UNIT_MTE3,
    UNIT_FIXPIPE,
    PROFILE_UNITS
};

/* What a profiler was told to count ("aic_metrics"): a bit each of `modes`. */
enum profile_mode {
    MODE_PIPE,
    MODE_ARITHMETIC,
    MODE_MEMORY,
    MODE_ACCESS,
    MODE_L0,
    MODE_UB,
    MODE_CONFLICT,
    MODE_L2,
    PROFILE_MODES
};

/* "PipeUtilization", …; of PROFILE_MODES, "level0": nothing but times. */
const char *profile_mode_name(int mode);

/* What the modes beside PipeUtilization count. Shares of the cores' time are kept as the
 * microseconds that they are of it, bandwidths as the bytes of one core in its time: what was done
 * is the same in every run, how long that took is not. */
enum profile_counter {
    /* us: cycles of the matrix unit by type, and of the vector unit */
    COUNTER_MAC_FP16,
    COUNTER_MAC_INT8,
    COUNTER_VEC_FP32,
    COUNTER_VEC_FP16,
    COUNTER_VEC_INT32,
    COUNTER_VEC_INT16,
    COUNTER_VEC_MISC,
    /* operations */
    COUNTER_CUBE_FOPS,
    COUNTER_VECTOR_FOPS,
    /* bytes of one core, where GB are 10^9 bytes */
    COUNTER_UB_READ,
    COUNTER_UB_WRITE,
    COUNTER_L1_READ,
    COUNTER_L1_WRITE,
    COUNTER_L2_READ,
    COUNTER_L2_WRITE,
    COUNTER_MAIN_READ,
    COUNTER_MAIN_WRITE,
    COUNTER_L0A_READ,
    COUNTER_L0A_WRITE,
    COUNTER_L0B_READ,
    COUNTER_L0B_WRITE,
    COUNTER_L0C_READ,
    COUNTER_L0C_WRITE,
    COUNTER_UB_READ_VECTOR,
    COUNTER_UB_WRITE_VECTOR,
    COUNTER_UB_READ_SCALAR,
    COUNTER_UB_WRITE_SCALAR,
    /* bytes of all cores */
    COUNTER_MAIN_READ_BYTES,
    COUNTER_MAIN_WRITE_BYTES,
    COUNTER_GM_TO_L1,
    COUNTER_L0C_TO_L1,
    COUNTER_L0C_TO_GM,
    COUNTER_GM_TO_UB,
    COUNTER_UB_TO_GM,
    /* shares of the cores' time in which the vector unit waited */
    COUNTER_BANKGROUP_CONFLICT,
    COUNTER_BANK_CONFLICT,
    COUNTER_RESOURCE_CONFLICT,
    /* accesses */
    COUNTER_WRITE_HIT,
    COUNTER_WRITE_MISS,
    COUNTER_R0_HIT,
    COUNTER_R0_MISS,
    COUNTER_R1_HIT,
    COUNTER_R1_MISS,
    PROFILE_COUNTERS
};

/* Which column holds what: an index of struct profile's `columns`. */
enum profile_slot {
    SLOT_NAME,
    SLOT_TYPE,
    SLOT_CORE_TYPE, /* AI_CORE, AI_VECTOR_CORE, MIX_AIC, AI_CPU, HCCL, … */
    SLOT_BLOCK,     /* of a table with a row a block */
    SLOT_SUB_BLOCK,
    SLOT_INPUT_SHAPES,
    SLOT_INPUT_TYPES,
    SLOT_INPUT_FORMATS,
    SLOT_OUTPUT_SHAPES,
    SLOT_OUTPUT_TYPES,
    SLOT_OUTPUT_FORMATS,
    PROFILE_TEXTS,
    SLOT_BLOCKS = PROFILE_TEXTS, /* how many cores ran it */
    SLOT_DURATION,
    SLOT_CORE_TIME,                                         /* + side */
    SLOT_CYCLES = SLOT_CORE_TIME + PROFILE_SIDES,           /* + side: of all cores together */
    SLOT_TIME = SLOT_CYCLES + PROFILE_SIDES,                /* + side · PROFILE_UNITS + unit */
    SLOT_RATIO = SLOT_TIME + PROFILE_SIDES * PROFILE_UNITS, /* the same */
    SLOT_UNIT_CYCLES = SLOT_RATIO + PROFILE_SIDES * PROFILE_UNITS, /* the same */
    SLOT_COUNTER =
        SLOT_UNIT_CYCLES + PROFILE_SIDES * PROFILE_UNITS, /* + side · PROFILE_COUNTERS + counter */
    PROFILE_SLOTS = SLOT_COUNTER + PROFILE_SIDES * PROFILE_COUNTERS,
};

enum {
    PROFILE_NAME_SIZE = DIAGNOSIS_NAME_SIZE,
    PROFILE_PROBLEM_SIZE = 256,
    PROFILE_MISSING_SIZE = 640
};

/* Times are in microseconds, as in the files; negative where the file has none. */
struct profile_row {
    int line;
    char name[PROFILE_NAME_SIZE];     /* cut with "..."; UTF-8 without control characters */
    char type[PROFILE_NAME_SIZE];     /* the same; "" */
    const char *texts[PROFILE_TEXTS]; /* as in the file, "" where there is none; valid until the
                                         next call */
    double duration_us;
    double core_us[PROFILE_SIDES];
    double busy_us[PROFILE_SIDES][PROFILE_UNITS]; /* its time, or its ratio of the core's */
    double cycles[PROFILE_SIDES];
    double counters[PROFILE_SIDES][PROFILE_COUNTERS];
    double blocks;
    bool is_block;                      /* of one core only */
    unsigned modes;                     /* that its columns are of: bits by enum profile_mode */
    bool broken;                        /* a value is wrong: times are not to be relied on */
    char problem[PROFILE_PROBLEM_SIZE]; /* "column X: what is wrong"; "": nothing. Of a row that is
                                           not broken: its name is not UTF-8, or its cores ran for
                                           longer than it lasted */
    char note[DIAGNOSIS_NOTE_SIZE];     /* times that disagree, or a unit's time and ratio; else
                                           columns that the file does not have; "" */
};

struct profile {
    struct csv csv;
    int column_count;
    int columns[PROFILE_SLOTS];         /* indices of fields; -1: there is none */
    double scales[PROFILE_SLOTS];       /* what their values are multiplied by */
    unsigned modes;                     /* that columns are of */
    char names[PROFILE_SLOTS][48];      /* of those columns, for messages */
    const char *format;                 /* "op_summary", … */
    char missing[PROFILE_MISSING_SIZE]; /* columns that diagnoses need; "": none */
    char lacking[PROFILE_MISSING_SIZE]; /* these, and others that may change a verdict */
};

/* Reads the first record. STATUS_INVALID when it is that of no such table: the text names what was
 * looked for. After a failure there is nothing to close. */
enum status profile_open(const char *file, struct profile *profile, struct error *error);

/* Reads a row; *found is false at the end of the file. STATUS_IO; whatever else is wrong is a
 * row's `problem`. */
enum status profile_next(struct profile *profile, struct profile_row *row, bool *found,
                         struct error *error);
void profile_close(struct profile *profile);

/* Does something else than AI cores run it by its task type: the host, the network, an engine of
 * its own? */
bool profile_runs_elsewhere(const struct profile_row *row);

/* A row of which nothing is known. */
void profile_row_clear(struct profile_row *row);

/* Where the row that was read last begins, and reading goes on from there. Not of a pipe. */
int64_t profile_place(const struct profile *profile);
enum status profile_seek(struct profile *profile, int64_t place, int line, struct error *error);

/* Did these cores run? Where their cycles are 0 a time of theirs is another core's. */
bool profile_side_ran(const struct profile_row *row, int side);

/* Does a line, the first of a file, look like the head of such a table? */
bool profile_is_head(const char *line);

#endif
