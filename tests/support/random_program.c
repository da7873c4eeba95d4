/* Writes random programs. Statements are drawn by their shares until none is left; a block waits
 * for every flag that it has set, unless flags are to be wild, so that most programs run to their
 * end. Offsets are multiples of half a slot with strides of the loops around, which makes overlaps
 * of all kinds likely. */
#include "tests/support/random_program.h"

#include "core/program.h"

#include <stdio.h>
#include <stdlib.h>

enum { MAX_OPEN = 64, SLOT_BYTES = 64 };

struct flag {
    int from, to, number;
};

struct writer {
    const struct hardware *hw;
    const struct random_program *options;
    gsl_rng *rng;
    FILE *stream;
    int left;  /* statements to draw */
    int depth; /* loops around */
    int open_count;
    struct flag open[MAX_OPEN]; /* set, and not waited for so far */
};

static int below(struct writer *w, int limit)
{
    return (int)gsl_rng_uniform_int(w->rng, (unsigned long)limit);
}

static bool chance(struct writer *w, int percent)
{
    return below(w, 100) < percent;
}

/* Work of 1 … 4 slots, now and then none. */
static int draw_bytes(struct writer *w)
{
    if (w->options->zero_work && chance(w, 10))
        return 0;
    return SLOT_BYTES * (1 + below(w, 4));
}

static void put_offset(struct writer *w, int buffer)
{
    int64_t capacity = w->hw->buffers[buffer].capacity_bytes;
    int64_t offset = (int64_t)SLOT_BYTES / 2 * below(w, 8);
    if (chance(w, w->options->beyond_percent))
        offset = capacity && chance(w, 70) ? capacity - (int64_t)SLOT_BYTES * below(w, 6)
                                           : -(int64_t)SLOT_BYTES * below(w, 2);
    fprintf(w->stream, "%lld", (long long)offset);
    for (int depth = 0; depth < w->depth; depth++)
        if (chance(w, 50))
            fprintf(w->stream, "+%d*i%d", SLOT_BYTES / 2 * below(w, 5), depth);
}

static bool put_operand(struct writer *w, const char *role, int buffer)
{
    if (!w->options->operands || buffer < 0 || chance(w, 10))
        return false;
    fprintf(w->stream, " %s=%s:", role, w->hw->buffers[buffer].name);
    put_offset(w, buffer);
    return true;
}

/* Rows of the operand's own, of pieces or not. */
static void put_pieces(struct writer *w, int bytes)
{
    if (bytes == 0 || chance(w, 80))
        return;
    fprintf(w->stream, "+%d*[%d]", SLOT_BYTES / 4 * below(w, 9), 1 << below(w, 3));
    if (chance(w, 50))
        fprintf(w->stream, "+%d*[%d]", SLOT_BYTES / 8 * below(w, 9), 1 << below(w, 2));
}

static void put_rows(struct writer *w, int bytes)
{
    if (!w->options->operands || bytes == 0 || chance(w, 60))
        return;
    int rows = 1 << below(w, 3);
    fprintf(w->stream, " rows=%d stride=%d", rows, SLOT_BYTES / 4 * below(w, 9));
}

/* Some accesses interlock, where the machine has a buffer for that. */
static void put_unit(struct writer *w)
{
    for (int b = 0; b < w->hw->buffer_count; b++)
        if (w->hw->buffers[b].unit_flag) {
            fputs(chance(w, 50) ? " unit=1" : "", w->stream);
            return;
        }
}

static void put_move(struct writer *w)
{
    const struct path *path = &w->hw->paths[below(w, w->hw->path_count)];
    char name[2 * HARDWARE_NAME_SIZE + 3];
    int bytes = draw_bytes(w);
    fprintf(w->stream, "%s %s bytes=%d", w->hw->pipes[path->pipe].name,
            hardware_path_name(w->hw, (int)(path - w->hw->paths), name), bytes);
    if (path->cast_count && chance(w, 50)) {
        const struct cast *cast = &path->casts[below(w, path->cast_count)];
        fprintf(w->stream, " cast=%s:%s", dtype_name(cast->from), dtype_name(cast->to));
    }
    if (chance(w, 30))
        fprintf(w->stream, " bursts=%d", below(w, 6));
    if (chance(w, 30))
        fprintf(w->stream, " align=%d", 1 << below(w, 12));
    if (put_operand(w, "src", path->source))
        put_pieces(w, bytes);
    if (put_operand(w, "dst", path->destination))
        put_pieces(w, bytes);
    put_rows(w, bytes);
    put_unit(w);
    fputc('\n', w->stream);
}

static void put_matrix(struct writer *w)
{
    const struct matrix_type *type = &w->hw->matrix_types[below(w, w->hw->matrix_type_count)];
    fprintf(w->stream, "%s mmad m=%d k=%d n=%d type=%s init=%d",
            w->hw->pipes[w->hw->matrix_pipe].name, 1 + below(w, 32), 1 + below(w, 32),
            1 + below(w, 32), dtype_name(type->type), below(w, 2));
    put_operand(w, "a", hardware_buffer(w->hw, "l0a", 3));
    put_operand(w, "b", hardware_buffer(w->hw, "l0b", 3));
    put_operand(w, "dst", hardware_buffer(w->hw, "l0c", 3));
    put_unit(w);
    fputc('\n', w->stream);
}

/* An operation of the class, or -1 after a few misses. */
static int draw_operation(struct writer *w, enum operation_class class)
{
    for (int tries = 0; tries < 100 && w->hw->operation_count; tries++) {
        int operation = below(w, w->hw->operation_count);
        if (w->hw->operations[operation].class == class)
            return operation;
    }
    return -1;
}

static void put_operation(struct writer *w, enum operation_class class)
{
    int drawn = draw_operation(w, class);
    if (drawn < 0)
        return;
    const struct operation *operation = &w->hw->operations[drawn];
    fprintf(w->stream, "%s %s", w->hw->pipes[w->hw->prices[operation->price].pipe].name,
            operation->name);
    if (class == OPERATION_SCALAR) {
        fprintf(w->stream, " count=%d", w->options->zero_work ? below(w, 3) : 1 + below(w, 3));
        if (w->options->operands && chance(w, 50))
            fprintf(w->stream, " bytes=%d", draw_bytes(w));
    } else {
        fprintf(w->stream, " elements=%d type=%s", draw_bytes(w), chance(w, 70) ? "f16" : "f32");
    }
    put_operand(w, "src", hardware_buffer(w->hw, "ub", 2));
    put_operand(w, "dst", hardware_buffer(w->hw, "ub", 2));
    fputc('\n', w->stream);
}

static void put_work(struct writer *w)
{
    int kind = below(w, 100);
    if (kind < 15 && w->hw->matrix_pipe >= 0 && w->hw->matrix_type_count)
        put_matrix(w);
    else if (kind < 35)
        put_operation(w, OPERATION_VECTOR);
    else
        put_move(w);
}

static void put_barrier(struct writer *w)
{
    if (chance(w, 70))
        fputs("barrier\n", w->stream);
    else
        fprintf(w->stream, "barrier %s\n", w->hw->pipes[below(w, w->hw->pipe_count)].name);
}

static void put_flag(struct writer *w, const char *word, struct flag flag)
{
    fprintf(w->stream, "%s %s %s %d\n", word, w->hw->pipes[flag.from].name,
            w->hw->pipes[flag.to].name, flag.number);
}

static struct flag draw_flag(struct writer *w)
{
    int from = below(w, w->hw->pipe_count), to = below(w, w->hw->pipe_count);
    int numbers = w->hw->flag_registers < 2 ? w->hw->flag_registers : 2;
    return (struct flag){from, to, below(w, numbers)};
}

static bool is_open(const struct writer *w, struct flag flag)
{
    for (int i = 0; i < w->open_count; i++)
        if (w->open[i].from == flag.from && w->open[i].to == flag.to &&
            w->open[i].number == flag.number)
            return true;
    return false;
}

static void open_flag(struct writer *w)
{
    struct flag flag = draw_flag(w);
    if (w->open_count == MAX_OPEN || flag.from == flag.to || is_open(w, flag))
        return;
    w->open[w->open_count++] = flag;
    put_flag(w, "set", flag);
}

/* Waits for one of the flags opened since `first`. */
static void close_flag(struct writer *w, int first)
{
    int chosen = first + below(w, w->open_count - first);
    put_flag(w, "wait", w->open[chosen]);
    w->open[chosen] = w->open[--w->open_count];
}

static void put_flags(struct writer *w, int first_open)
{
    if (w->options->wild_flags)
        put_flag(w, chance(w, 50) ? "set" : "wait", draw_flag(w));
    else if (w->open_count > first_open && chance(w, 55))
        close_flag(w, first_open);
    else
        open_flag(w);
}

static void put_block(struct writer *w, int statements);

/* Sometimes with a flag that goes round: set before the loop and at its end, waited for at its
 * start and after it, as double buffering does. */
static void put_loop(struct writer *w, int statements)
{
    struct flag round = draw_flag(w);
    bool carries = round.from != round.to && w->open_count < MAX_OPEN && !is_open(w, round) &&
                   w->options->flag_percent > 0 && chance(w, 50);
    if (carries) {
        put_flag(w, "set", round);
        w->open[w->open_count++] = round;
    }
    fprintf(w->stream, "loop i%d %d\n", w->depth, below(w, w->options->max_count + 1));
    w->depth++;
    if (carries)
        put_flag(w, "wait", round);
    put_block(w, statements);
    if (carries)
        put_flag(w, "set", round);
    w->depth--;
    fputs("end\n", w->stream);
    if (carries) {
        put_flag(w, "wait", round);
        w->open_count--;
    }
}

static void put_statement(struct writer *w, int first_open)
{
    const struct random_program *options = w->options;
    int kind = below(w, 100);
    if ((kind -= options->loop_percent) < 0 && w->depth < options->max_depth && w->left > 1)
        put_loop(w, 1 + below(w, w->left));
    else if (kind >= 0 && (kind -= options->flag_percent) < 0)
        put_flags(w, first_open);
    else if (kind >= 0 && (kind -= options->scalar_percent) < 0)
        put_operation(w, OPERATION_SCALAR);
    else if (kind >= 0 && kind < options->barrier_percent)
        put_barrier(w);
    else
        put_work(w);
}

static void put_block(struct writer *w, int statements)
{
    int first_open = w->open_count, until = w->left - statements;
    while (w->left > until && w->left > 0) {
        w->left--;
        put_statement(w, first_open);
    }
    while (w->open_count > first_open)
        close_flag(w, first_open);
}

char *random_program_text(const struct hardware *hw, const struct random_program *options,
                          gsl_rng *rng)
{
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    if (!stream)
        return NULL;
    struct writer writer = {.hw = hw, .options = options, .rng = rng, .stream = stream};
    writer.left = options->statements;
    put_block(&writer, options->statements);
    if (fclose(stream) == 0)
        return text;
    free(text);
    return NULL;
}
