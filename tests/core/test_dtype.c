/* Element types: every row of the table is found by all that it is called, and nothing else is. */
#include "core/dtype.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static int find(int (*how)(const char *, int), const char *name)
{
    return how(name, (int)strlen(name));
}

Test(dtype, every_type_is_found_by_its_names)
{
    for (int t = 0; t < DTYPE_ALL; t++) {
        enum dtype type = (enum dtype)t;
        char marked[32];
        int computed = t < DTYPE_COUNT ? t : -1; /* by a unit of a chip */
        snprintf(marked, sizeof marked, "dt_%s", dtype_ge_name(type));
        cr_expect_eq(find(dtype_find, dtype_name(type)), computed);
        cr_expect_eq(find(dtype_find_cann, dtype_cann_name(type)), computed);
        cr_expect_eq(find(dtype_find_cann, marked), computed);
        cr_expect_eq(find(dtype_find_profiled, dtype_ge_name(type)), t);
        cr_expect_eq(find(dtype_find_profiled, marked), t);
        cr_expect_eq(dtype_find_number(dtype_cann_number(type)), computed);
    }
    cr_expect_eq(find(dtype_find, "BF16"), DTYPE_BF16);
    cr_expect_eq(find(dtype_find_profiled, "FLOAT32"), DTYPE_F32);
    cr_expect_eq(find(dtype_find_profiled, "BFLOAT16"), DTYPE_BF16);
}

/* As enum ge::DataType has them. */
Test(dtype, numbers_of_cann)
{
    static const int numbers[DTYPE_COUNT] = {1, 0, 27, 2, 4, 6, 7, 3, 8};
    for (int t = 0; t < DTYPE_COUNT; t++)
        cr_expect_eq(dtype_cann_number((enum dtype)t), numbers[t], "%s", dtype_name((enum dtype)t));
}

Test(dtype, what_no_row_has_is_not_found)
{
    static const char *const names[] = {"",    "f",     "f16 ",   "half", "int4",
                                        "DT_", "float", "DT_f16", "hf32"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        cr_expect_eq(find(dtype_find, names[i]), -1, "%s", names[i]);
        cr_expect_eq(find(dtype_find_cann, names[i]), strcmp(names[i], "float") ? -1 : DTYPE_F32);
    }
    static const int64_t numbers[] = {-1, 5, 9, 12, 28, 29, INT64_MAX, INT64_C(1) << 32};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        cr_expect_eq(dtype_find_number(numbers[i]), -1, "%lld", (long long)numbers[i]);
}

Test(dtype, sums_hold_products)
{
    for (int t = 0; t < DTYPE_COUNT; t++) {
        enum dtype type = (enum dtype)t, sums = dtype_accumulator(type), out = dtype_result(type);
        cr_expect_eq(dtype_bytes(sums), 4, "%s", dtype_name(type));
        cr_expect_eq(dtype_accumulator(sums), sums, "%s", dtype_name(type));
        cr_expect(out == type || out == sums, "%s", dtype_name(type));
    }
    cr_expect_eq(dtype_result(DTYPE_F16), DTYPE_F16);
    cr_expect_eq(dtype_result(DTYPE_BF16), DTYPE_BF16);
    cr_expect_eq(dtype_result(DTYPE_I8), DTYPE_I32);
    cr_expect_eq(dtype_result(DTYPE_U8), DTYPE_I32);
}

Test(dtype, lists_name_every_type)
{
    char text[DTYPE_LIST_SIZE];
    dtype_list(DTYPE_NAMES, text);
    cr_expect_str_eq(text, "f16, f32, bf16, i8, u8, i16, u16, i32 or u32");
    dtype_list(DTYPE_CANN_NAMES, text);
    cr_expect_str_eq(text,
                     "float16, float32, bfloat16, int8, uint8, int16, uint16, int32 or uint32");
    dtype_list(DTYPE_CANN_NUMBERS, text);
    cr_expect_str_eq(text, "1 (f16), 0 (f32), 27 (bf16), 2 (i8), 4 (u8), 6 (i16), 7 (u16), 3 (i32) "
                           "or 8 (u32)");
    dtype_expected("f61 and more", 3, text);
    cr_expect_str_eq(text, "f16, f32, bf16, i8, u8, i16, u16, i32 or u32; did you mean f16?");
}
