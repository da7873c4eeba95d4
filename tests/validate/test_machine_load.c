/* What else a machine does: from counters as systems write them. */
#include "tests/hardware_files.h"
#include "validate/machine_load.h"

#include <sched.h>
#include <unistd.h>

TestSuite(machine_load, .init = enter, .fini = leave, .timeout = 60);

enum { ROOM = 65536 };

/* Of every processor that may be there, so that those of this process are; `busy` ticks are spread
 * over all kinds of work, `guest` ones are in `user` already. */
static void write_stat(int processors, int busy, int steal)
{
    char *text = calloc(1, ROOM);
    int length = snprintf(text, ROOM, "cpu  9 9 9 9 9 9 9 9 9 9\n");
    for (int i = 0; i < processors; i++)
        length += snprintf(text + length, (size_t)(ROOM - length),
                           "cpu%d %d 1 2 1000 500 3 4 %d 77 0\n", i, busy - 10, steal);
    snprintf(text + length, (size_t)(ROOM - length), "intr 5 6 7\nctxt 12\n");
    write_file("stat", text);
    free(text);
}

static struct load_reading read_here(void)
{
    const struct load_source source = {in_folder(""), in_folder("")};
    struct load_reading reading;
    load_read(&source, &reading);
    return reading;
}

static int own_processors(void)
{
    cpu_set_t may;
    cr_assert_eq(sched_getaffinity(0, sizeof may, &may), 0);
    return CPU_COUNT(&may);
}

Test(machine_load, counters_are_read)
{
    double ticks = (double)sysconf(_SC_CLK_TCK);
    int own = own_processors();
    cr_assert_eq(mkdir(in_folder("pressure"), 0700), 0);
    cr_assert_eq(mkdir(in_folder("cpu"), 0700), 0);
    write_stat(1024, 510, 50);
    write_file("pressure/cpu", "some avg10=97.59 avg60=52.26 avg300=14.90 total=52874706\n"
                               "full avg10=0.00 avg60=0.00 avg300=0.00 total=1\n");
    write_file("loadavg", "7.11 2.10 0.78 19/181 17634\n");
    write_file("cpu.stat", "usage_usec 5\nnr_throttled 2\nthrottled_usec 1500000\n");
    struct load_reading r = read_here();
    cr_expect_eq(r.processors, own);
    cr_expect_eq(r.all, own == 1024);
    cr_expect_float_eq(r.busy_s, own * 510 / ticks, 1e-9);
    cr_expect_float_eq(r.steal_s, own * 50 / ticks, 1e-9);
    cr_expect_float_eq(r.waiting_s, 52.874706, 1e-9);
    cr_expect_float_eq(r.throttled_s, 1.5, 1e-9);
    cr_expect_eq(r.running, 18);
    cr_expect_gt(r.own_s, 0);
    unlink(in_folder("cpu.stat"));
    write_file("cpu/cpu.stat", "nr_periods 3\nthrottled_time 2500000000\n");
    cr_expect_float_eq(read_here().throttled_s, 2.5, 1e-9);
}

/* Without counters, or with ones that make no sense, nobody is accused. */
Test(machine_load, what_is_not_there_says_nothing)
{
    static const char *const broken[] = {"",
                                         "cpu\n",
                                         "cpu0 1 2\n",
                                         "cpu0 a b c d e f g h\n",
                                         "cpu99999 1 2 3 4 5 6 7 8\n",
                                         "cpu-1 1 2 3 4 5 6 7 8\n"};
    struct load_reading before = read_here();
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        write_file("stat", broken[i]);
        write_file("loadavg", broken[i]);
        struct load_reading after = read_here();
        struct load load = load_between(&before, &after);
        char text[128] = "x";
        cr_expect_not(load_disturbs(&load, 1) && load.processors > 0, "%s", broken[i]);
        load_text(&load, text, sizeof text);
        cr_expect_str_eq(text, "", "%s", text);
    }
}

static const struct {
    const char *what;
    double busy_s, own_s, steal_s, waiting_s, throttled_s; /* within a second */
    int processors, threads;
    bool disturbs;
    const char *says;
} cases[] = {
    {"idle", 0, 0, 0, 0, 0, 2, 2, false, ""},
    {"this process alone", 1.9, 1.9, 0, 0, 0, 2, 2, false, ""},
    {"a tick of each of two", 0.02, 0, 0, 0, 0, 2, 2, false, ""},
    {"neighbours", 1.95, 0, 0, 0, 0, 2, 1, true, "other work keeps 1.9 of 2 processors busy"},
    {"beside this process", 1.9, 1, 0, 0, 0, 2, 1, true, "other work keeps 0.9 of 2 processors"},
    {"one of 64, one wanted", 1.7, 0, 0, 0, 0, 64, 1, false, "other work keeps 1.1 of 64"},
    {"one of 64, all wanted", 1.7, 0, 0, 0, 0, 64, 64, true, "other work keeps 1.1 of 64"},
    {"eight of 64", 8.7, 0, 0, 0, 0, 64, 1, true, "other work keeps 8.1 of 64"},
    {"the hypervisor", 0, 0, 0.3, 0, 0, 2, 1, true, "gives 0.28 of them to others"},
    {"tasks wait", 0, 0, 0, 0.97, 0, 2, 1, true, "tasks wait for a processor 97 % of the time"},
    {"a quota", 0, 0, 0, 0, 0.5, 2, 1, true, "a quota stops this process 50 % of the time"},
};

Test(machine_load, what_disturbs)
{
    double per = 100.0 / (double)sysconf(_SC_CLK_TCK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct load_reading before = {.at_s = 5, .processors = cases[i].processors, .all = true};
        struct load_reading after = before;
        char text[256];
        after.at_s = 6;
        after.busy_s = cases[i].busy_s * per;
        after.own_s = cases[i].own_s * per;
        after.steal_s = cases[i].steal_s * per;
        after.waiting_s = cases[i].waiting_s;
        after.throttled_s = cases[i].throttled_s;
        struct load load = load_between(&before, &after);
        load_text(&load, text, sizeof text);
        cr_expect_eq(load_disturbs(&load, cases[i].threads), cases[i].disturbs, "%s: %s",
                     cases[i].what, text);
        cr_expect(strstr(text, cases[i].says), "%s: %s", cases[i].what, text);
        after.all = false; /* others wait for processors that are not ours */
        load = load_between(&before, &after);
        cr_expect_eq(load.waiting, 0);
    }
}

Test(machine_load, this_machines_counters)
{
    struct load_reading before, after;
    load_read(NULL, &before);
    load_read(NULL, &after);
    struct load load = load_between(&before, &after);
    cr_expect(before.processors <= own_processors());
    cr_expect(after.own_s >= before.own_s && after.busy_s >= before.busy_s);
    cr_expect(load.others >= 0 && load.others <= load.processors);
    cr_expect(load.steal >= 0 && load.waiting >= 0 && load.waiting <= 1);
}
