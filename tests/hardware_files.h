/* Scratch files for the tests of hardware/: most of them are the shipped description changed. */
#ifndef AUTOTUNE_TESTS_HARDWARE_FILES_H
#define AUTOTUNE_TESTS_HARDWARE_FILES_H

#include "core/hardware.h"
#include "hardware/load.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SHIPPED SOURCE_DIR "/configs/hardware/ascend310.cfg"

static char folder[] = "/tmp/autotune-hardware-XXXXXX";

static inline void enter(void)
{
    cr_assert(mkdtemp(folder));
    setenv("AUTOTUNE_CONFIGS", SOURCE_DIR "/configs", 1);
    unsetenv("ASCEND_HOME_PATH");
    setenv("XDG_CONFIG_HOME", "/nonexistent", 1);
}

static inline void leave(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", folder);
    cr_assert_eq(system(command), 0);
}

static inline const char *in_folder(const char *name)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static inline void write_bytes(const char *path, const char *bytes, size_t length)
{
    FILE *file = fopen(path, "w");
    cr_assert(file, "%s", path);
    cr_assert_eq(fwrite(bytes, 1, length, file), length);
    cr_assert_eq(fclose(file), 0);
}

static inline void write_file(const char *name, const char *text)
{
    write_bytes(in_folder(name), text, strlen(text));
}

static inline char *read_file(const char *path)
{
    FILE *file = fopen(path, "r");
    cr_assert(file, "%s", path);
    char *text = calloc(1, 65536);
    cr_assert_lt(fread(text, 1, 65535, file), 65535);
    fclose(file);
    return text;
}

static inline int line_of(const char *text, const char *piece)
{
    const char *at = strstr(text, piece);
    cr_assert(at, "the shipped file has no \"%s\" any more", piece);
    int line = 1;
    for (; text < at; text++)
        line += *text == '\n';
    return line;
}

/* The shipped text with the first occurrence of `from` replaced; the caller frees it. Not inline:
 * gcc 12 would warn of dangling pointers where there are none. */
__attribute__((noinline, unused)) static char *replaced(const char *text, const char *from,
                                                        const char *to)
{
    const char *at = strstr(text, from);
    cr_assert(at, "the shipped file has no \"%s\" any more", from);
    char *result;
    cr_assert_geq(asprintf(&result, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from)), 0);
    return result;
}

/* The shipped text with every optional key: what moves cost beside their bandwidth and where they
 * transpose, the launch of each core, and a cache with hbm behind gm. The caller frees it. */
__attribute__((noinline, unused)) static char *full_description(void)
{
    static const char *const changes[][2] = {
        {"core_skew_ns =",
         "launch_core_ns = { value = 32.0; source = \"measured for a test\"; };\ncore_skew_ns ="},
        {"{ name = \"gm\"; external = true; },",
         "{ name = \"gm\"; external = true; },\n    { name = \"hbm\"; external = true; },"},
        {"buses = (",
         "cache = {\n    buffer = \"gm\"; behind = \"hbm\";\n    all_hit_bytes = 1000;\n"
         "    all_miss_bytes = 3000;\n    source = \"measured for a test\";\n};\nbuses = ("},
        {"pipe = \"MTE2\"; bus = \"interconnect\"; bandwidth_gbps = 28.0;",
         "pipe = \"MTE2\"; bus = \"interconnect\"; bandwidth_gbps = 28.0;\n"
         "        issue_ns = 28.0; latency_ns = 112.0;\n"
         "        bursts = (\n"
         "            { align_bytes = 32; up_to_bytes = [256, 512]; ns = [0.8, 1.5, 3.0]; },\n"
         "            { align_bytes = 128; up_to_bytes = [256, 512]; ns = [0.6, 1.0, 2.0];\n"
         "              source = \"assumed: for a test\"; }\n        );"},
        {"paths = (", "paths = (\n"
                      "    { path = \"hbm->l1\"; pipe = \"MTE2\"; bandwidth_gbps = 1.0;\n"
                      "      latency_ns = 113.0; source = \"assumed\"; },\n"
                      "    { path = \"hbm->ub\"; pipe = \"MTE2\"; bandwidth_gbps = 1.0; source = "
                      "\"assumed\"; },\n"
                      "    { path = \"hbm->l0a\"; pipe = \"MTE2\"; bandwidth_gbps = 1.0; source = "
                      "\"assumed\"; },\n"
                      "    { path = \"hbm->l0b\"; pipe = \"MTE2\"; bandwidth_gbps = 1.0; source = "
                      "\"assumed\"; },"},
        {"path = \"l0c->ub\"; pipe = \"V\";",
         "path = \"l0c->ub\"; pipe = \"V\"; issue_ns = 20.0; latency_ns = 5.0;\n"
         "        bursts = ( { align_bytes = 1; up_to_bytes = [64]; ns = [2, 4]; } );"},
        {"path = \"l1->l0b\"; pipe = \"MTE1\";",
         "path = \"l1->l0b\"; pipe = \"MTE1\"; transposed_gbps = 50.5;"},
        {"cast = \"f32:f16\";", "cast = \"f32:f16\"; latency_ns = 7.0;"},
        {"block_flop =", "issue_ns = 3.6;\n        latency_ns = 11.0;\n        block_flop ="},
    };
    char *text = read_file(SHIPPED);
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        char *changed = replaced(text, changes[i][0], changes[i][1]);
        free(text);
        text = changed;
    }
    return text;
}

static inline enum status load_set(const char *name, const char *set, struct hardware *hw,
                                   struct error *error)
{
    const char *const texts[] = {set};
    struct hardware_overrides overrides = {texts, set ? 1 : 0};
    return hardware_load(name, &overrides, hw, error);
}

static inline void load_ok(const char *name, const char *set, struct hardware *hw)
{
    struct error error = {0};
    cr_assert_eq(load_set(name, set, hw, &error), STATUS_OK, "%s", error.text);
}

static inline void expect_load_error(const char *name, const char *set, enum status status,
                                     const char *part)
{
    struct hardware hw;
    struct error error = {0};
    cr_expect_eq(load_set(name, set, &hw, &error), status, "%s: %s", name, error.text);
    cr_expect(strstr(error.text, part), "%s\nexpected %s", error.text, part);
    cr_expect_eq(error.status, status);
    cr_expect_null(hw.facts);
}

__attribute__((noinline, unused)) static const struct fact *find_fact(const struct hardware *hw,
                                                                      const char *key)
{
    for (size_t i = 0; i < hw->fact_count; i++)
        if (strcmp(hw->facts[i].key, key) == 0)
            return &hw->facts[i];
    cr_assert_fail("no fact %s", key);
    return NULL;
}

#endif
