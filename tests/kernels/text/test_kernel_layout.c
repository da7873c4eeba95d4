/* Where parts of tiles lie, and which instructions take them so (docs/kernel-language.md, "layout"
 * and "pieces"): the addresses of programs, and the reasons of those that there are not. That all
 * elements are where steps read them is for test_kernel_program_plain.c. */
#include "core/program_text.h"
#include "kernels/text/space/kernel_space.h"
#include "tests/support/kernel_case.h"
#include "tests/support/machine.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct hardware hw;

/* The program of a kernel's text for C = 128, R = 4; NULL: there is none, *error says why. */
static char *program_of(const char *body, struct error *error)
{
    const int64_t sizes[KERNEL_MAX_SIZES] = {128, 4};
    const int values[KERNEL_MAX_AXES] = {0};
    char text[2048], *shown = NULL;
    size_t length;
    snprintf(text, sizeof text, "kernel t\nsize C\n%s", body);
    struct kernel_case *c = kernel_case_open(&hw, text);
    if (kernel_case_set(c, sizes, values, NULL) && kernel_case_make(c)) {
        FILE *out = open_memstream(&shown, &length);
        cr_assert_eq(program_print(&c->program, out, error), STATUS_OK);
        fclose(out);
    }
    *error = c->error;
    kernel_case_close(c);
    return shown;
}

Test(kernel_layout, parts_have_one_address_each_in_all_steps)
{
    static const struct {
        const char *body, *load, *read;
    } cases[] = {
        /* loops that cut the same range in the same steps: blocks of 2 rows of 32 */
        {"size R\ntensor X[R,C] f16, Y[R,C] f16\naxis tc = 32\nfor i in R by 2\n  for c in C by "
         "tc\n    tile q: ub[i,c] f16 at i\n    load q <- X\n"
         "  for d in C by tc\n    for z in i by 1\n      tile y: ub[z,d] f16\n"
         "      vadd y <- q, 1.0\n      store Y <- y\n",
         "bytes=128 dst=ub:0+128*c\n", "src=ub:0+128*d+64*z "},
        /* in other steps: rows of all columns, and loads have a stride */
        {"size R\ntensor X[R,C] f16, Y[R,C] f16\naxis tc = 32\naxis td = 32\nfor i in R by 2\n  "
         "for c in C by tc\n    tile q: ub[i,c] f16 at i\n    load q <- X\n"
         "  for d in C by td\n    for z in i by 1\n      tile y: ub[z,d] f16\n"
         "      vadd y <- q, 1.0\n      store Y <- y\n",
         "bytes=128 dst=ub:0+64*c+256*[2]\n", "src=ub:0+64*d+256*z "},
        /* loops in loops: the outer ones are the blocks, and rows of them have a stride */
        {"tensor F[C,C] f16, Z[C,C] f16\naxis tc = 32\ntile f: l1[C,C] f16\n"
         "for i in C by tc\n  for j in C by tc\n    load f[i,j] <- F[i,j]\n"
         "for k in C by tc\n  for l in C by tc\n    for m in k by 16\n      for n in l by 16\n"
         "        tile g: ub[m,n] f16\n        load g <- f[m,n]\n        store Z[m,n] <- g\n",
         "bytes=2048 dst=l1:0+8192*i+2048*j\n", "src=l1:0+8192*k+2048*l+1024*m+32*n+64*[16] "},
        /* inner loops in the same steps of outer ones that differ are not alike */
        {"size R\ntensor X[R,C] f16, Y[R,C] f16\ntile q: ub[R,C] f16\n"
         "for c in C by 64\n  for d in c by 48\n    load q <- X\n"
         "for e in C by 96\n  for f in e by 48\n    tile y: ub[R,f] f16\n"
         "    for z in R by 1\n      vadd y[z,:] <- q[z,f], 1.0\n    store Y <- y\n",
         "bytes=384 dst=ub:0+128*c+256*[4]\n", "src=ub:0+96*f+256*z "},
        /* strides of four bytes an element */
        {"size R\ntensor X[R,C] f32, Y[R,C] f32\ntile q: ub[R,C] f32\n"
         "for c in C by 32\n  load q <- X\nvadd q[:,8 from 16] <- q[:,8 from 0], 1.0\n"
         "store Y <- q\n",
         "bytes=512 dst=ub:0+128*c+512*[4]\n", "src=ub:0+512*[4] dst=ub:64+512*[4]\n"},
    };
    machine_load_named(&hw, "ascend310", "");
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        struct error error;
        char *program = program_of(cases[n].body, &error);
        cr_assert(program, "%s: %s", cases[n].body, error.text);
        cr_expect(strstr(program, cases[n].load), "%s\n%s", cases[n].load, program);
        cr_expect(strstr(program, cases[n].read), "%s\n%s", cases[n].read, program);
        free(program);
    }
    hardware_clear(&hw);
}

/* Each a step on tiles of 4 rows of 128 columns, or of more dimensions. */
Test(kernel_layout, parts_that_no_instruction_takes_are_refused)
{
    static const struct {
        const char *step, *why; /* NULL: it is taken */
    } cases[] = {
        {"relu y <- x", NULL},
        {"relu y[1,:] <- x[0,:]", NULL},
        {"relu y[2 from 0,:] <- x[2 from 2,:]", NULL},
        {"relu y[:,16 from 16] <- x[:,16 from 0]", NULL}, /* 32 bytes a row */
        {"relu w[:,128 from 0] <- x", NULL},              /* a repeat a row */
        {"relu y[:,64 from 0] <- x[:,64 from 0]",
         "a part of tile 'y' in 4 pieces of 128 bytes, expected one, or such of 32 bytes or 128 "
         "elements, evenly apart; loop over rows"},
        {"relu w[:,256 from 0] <- w[:,256 from 128]", "in 4 pieces of 512 bytes"},
        {"vecDup y[:,64 from 0] <- 0.0", "in 4 pieces of 128 bytes"},
        {"cast s <- x[:,64 from 0]", NULL}, /* a repeat of the wider type */
        {"relu y[2 from 0,16 from 0] <- v[0,2 from 0 by 2,16 from 0]", NULL},
        {"relu y[:,16 from 0] <- v[2 from 0 by 2,2 from 0,16 from 0]", "in 4 pieces of 32 bytes"},
        {"move a[:,64 from 0] <- x[:,64 from 0]", NULL},
        {"move a[2 from 0,64 from 0] <- v[2 from 0,1,64 from 64]", NULL},
        {"move a[:,64 from 0] <- v[2 from 0 by 2,2 from 0,64 from 0]",
         "a part of tile 'v' in 4 pieces of 128 bytes, expected such as one stride reaches"},
        {"load b[4 from 0,64 from 0] <- a[:,64 from 0]", NULL},
        {"load b[4 from 0,64 from 0] <- l[2 from 0 by 2,2 from 0 by 2,64 from 0]", NULL},
    };
    static const char tiles[] = "tensor Y[4,C] f16\ntile x: ub[4,128] f16\ntile y: ub[4,128] f16\n"
                                "tile w: ub[4,384] f16\ntile s: ub[4,64] f32\n"
                                "tile v: ub[4,4,128] f16\ntile a: l1[4,128] f16\n"
                                "tile l: l1[4,4,128] f16\ntile b: l0b[16,128] f16\n"
                                "vecDup x <- 0.0\nvecDup y <- 0.0\nvecDup w <- 0.0\n"
                                "vecDup s <- 0.0\nvecDup v <- 0.0\nmove a <- y\n"
                                "load b[4 from 0,:] <- a\nmove l <- v\n";
    machine_load_named(&hw, "ascend310", "");
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        char body[2048];
        struct error error;
        snprintf(body, sizeof body, "%s%s\nstore Y <- y\n", tiles, cases[n].step);
        char *program = program_of(body, &error);
        cr_expect(cases[n].why ? !program && strstr(error.text, cases[n].why) : program != NULL,
                  "%s: %s", cases[n].step, error.text);
        free(program);
    }
    hardware_clear(&hw);
}

/* From one repeat to the next there may be 255 blocks. */
Test(kernel_layout, repeats_that_lie_far_apart_are_refused)
{
    static const struct {
        const char *body, *why; /* NULL: it is taken */
    } cases[] = {
        {"tile x: ub[2,4080] f16\nvecDup x <- 0.0\nrelu x[2 from 0,128 from 0] <- "
         "x[2 from 0,128 from 0]\n",
         NULL},
        {"tile x: ub[2,4096] f16\nvecDup x <- 0.0\nrelu x[2 from 0,128 from 0] <- "
         "x[2 from 0,128 from 0]\n",
         "a part of tile 'x' in 2 pieces of 256 bytes, expected repeats 255 blocks of 32 bytes "
         "apart or less, not 256; loop over rows"},
        {"tile x: ub[8,4080] f16\nvecDup x <- 0.0\nrelu x[8 from 0,16 from 0] <- "
         "x[8 from 0,16 from 0]\n",
         NULL},
        {"tile x: ub[16,496] f16\nvecDup x <- 0.0\nrelu x[16 from 0,16 from 0] <- "
         "x[16 from 0,16 from 0]\n",
         NULL},
        {"tile x: ub[16,512] f16\nvecDup x <- 0.0\nrelu x[16 from 0,16 from 0] <- "
         "x[16 from 0,16 from 0]\n",
         "not 256; loop over rows"},
    };
    machine_load_named(&hw, "ascend310", "");
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        char body[1024];
        struct error error;
        snprintf(body, sizeof body, "tensor Y[C] f16\n%sstore Y <- x[0,128 from 0]\n",
                 cases[n].body);
        char *program = program_of(body, &error);
        cr_expect(cases[n].why ? !program && strstr(error.text, cases[n].why) : program != NULL,
                  "%zu: %s", n, error.text);
        free(program);
    }
    hardware_clear(&hw);
}

/* Columns of one row of the matrix unit's blocks are one behind another in its memories; those of
 * several are not. */
Test(kernel_layout, products_take_no_strides)
{
    struct error error;
    static const char body[] =
        "tensor F[C,C] f16, Z[C,C] f16\ntile a: l0a[%d,C] f16\ntile b: l0b[C,16] f16\n"
        "tile c: l0c[%d,16] f32\ntile y: ub[%d,16] f16\n"
        "load a <- F[%d from 0,:]\nload b <- F[:,16 from 0]\n"
        "mmad c <- a[:,64 from 16], b[64 from 0,:]\nmove y <- c\n"
        "store Z[%d from 0,16 from 0] <- y\n";
    machine_load_named(&hw, "ascend310", "");
    for (int rows = 16; rows <= 32; rows += 16) {
        char text[1024];
        snprintf(text, sizeof text, body, rows, rows, rows, rows, rows);
        char *program = program_of(text, &error);
        if (rows == 16)
            cr_expect(program && strstr(program, " a=l0a:32+256*[16] "), "%s", error.text);
        else
            cr_expect(!program &&
                          strstr(error.text, "a part of tile 'a' in 32 pieces of 128 bytes, "
                                             "expected one: a product takes no strides"),
                      "%s", error.text);
        free(program);
    }
    hardware_clear(&hw);
}

/* Where steps are certain to fit nothing is asked of a tiling: strides are aligned then. */
Test(kernel_layout, strides_that_no_buffer_lets_begin_are_not_legal)
{
    static const char text[] = "kernel t\nsize R C\ntensor X[R,C] f16, Y[R,C] f16\n"
                               "axis b = 1, 2\ntile q: ub[R,C] f16\ntile r: ub[16] f16 x b\n"
                               "for c in C by 16\n  load q <- X\nrelu r <- q[0,16 from 0]\n"
                               "store Y <- q\n";
    machine_load_named(&hw, "ascend310", "");
    for (int64_t columns = 32; columns >= 20; columns -= 12) {
        const int64_t sizes[KERNEL_MAX_SIZES] = {4, columns};
        struct kernel_text kernel;
        struct error error;
        struct space space = {.kind = &kernel_space_tile, .hw = &hw};
        struct tiling tiling = {.value = {1, 1}};
        cr_assert_eq(kernel_text_parse("t", text, strlen(text), &kernel, &error), STATUS_OK, "%s",
                     error.text);
        cr_assert_eq(kernel_space_create(&space, &kernel, sizes, DTYPE_F16, DTYPE_F16, 1, &error),
                     STATUS_OK, "%s", error.text);
        cr_expect_eq(space.kind->legal(&space, &tiling), columns == 32, "%lld columns",
                     (long long)columns);
        space.kind->destroy(&space);
        free(space.blocks);
        kernel_text_clear(&kernel);
    }
    hardware_clear(&hw);
}

/* A move on the chip carries the room that rows have, where both sides have the same. */
Test(kernel_layout, room_of_rows_is_carried_alike)
{
    static const char body[] = "tensor X[20] f16, Y[2,10] f16, Z[C] f16\ntile n: ub[%s] f16\n"
                               "tile m: l1[2,up(10, 16)] f16\ntile o: ub[2,up(10, 16)] f16\n"
                               "tile z: ub[C] f16\nload z <- Z\n"
                               "load n <- X\nmove m <- n\nload o <- m\nstore Y <- o\n";
    static const char *const rooms[] = {"2,up(10, 16)", "up(20, 48)"};
    machine_load_named(&hw, "ascend310", "");
    for (int r = 0; r < 2; r++) {
        char text[1024];
        struct error error;
        snprintf(text, sizeof text, body, rooms[r]);
        char *program = program_of(text, &error);
        cr_expect(r ? !program && strstr(error.text, "rows of 'm' and 'n' have room for different "
                                                     "numbers of elements")
                    : program && strstr(program, "bytes=64 src=ub:"),
                  "%s\n%s", error.text, program ? program : "");
        free(program);
    }
    hardware_clear(&hw);
}

/* A row of factors lies in one piece, whatever the move does with its other operands. */
Test(kernel_layout, rows_of_factors_take_no_strides)
{
    static const char body[] = "tensor F[C,C] f16, S[16,16] f32, Z[16,16] i8\n"
                               "tile a1: l1[16,C] f16\ntile b1: l1[C,16] f16\n"
                               "tile a: l0a[16,C] f16\ntile b: l0b[C,16] f16\n"
                               "tile c: l0c[16,16] f32\ntile s: l1[16,16] f32\n"
                               "load a1 <- F[16 from 0,:]\nload b1 <- F[:,16 from 0]\n"
                               "load a <- a1\nload b <- b1\nload s <- S\nmmad c <- a, b\n"
                               "store Z <- c, s[%s]\n";
    machine_load_named(&hw, "ascend910b2", "");
    for (int column = 0; column < 2; column++) {
        char text[1024];
        struct error error;
        snprintf(text, sizeof text, body, column ? ":,0" : "0,:");
        char *program = program_of(text, &error);
        cr_expect(column ? !program && strstr(error.text, "in 16 pieces of 4 bytes, expected one: "
                                                          "it is a row of factors")
                         : program != NULL,
                  "%s", error.text);
        free(program);
    }
    hardware_clear(&hw);
}
