/* Published numbers that nothing here can produce: errors against silicon, other vendors'
 * libraries, chips without a description. Quoted so that the list is whole. */
#include "jobs/reproduce/reproduce_parts.h"

static const char silicon[] = "an error against silicon, which is not at hand";
static const char roofline[] = "measured on a chip that R does not describe; docs/case-studies.md "
                               "has utilisations beside ours";

static const struct published rows[] = {
    {"T 2.4.4", "speedup over CANN's MatMul", "x", 1.70, "CANN's times are not published"},
    {"T 2.4.3", "simulator's error on tuned MatMul, one core", "%", 5.06, silicon},
    {"T 2.4.3", "simulator's error on tuned MatMul, two cores", "%", 5.25, silicon},
    {"T 2.4.3", "of which V, one core", "%", 0.69, silicon},
    {"T 2.4.3", "of which V, two cores", "%", 0.51, silicon},
    {"T 2.4.3", "of which M, one core", "%", 1.17, silicon},
    {"T 2.4.3", "of which M, two cores", "%", 0.85, silicon},
    {"T 2.4.3", "of which MTE1, one core", "%", 9.78, silicon},
    {"T 2.4.3", "of which MTE1, two cores", "%", 9.46, silicon},
    {"T 2.4.3", "of which MTE2, one core", "%", 18.89, silicon},
    {"T 2.4.3", "of which MTE2, two cores", "%", 14.22, silicon},
    {"T 2.4.3", "of which MTE3, one core", "%", 23.72, silicon},
    {"T 2.4.3", "of which MTE3, two cores", "%", 33.72, silicon},
    {"T 2.4.1", "simulator's error on the sample kernels, one core", "%", 2.62, silicon},
    {"T 2.4.1", "simulator's error on the sample kernels, two cores", "%", 2.30, silicon},
    {"R 5", "Add_ReLU before over after", "x", 98.673 / 57.157, roofline},
    {"R 5", "Depthwise before over after", "x", 408.101 / 325.121, roofline},
    {"R 5", "AvgPool before over after", "x", 69.821 / 16.206, roofline},
};

/* `ours` stays unknown throughout. */
static enum status compute(struct reproduction *r, double *ours, struct error *error)
{
    (void)r;
    (void)ours;
    (void)error;
    return STATUS_OK;
}

const struct chapter quoted_chapter = {rows, sizeof rows / sizeof *rows, compute};
