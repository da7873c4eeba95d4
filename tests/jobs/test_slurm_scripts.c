/* The plan of a sweep on a cluster and its scripts, without a cluster: tests/jobs/test_slurm.sh has
 * one. AUTOTUNE_UPDATE_GOLDEN=1 rewrites tests/golden/slurm; read the diff. */
#include "formats/shell.h"
#include "jobs/sweep/slurm.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static char *ranges(const bool wanted[], int count)
{
    char *text;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    slurm_ranges(wanted, count, out);
    fclose(out);
    return text;
}

Test(slurm_scripts, ranges)
{
    const bool wanted[] = {1, 1, 1, 0, 1, 0, 0, 1, 1};
    const bool none[3] = {0};
    const struct {
        const bool *wanted;
        int count;
        const char *text;
    } cases[] = {{wanted, 9, "1-3,5,8-9"}, {wanted, 1, "1"}, {wanted, 5, "1-3,5"}, {none, 3, ""},
                 {wanted + 3, 3, "2"},     {wanted, 0, ""}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = ranges(cases[i].wanted, cases[i].count);
        cr_expect_str_eq(text, cases[i].text);
        free(text);
    }
}

/* What a shell makes of the quoted text is the text. */
Test(slurm_scripts, quotes)
{
    const char *texts[] = {"",          "plain", "a b", "it's",       "'", "''$(false)`false`\\",
                           "\"$HOME\"", "a\nb",  "*",   "-x; exit 3", "~"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char *command, got[64];
        size_t length;
        FILE *out = open_memstream(&command, &length);
        fputs("printf %s ", out);
        shell_quote(texts[i], out);
        fclose(out);
        FILE *shell = popen(command, "r");
        cr_assert(shell);
        length = fread(got, 1, sizeof got - 1, shell);
        got[length] = '\0';
        cr_expect_eq(pclose(shell), 0);
        cr_expect_str_eq(got, texts[i]);
        free(command);
    }
}

Test(slurm_scripts, partitions)
{
    const char *good[] = {NULL, "main", "gpu-a,gpu_b", "v1.2"};
    const char *bad[] = {"", "a b", "a\n#SBATCH --uid=0", "$(x)", "a;b", "'"};
    struct error error;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        cr_expect_eq(slurm_partition_check(good[i], &error), STATUS_OK);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        cr_expect_eq(slurm_partition_check(bad[i], &error), STATUS_INVALID, "%s", bad[i]);
}

Test(slurm_scripts, queue)
{
    bool again[] = {true, false, true, true};
    struct slurm_state state = {.again = again, .shards_again = 3};
    struct error error;
    cr_assert_eq(slurm_queued_read("12 1\n12 3\n14 2\n", 4, &state, &error), STATUS_OK);
    cr_expect(!again[0] && !again[1] && !again[2] && again[3]);
    cr_expect_eq(state.shards_again, 1);
    cr_expect_eq(state.shards_queued, 3);
    cr_assert_eq(state.queued_ids, 2);
    cr_expect_str_eq(state.ids[1], "14");
    cr_expect_eq(slurm_queued_read("", 4, &state, &error), STATUS_OK);
    cr_expect_eq(slurm_queued_read("12 9\n", 4, &state, &error), STATUS_OK); /* of other --tasks */
    cr_expect(again[3]);
    cr_expect_eq(slurm_queued_read("12 N/A\n", 4, &state, &error), STATUS_IO);
    cr_expect_eq(slurm_queued_read("squeue: error", 4, &state, &error), STATUS_IO);
    cr_expect_eq(slurm_queued_read("12 0\n", 4, &state, &error), STATUS_IO);
    free(state.ids);
}

/* A number of which a part would be taken for another, and a line that needs the next one. */
Test(slurm_scripts, queue_lines_are_whole)
{
    const char *bad[] = {
        "12 3x\n", "12 3-4\n", "12\n3 4\n", "12 \n3\n",
        "\n",      "12 3 4\n", "x12 3\n",   "12345678901234567890123456789012345 1\n",
        "123"};
    struct error error;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        bool again[] = {true, true, true, true};
        struct slurm_state state = {.again = again, .shards_again = 4};
        cr_expect_eq(slurm_queued_read(bad[i], 4, &state, &error), STATUS_IO, "%s", bad[i]);
        cr_expect_eq(state.shards_again, 4, "%s", bad[i]);
        free(state.ids);
    }
    bool again[] = {true, true};
    struct slurm_state state = {.again = again, .shards_again = 2};
    cr_assert_eq(slurm_queued_read(" 12\t1 \n13 1", 2, &state, &error), STATUS_OK);
    cr_expect_eq(state.shards_queued, 1); /* in two arrays */
    cr_expect_eq(state.shards_again, 1);
    cr_expect_eq(state.queued_ids, 2);
    free(state.ids);
}

Test(slurm_scripts, submitted)
{
    const char *good[] = {"123\n", "123", "123;main\n"};
    const char *bad[] = {"",
                         "\n",
                         "Submitted batch job 123\n",
                         "123x\n",
                         "123 4\n",
                         "-1\n",
                         "12345678901234567890123456789012345\n"};
    char id[SLURM_ID_SIZE];
    struct error error;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        cr_assert_eq(slurm_submitted_read(good[i], id, &error), STATUS_OK, "%s", good[i]);
        cr_expect_str_eq(id, "123");
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        cr_expect_eq(slurm_submitted_read(bad[i], id, &error), STATUS_IO, "%s", bad[i]);
}

static void expect_golden(const char *name, const char *text)
{
    char path[PATH_MAX], want[4096];
    snprintf(path, sizeof path, SOURCE_DIR "/tests/golden/slurm/%s", name);
    bool update = getenv("AUTOTUNE_UPDATE_GOLDEN") != NULL;
    FILE *file = fopen(path, update ? "w" : "r");
    cr_assert(file, "%s", path);
    if (update) {
        fputs(text, file);
    } else {
        want[fread(want, 1, sizeof want - 1, file)] = '\0';
        cr_expect_str_eq(text, want);
    }
    fclose(file);
}

static const char *const arguments[] = {"--hw", "ascend910", "--set-hw", "a=1 2"};
static const struct slurm_plan plain = {
    .program = "/opt/autotune",
    .work_folder = "/home/me",
    .folder = "results.db.slurm",
    .file = "shapes.csv",
    .db = "results.db",
    .tasks = 8,
};
static const struct slurm_plan full = {
    .program = "/opt/my tools/autotune",
    .work_folder = "/home/it's me/$HOME",
    .folder = "-a b.db.slurm",
    .file = "-shapes 'one'.csv",
    .db = "-a b.db",
    .partition = "gpu,long",
    .nodes = 3,
    .tasks = 8,
    .threads = 2,
    .argument_count = 4,
    .arguments = arguments,
};

static void expect_scripts(const struct slurm_plan *plan, const bool wanted[], const char *name)
{
    char file[64], *text;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    slurm_array_write(plan, wanted, out);
    fclose(out);
    snprintf(file, sizeof file, "%s-array.sh.txt", name);
    expect_golden(file, text);
    free(text);
    out = open_memstream(&text, &length);
    slurm_merge_write(plan, out);
    fclose(out);
    snprintf(file, sizeof file, "%s-merge.sh.txt", name);
    expect_golden(file, text);
    free(text);
}

Test(slurm_scripts, golden)
{
    const bool all[] = {1, 1, 1, 1, 1, 1, 1, 1}, some[] = {0, 1, 0, 0, 1, 1, 1, 0};
    expect_scripts(&plain, all, "plain");
    expect_scripts(&full, some, "full");
}

Test(slurm_scripts, names)
{
    char a[SLURM_ID_SIZE], b[SLURM_ID_SIZE];
    struct slurm_plan other = plain;
    slurm_name(&plain, a);
    slurm_name(&other, b);
    cr_expect_str_eq(a, b);
    other.folder = "other.db.slurm";
    slurm_name(&other, b);
    cr_expect_str_neq(a, b);
}
