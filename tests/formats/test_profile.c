/* Profilers' tables: which columns are found, which rows are taken, what is said of the others. */
#include "tests/formats/profile_tables.h"

TestSuite(profile, .init = enter, .fini = leave);

static void expect_refused(const char *text, size_t length, const char *part)
{
    struct error error = {0};
    cr_expect_eq(open_bytes(text, length, &error), STATUS_INVALID);
    cr_expect(strstr(error.text, part), "%s\nexpected %s", error.text, part);
    cr_expect_null(profile.csv.stream);
}

#define EXPECT_NEAR(value, expected) cr_expect_float_eq(value, expected, 1e-9, "%g", value)

/* ---- columns ---- */

Test(profile, unified_chip)
{
    struct profile_row row;
    open_text("Model ID,Op Name,OP Type,Task Type,Task Duration(us),Block Dim,aicore_time(us),"
              "total_cycles,vec_time(us),vec_ratio,mac_time(us),mac_ratio,scalar_ratio,mte1_ratio,"
              "mte2_time(us),mte3_ratio,icache_miss_rate,memory_bound\n"
              "4294967295,add_custom,Add,AI_CORE,82.11,8,9.87,78923,0.2261,0.0229,0,0,0.899,N/A,"
              "3.8364,0.25,0.0002,16.9677\n");
    cr_expect_str_eq(profile.format, "op_summary");
    cr_expect_str_eq(profile.missing, "");
    next(&row);
    cr_expect_str_eq(row.name, "add_custom");
    cr_expect_str_eq(row.type, "Add");
    cr_expect_str_eq(row.texts[SLOT_CORE_TYPE], "AI_CORE");
    cr_expect_eq(row.line, 2);
    EXPECT_NEAR(row.duration_us, 82.11);
    EXPECT_NEAR(row.core_us[SIDE_CUBE], 9.87);
    EXPECT_NEAR(row.core_us[SIDE_VECTOR], -1);
    EXPECT_NEAR(row.cycles[SIDE_CUBE], 78923);
    EXPECT_NEAR(row.blocks, 8);
    EXPECT_NEAR(row.busy_us[SIDE_CUBE][UNIT_VECTOR], 0.2261);
    EXPECT_NEAR(row.busy_us[SIDE_CUBE][UNIT_CUBE], 0);
    EXPECT_NEAR(row.busy_us[SIDE_CUBE][UNIT_SCALAR], 0.899 * 9.87);
    EXPECT_NEAR(row.busy_us[SIDE_CUBE][UNIT_MTE1], -1);
    EXPECT_NEAR(row.busy_us[SIDE_CUBE][UNIT_MTE2], 3.8364);
    EXPECT_NEAR(row.busy_us[SIDE_CUBE][UNIT_MTE3], 0.25 * 9.87);
    EXPECT_NEAR(row.busy_us[SIDE_VECTOR][UNIT_VECTOR], -1);
    expect_end();
}

Test(profile, split_chip)
{
    struct profile_row row;
    open_text(
        "\xef\xbb\xbf"
        "aiv_vec_ratio,Name,Type,Accelerator Core,Start Time(us),Duration(us),aicore_time(us),"
        "aic_mac_time(us),aic_fixpipe_ratio,aiv_time(us),aiv_mte2_time(us),aiv_mte3_ratio,"
        "Input Shapes,\r\n"
        "0.5,fa,FlashAttentionScore,MIX_AIC,\"1736413971558972.912\t\",410,\"400\t\", 100 ,"
        "0.25,380,95,0.1,\"\"\"4096,2;4096\"\"\",\r\n");
    cr_expect_str_eq(profile.format, "kernel_details");
    next(&row);
    cr_expect_not(row.broken, "%s", row.problem);
    cr_expect_str_eq(row.texts[SLOT_INPUT_SHAPES], "\"4096,2;4096\"");
    EXPECT_NEAR(row.duration_us, 410);
    EXPECT_NEAR(row.core_us[SIDE_CUBE], 400);
    EXPECT_NEAR(row.core_us[SIDE_VECTOR], 380);
    EXPECT_NEAR(row.busy_us[SIDE_CUBE][UNIT_CUBE], 100);
    EXPECT_NEAR(row.busy_us[SIDE_CUBE][UNIT_FIXPIPE], 100);
    EXPECT_NEAR(row.busy_us[SIDE_VECTOR][UNIT_VECTOR], 190);
    EXPECT_NEAR(row.busy_us[SIDE_VECTOR][UNIT_MTE2], 95);
    EXPECT_NEAR(row.busy_us[SIDE_VECTOR][UNIT_MTE3], 38);
    EXPECT_NEAR(row.busy_us[SIDE_CUBE][UNIT_MTE2], -1);
    expect_end();
}

Test(profile, rows_of_blocks)
{
    struct profile_row row;
    open_text("block_id,sub_block_id,aic_time(us),aic_total_cycles,aiv_time(us),aic_cube_time(us),"
              "aic_cube_ratio,aic_mte2_ratio,aiv_vec_ratio,aic_mte2_active_bw(GB/s)\n"
              "3,cube0,11.5,20871,NA,0.5,0.043478,0.5,NA,20\n"
              "3,vector1,NA,NA,10,NA,NA,NA,0.9,NA\n");
    cr_expect_str_eq(profile.format, "PipeUtilization");
    next(&row);
    cr_expect_str_eq(row.name, "block 3 cube0");
    EXPECT_NEAR(row.duration_us, -1);
    EXPECT_NEAR(row.busy_us[SIDE_CUBE][UNIT_CUBE], 0.5);
    EXPECT_NEAR(row.busy_us[SIDE_CUBE][UNIT_MTE2], 5.75);
    next(&row);
    cr_expect_str_eq(row.name, "block 3 vector1");
    EXPECT_NEAR(row.core_us[SIDE_CUBE], -1);
    EXPECT_NEAR(row.busy_us[SIDE_CUBE][UNIT_MTE2], -1);
    EXPECT_NEAR(row.busy_us[SIDE_VECTOR][UNIT_VECTOR], 9);
    expect_end();
}

/* Any case, blanks for underscores, quotation marks; names of single metrics' files; the first of
 * two columns of a name. */
Test(profile, spellings)
{
    struct profile_row row;
    open_text("\"OP NAME\",Aicore Time(us),aiv_ratio,Mac Ratio,vec_exe_ratio,mte1_ratio_extra,"
              "mte2_exe_time(us),mte3_time_extra(us),mac_ratio,mac_fp16_ratio\n"
              "n,10,7,0.1,0.2,0.3,4,5,0.9,0.8\n");
    next(&row);
    EXPECT_NEAR(row.busy_us[SIDE_CUBE][UNIT_CUBE], 1);
    EXPECT_NEAR(row.busy_us[SIDE_CUBE][UNIT_VECTOR], 2);
    EXPECT_NEAR(row.busy_us[SIDE_CUBE][UNIT_MTE1], 3);
    EXPECT_NEAR(row.busy_us[SIDE_CUBE][UNIT_MTE2], 4);
    EXPECT_NEAR(row.busy_us[SIDE_CUBE][UNIT_MTE3], 5);
    expect_end();
}

/* Rows say what their verdict does not know; without names they have those of their types. */
Test(profile, rows_of_missing_columns)
{
    struct profile_row row;
    open_text(
        "OP Type,Duration(us),aiv_time(us),aiv_vec_time(us),aiv_mte2_ratio\nAdd,10,9,8,0.2\n");
    next(&row);
    cr_expect_str_eq(row.name, "Add");
    cr_expect_not(row.broken);
    cr_expect_str_eq(row.note, "no column Op Name or Name, aiv_scalar_time(us) or "
                               "aiv_scalar_ratio, aiv_mte3_time(us) or aiv_mte3_ratio");
    expect_end();
}

/* Ratios without a time of the core are of the duration. */
Test(profile, duration_for_the_core)
{
    struct profile_row row;
    open_text("Name,Duration(us),mac_ratio\nn,10,0.25\n");
    next(&row);
    EXPECT_NEAR(row.busy_us[SIDE_CUBE][UNIT_CUBE], 2.5);
    expect_end();
}

static void expect_missing(const char *head, const char *missing)
{
    open_text(head);
    cr_expect_str_eq(profile.missing, missing, "%s", profile.missing);
    profile_close(&profile);
}

Test(profile, missing_columns)
{
    char many[4096] = "Name";
    open_text("Name,Type,Duration(us)\nn,t,1\n");
    cr_expect(strstr(profile.missing, "mac_ratio"));
    profile_close(&profile);
    expect_missing("aicore_time(us),mac_ratio",
                   "Op Name or Name, Task Duration(us) or Duration(us), vec_time(us) or vec_ratio, "
                   "mte2_time(us) or mte2_ratio, mte3_time(us) or mte3_ratio");
    expect_missing("Name,Duration(us),aicore_time(us),aic_cube_time(us),aic_scalar_ratio,"
                   "aic_mte1_ratio,AIC_MTE2_ratio",
                   "");
    expect_missing("Name,Duration(us),aicore_time(us),aic_cube_time(us),aic_scalar_ratio",
                   "aic_mte2_time(us) or aic_mte2_ratio");
    expect_missing("Name,Duration(us),aiv_vec_time(us),aiv_scalar_ratio,aiv_mte2_ratio",
                   "aiv_time(us), aiv_mte3_time(us) or aiv_mte3_ratio");
    expect_missing("block_id,aic_time(us),aic_cube_ratio,aic_scalar_ratio,aic_mte1_ratio,"
                   "aic_mte2_time(us)",
                   "");
    expect_refused("a,b\n1,2\n", 8, ":1: no profile: expected columns Op Name");
    expect_refused("Name,mac_ratio\n1,2\n", 18, "Task Duration(us)");
    expect_refused("Duration(us),x\n1,2\n", 18, ":1: no profile");
    expect_refused("", 0, "no profile");
    expect_refused("\xff\xfeN\0a\0", 6, "UTF-16");
    expect_refused("PK\3\4", 4, "a workbook or archive");
    for (int i = 0; i < 1000; i++)
        strcat(many, ",x");
    expect_refused(many, strlen(many), "more than 256 fields");
}

Test(profile, heads)
{
    cr_expect(profile_is_head("Name,Type,Duration(us)\r\n"));
    cr_expect(profile_is_head("block_id,aic_cube_ratio\n"));
    cr_expect_not(profile_is_head("MTE2 gm->l1 bytes=8192\n"));
    cr_expect_not(profile_is_head("set_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);"));
    cr_expect_not(profile_is_head(""));
    cr_expect_not(profile_is_head("Name,x\nType,Duration(us)\n"));
}

/* ---- rows ---- */

Test(profile, values)
{
    expect_problem("n,t,10,2,8,4,0.5", "");
    expect_problem("n,t,10,2,8,4,0.5,,,", "");
    expect_problem("n,t,N/A,NA,n/a,,-", "");
    expect_problem("n,t,10,2,8,\"\t4 \",\"0.5\t\"", "");
    expect_problem("n,t,10,2,8,8.05,1.006", "");
    expect_problem("n,t,-1,2,8,4,0.5", "column Task Duration(us): '-1'");
    expect_problem("n,t,10,2,-8,4,0.5", "column aicore_time(us): '-8'");
    expect_problem("n,t,10,2,nan,4,0.5", "column aicore_time(us): 'nan'");
    expect_problem("n,t,inf,2,8,4,0.5", "column Task Duration(us): 'inf'");
    expect_problem("n,t,1e12,2,8,4,0.5", "column Task Duration(us): '1e12'");
    expect_problem("n,t,0x10,2,8,4,0.5", "column Task Duration(us): '0x10'");
    expect_problem("n,t,1 0,2,8,4,0.5", "column Task Duration(us): '1 0'");
    expect_problem("n,t,10,2,8,4,1.2", "column mac_ratio: '1.2': expected a share");
    expect_problem("n,t,10,2,8,4,-0.1", "column mac_ratio");
    expect_problem("n,t,10,2,8,9,0.5", "column mac_time(us): '9': longer than its core");
    expect_problem("n,t,10,2,0,9,0", "column mac_time(us): '9': longer than its core");
    expect_problem("n,t,10,x,8,4,0.5", "column Block Dim: 'x'");
    expect_problem("n,t,10,2,8,4", "6 fields, expected 7");
    expect_problem("n,t,10,2,8,4,0.5,x", "8 fields, expected 7");
}

Test(profile, ratio_and_time_that_disagree)
{
    struct profile_row row;
    open_text("Name,Duration(us),aicore_time(us),mac_time(us),mac_ratio,vec_ratio,scalar_ratio,"
              "mte1_ratio,mte2_ratio,mte3_ratio\nn,101,100,47.2,0.872,0,0,0,0,0\n"
              "n,101,100,47.2,0.475,0,0,0,0,0\n");
    next(&row);
    EXPECT_NEAR(row.busy_us[SIDE_CUBE][UNIT_CUBE], 47.2);
    cr_expect_str_eq(row.note, "mac_ratio says 0.872, the times say 0.472: the times count");
    next(&row);
    cr_expect_str_eq(row.note, "");
    expect_end();
}

/* A mark without its partner costs one line, also where it takes in many. */
Test(profile, broken_quotation_marks)
{
    struct profile_row row;
    open_text("Name,Duration(us),mac_ratio\n"
              "\"a,1,0\n"
              "b,2,0\n"
              "\"c\"x,3,0\n"
              "d,4,0\n"
              "\"e\nf\",5,0\n"
              "g,\"6,0\n");
    static const char *const names[] = {"", "b", "", "d", "e?f", ""};
    static const int lines[] = {2, 3, 4, 5, 6, 8};
    for (int i = 0; i < 6; i++) {
        next(&row);
        cr_expect_str_eq(row.name, names[i]);
        cr_expect_eq(row.line, lines[i], "%d", row.line);
        cr_expect_eq(row.broken, !*names[i], "%s", row.problem);
        cr_expect(!row.broken || strncmp(row.problem, "a quotation", 11) == 0 ||
                      strncmp(row.problem, "text behind", 11) == 0,
                  "%s", row.problem);
    }
    expect_end();
}

Test(profile, a_line_that_is_too_long)
{
    enum { LENGTH = 400000 };
    static char text[LENGTH + 200];
    struct profile_row row;
    int used = sprintf(text, "Name,Duration(us),mac_ratio\nfirst,1,0\n\"");
    memset(text + used, 'x', LENGTH);
    strcpy(text + used + LENGTH, "\nlast,2,0\n");
    open_text(text);
    next(&row);
    cr_expect_str_eq(row.name, "first");
    next(&row);
    cr_expect(row.broken && strstr(row.problem, "more than 65536 bytes"), "%s", row.problem);
    next(&row);
    cr_expect_str_eq(row.name, "last");
    cr_expect_eq(row.line, 4);
    expect_end();
}

Test(profile, zero_bytes)
{
    static const char text[] = "Name,Duration(us),mac_ratio\na\0b,1,0\nc,1,0\n";
    struct profile_row row;
    struct error error;
    cr_assert_eq(open_bytes(text, sizeof text - 1, &error), STATUS_OK);
    next(&row);
    cr_expect(strstr(row.problem, "a zero byte"));
    next(&row);
    cr_expect_str_eq(row.name, "c");
    expect_end();
}

/* Names are shown: no control characters, no bytes that are no UTF-8; and cut. */
Test(profile, names)
{
    static const char text[] = "Name,Type,Duration(us),mac_ratio\n"
                               "\"a\33[1mb\xc2\x9b\x7f\",t,1,0\n"
                               "gr\xc3\xbc\xe7\xae\x97\xf0\x9f\x98\x80,t,1,0\n"
                               "\xe9\xc0\xaf\xed\xa0\x80,t,1,0\n"
                               "ok,\xff,1,0\n";
    static char long_name[2000] = "Name,Duration(us),mac_ratio\n";
    struct profile_row row;
    open_text(text);
    next(&row);
    cr_expect_str_eq(row.name, "a?[1mb??");
    cr_expect_str_eq(row.problem, "");
    next(&row);
    cr_expect_str_eq(row.name, "gr\xc3\xbc\xe7\xae\x97\xf0\x9f\x98\x80");
    cr_expect_str_eq(row.problem, "");
    next(&row);
    cr_expect_str_eq(row.name, "??????");
    cr_expect(strstr(row.problem, "column Name: not UTF-8"), "%s", row.problem);
    cr_expect_not(row.broken);
    next(&row);
    cr_expect(strstr(row.problem, "column Type: not UTF-8"), "%s", row.problem);
    expect_end();
    for (int i = 0; i < 500; i++)
        strcat(long_name, "\xc3\xbc");
    open_text(strcat(long_name, ",1,0\n"));
    next(&row);
    cr_expect_eq(strlen(row.name), 255);
    cr_expect_str_eq(row.name + 250, "\xc3\xbc...");
    expect_end();
    memset(long_name + strlen("Name,Duration(us),mac_ratio\n"), 0xff, 1000);
    open_text(long_name);
    next(&row);
    cr_expect_eq(strlen(row.name), 255);
    cr_expect_str_eq(row.name + 250, "??...");
    expect_end();
}
