#include "tests/support/made_up_correction.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void plant(struct correction *c, int which, double quantile, double start,
                  const double leaves[4])
{
    struct forest *forest = &c->forests[which];
    *forest = (struct forest){.quantile = quantile,
                              .start = (int32_t)lround(start / CORRECTION_LEAF),
                              .tree_count = 1,
                              .trees = calloc(1, sizeof *forest->trees)};
    struct boosted_tree *tree = forest->trees;
    tree->depth = 2;
    tree->feature[0] = 0;
    tree->cut[0] = 1; /* time above 3 */
    tree->feature[1] = 1;
    tree->cut[1] = 0; /* m above 1.5 */
    for (int l = 0; l < 4; l++)
        tree->leaf[l] = (int32_t)lround(leaves[l] / CORRECTION_LEAF);
}

void made_up_correction(struct correction *c)
{
    static const double middle[] = {M_LN2, M_LN2, 0, 2 * M_LN2}, none[] = {0, 0, 0, 0};
    *c = (struct correction){.chip = "Ascend 910B2",
                             .op = "matmul",
                             .space = "cann",
                             .model_version = 1,
                             .fingerprint = "0123456789abcdef0123456789abcdef",
                             .clock_mhz = 1500.5,
                             .seed = 7,
                             .bank_count = 1,
                             .quality_count = 1,
                             .problem_count = 2,
                             .covers = 0.8,
                             .margin = 0.125,
                             .feature_count = 2};
    c->banks[0] = (struct trained_bank){"bank.json", "Ascend 910B2", 1234, true};
    c->qualities[0] = (struct trained_quality){
        "all", 1234, {0.2, 0.1, 0.9}, {0.1, 0.05, NAN}, {NAN, NAN, NAN}, 0.81};
    c->features = calloc(2, sizeof *c->features);
    c->features[0] = (struct trained_feature){"time", 1, 5, 2, {2, 3}};
    c->features[1] = (struct trained_feature){"size m", 1, 1, 1, {1.5}};
    c->problems = calloc(2, sizeof *c->problems);
    c->problems[0] = 17;
    c->problems[1] = 4294967295U;
    plant(c, CORRECT_MIDDLE, 0.4, 0, middle);
    plant(c, CORRECT_LOW, 0.1, -M_LN2, none);
    plant(c, CORRECT_HIGH, 0.9, M_LN2, none);
}
