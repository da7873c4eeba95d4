/* Curves of single instructions: what they are fitted to is written as a description, and that is
 * the same chip when it is read. */
#include "formats/curves.h"
#include "hardware/fingerprint.h"
#include "jobs/calibrate/calibrate.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void require_curve(const struct curves *curves, const struct curve *curve)
{
    fuzz_require(curves_find(curves, curve->kind, curve->name, "") || curve->chip[0],
                 "a curve is found");
    for (int p = 0; p < curve->point_count; p++)
        fuzz_require(curve->points[p].size[0] > 0 &&
                         (curve->points[p].rate > 0 || curve->points[p].ns > 0) &&
                         curve->points[p].line > 1,
                     "points are positive");
}

static bool read_points(const char *file)
{
    struct curves curves = {0};
    struct error error = {0};
    enum status status = curves_read(file, &curves, &error);
    int points = 0;
    fuzz_require_line(status, &error);
    fuzz_require(status == STATUS_OK || curves.curve_count == 0, "refused curves hold nothing");
    for (int c = 0; c < curves.curve_count; c++) {
        require_curve(&curves, &curves.curves[c]);
        points += curves.curves[c].point_count;
    }
    fuzz_require(status != STATUS_OK || points + curves.rejected > 0, "curves have points");
    curves_clear(&curves);
    return status == STATUS_OK;
}

/* The written description is read as what was fitted, and is written the same again. */
static void require_same_chip(const struct calibration *calibration, const char *text)
{
    char path[FUZZ_PATH_SIZE], one[FINGERPRINT_SIZE], two[FINGERPRINT_SIZE], *again;
    struct calibration read;
    struct error error;
    fuzz_write(fuzz_path("-again.cfg", path), text, strlen(text));
    fuzz_require_ok(calibration_open(NULL, path, NULL, calibration->chip, &read, &error), &error);
    unlink(path);
    hardware_fingerprint(&calibration->hw, one);
    hardware_fingerprint(&read.hw, two);
    fuzz_require(strcmp(one, two) == 0, "a written description is the same chip");
    fuzz_require(strcmp(calibration->hw.name, read.hw.name) == 0, "of the same name");
    fuzz_require_ok(description_write(&read.description, "", &again, &error), &error);
    const char *body = strstr(text, "\nname");
    fuzz_require(body && strstr(again, "name") && strcmp(body + 1, strstr(again, "name")) == 0,
                 "and is written the same again");
    free(again);
    calibration_close(&read);
}

static void require_fit(struct calibration *calibration)
{
    struct error error;
    char *text;
    json_t *report = calibration_json(calibration);
    fuzz_require(report != NULL, "a report has no number that is none");
    json_decref(report);
    fuzz_require_ok(calibration_text(calibration, &text, &error), &error);
    require_same_chip(calibration, text);
    free(text);
}

static void fit(const char *file)
{
    struct calibration calibration;
    struct error error = {0};
    fuzz_require_ok(calibration_open(NULL, "ascend910b1", NULL, "c7", &calibration, &error),
                    &error);
    enum status status = calibrate_curves(&calibration, file, &error);
    fuzz_require_line(status, &error);
    if (status == STATUS_OK)
        require_fit(&calibration);
    calibration_close(&calibration);
}

void fuzz_read_curves(const char *file)
{
    if (read_points(file))
        fit(file);
}
