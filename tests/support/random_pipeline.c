/* Writes random kernels. A chain of pipes is drawn, then for each link the number of buffers and
 * whether it hands them back; bodies are written tile by tile with the flags that follow from it.
 * How often a loop runs is chosen so that the whole executes about as many instructions as were
 * asked for. */
#include "tests/support/random_pipeline.h"

#include <stdio.h>
#include <stdlib.h>

enum { MAX_STAGES = 5 };

/* One link of the chain: stage s fills, stage s + 1 empties. */
struct link {
    int buffers; /* one or two; registers register_of_first + 0 … buffers - 1 */
    bool hands_back;
};

struct writer {
    const struct hardware *hw;
    const struct random_pipeline *options;
    gsl_rng *rng;
    FILE *stream;
    int stages;
    int pipes[MAX_STAGES];
    struct link links[MAX_STAGES];
    int loop_count;
};

static int below(struct writer *w, int limit)
{
    return (int)gsl_rng_uniform_int(w->rng, (unsigned long)limit);
}

static bool chance(struct writer *w, int percent)
{
    return below(w, 100) < percent;
}

static const char *pipe_name(const struct writer *w, int stage)
{
    return w->hw->pipes[w->pipes[stage]].name;
}

static bool put_move(struct writer *w, int pipe)
{
    for (int tries = 0; tries < 8; tries++) {
        const struct path *path = &w->hw->paths[below(w, w->hw->path_count)];
        char name[2 * HARDWARE_NAME_SIZE + 3];
        if (path->pipe != pipe)
            continue;
        fprintf(w->stream, "%s %s bytes=%d bursts=%d align=%d\n", w->hw->pipes[pipe].name,
                hardware_path_name(w->hw, (int)(path - w->hw->paths), name), 64 * below(w, 200),
                chance(w, 30) ? below(w, 20) : 1, 1 << below(w, 12));
        return true;
    }
    return false;
}

static bool put_operation(struct writer *w, int pipe)
{
    for (int tries = 0; tries < 8; tries++) {
        const struct operation *operation = &w->hw->operations[below(w, w->hw->operation_count)];
        if (w->hw->prices[operation->price].pipe != pipe)
            continue;
        bool scalar = operation->class == OPERATION_SCALAR;
        fprintf(w->stream, "%s %s %s=%d\n", w->hw->pipes[pipe].name, operation->name,
                scalar ? "count" : "elements", scalar ? below(w, 4) : below(w, 3000));
        return true;
    }
    return false;
}

/* Something that the pipe can do; nothing when there is nothing. */
static void put_work(struct writer *w, int pipe)
{
    if (pipe == w->hw->matrix_pipe && chance(w, 70))
        fprintf(w->stream, "%s mmad m=%d k=%d n=%d\n", w->hw->pipes[pipe].name, 16 * below(w, 9),
                16 * below(w, 9), 16 * below(w, 9));
    else if (!put_move(w, pipe))
        put_operation(w, pipe);
}

static void put_flag(struct writer *w, const char *word, int from, int to, int phase)
{
    const struct link *link = &w->links[from < to ? from : to];
    int flag = link->buffers > 1 && w->hw->flag_registers > 1 ? phase % 2 : 0;
    fprintf(w->stream, "%s %s %s %d\n", word, pipe_name(w, from), pipe_name(w, to), flag);
}

/* One tile through the chain. */
static void put_tile(struct writer *w, int phase)
{
    for (int s = 0; s < w->stages; s++) {
        if (s > 0)
            put_flag(w, "wait", s - 1, s, phase);
        if (s + 1 < w->stages && w->links[s].hands_back)
            put_flag(w, "wait", s + 1, s, phase);
        put_work(w, w->pipes[s]);
        if (chance(w, 20))
            put_work(w, w->pipes[s]);
        if (s > 0 && w->links[s - 1].hands_back)
            put_flag(w, "set", s, s - 1, phase);
        if (s + 1 < w->stages)
            put_flag(w, "set", s, s + 1, phase);
    }
}

static void put_body(struct writer *w)
{
    int tiles = 1 + below(w, 2);
    for (int phase = 0; phase < tiles; phase++)
        put_tile(w, phase);
    if (chance(w, w->options->scalar_percent))
        for (int p = 0; p < w->hw->pipe_count; p++)
            if (w->hw->pipes[p].blocks_dispatch)
                put_operation(w, p);
    if (chance(w, w->options->barrier_percent))
        fputs("barrier\n", w->stream);
    if (chance(w, w->options->barrier_percent))
        fprintf(w->stream, "barrier %s\n", pipe_name(w, below(w, w->stages)));
}

/* Loops around bodies that execute about `executed` instructions. */
static void put_block(struct writer *w, int64_t executed, int depth)
{
    if (depth == 0 || executed < 60 || chance(w, 10)) {
        put_body(w);
        return;
    }
    int parts = 1 + below(w, 3);
    int64_t inner = depth > 1 ? 60 + (int64_t)(gsl_rng_uniform(w->rng) * (double)executed / 8) : 30;
    int64_t count = executed / (parts * inner) + below(w, 3);
    fprintf(w->stream, "loop i%d %lld\n", w->loop_count++, (long long)count);
    for (int part = 0; part < parts; part++) {
        put_block(w, inner, depth - 1);
        if (chance(w, 15))
            put_work(w, below(w, w->hw->pipe_count));
    }
    fputs("end\n", w->stream);
}

static void draw_chain(struct writer *w)
{
    int pipes = w->hw->pipe_count, order[HARDWARE_MAX_PIPES] = {0};
    for (int p = 0; p < pipes; p++)
        order[p] = p;
    w->stages = 2 + below(w, (pipes < MAX_STAGES ? pipes : MAX_STAGES) - 1);
    for (int s = 0; s < w->stages; s++) {
        int chosen = s + below(w, pipes - s);
        w->pipes[s] = order[chosen];
        order[chosen] = order[s];
        w->links[s].buffers = 1 + below(w, 2);
        w->links[s].hands_back = !w->options->run_ahead || chance(w, 70);
    }
}

static void put_free_flags(struct writer *w, const char *word)
{
    for (int s = 0; s + 1 < w->stages; s++)
        for (int phase = 0; phase < 2 && w->links[s].hands_back; phase++)
            if (phase == 0 || (w->links[s].buffers > 1 && w->hw->flag_registers > 1))
                put_flag(w, word, s + 1, s, phase);
}

char *random_pipeline_text(const struct hardware *hw, const struct random_pipeline *options,
                           gsl_rng *rng)
{
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    if (!stream)
        return NULL;
    struct writer writer = {.hw = hw, .options = options, .rng = rng, .stream = stream};
    draw_chain(&writer);
    put_free_flags(&writer, "set");
    for (int blocks = 1 + below(&writer, 3), b = 0; b < blocks; b++)
        put_block(&writer, options->executed / blocks, 1 + below(&writer, options->max_depth));
    put_free_flags(&writer, "wait");
    if (fclose(stream) == 0)
        return text;
    free(text);
    return NULL;
}
