/* Every micro-kernel of one number of vectors, F(rows, vectors): as many rows as fit the registers
 * of AVX-512, with one vector up to 28. */
#ifndef AUTOTUNE_KERNELS_EACH_ROW_H
#define AUTOTUNE_KERNELS_EACH_ROW_H

#define EACH_ROW_3(V, F)  F(1, V) F(2, V) F(3, V)
#define EACH_ROW_4(V, F)  EACH_ROW_3(V, F) F(4, V)
#define EACH_ROW_5(V, F)  EACH_ROW_4(V, F) F(5, V)
#define EACH_ROW_6(V, F)  EACH_ROW_5(V, F) F(6, V)
#define EACH_ROW_8(V, F)  EACH_ROW_6(V, F) F(7, V) F(8, V)
#define EACH_ROW_9(V, F)  EACH_ROW_8(V, F) F(9, V)
#define EACH_ROW_14(V, F) EACH_ROW_9(V, F) F(10, V) F(11, V) F(12, V) F(13, V) F(14, V)
#define EACH_ROW_28(V, F)                                                                          \
    EACH_ROW_14(V, F)                                                                              \
    F(15, V)                                                                                       \
    F(16, V)                                                                                       \
    F(17, V)                                                                                       \
    F(18, V)                                                                                       \
    F(19, V) F(20, V) F(21, V) F(22, V) F(23, V) F(24, V) F(25, V) F(26, V) F(27, V) F(28, V)

#endif
