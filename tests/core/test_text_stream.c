/* Texts in memory (core/text_stream.h): whole ones, and those that there was no memory for. */
#include "core/text_stream.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

Test(text_stream, has_all_that_is_written)
{
    char *text;
    size_t length;
    FILE *out = text_stream_open(&text, &length);
    cr_assert(out);
    for (int i = 0; i < 100000; i++)
        fprintf(out, "%05d\n", i);
    fflush(out);
    cr_expect_eq(length, 600000);
    fputs("end", out);
    cr_assert_eq(fclose(out), 0);
    cr_expect_eq(length, 600003);
    cr_expect_eq(strlen(text), length);
    cr_expect(strncmp(text + 6 * 4711, "04711\n", 6) == 0 && strcmp(text + 600000, "end") == 0);
    free(text);
}

Test(text_stream, is_an_empty_text_at_first)
{
    char *text;
    size_t length = 7;
    FILE *out = text_stream_open(&text, &length);
    cr_assert(out);
    cr_assert_eq(fclose(out), 0);
    cr_expect(text && !*text && length == 0);
    free(text);
}

#if !defined __SANITIZE_ADDRESS__ /* which takes more room than any limit */
/* An emulator gives a program all that it asks for. */
static bool has_limits(void)
{
    struct rlimit limit = {1 << 28, 1 << 28};
    cr_assert_eq(setrlimit(RLIMIT_AS, &limit), 0);
    void *block = malloc((size_t)1 << 29);
    free(block);
    return !block;
}

Test(text_stream, tells_that_memory_was_short)
{
    static char block[1 << 20];
    char *text;
    size_t length;
    FILE *out = text_stream_open(&text, &length);
    cr_assert(out);
    setvbuf(out, NULL, _IONBF, 0); /* closing has nothing left to write */
    fputs("what came first", out);
    if (!has_limits()) {
        fclose(out);
        free(text);
        cr_skip_test("no limits under an emulator");
    }
    memset(block, 'x', sizeof block);
    for (int i = 0; i < 512; i++)
        fwrite(block, 1, sizeof block, out);
    fputs("and what came last", out);
    cr_expect_neq(fclose(out), 0);
    cr_expect(!text && !length);
}
#endif
