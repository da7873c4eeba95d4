/* Tables of calls and profiles as calls: what stands in a row, which rows are one call, and by
 * which line others are refused. */
#include "network/read.h"
#include "tests/hardware_files.h"

TestSuite(network_read, .init = enter, .fini = leave);

#define HEAD                                                                                       \
    "op_type,block_dim,in_shapes,in_formats,in_dtypes,out_shapes,out_formats,out_dtypes,count,"    \
    "count_gradients,mean_us,l_kind\n"

static enum status read_text(const char *text, struct network *network, struct error *error)
{
    write_bytes(in_folder("n.csv"), text, strlen(text));
    return network_read(in_folder("n.csv"), &(struct network_request){0}, network, error);
}

static void read_good(const char *text, struct network *network)
{
    struct error error = {0};
    cr_assert_eq(read_text(text, network, &error), STATUS_OK, "%s", error.text);
}

Test(network_read, a_row)
{
    struct network network;
    read_good(HEAD "MatMul,32,48x400x16x16;48x48x16x16,FRACTAL_NZ;FRACTAL_NZ,FLOAT;FLOAT,"
                   "48x400x16x16,FRACTAL_NZ,FLOAT16,24,12,45.5,1\n"
                   "AtomicAddrClean,1,,DefaultFormat,FLOAT16,,,,3,0,,0\n",
              &network);
    cr_assert_eq(network.call_count, 2);
    const struct operator_call *call = &network.calls[0];
    cr_expect_str_eq(call->op_type, "MatMul");
    cr_expect_eq(call->line, 2);
    cr_expect_eq(call->block_dim, 32);
    cr_expect_eq(call->input_count, 2);
    cr_expect_eq(call->inputs[0].format, FORMAT_NZ);
    cr_expect_eq(call->inputs[0].type, DTYPE_F16);
    cr_expect_eq(call->inputs[0].size[1], 400);
    cr_expect_eq(call->inputs[0].bytes, 48L * 400 * 256 * 2);
    cr_expect_eq(call->outputs[0].type, DTYPE_F32);
    cr_expect_eq(call->count, 24);
    cr_expect_eq(call->count_gradients, 12);
    cr_expect_float_eq(call->measured_ns, 45500, 1e-6);
    cr_expect(call->is_l_kind);
    call = &network.calls[1];
    cr_expect_eq(call->input_count, 1);
    cr_expect_eq(call->output_count, 0);
    cr_expect_eq(call->inputs[0].rank, 0);
    cr_expect_eq(call->inputs[0].bytes, 4);
    cr_expect_eq(call->measured_ns, 0);
    cr_expect_not(call->is_l_kind);
    network_free(&network);
}

/* Names of types are one off in MindSpore's lists, and as they are in small letters. */
Test(network_read, types)
{
    static const struct {
        const char *name;
        enum dtype type;
    } names[] = {{"FLOAT", DTYPE_F16},  {"FLOAT16", DTYPE_F32}, {"INT16", DTYPE_I32},
                 {"INT32", DTYPE_I64},  {"UINT", DTYPE_U8},     {"UINT8", DTYPE_U16},
                 {"BEGIN", DTYPE_BOOL}, {"f32", DTYPE_F32},     {"bf16", DTYPE_BF16}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char text[512];
        struct network network;
        snprintf(text, sizeof text, HEAD "Mul,1,2x3,ND,%s,2x3,ND,%s,1,0,1,0\n", names[i].name,
                 names[i].name);
        read_good(text, &network);
        cr_expect_eq(network.calls[0].inputs[0].type, names[i].type, "%s", names[i].name);
        cr_expect_eq(network.calls[0].outputs[0].bytes, 6 * dtype_bytes(names[i].type));
        network_free(&network);
    }
}

/* Without the column, what L sums follows from kind and rank. */
Test(network_read, l_kinds)
{
    struct network network;
    read_good("op_type,in_shapes,in_formats,in_dtypes,out_shapes,out_formats,out_dtypes\n"
              "Mul,2x3x4,ND,f16,2x3x4,ND,f16\nMul,2x3,ND,f16,2x3,ND,f16\n"
              "TransData,2x3x4,ND,f16,1x1x16x16,FRACTAL_NZ,f16\nRelu,2x3x4,ND,f16,2x3x4,ND,f16\n",
              &network);
    static const bool expected[] = {true, false, true, false};
    for (int i = 0; i < 4; i++)
        cr_expect_eq(network.calls[i].is_l_kind, expected[i], "row %d", i);
    cr_expect_eq(network.calls[0].count, 1);
    network_free(&network);
}

Test(network_read, refused)
{
    static const char *const wrong[][2] = {
        {"", "n.csv:1: expected the head of a table of calls"},
        {"a,b\n1,2\n", "expected the head"},
        {HEAD, "n.csv:2: has a head only, expected rows"},
        {"op_type,in_shapes\n", "n.csv:1: has no column in_formats, expected one"},
        {HEAD "Mul,1\n", "n.csv:2: has 2 fields, expected 12"},
        {HEAD ",1,2,ND,FLOAT,2,ND,FLOAT,1,0,1,0\n", "op_type is empty"},
        {HEAD "Mul,1,2;3,ND,FLOAT,2,ND,FLOAT,1,0,1,0\n", "expected as many tensors"},
        {HEAD "Mul,1,2,ND,,2,ND,FLOAT,1,0,1,0\n", "expected as many tensors"},
        {HEAD "Mul,1,2,ND,HALF,2,ND,FLOAT,1,0,1,0\n", "inputs: tensor 1: no type is called 'HALF'"},
        {HEAD "Mul,1,2,ND,FLOAT,2x-3,ND,FLOAT,1,0,1,0\n", "outputs: tensor 1: shape '2x-3'"},
        {HEAD "Mul,1,2x,ND,FLOAT,2,ND,FLOAT,1,0,1,0\n", "shape '2x'"},
        {HEAD "Mul,1,1x1x1x1x1x1x1x1x1,ND,FLOAT,2,ND,FLOAT,1,0,1,0\n", "up to 8 sizes"},
        {HEAD "Mul,1,99999999x99999999,ND,FLOAT,2,ND,FLOAT,1,0,1,0\n", "at most"},
        {HEAD "Mul,-1,2,ND,FLOAT,2,ND,FLOAT,1,0,1,0\n", "n.csv:2: block_dim -1: expected"},
        {HEAD "Mul,1,2,ND,FLOAT,2,ND,FLOAT,0,0,1,0\n", "count 0: expected"},
        {HEAD "Mul,1,2,ND,FLOAT,2,ND,FLOAT,2,3,1,0\n", "count_gradients 3: expected"},
        {HEAD "Mul,1,2,ND,FLOAT,2,ND,FLOAT,1,0,-1,0\n", "mean_us -1: expected"},
        {HEAD "Mul,1,2,ND,FLOAT,2,ND,FLOAT,1,0,nan,0\n", "mean_us nan: expected"},
        {HEAD "Mul,1,2,ND,FLOAT,2,ND,FLOAT,1,0,1,2\n", "l_kind 2: expected"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct network network;
        struct error error = {0};
        cr_expect_eq(read_text(wrong[i][0], &network, &error), STATUS_INVALID, "%s", wrong[i][0]);
        cr_expect(strstr(error.text, wrong[i][1]), "%s\nexpected %s", error.text, wrong[i][1]);
    }
}

#define PROFILE                                                                                    \
    "Name,Type,Accelerator Core,Duration(us),Block Dim,Input Shapes,Input Data Types,Input "       \
    "Formats,Output Shapes,Output Data Types,Output Formats\n"

Test(network_read, profile)
{
    struct network network;
    read_good(
        PROFILE
        "a/mul,Mul,AI_CORE,10,2,\"\"\"8,4;8,4\"\"\",FLOAT;FLOAT,ND;ND,\"\"\"8,4\"\"\",FLOAT,ND\n"
        "all,hcom_allReduce_,COMMUNICATION,99,0,N/A,N/A,N/A,N/A,N/A,N/A\n"
        "b/mul,Mul,AI_CORE,14,2,\"\"\"8,4;8,4\"\"\",FLOAT;FLOAT,ND;ND,\"\"\"8,4\"\"\",FLOAT,ND\n"
        "c/mul,Mul,AI_CORE,7,2,\"\"\"8,5;8,5\"\"\",FLOAT;FLOAT,ND;ND,\"\"\"8,5\"\"\",FLOAT,ND\n"
        "d,Odd,AI_CORE,5,1,\"\"\"8\"\"\",WHAT,ND,\"\"\"8\"\"\",FLOAT,ND\n"
        "e,Set,AI_VECTOR_CORE,5,1,N/A,N/A,N/A,N/A,N/A,N/A\n",
        &network);
    cr_assert_eq(network.call_count, 5);
    cr_expect_eq(network.calls[0].count, 2);
    cr_expect_float_eq(network.calls[0].measured_ns, 12000, 1e-6);
    cr_expect_str_eq(network.calls[0].name, "a/mul");
    cr_expect_eq(network.calls[0].inputs[1].type, DTYPE_F32);
    cr_expect_eq(network.calls[0].outputs[0].bytes, 128);
    cr_expect_null(network.calls[0].uncovered);
    cr_expect_str_eq(network.calls[1].uncovered, "it does not run on the chip's cores");
    cr_expect_eq(network.calls[2].count, 1);
    cr_expect_eq(network.calls[2].line, 5);
    cr_expect_str_eq(network.calls[3].uncovered, "tensor 1: no type is called 'WHAT'");
    cr_expect_str_eq(network.calls[4].uncovered, "it has no shapes");
    network_free(&network);
    read_good(PROFILE "a,Mul,AI_CORE,ten,2,,,,,,\n,,,,,,,,,,\n", &network);
    cr_assert_eq(network.call_count, 2);
    cr_expect(strstr(network.calls[0].uncovered, "column Duration(us): 'ten': expected"), "%s",
              network.calls[0].uncovered);
    cr_expect_str_eq(network.calls[1].op_type, "-");
    network_free(&network);
}
