/* network/variant: which sizes hold the batch, of made-up calls with traps, and of the published
 * runs where AUTOTUNE_NETWORK_RUNS names their folder; what cannot be scaled; blocks. */
#include "network/problem.h"
#include "network/read.h"
#include "tests/hardware_files.h"

TestSuite(network_variant, .init = enter, .fini = leave);

#define HEAD "op_type,in_shapes,in_formats,in_dtypes,out_shapes,out_formats,out_dtypes,block_dim\n"
#define NZ   "FRACTAL_NZ"
#define ND   "DefaultFormat"
#define F    "FLOAT"

static enum status read_table(const char *name, int64_t batch, struct network *network,
                              struct error *error)
{
    const struct network_request request = {.batch = batch};
    return network_read(in_folder(name), &request, network, error);
}

static void read_calls(const char *rows, int64_t batch, struct network *network)
{
    struct error error = {0};
    char text[16384];
    snprintf(text, sizeof text, HEAD "%s", rows);
    write_file("n.csv", text);
    cr_assert_eq(read_table("n.csv", batch, network, &error), STATUS_OK, "%s", error.text);
}

/* "MatMul 1 x 2 ...": all that tells calls apart. */
enum { SIGNATURE_SIZE = 8192 };
static void describe(const struct operator_call *call, char text[SIGNATURE_SIZE])
{
    int used = snprintf(text, SIGNATURE_SIZE, "%s", call->op_type);
    for (int t = 0; t < call->input_count + call->output_count; t++) {
        const struct operator_tensor *tensor = &call->inputs[t];
        used += snprintf(text + used, SIGNATURE_SIZE - (size_t)used, "%s %d:%d",
                         t == call->input_count ? " ->" : "", tensor->format, tensor->type);
        for (int d = 0; d < tensor->rank; d++)
            used += snprintf(text + used, SIGNATURE_SIZE - (size_t)used, "x%lld",
                             (long long)tensor->size[d]);
        cr_assert_lt(used, SIGNATURE_SIZE);
    }
}

/* A row at two batches, 8 and 24, of 32 tokens and 64 features. */
static const struct {
    const char *before, *after;
} rows[] = {
    /* a product, its gradients by operand and by weight, and the bias of as many as the batch
       divides */
    {"MatMul,4x16x16x16;8x4x16x16;128," NZ ";" NZ ";" ND "," F ";" F ";" F ",8x16x16x16," NZ "," F,
     "MatMul,4x48x16x16;8x4x16x16;128," NZ ";" NZ ";" ND "," F ";" F ";" F ",8x48x16x16," NZ "," F},
    {"FusionOp_MatMul_AddN,8x16x16x16;8x4x16x16;4x16x16x16," NZ ";" NZ ";" NZ "," F ";" F ";" F
     ",4x16x16x16," NZ "," F,
     "FusionOp_MatMul_AddN,8x48x16x16;8x4x16x16;4x48x16x16," NZ ";" NZ ";" NZ "," F ";" F ";" F
     ",4x48x16x16," NZ "," F},
    {"MatMul,4x16x16x16;8x16x16x16," NZ ";" NZ "," F ";" F ",8x4x16x16," NZ "," F,
     "MatMul,4x48x16x16;8x48x16x16," NZ ";" NZ "," F ";" F ",8x4x16x16," NZ "," F},
    /* the same row-major */
    {"MatMulV2,256x64;64x128," ND ";" ND "," F ";" F ",256x128," ND "," F,
     "MatMulV2,768x64;64x128," ND ";" ND "," F ";" F ",768x128," ND "," F},
    /* weights, of which the batch divides all sizes, on their way to products, and optimisers */
    {"TransData,64x128," ND "," F ",8x4x16x16," NZ "," F,
     "TransData,64x128," ND "," F ",8x4x16x16," NZ "," F},
    {"Adam,1024x64;1024x64," ND ";" ND "," F ";" F ",1024x64," ND "," F,
     "Adam,1024x64;1024x64," ND ";" ND "," F ";" F ",1024x64," ND "," F},
    {"Gather,1024x64;256," ND ";" ND "," F ";" F ",256x64," ND "," F,
     "Gather,1024x64;768," ND ";" ND "," F ";" F ",768x64," ND "," F},
    /* a reduction over the batch leaves tokens; the batch beside heads, and in one with them */
    {"ReduceSum,8x32x64," ND "," F ",32x64," ND "," F,
     "ReduceSum,24x32x64," ND "," F ",32x64," ND "," F},
    {"BatchMatMul,8x12x4x2x16x16;8x12x4x2x16x16," NZ ";" NZ "," F ";" F ",8x12x2x2x16x16," NZ "," F,
     "BatchMatMul,24x12x4x2x16x16;24x12x4x2x16x16," NZ ";" NZ "," F ";" F ",24x12x2x2x16x16," NZ
     "," F},
    {"Softmax,96x2x2x16x16," NZ "," F ",96x2x2x16x16," NZ "," F,
     "Softmax,288x2x2x16x16," NZ "," F ",288x2x2x16x16," NZ "," F},
    {"DropoutDoMask,4x16x16x16;2048;," NZ ";" ND ";" ND "," F ";UINT;" F ",4x16x16x16," NZ "," F,
     "DropoutDoMask,4x48x16x16;6144;," NZ ";" ND ";" ND "," F ";UINT;" F ",4x48x16x16," NZ "," F},
    /* of the sizes of a product, and none */
    {"Mul,256x256;256x256," ND ";" ND "," F ";" F ",256x256," ND "," F,
     "Mul,768x256;768x256," ND ";" ND "," F ";" F ",768x256," ND "," F},
    /* images; statistics and filters stay */
    {"Conv2D,8x4x7x7x16;36x8x16x16,NC1HWC0;FRACTAL_Z," F ";" F
     ",8x8x7x7x16;1x8x1x1x16,NC1HWC0;NC1HWC0," F ";" F,
     "Conv2D,24x4x7x7x16;36x8x16x16,NC1HWC0;FRACTAL_Z," F ";" F
     ",24x8x7x7x16;1x8x1x1x16,NC1HWC0;NC1HWC0," F ";" F},
    /* 8 samples and padding, of which 24 leave less */
    {"MatMul,8x1x16x16;2x8x16x16," NZ ";" NZ "," F ";" F ",2x1x16x16," NZ "," F,
     "MatMul,8x2x16x16;2x8x16x16," NZ ";" NZ "," F ";" F ",2x2x16x16," NZ "," F},
};

static void expect_rule(int64_t from, int64_t to)
{
    char before[16384] = "", after[16384] = "", made[SIGNATURE_SIZE], wanted[SIGNATURE_SIZE];
    struct network networks[2], other;
    struct error error = {0};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        strcat(strcat(before, from < to ? rows[i].before : rows[i].after), ",\n");
        strcat(strcat(after, from < to ? rows[i].after : rows[i].before), ",\n");
    }
    read_calls(before, from, &networks[0]);
    read_calls(after, to, &networks[1]);
    cr_assert_eq(network_at_batch(&networks[0], to, &other, &error), STATUS_OK, "%s", error.text);
    cr_expect_eq(other.batch, to);
    for (int64_t i = 0; i < other.call_count; i++) {
        describe(&other.calls[i], made);
        describe(&networks[1].calls[i], wanted);
        cr_expect_str_eq(made, wanted);
        cr_expect_eq(call_bytes(&other.calls[i]), call_bytes(&networks[1].calls[i]));
    }
    network_free(&networks[0]);
    network_free(&networks[1]);
    network_free(&other);
}

Test(network_variant, which_sizes_hold_the_batch)
{
    expect_rule(8, 24);
    expect_rule(24, 8);
}

Test(network_variant, same_batch_is_a_copy)
{
    struct network network, other;
    struct error error = {0};
    read_calls("Mul,8x64," ND "," F ",8x64," ND "," F ",7\n", 0, &network);
    cr_assert_eq(network_at_batch(&network, 0, &other, &error), STATUS_OK, "%s", error.text);
    cr_expect_eq(other.calls[0].inputs[0].size[0], 8);
    cr_expect_eq(other.calls[0].block_dim, 7);
    cr_expect_eq(other.calls[0].line, 2);
    network_free(&network);
    network_free(&other);
}

static void expect_refused(int64_t from, int64_t to, enum status wanted, const char *part)
{
    struct network network, other;
    struct error error = {0};
    read_calls("Mul,8x64," ND "," F ",8x64," ND "," F ",\n", from, &network);
    cr_expect_eq(network_at_batch(&network, to, &other, &error), wanted, "%s", part);
    cr_expect(strstr(error.text, part), "'%s' has no '%s'", error.text, part);
    network_free(&network);
}

Test(network_variant, what_cannot_be_scaled)
{
    expect_refused(7, 14, STATUS_INVALID, "n.csv: no size holds a batch of 7");
    expect_refused(1, 14, STATUS_INVALID, "expected a table of 2 or more samples");
    expect_refused(8, INT64_C(1) << 45, STATUS_TOO_LARGE, "n.csv: line 2: tensor 1 has more than");
    expect_refused(8, INT64_MAX, STATUS_TOO_LARGE, "at batch 9223372036854775807");
}

/* Blocks follow what limits them: samples of images, cores, bytes of what is small. */
Test(network_variant, blocks)
{
    struct hardware hw, twice;
    const char *const change = "cores=60";
    const struct hardware_overrides cores = {&change, 1};
    struct network network, other;
    struct error error = {0};
    const char *text = "ReluGradV2,8x4x7x7x16,NC1HWC0," F ",8x4x7x7x16,NC1HWC0," F ",8\n"
                       "Mul,8x640x7680," ND "," F ",8x640x7680," ND "," F ",30\n"
                       "Mul,64," ND "," F ",64," ND "," F ",1\n"
                       "Mul,8," ND "," F ",8," ND "," F ",\n";
    const int wanted[2][4] = {{30, 30, 1, 0}, {60, 60, 1, 0}};
    cr_assert_eq(hardware_load(SOURCE_DIR "/configs/hardware/ascend910.cfg", NULL, &hw, &error),
                 STATUS_OK);
    cr_assert_eq(
        hardware_load(SOURCE_DIR "/configs/hardware/ascend910.cfg", &cores, &twice, &error),
        STATUS_OK, "%s", error.text);
    cr_assert_eq(hw.cores, 30);
    read_calls(text, 8, &network);
    for (int c = 0; c < 2; c++) {
        cr_assert_eq(network_at_batch(&network, 64, &other, &error), STATUS_OK, "%s", error.text);
        network_relaunch(&other, c ? &twice : &hw, &network, &hw);
        for (int i = 0; i < 4; i++)
            cr_expect_eq(other.calls[i].block_dim, wanted[c][i], "call %d: %d", i,
                         other.calls[i].block_dim);
        network_free(&other);
    }
    network_free(&network);
    hardware_clear(&hw);
    hardware_clear(&twice);
}

/* ------------------------------------------------------------------ published runs */

/* `missed`: calls of the run that the other one does not have once their sizes are scaled. Those of
 * DeepFM are a second graph, those of ResNet-50 other fusions; one gathers what no batch explains,
 * three are on 128 positions of a batch of 128. */
static const struct {
    const char *run, *other;
    int64_t batch, to, missed;
} runs[] = {
    {"bert_32_32", "bert_64_32", 32, 64, 0},
    {"bert_32_32", "bert_256_32", 32, 256, 0},
    {"bert_64_32", "bert_128_32", 64, 128, 0},
    {"bert_128_32", "bert_256_32", 128, 256, 3},
    {"bert_256_32", "bert_32_32", 256, 32, 0},
    {"vit64", "vit128", 64, 128, 1},
    {"vit128", "vit64", 128, 64, 1},
    {"inceptionv3_16", "inceptionv3_32", 16, 32, 1},
    {"inceptionv3_32", "inceptionv3_16", 32, 16, 1},
    {"resnet50_16_224_224", "resnet50_32_224_224", 16, 32, 61},
    {"resnet50_32_224_224", "resnet50_16_224_224", 32, 16, 41},
    {"deepfm_12000", "deepfm_16000", 12000, 16000, 39},
    {"deepfm_16000", "deepfm_12000", 16000, 12000, 0},
};

static void read_run(const char *runs_folder, const char *name, int64_t batch,
                     struct network *network)
{
    char command[1024];
    struct error error = {0};
    snprintf(command, sizeof command, "gzip -dc '%s/%s.csv.gz' >%s", runs_folder, name,
             in_folder("run.csv"));
    cr_assert_eq(system(command), 0);
    cr_assert_eq(read_table("run.csv", batch, network, &error), STATUS_OK, "%s", error.text);
}

struct signature {
    char *text;
    int64_t count;
};

static int compare_signatures(const void *left, const void *right)
{
    return strcmp(((const struct signature *)left)->text, ((const struct signature *)right)->text);
}

static struct signature *signatures_of(const struct network *network)
{
    char text[SIGNATURE_SIZE];
    struct signature *list = malloc((size_t)network->call_count * sizeof *list);
    for (int64_t i = 0; i < network->call_count; i++) {
        describe(&network->calls[i], text);
        list[i] = (struct signature){strdup(text), network->calls[i].count};
    }
    qsort(list, (size_t)network->call_count, sizeof *list, compare_signatures);
    return list;
}

/* Calls of the first that the second has too, each as often as it has it at most. */
static int64_t common(const struct network *a, const struct network *b)
{
    struct signature *left = signatures_of(a), *right = signatures_of(b);
    int64_t sum = 0, j = 0;
    for (int64_t i = 0; i < a->call_count; i++) {
        while (j < b->call_count && strcmp(right[j].text, left[i].text) < 0)
            j++;
        for (; j < b->call_count && left[i].count && strcmp(right[j].text, left[i].text) == 0;
             j += right[j].count == 0) {
            int64_t both = left[i].count < right[j].count ? left[i].count : right[j].count;
            sum += both;
            left[i].count -= both;
            right[j].count -= both;
        }
    }
    for (int64_t i = 0; i < a->call_count; i++)
        free(left[i].text);
    for (int64_t j2 = 0; j2 < b->call_count; j2++)
        free(right[j2].text);
    free(left);
    free(right);
    return sum;
}

Test(network_variant, published_runs)
{
    const char *runs_folder = getenv("AUTOTUNE_NETWORK_RUNS");
    for (size_t r = 0; runs_folder && r < sizeof runs / sizeof *runs; r++) {
        struct network run, other, scaled;
        struct error error = {0};
        int64_t calls = 0;
        read_run(runs_folder, runs[r].run, runs[r].batch, &run);
        read_run(runs_folder, runs[r].other, runs[r].to, &other);
        cr_assert_eq(network_at_batch(&run, runs[r].to, &scaled, &error), STATUS_OK, "%s",
                     error.text);
        for (int64_t i = 0; i < run.call_count; i++)
            calls += run.calls[i].count;
        cr_expect_eq(calls - common(&scaled, &other), runs[r].missed, "%s to %s: %lld of %lld",
                     runs[r].run, runs[r].other, (long long)(calls - common(&scaled, &other)),
                     (long long)calls);
        network_free(&run);
        network_free(&other);
        network_free(&scaled);
    }
}
