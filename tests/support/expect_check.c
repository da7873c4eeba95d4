/* Compares findings with expected ones. Findings are printed into one string, which is compared
 * with the one expected: a failing test shows both. */
#include "tests/support/expect_check.h"

#include "core/program_text.h"
#include "hardware/load.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static struct hardware hardware;

void expect_check_start(void)
{
    const char *file = SOURCE_DIR "/configs/hardware/ascend310.cfg";
    struct error error;
    cr_assert_eq(hardware_load(file, NULL, &hardware, &error), STATUS_OK, "%s", error.text);
}

void expect_check_end(void)
{
    hardware_clear(&hardware);
}

void expect_parse(const char *text, struct program *program)
{
    struct error error;
    cr_assert_eq(program_parse(&hardware, "test", text, strlen(text), program, &error), STATUS_OK,
                 "%s", error.text);
}

static void describe(const struct check *check, bool all, char *out, size_t size)
{
    size_t used = 0;
    out[0] = 0;
    for (size_t i = 0; i < check->count && used < size; i++) {
        const struct finding *finding = &check->findings[i];
        if (!all && finding->kind >= FINDING_ALIGNMENT)
            continue;
        used += (size_t)snprintf(out + used, size - used, "%s%s ", used ? "; " : "",
                                 finding_kind_name(finding->kind));
        for (int line = 0; line < finding->line_count && used < size; line++)
            used += (size_t)snprintf(out + used, size - used, "%s%d", line ? "," : "",
                                     finding->lines[line]);
    }
}

static void expect(const struct program *program, bool all, const char *findings)
{
    char found[1024];
    struct check check;
    struct error error;
    cr_assert_eq(program_check(program, &check, &error), STATUS_OK, "%s", error.text);
    describe(&check, all, found, sizeof found);
    cr_expect_str_eq(found, findings, "found '%s', expected '%s'", found, findings);
    check_clear(&check);
}

void expect_program(const struct program *program, const char *findings)
{
    expect(program, false, findings);
}

void expect_all(const char *text, const char *findings)
{
    struct program program;
    expect_parse(text, &program);
    expect(&program, true, findings);
    program_clear(&program);
}

void expect_findings(const char *text, const char *findings)
{
    struct program program;
    expect_parse(text, &program);
    expect_program(&program, findings);
    program_clear(&program);
}

void expect_text(const char *text, size_t i, const char *part)
{
    struct program program;
    struct check check;
    struct error error;
    expect_parse(text, &program);
    cr_assert_eq(program_check(&program, &check, &error), STATUS_OK, "%s", error.text);
    cr_assert_gt(check.count, i);
    cr_expect(strstr(check.findings[i].text, part), "'%s' lacks '%s'", check.findings[i].text,
              part);
    check_clear(&check);
    program_clear(&program);
}

void expect_too_large(const char *text, const char *part)
{
    struct program program;
    struct check check;
    struct error error;
    expect_parse(text, &program);
    cr_expect_eq(program_check(&program, &check, &error), STATUS_TOO_LARGE);
    cr_expect(strstr(error.text, part), "'%s' lacks '%s'", error.text, part);
    program_clear(&program);
}
