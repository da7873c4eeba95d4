/* Every reader against its committed corpus and against changed copies of it. The changes are
 * drawn from a fixed seed: the same in every run. tools/fuzz searches for longer and finds new
 * members of the corpus. */
#include "tests/fuzz/fuzz.h"
#include "tests/support/cases.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <dirent.h>
#include <gsl/gsl_rng.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_BYTES = 1 << 16, COPIES = 300 };

struct sample {
    uint8_t *bytes;
    size_t count;
};

static struct sample read_sample(const char *folder, const char *name)
{
    char path[1024];
    struct sample sample = {.bytes = malloc(2 * MAX_BYTES)};
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    cr_assert(file && sample.bytes, "%s", path);
    sample.count = fread(sample.bytes, 1, MAX_BYTES, file);
    fclose(file);
    return sample;
}

static void flip(gsl_rng *rng, struct sample *s)
{
    if (s->count)
        s->bytes[gsl_rng_uniform_int(rng, s->count)] ^=
            (uint8_t)(1u << gsl_rng_uniform_int(rng, 8));
}

static void cut(gsl_rng *rng, struct sample *s)
{
    s->count = gsl_rng_uniform_int(rng, s->count + 1);
}

/* A piece of the text again, somewhere else. */
static void copy(gsl_rng *rng, struct sample *s)
{
    if (s->count < 2)
        return;
    size_t length = 1 + gsl_rng_uniform_int(rng, s->count / 2), from, to;
    from = gsl_rng_uniform_int(rng, s->count - length + 1);
    to = gsl_rng_uniform_int(rng, s->count + 1);
    memmove(s->bytes + to, s->bytes + from, length);
    if (to + length > s->count)
        s->count = to + length;
}

static void put_word(gsl_rng *rng, struct sample *s)
{
    static const char *const words[] = {"18446744073709551616",
                                        "-1",
                                        "0",
                                        "1e999",
                                        "nan",
                                        "\0x",
                                        "{",
                                        "]",
                                        "\"",
                                        "=",
                                        "\n",
                                        "\xff\xfe",
                                        "9223372036854775807"};
    const char *word = words[gsl_rng_uniform_int(rng, sizeof words / sizeof *words)];
    size_t length = *word ? strlen(word) : 2, at = gsl_rng_uniform_int(rng, s->count + 1);
    memmove(s->bytes + at + length, s->bytes + at, s->count - at);
    memcpy(s->bytes + at, word, length);
    s->count += length;
}

static void play_changed(const struct fuzz_target *target, const struct sample *sample,
                         gsl_rng *rng)
{
    static void (*const changes[])(gsl_rng *, struct sample *) = {flip, cut, copy, put_word};
    struct sample changed = {.bytes = malloc(4 * MAX_BYTES)};
    for (int i = 0; i < test_cases(COPIES); i++) {
        changed.count = sample->count;
        memcpy(changed.bytes, sample->bytes, sample->count);
        for (unsigned long c = 1 + gsl_rng_uniform_int(rng, 4); c > 0; c--)
            changes[gsl_rng_uniform_int(rng, sizeof changes / sizeof *changes)](rng, &changed);
        fuzz_play(target, changed.bytes, changed.count);
    }
    free(changed.bytes);
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_file(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static void play_target(const struct fuzz_target *target)
{
    char folder[512];
    struct dirent **names;
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    snprintf(folder, sizeof folder, "%s/tests/fuzz/%s", SOURCE_DIR, target->name);
    int count = scandir(folder, &names, is_file, by_name);
    cr_assert(count > 0, "%s has no corpus", folder);
    for (int i = 0; i < count; i++) {
        struct sample sample = read_sample(folder, names[i]->d_name);
        fuzz_play(target, sample.bytes, sample.count);
        play_changed(target, &sample, rng);
        free(sample.bytes);
        free(names[i]);
    }
    free(names);
    gsl_rng_free(rng);
}

enum { MOST_TARGETS = 64 };

ParameterizedTestParameters(fuzz, a_reader_answers_or_refuses_in_one_line)
{
    static int numbers[MOST_TARGETS];
    int count = 0;
    for (; fuzz_targets[count].name; count++)
        numbers[count] = count;
    return cr_make_param_array(int, numbers, (size_t)count);
}

ParameterizedTest(int *number, fuzz, a_reader_answers_or_refuses_in_one_line)
{
    setenv("AUTOTUNE_CONFIGS", SOURCE_DIR "/configs", 1);
    setenv("XDG_CONFIG_HOME", "/nonexistent", 1);
    unsetenv("ASCEND_HOME_PATH");
    play_target(&fuzz_targets[*number]);
}
