/* A chip of which much is uncertain, for the tests of worst cases. */
#ifndef AUTOTUNE_TESTS_UNCERTAIN_CHIP_H
#define AUTOTUNE_TESTS_UNCERTAIN_CHIP_H

#include "hardware/description.h"
#include "jobs/tune/corner.h"
#include "tests/hardware_files.h"

#include <math.h>

/* A chip with a cache, bursts and latencies, whose buses each carry the moves of one pipe. */
static const struct {
    const char *from, *to;
} additions[] = {
    {"buffers = (", "cache = { buffer = \"gm\"; behind = \"hbm\"; all_hit_bytes = 20000;\n"
                    "    all_miss_bytes = 90000; source = \"assumed: for a test\"; };\n"
                    "launch_core_ns = { value = 20.0; source = \"assumed: for a test\"; };\n"
                    "buffers = ( { name = \"hbm\"; external = true; },"},
    {"buses = (", "buses = ( { name = \"ddr\"; total_gbps = [70.0, 140.0, 200.0];\n"
                  "    source = \"assumed: for a test\"; },\n"
                  "  { name = \"out\"; total_gbps = [200.0, 300.0, 400.0];\n"
                  "    source = \"assumed: for a test\"; },"},
    {"pipe = \"FIXP\"; bus = \"l2\";", "pipe = \"FIXP\"; bus = \"out\";"},
    {"pipe = \"VMTE2\"; bus = \"l2\";", "pipe = \"VMTE2\";"},
    {"pipe = \"MTE3\"; bus = \"l2\";", "pipe = \"MTE3\";"},
    {"paths = (",
     "paths = (\n"
     "    { path = \"hbm->l1\"; pipe = \"MTE2\"; bus = \"ddr\"; bandwidth_gbps = 65.0;\n"
     "      issue_ns = 40.0; latency_ns = 130.0; bursts = ( { align_bytes = 32;\n"
     "      up_to_bytes = [256]; ns = [3.0, 9.0]; } ); source = \"assumed\"; },\n"
     "    { path = \"hbm->l0a\"; pipe = \"MTE2\"; bandwidth_gbps = 1.0;\n"
     "      source = \"assumed\"; },\n"
     "    { path = \"hbm->l0b\"; pipe = \"MTE2\"; bandwidth_gbps = 1.0;\n"
     "      source = \"assumed\"; },\n"
     "    { path = \"hbm->ub\"; pipe = \"VMTE2\"; bandwidth_gbps = 1.0;\n"
     "      source = \"assumed\"; },"},
};

static const struct {
    const char *key;
    double value; /* that it gets; NAN: it has one */
    double relative_error;
} fitted[] = {
    {"launch_ns", NAN, 0.05},
    {"launch_core_ns", NAN, 0.3},
    {"issue_ns", NAN, 0.2},
    {"paths.gm->l1.issue_ns", 28, 0.1},
    {"paths.gm->l1.latency_ns", 112, 0.3}, /* beyond that of hbm->l1 */
    {"paths.gm->l1.bandwidth_gbps", NAN, 0.04},
    {"paths.hbm->l1.bandwidth_gbps", NAN, 0.2},
    {"paths.hbm->l1.bursts.32.ns.1", NAN, 0.4},
    {"paths.hbm->l1.bursts.32.ns.2", NAN, 0.1},
    {"paths.l1->l0a.bandwidth_gbps", NAN, 0.1},
    {"paths.l1->l0b.latency_ns", 9, 0.5},
    {"paths.l0c->gm.casts.f32:f16.bandwidth_gbps", NAN, 0.15},
    {"matrix.f16.gflops", NAN, 0.02},
    {"matrix.f16.issue_ns", 3.6, 0.2},
    {"buses.ddr.total_gbps.3", NAN, 0.25}, /* below the second total */
    {"buses.l2.total_gbps.1", NAN, 0.1},
    {"cache.all_hit_bytes", NAN, 0.2},
    {"cache.all_miss_bytes", NAN, 0.45}, /* below the other */
};
enum { FITTED = sizeof fitted / sizeof *fitted };

static inline void write_chip(void)
{
    struct description description;
    struct error error;
    struct fit fit = {.error = 0.05, .spread_count = FITTED};
    char *text = read_file(SOURCE_DIR "/tests/support/split-chip.cfg");
    for (size_t i = 0; i < sizeof additions / sizeof *additions; i++) {
        char *changed = replaced(text, additions[i].from, additions[i].to);
        free(text);
        text = changed;
    }
    write_file("base.cfg", text);
    free(text);
    cr_assert_eq(description_read(NULL, in_folder("base.cfg"), &(struct hardware_overrides){0},
                                  &description, &error),
                 STATUS_OK, "%s", error.text);
    for (int i = 0; i < FITTED; i++) {
        if (!isnan(fitted[i].value))
            cr_assert_eq(description_set(&description, fitted[i].key, fitted[i].value,
                                         "measured for a test", &error),
                         STATUS_OK, "%s", error.text);
        strcpy(fit.spreads[i].key, fitted[i].key);
        fit.spreads[i].relative_error = fitted[i].relative_error;
    }
    cr_assert_eq(description_set_fit(&description, &fit, "measured for a test", &error), STATUS_OK);
    cr_assert_eq(description_write(&description, "", &text, &error), STATUS_OK);
    write_file("chip.cfg", text);
    free(text);
    description_clear(&description);
}

static const struct hardware_overrides none = {NULL, 0};

static inline void open_corner(const struct hardware_overrides *changes, struct hardware *hw,
                               struct corner *corner)
{
    struct error error;
    cr_assert_eq(hardware_load_from(NULL, in_folder("chip.cfg"), changes, hw, &error), STATUS_OK,
                 "%s", error.text);
    cr_assert_eq(corner_make(NULL, in_folder("chip.cfg"), changes, hw, corner, &error), STATUS_OK,
                 "%s", error.text);
}

#endif
