/* Profiles, analysed into every format. A text with a line "%%" is two profiles, which are joined,
 * in either order. */
#include "analysis/roofline.h"
#include "results/analysis_write.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void require_problem(void *context, const char *text)
{
    (void)context;
    fuzz_require(text[0] != 0, "a problem has words");
    for (; *text; text++)
        fuzz_require((unsigned char)*text >= ' ', "a problem is one line of text");
}

/* Ratios are shares, a verdict names its component, and what has no times has neither. */
static void require_operator(json_t *one)
{
    static const char *const ratios[] = {"utilisation", "utilisation_at_least",
                                         "utilisation_at_most", "efficiency", "active_ratio"};
    bool verdict = json_is_string(json_object_get(one, "verdict"));
    json_t *components = json_object_get(one, "components"), *component;
    size_t index;
    fuzz_require(verdict == json_is_string(json_object_get(one, "component")),
                 "a verdict names a component");
    fuzz_require(!verdict || json_array_size(components) > 0, "a verdict has components");
    fuzz_require(json_number_value(json_object_get(one, "time_us")) >= 0, "times are not negative");
    json_array_foreach(components, index, component) for (size_t r = 0;
                                                          r < sizeof ratios / sizeof *ratios; r++)
        fuzz_require(json_number_value(json_object_get(component, ratios[r])) >= 0 &&
                         json_number_value(json_object_get(component, ratios[r])) <= 1.0000001,
                     ratios[r]);
}

static void require_answer(const char *text, size_t length, const struct analyse_result *result)
{
    json_error_t why;
    json_t *answer = json_loadb(text, length, 0, &why), *one;
    json_t *rows = json_object_get(answer, "operators");
    size_t index;
    fuzz_require(answer != NULL, why.text);
    fuzz_require(json_array_size(rows) == (size_t)result->rows, "an operator a row");
    fuzz_require(json_is_object(json_object_get(answer, "summary")), "a summary");
    json_array_foreach(rows, index, one) require_operator(one);
    json_decref(answer);
}

/* The answer in a format, to be freed; NULL: there is none. */
static char *answer_of(const char *const *files, int count, enum analyse_format format)
{
    static struct hardware hw;
    struct error error = {0};
    struct analyse_result result;
    char *text = NULL;
    size_t length = 0;
    struct analyse_job job = {.files = files,
                              .file_count = count,
                              .name = "profile",
                              .how = {fuzz_chip("ascend910b3", &hw), diagnosis_default_thresholds},
                              .format = format,
                              .top = 3,
                              .problem = require_problem};
    FILE *out = open_memstream(&text, &length);
    fuzz_require(out != NULL, "memory");
    enum status status = analyse_profile(&job, out, &result, &error);
    fuzz_require(fclose(out) == 0, "memory");
    fuzz_require_line(status, &error);
    if (status == STATUS_OK && format == ANALYSE_JSON)
        require_answer(text, length, &result);
    if (status == STATUS_OK)
        return text;
    free(text);
    return NULL;
}

static void require_joined(const char *text, size_t length, const char *divider)
{
    char one[FUZZ_PATH_SIZE], other[FUZZ_PATH_SIZE];
    size_t first = (size_t)(divider - text) + 1, rest = first + strlen("%%\n");
    fuzz_write(fuzz_path("-1.csv", one), (const uint8_t *)text, first);
    fuzz_write(fuzz_path("-2.csv", other), (const uint8_t *)text + rest, length - rest);
    const char *files[] = {one, other}, *turned[] = {other, one};
    char *answer = answer_of(files, 2, ANALYSE_JSON), *again = answer_of(turned, 2, ANALYSE_JSON);
    fuzz_require(!answer == !again, "the order of files does not matter");
    fuzz_require(!answer || !again || strcmp(answer, again) == 0, "nor to the answer");
    free(answer);
    free(again);
    unlink(one);
    unlink(other);
}

/* In every format; what JSON says can be read again. */
void fuzz_read_profile(const char *file)
{
    size_t length;
    char *text = fuzz_text(file, &length);
    const char *divider = memmem(text, length, "\n%%\n", strlen("\n%%\n"));
    if (divider)
        require_joined(text, length, divider);
    free(text);
    for (int format = ANALYSE_TABLE; format <= ANALYSE_CSV; format++)
        free(answer_of(&file, 1, (enum analyse_format)format));
}
