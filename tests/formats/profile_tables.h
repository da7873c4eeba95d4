/* Profilers' tables as texts: one is open at a time. */
#ifndef AUTOTUNE_TESTS_FORMATS_PROFILE_TABLES_H
#define AUTOTUNE_TESTS_FORMATS_PROFILE_TABLES_H

#include "formats/profile.h"
#include "tests/hardware_files.h"

static struct profile profile;

static inline enum status open_bytes(const char *text, size_t length, struct error *error)
{
    write_bytes(in_folder("p.csv"), text, length);
    return profile_open(in_folder("p.csv"), &profile, error);
}

static inline void open_text(const char *text)
{
    struct error error = {0};
    cr_assert_eq(open_bytes(text, strlen(text), &error), STATUS_OK, "%s", error.text);
}

static inline void next(struct profile_row *row)
{
    struct error error = {0};
    bool found = false;
    cr_assert_eq(profile_next(&profile, row, &found, &error), STATUS_OK, "%s", error.text);
    cr_assert(found);
}

static inline void expect_end(void)
{
    struct profile_row row;
    struct error error;
    bool found = true;
    cr_assert_eq(profile_next(&profile, &row, &found, &error), STATUS_OK);
    cr_expect_not(found);
    profile_close(&profile);
}

/* A table of one unit: its row's problem. */
static inline void expect_problem(const char *fields, const char *part)
{
    struct profile_row row;
    char text[512];
    snprintf(text, sizeof text,
             "Op Name,OP Type,Task Duration(us),Block Dim,aicore_time(us),mac_time(us),mac_ratio\n"
             "%s\nlast,t,10,2,8,4,0.5\n",
             fields);
    open_text(text);
    next(&row);
    cr_expect_eq(row.line, 2);
    cr_expect_eq(row.broken, *part != 0, "%s", row.problem);
    cr_expect(*part ? strstr(row.problem, part) != NULL : !row.problem[0], "%s\nexpected %s",
              row.problem, part);
    next(&row);
    cr_expect_str_eq(row.name, "last");
    cr_expect_not(row.broken, "%s", row.problem);
    expect_end();
}

#endif
