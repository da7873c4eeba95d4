/* How inner loops of the host's kernels are written: numbers of rows and vectors are constants once
 * all is inlined, so that loops over them are gone and arrays of vectors are registers. Quick ones
 * keep calls and loops; their results are the same, bit for bit. */
#ifndef AUTOTUNE_KERNELS_UNROLLED_H
#define AUTOTUNE_KERNELS_UNROLLED_H

#ifdef AUTOTUNE_QUICK_KERNELS
#define INLINE   static __attribute__((noinline))
#define UNROLLED _Pragma("GCC unroll 1")
#else
#define INLINE   static inline __attribute__((always_inline))
#define UNROLLED _Pragma("GCC unroll 32")
#endif

#endif
