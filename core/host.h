/* A processor as measured, and what a kernel asks of it.
 *
 * `autotune calibrate --hw host` measures it (validate/calibrate), hardware/ keeps it in a
 * description file, kernels say what a tiling asks of it (struct host_work), and
 * costmodel/host_time.h says how long that takes. Times are wall-clock ns, rates 1e9 bytes/s;
 * "level" is a place where data lie: the caches from the L1 outwards, then memory. */
#ifndef AUTOTUNE_CORE_HOST_H
#define AUTOTUNE_CORE_HOST_H

#include <stdbool.h>
#include <stdint.h>

enum {
    HOST_MAX_LEVELS = 6,
    HOST_MAX_THREADS = 256,
    HOST_MAX_LOOPS = 320,
    HOST_MAX_PHASES = 24,
    HOST_NAME_SIZE = 40,
};

/* Instruction sets that kernels are built for; those of one kind of processor ascend. */
enum host_isa { HOST_PORTABLE, HOST_NEON, HOST_AVX2, HOST_AVX512, HOST_ISA_COUNT };

struct host_level {
    char name[HOST_NAME_SIZE]; /* "L1", "L2", "L3", "memory" */
    int64_t capacity_bytes;    /* of one instance; 0: memory */
    int threads;               /* hardware threads that share an instance */
    int line_bytes;            /* of a cache; 0: not known, or memory */
    double read_gbps;          /* one thread reading in order what lies here */
    double write_gbps;         /* one thread writing what lies here */
    double stream_gbps;        /* one thread writing past the caches; 0: not measured */
    /* The contention curve: what n threads that read at once get together, n = 1 … shared_count. */
    int shared_count;
    double shared_gbps[HOST_MAX_THREADS];
};

/* An inner loop of a kernel, timed with its data in the L1: time = calls · call_ns + steps ·
 * step_ns. What a step is the loop's kernel says (one k of a micro-kernel, …). */
struct host_loop {
    char name[HOST_NAME_SIZE]; /* "sgemm 12x2": family, then variant */
    double step_ns, call_ns;
    double spread; /* relative, of the samples */
    double flops;  /* floating-point operations of a step; 0: not counted */
};

/* How phases' parts overlap, fitted to timed kernels: see costmodel/host_time.h. */
struct host_overlap {
    double exposed[HOST_MAX_LEVELS]; /* share of a level's traffic that computing does not hide */
    double jump_ns[HOST_MAX_LEVELS]; /* what is left of a level's latency where data are not
                                        foreseen */
    double copying;                  /* how much longer loops that copy take where data are not in
                                        the L1, beside the moves; >= 1 */
    double walk_ns;                  /* of looking up a page that is not among the recent ones */
};

struct host {
    char cpu[64];       /* as the system names it */
    char date[16];      /* of the calibration, YYYY-MM-DD */
    char settings[160]; /* pinned or not, governor, noise: for people */
    enum host_isa isa;  /* of the loops */
    int threads;        /* that may run kernels */
    int level_count;    /* the last is memory */
    struct host_level levels[HOST_MAX_LEVELS];
    int loop_count;
    struct host_loop loops[HOST_MAX_LOOPS];
    double parallel_ns; /* opening and closing a parallel region of all threads */
    double noise;       /* relative spread of a fixed piece of work while calibrating */
    struct host_overlap overlap;
    double peak_gflops; /* FP32 fused multiply-adds of one thread, in registers; 0: not measured */
};

/* One stretch of a kernel, on the thread that has most to do. */
struct host_phase {
    int loop;     /* index into loops, or -1: moves only */
    bool copying; /* the loop moves data and does little else */
    bool joined;  /* interleaved with the phase before: one stretch of both, whose moves are hidden
                     behind the computing of both */
    double calls, steps;
    double read_bytes[HOST_MAX_LEVELS]; /* by where they come from; what is in the L1 is free */
    double jumps[HOST_MAX_LEVELS];      /* how often data are not where prefetching foresees them */
    double write_bytes[HOST_MAX_LEVELS];
    double stream_bytes; /* written past the caches */
    double splits;       /* vectors read from two lines */
    double walks;        /* first touches of pages that are not among the recent ones */
};

struct host_work {
    int threads; /* that work */
    int parallel_regions;
    int phase_count;
    struct host_phase phases[HOST_MAX_PHASES];
};

/* The loop called `name`, or -1. */
int host_loop(const struct host *host, const char *name);

/* The innermost level whose instance, shared by `sharers` threads, holds `bytes` of each with room
 * to spare for what streams through (a share `fill` of it, 0 < fill <= 1). */
int host_level_of(const struct host *host, double bytes, int sharers, double fill);

/* Bytes per ns of one of `threads` threads that read from a level at once. */
double host_read_rate(const struct host *host, int level, int threads);

/* The same of writing, and of writing past the caches: shared as reading is. */
double host_write_rate(const struct host *host, int level, int threads);
double host_stream_rate(const struct host *host, int threads);

/* What every tiling has to move for that many threads, in ns a byte by level: no less than from
 * there or, where that is faster, from further out. The L1 is free. */
void host_least_read_ns(const struct host *host, int threads, double ns[HOST_MAX_LEVELS]);
void host_least_write_ns(const struct host *host, int threads, double ns[HOST_MAX_LEVELS]);

/* The parts that a kernel's time is made of, which are the pipes of a processor's struct hardware:
 * 0 is computing, l (1 … level_count - 1) what computing does not hide of the traffic of level l,
 * and the last one calls and parallel regions. A level's name is the level's. */
int host_component_count(const struct host *host);
const char *host_component_name(const struct host *host, int component);

const char *host_isa_name(enum host_isa isa);
int host_isa_find(const char *name); /* or -1 */

/* The best instruction set of this processor for which kernels are built; $AUTOTUNE_ISA (portable,
 * neon, avx2, avx512) may ask for less. */
enum host_isa host_isa_best(void);

/* May kernels of this one run: is it there, and no better than the best? */
bool host_isa_has(enum host_isa isa);

#endif
