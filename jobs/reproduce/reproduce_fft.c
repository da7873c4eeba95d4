/* Y. Xiao and Z. Wang, "AIbench", 2024, section 8, on the Ascend 910: how much better a Fourier
 * transform uses the vector unit when three stages are done each time data are loaded, not one.
 * Both as they count, two operations an element and stage, and as a transform that computes one
 * (fft_passes.kernel), whose work is the same for any number of stages a pass: its use of the unit
 * is better by as much as its time is shorter. */
#include "jobs/reproduce/reproduce_parts.h"

enum { COUNTED, COUNTED_ALL_CORES, SHORT_ROWS, LONG_ROWS, LONGEST_ROWS, ROWS };

#define COUNTS                                                                                     \
    "theirs is theory, from loads that last as long as six operations; ours: stores, at 64 bytes " \
    "a cycle, last as long as four, so that two leave half of the unit idle; with 30 cores loads " \
    "share the bus"
#define COMPUTES                                                                                   \
    "a butterfly is ten instructions for four numbers, 2.5 and not two an element, and each "      \
    "takes 31 cycles to start: with one stage a pass they are the limit already. Three do more "   \
    "rows an instruction, which saves starts"

static const struct published rows[ROWS] = {
    [COUNTED] = {"A 8", "six operations an element and load over two: use of the vector unit, 910",
                 "x", 1.60, COUNTS},
    [COUNTED_ALL_CORES] = {"A 8", "the same on 30 cores", "x", 1.60, COUNTS},
    [SHORT_ROWS] = {"A 8", "FFT, three stages a load over one: 64 points, 120x512 signals", "x",
                    1.60, COMPUTES},
    [LONG_ROWS] = {"A 8", "the same, 120x2048 signals", "x", 1.60, COMPUTES},
    [LONGEST_ROWS] = {"A 8", "the same, 120x8192 signals", "x", 1.60,
                      "one stage takes rows of 8192 now, at which transfers limit it; eight "
                      "points of as many do not fit UB, and three stages take 2048 at a time"},
};

/* In and out in tiles of 32 KiB, two of each. */
static const char counted[] = "kernel counted\n"
                              "size N\n"
                              "tensor X[N] f16, Y[N] f16\n"
                              "axis operations = 2, 6\n"
                              "cores N\n"
                              "for i in N by 16384\n"
                              "  tile x: ub[i] f16 x 2\n"
                              "  tile y: ub[i] f16 x 2\n"
                              "  load x <- X\n"
                              "  vmul y <- x, x\n"
                              "  for o in operations - 1 by 1\n"
                              "    vmul y <- y, x\n"
                              "  store Y <- y\n";
enum { TILES = 64, TILE = 16384 };

/* The vector unit's share of the time. */
static enum status use_of(const struct text_kernel *kernel, int64_t cores, int64_t operations,
                          double *share, struct error *error)
{
    const int64_t sizes[] = {cores * TILES * TILE};
    const struct text_fixed fixed[] = {{"operations", operations}, {"cores", cores}, {NULL, 0}};
    struct found found;
    TRY(text_best(kernel, 1, sizes, fixed, &found, error));
    *share = (double)found.timeline.busy_fs[hardware_pipe(kernel->hw, "V", 1)] /
             (double)found.timeline.end_fs;
    return STATUS_OK;
}

static enum status compare_counted(const struct text_kernel *kernel, double *ours,
                                   struct error *error)
{
    for (int all = 0; all < 2; all++) {
        double two, six;
        TRY(use_of(kernel, all ? kernel->hw->cores : 1, 2, &two, error));
        TRY(use_of(kernel, all ? kernel->hw->cores : 1, 6, &six, error));
        ours[all ? COUNTED_ALL_CORES : COUNTED] = six / two;
    }
    return STATUS_OK;
}

static enum status transform_ns(const struct text_kernel *kernel, int64_t signals, int64_t together,
                                int64_t width, double *ns, struct error *error)
{
    const int64_t sizes[] = {INT64_C(4) * kernel->hw->cores, 64, signals};
    const struct text_fixed fixed[] = {{"together", together},
                                       {"width", width},
                                       {"buffers", 2},
                                       {"cores", kernel->hw->cores},
                                       {NULL, 0}};
    struct found found;
    TRY(text_best(kernel, 1, sizes, fixed, &found, error));
    *ns = found_ns(&found);
    return STATUS_OK;
}

static enum status compare_transforms(const struct text_kernel *kernel, double *ours,
                                      struct error *error)
{
    static const struct {
        int row, signals, width_of_one, width_of_three;
    } cases[] = {
        {SHORT_ROWS, 512, 512, 512},
        {LONG_ROWS, 2048, 2048, 2048},
        {LONGEST_ROWS, 8192, 8192, 2048},
    };
    for (int c = 0; c < 3; c++) {
        double one, three;
        TRY(transform_ns(kernel, cases[c].signals, 1, cases[c].width_of_one, &one, error));
        TRY(transform_ns(kernel, cases[c].signals, 3, cases[c].width_of_three, &three, error));
        ours[cases[c].row] = one / three;
    }
    return STATUS_OK;
}

static enum status compare_all(const struct hardware *hw, double *ours, struct error *error)
{
    struct text_kernel kernel;
    TRY(text_parse(hw, counted, &kernel, error));
    enum status status = compare_counted(&kernel, ours, error);
    text_close(&kernel);
    if (status != STATUS_OK)
        return status;
    TRY(text_open(hw, "fft_passes", &kernel, error));
    status = compare_transforms(&kernel, ours, error);
    text_close(&kernel);
    return status;
}

static enum status compute(struct reproduction *r, double *ours, struct error *error)
{
    struct hardware hw;
    (void)r;
    TRY(learned_chip(&hw, error));
    enum status status = compare_all(&hw, ours, error);
    hardware_clear(&hw);
    return status;
}

const struct chapter fft_chapter = {rows, ROWS, compute};
