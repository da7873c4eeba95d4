/* Profilers' tables of every mode: what columns are called and which units their values have, what
 * a mode is known by, and what its numbers say of each other. */
#include "tests/formats/profile_tables.h"

#include <gsl/gsl_rng.h>
#include <math.h>

TestSuite(profile_modes, .init = enter, .fini = leave);

static double counted(const struct profile_row *row, int side, int counter)
{
    return row->counters[side][counter];
}

static double at_slot(const struct profile_row *row, int slot)
{
    if (slot >= SLOT_COUNTER)
        return counted(row, 0, slot - SLOT_COUNTER);
    if (slot >= SLOT_TIME && slot < SLOT_TIME + PROFILE_UNITS)
        return row->busy_us[0][slot - SLOT_TIME];
    return row->duration_us;
}

/* One value in every spelling of its column. */
static void expect_spelling(const char *column, const char *value, int slot, double expected)
{
    struct profile_row row;
    char text[256];
    snprintf(text, sizeof text, "Name,aicore_time(us),total_cycles,%s\nn,10,1000,%s\n", column,
             value);
    open_text(text);
    next(&row);
    cr_expect_not(row.broken, "%s: %s", column, row.problem);
    double got = at_slot(&row, slot);
    cr_expect_float_eq(got, expected, 1e-6 * fabs(expected), "%s %s: %g", column, value, got);
    profile_close(&profile);
}

Test(profile_modes, spellings_of_columns_and_values)
{
    int mte2 = SLOT_TIME + UNIT_MTE2, l1 = SLOT_COUNTER + COUNTER_GM_TO_L1;
    static const char *const times[] = {
        "mte2_time(us)", "MTE2 Time (us)", "aic_mte2_time(us)", "mte2_exe_time(us)",
        "mte2_time_us",  "mte2_time[us]",  "mte2 time",         "mte2_time_extra(us)"};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        expect_spelling(times[i], "2.5", mte2, 2.5);
    expect_spelling("mte2_time(ns)", "2500", mte2, 2.5);
    expect_spelling("mte2_time(ms)", "0.0025", mte2, 2.5);
    expect_spelling("mte2_time(cycles)", "250", mte2, 2.5);
    expect_spelling("mte2_cycles", "250", mte2, 2.5);
    expect_spelling("mte2_ratio", "25%", mte2, 2.5);
    expect_spelling("mte2_ratio(%)", "25", mte2, 2.5);
    expect_spelling("mte2_ratio(%)", "25 %", mte2, 2.5);
    expect_spelling("Task Duration(us)", "\"1,234.5\"", SLOT_DURATION, 1234.5);
    expect_spelling("Duration (ns)", "\"1,234,500\"", SLOT_DURATION, 1234.5);
    expect_spelling("GM_to_L1_datas(KB)", "3", l1, 3072);
    expect_spelling("gm to l1 (KB)", "3", l1, 3072);
    expect_spelling("GM_TO_L1_DATAS(B)", "3072", l1, 3072);
    expect_spelling("aic_GM_to_L1_datas(MB)", "0.5", l1, 524288);
    expect_spelling("l0a_write_bw(GB/s)", "3", SLOT_COUNTER + COUNTER_L0A_WRITE, 30000);
    expect_spelling("aic_l0a_write_bw(MB/s)", "3000", SLOT_COUNTER + COUNTER_L0A_WRITE, 30000);
    expect_spelling("vec_bank_cflt_ratio", "0.3", SLOT_COUNTER + COUNTER_BANK_CONFLICT, 0.3);
    expect_spelling("r0_read_cache_hit", "7", SLOT_COUNTER + COUNTER_R0_HIT, 7);
    expect_problem("n,t,\"1,23\",2,8,4,0.5", "column Task Duration(us): '1,23'");
}

Test(profile_modes, columns_they_are_known_by)
{
    static const struct {
        const char *columns;
        int mode;
    } heads[] = {
        {"aic_mac_fp16_ratio,aic_mac_int8_ratio,aic_cube_fops,aiv_vec_fp32_ratio", MODE_ARITHMETIC},
        {"ub_read_bw(GB/s),main_mem_write_bw(GB/s)", MODE_MEMORY},
        {"aic_read_main_memory_datas(KB),aic_GM_to_L1_datas(KB)", MODE_ACCESS},
        {"aic_l0c_read_bw_cube(GB/s),aiv_l0c_read_bw(GB/s)", MODE_L0},
        {"aiv_ub_read_bw_vector(GB/s),aiv_ub_write_bw_scalar(GB/s)", MODE_UB},
        {"vec_bankgroup_cflt_ratio", MODE_CONFLICT},
        {"write_cache_hit,r1_read_cache_miss_allocate", MODE_L2},
        {"aic_fixpipe_time(us)", MODE_PIPE},
        {"icache_miss_rate,cube_utilization(%)", PROFILE_MODES},
    };
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        char text[512];
        snprintf(text, sizeof text, "Name,Duration(us),%s\n", heads[i].columns);
        open_text(text);
        cr_expect_eq(profile.modes, heads[i].mode < PROFILE_MODES ? 1u << heads[i].mode : 0, "%s",
                     heads[i].columns);
        cr_expect_eq(!profile.missing[0], heads[i].mode != PROFILE_MODES && heads[i].mode, "%s",
                     profile.missing);
        profile_close(&profile);
    }
}

/* From 0 to below count. */
static int draw(gsl_rng *rng, int count)
{
    return (int)gsl_rng_uniform_int(rng, (unsigned long)count);
}

/* Rows of ArithmeticUtilization: the operations follow from the ratios and the cycles. */
Test(profile_modes, identity_of_cube_fops)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_taus);
    for (int round = 0; round < 200; round++) {
        struct profile_row row;
        char text[512];
        int fp16 = draw(rng, 700), int8 = draw(rng, 300), cycles = 100000 + draw(rng, 1000000000);
        bool breaks = round % 2;
        double fops = (8192 * fp16 * 1e-3 + 16384 * int8 * 1e-3) * cycles;
        snprintf(text, sizeof text,
                 "Name,aicore_time(us),aic_total_cycles,mac_fp16_ratio,mac_int8_ratio,cube_fops\n"
                 "n,10,%d,%.3f,%.3f,%.0f\n",
                 cycles, fp16 * 1e-3, int8 * 1e-3, breaks ? fops * 1.02 + 50.0 * cycles : fops);
        open_text(text);
        next(&row);
        cr_expect_not(row.broken);
        cr_expect_eq(strstr(row.problem, "cube_fops is") != NULL, breaks, "%s", row.problem);
        cr_expect_float_eq(counted(&row, 0, COUNTER_MAC_FP16), breaks ? -1 : fp16 * 1e-2, 1e-9);
        expect_end();
    }
    expect_problem("n,t,10,2,8,4,0.5", "");
    gsl_rng_free(rng);
}

/* Where a kind of cores has no cycles, a time beside it is another core's. */
Test(profile_modes, cores_without_cycles)
{
    struct profile_row row;
    open_text("Name,Duration(us),aicore_time(us),aic_total_cycles,aic_l0a_read_bw(GB/s),"
              "aiv_time(us),aiv_total_cycles\nz,496,982.72,0,0,491.36,43632970\n");
    next(&row);
    cr_expect_str_eq(row.problem, "");
    cr_expect_not(profile_side_ran(&row, SIDE_CUBE));
    cr_expect(profile_side_ran(&row, SIDE_VECTOR));
    expect_end();
}
