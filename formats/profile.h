/* Profilers' tables of kernels, a row at a time: msprof's op_summary, torch_npu's kernel_details
 * and msopprof's PipeUtilization, of unified chips (mac_time(us), vec_ratio, …) and of split ones
 * (aic_mac_time(us), aiv_vec_ratio, …). docs/profiles.md has the names of columns.
 *
 * Call order: profile_open, profile_next until it finds no more, profile_close. Columns are found
 * by name, in any order and case; what is not looked for is passed over. Memory does not grow with
 * the file. A row that cannot be read is a row all the same: it says what is wrong with it. */
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
    PROFILE_SLOTS = SLOT_RATIO + PROFILE_SIDES * PROFILE_UNITS,
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
    double blocks;
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

/* Does a line, the first of a file, look like the head of such a table? */
bool profile_is_head(const char *line);

#endif
