/* The component roofline of Zhou et al. (2025, section 4.1), which refines the roofline of
 * Williams, Waterman and Patterson (2009): one pass over the program adds up, for every pipe and
 * bus, what it does by kind of work and how long each kind takes at its peak (their O_p and O_p /
 * P_p); the simulator's busy times stand beside it. A bus is no component of theirs: what a pipe is
 * busy for longer than its instructions take with the bus to themselves, it has waited for.
 *
 * The order of questions is theirs, too (section 4.2): is a component used up to its peak, is none
 * active all the time, and if one is, why is it no faster. Their paper gives no numbers for its
 * thresholds; the defaults are read off the verdicts that it prints. The naive reading takes each
 * kind of work by itself, as they do for comparison. */
#include "analysis/roofline.h"

#include "core/program_text.h"
#include "core/work.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

const char *component_name(const struct hardware *hw, int pipe)
{
    static const char *const names[][2] = {
        {"V", "Vector"},    {"S", "Scalar"},    {"MTE1", "MTE-L1"},
        {"MTE2", "MTE-GM"}, {"MTE3", "MTE-UB"}, {"VMTE2", "MTE-GM (Vector)"},
    };
    if (pipe == hw->matrix_pipe)
        return "Cube";
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcasecmp(hw->pipes[pipe].name, names[i][0]) == 0)
            return names[i][1];
    return hw->pipes[pipe].name;
}

/* Something computes on the pipe: what else it moves is then its own work too (L0C -> UB of the
 * vector unit). */
static bool is_computing(const struct hardware *hw, int pipe)
{
    if (pipe == hw->matrix_pipe || hw->pipes[pipe].blocks_dispatch)
        return true;
    for (int o = 0; o < hw->operation_count; o++)
        if (hw->prices[hw->operations[o].price].pipe == pipe)
            return true;
    return false;
}

/* What one instruction does, in O_p and O_p / P_p. Parts of equal keys are one. */
struct piece {
    int key;
    bool bytes;
    double amount, ideal_ns;
};

static double rate_ns(struct rate rate)
{
    return (double)rate.fs / (double)rate.units / FS_PER_NS;
}

double peak_move_ns(const struct hardware *hw, int price, double bytes)
{
    return bytes * rate_ns(hw->prices[price].rate);
}

double peak_bus_ns(const struct hardware *hw, int bus, double bytes)
{
    const struct bus *b = &hw->buses[bus];
    return bytes * 1e9 / (double)b->total_bytes_per_s[b->sharers - 1];
}

/* The peak of a move is that of its path, whatever it converts or transposes on the way, unless
 * that makes it even faster (results in f16 leave L0C of a 910B at twice the rate, in bytes of
 * f32). */
static int peak_price(const struct hardware *hw, const struct instruction *in)
{
    int plain = hw->paths[in->what].price;
    return rate_ns(hw->prices[in->price].rate) < rate_ns(hw->prices[plain].rate) ? in->price
                                                                                 : plain;
}

/* A repeat's time at best: the first has a price of its own. */
static double repeat_ns(const struct price *price)
{
    double first = (double)price->base_fs / FS_PER_NS, further = rate_ns(price->rate);
    return first < further ? first : further;
}

double peak_vector_ns(const struct hardware *hw, int price, enum dtype type, double elements)
{
    return elements * dtype_bytes(type) / hw->vector_repeat_bytes * repeat_ns(&hw->prices[price]);
}

static struct piece piece_of(const struct hardware *hw, const struct instruction *in)
{
    const struct price *price = &hw->prices[in->price];
    struct piece piece = {.key = in->price * DTYPE_COUNT};
    if (in->kind == INSTRUCTION_MOVE) {
        int peak = peak_price(hw, in);
        piece.key = peak * DTYPE_COUNT;
        piece.bytes = true;
        piece.amount = (double)in->bytes;
        piece.ideal_ns = peak_move_ns(hw, peak, piece.amount);
    } else if (in->kind == INSTRUCTION_MATRIX) {
        const struct matrix_type *type = hardware_matrix_type(hw, in->type);
        piece.amount = 2.0 * type->block_m * type->block_k * type->block_n * (double)in->units;
        piece.ideal_ns = (double)in->units * rate_ns(price->rate);
    } else if (in->kind == INSTRUCTION_VECTOR) {
        piece.key += in->type;
        piece.amount = (double)in->elements;
        piece.ideal_ns = peak_vector_ns(hw, in->price, in->type, piece.amount);
    } else {
        piece.amount = (double)in->count;
        piece.ideal_ns = piece.amount * rate_ns(price->rate);
    }
    return piece;
}

static void name_part(const struct hardware *hw, const struct instruction *in, int key,
                      struct component_part *part)
{
    char path[2 * HARDWARE_NAME_SIZE + 3];
    size_t size = sizeof part->name;
    if (in->kind == INSTRUCTION_MATRIX)
        snprintf(part->name, size, "%s", dtype_name(in->type));
    else if (in->kind == INSTRUCTION_VECTOR)
        snprintf(part->name, size, "%s %s", hw->operations[in->what].name, dtype_name(in->type));
    else if (in->kind == INSTRUCTION_SCALAR)
        snprintf(part->name, size, "%s", hw->operations[in->what].name);
    else if (key / DTYPE_COUNT == hw->paths[in->what].price)
        snprintf(part->name, size, "%s", hardware_path_name(hw, in->what, path));
    else if (in->type != in->to_type)
        snprintf(part->name, size, "%s %s:%s", hardware_path_name(hw, in->what, path),
                 dtype_name(in->type), dtype_name(in->to_type));
    else
        snprintf(part->name, size, "%s transposed", hardware_path_name(hw, in->what, path));
}

/* What is known of a pipe or bus while the program is read. A part's peak_per_ns holds its ideal
 * time until all is counted. */
struct tally {
    bool used;
    int key[COMPONENT_MAX_PARTS];
    int64_t unshared_fs; /* of the pipe's instructions, each with its buses to itself */
    unsigned buses;      /* that the pipe moves over: bit by bus */
    struct component component;
};

struct tallies {
    struct tally pipes[HARDWARE_MAX_PIPES], buses[HARDWARE_MAX_BUSES];
};

/* The part of a key; the last one takes all that have no place. */
static struct component_part *find_part(const struct hardware *hw, const struct instruction *in,
                                        int key, struct tally *tally)
{
    struct component *c = &tally->component;
    for (int p = 0; p < c->part_count; p++)
        if (tally->key[p] == key)
            return &c->parts[p];
    if (c->part_count == COMPONENT_MAX_PARTS) {
        struct component_part *last = &c->parts[COMPONENT_MAX_PARTS - 1];
        strcpy(last->name, "others");
        return last;
    }
    tally->key[c->part_count] = key;
    name_part(hw, in, key, &c->parts[c->part_count]);
    return &c->parts[c->part_count++];
}

static void add_piece(const struct hardware *hw, const struct instruction *in,
                      const struct piece *piece, double times, struct tally *tally)
{
    struct component_part *part = find_part(hw, in, piece->key, tally);
    tally->used = true;
    part->bytes = piece->bytes;
    part->amount += times * piece->amount;
    part->peak_per_ns += times * piece->ideal_ns;
}

static void add_bus_bytes(const struct hardware *hw, const struct instruction *in, int bus,
                          double bytes, struct tallies *tallies)
{
    struct piece piece = {hw->paths[in->what].price * DTYPE_COUNT, true, bytes,
                          peak_bus_ns(hw, bus, bytes)};
    tallies->pipes[in->pipe].buses |= 1u << bus;
    add_piece(hw, in, &piece, 1, &tallies->buses[bus]);
}

/* What the pipe would be busy for if no bus were shared; it stays at the largest number there
 * is. */
static void add_unshared(const struct hardware *hw, const struct instruction *in, int64_t times,
                         struct tally *tally)
{
    int64_t fs;
    if (__builtin_add_overflow(instruction_issue_fs(hw, in),
                               rate_ceil_fs(hw->prices[in->price].rate, in->paid_units), &fs) ||
        __builtin_mul_overflow(fs, times, &fs) ||
        __builtin_add_overflow(fs, tally->unshared_fs, &tally->unshared_fs))
        tally->unshared_fs = INT64_MAX;
}

static void count_work(const struct program *program, int cores, struct tallies *tallies)
{
    const struct hardware *hw = program->hw;
    struct repetition repetition = {.times = {1}};
    uint32_t pipes = program->pipes;
    for (int32_t i = 0; i < program->count; i++) {
        const struct instruction *in = &program->items[i];
        int64_t times = repetition_step(&repetition, in);
        if (times == 0 || in->price < 0)
            continue;
        int bus = hw->prices[in->price].bus;
        struct piece piece = piece_of(hw, in);
        add_piece(hw, in, &piece, (double)times, &tallies->pipes[in->pipe]);
        add_unshared(hw, in, times, &tallies->pipes[in->pipe]);
        if (bus >= 0)
            add_bus_bytes(hw, in, bus,
                          piece.amount * (double)times * cores *
                              hardware_in_step(hw, pipes, in->pipe),
                          tallies);
    }
}

/* Turns ideal times of parts into peaks, and sums them. */
static void close_parts(struct component *c)
{
    for (int p = 0; p < c->part_count; p++) {
        double ideal_ns = c->parts[p].peak_per_ns;
        c->ideal_ns += ideal_ns;
        c->parts[p].peak_per_ns = ideal_ns > 0 ? c->parts[p].amount / ideal_ns : 0;
    }
}

static struct component *add_component(struct diagnosis *d, const struct tally *tally,
                                       const char *name, enum component_kind kind)
{
    struct component *c = &d->components[d->component_count++];
    *c = tally->component;
    snprintf(c->name, sizeof c->name, "%s", name);
    c->kind = kind;
    close_parts(c);
    return c;
}

static double ns_of(int64_t fs)
{
    return (double)fs / FS_PER_NS;
}

static void add_pipes(const struct hardware *hw, const struct timeline *timeline,
                      const struct tallies *tallies, struct diagnosis *d)
{
    bool stuck = timeline->blocked >= 0;
    for (int p = 0; p < hw->pipe_count; p++) {
        if (!tallies->pipes[p].used)
            continue;
        struct component *c =
            add_component(d, &tallies->pipes[p], component_name(hw, p),
                          is_computing(hw, p) ? COMPONENT_COMPUTE : COMPONENT_TRANSFER);
        c->matrix = p == hw->matrix_pipe;
        c->busy_ns = stuck ? -1 : ns_of(timeline->busy_fs[p]);
    }
}

static void add_buses(const struct hardware *hw, const struct timeline *timeline,
                      const struct tallies *tallies, struct diagnosis *d, int place[])
{
    for (int b = 0; b < hw->bus_count; b++) {
        if (!tallies->buses[b].used)
            continue;
        place[b] = d->component_count;
        add_component(d, &tallies->buses[b], hw->buses[b].name, COMPONENT_INTERCONNECT)->busy_ns =
            timeline->blocked >= 0 ? -1 : ns_of(timeline->active_fs[b]);
    }
}

/* Which bus each pipe waits for, of those that it moves over: the one with the most to do. */
static void find_waiting(const struct hardware *hw, const struct timeline *timeline,
                         const struct tallies *tallies, const int place[], struct diagnosis *d)
{
    int at = 0;
    for (int p = 0; p < hw->pipe_count; p++) {
        const struct tally *tally = &tallies->pipes[p];
        if (!tally->used)
            continue;
        struct component *c = &d->components[at++];
        if (timeline->blocked >= 0 || !tally->buses || timeline->busy_fs[p] <= tally->unshared_fs)
            continue;
        c->waiting_ns = ns_of(timeline->busy_fs[p] - tally->unshared_fs);
        double most = -1;
        for (int b = 0; b < hw->bus_count; b++)
            if ((tally->buses >> b & 1) && d->components[place[b]].ideal_ns > most) {
                most = d->components[place[b]].ideal_ns;
                c->waits_for = place[b];
            }
    }
}

static void note_deadlock(const struct program *program, int32_t blocked, struct diagnosis *d)
{
    char text[128];
    const struct instruction *in = &program->items[blocked];
    instruction_print(program, blocked, text, sizeof text);
    snprintf(d->note, sizeof d->note, "deadlock: line %d: pipe %s waits for ever in '%s'", in->line,
             in->pipe >= 0 ? program->hw->pipes[in->pipe].name : "(all)", text);
}

/* A small problem has low ratios whatever the program does. */
static void note_launch(struct diagnosis *d)
{
    double share = d->time_ns > 0 ? d->launch_ns / d->time_ns : 0;
    if (share >= 0.2)
        snprintf(d->note, sizeof d->note,
                 "the launch, before anything runs, is %.0f %% of the time; no change of the "
                 "program shortens it",
                 100 * share);
}

void diagnosis_of_program(const struct program *program, const struct timeline *timeline, int cores,
                          struct diagnosis *d)
{
    const struct hardware *hw = program->hw;
    struct tallies tallies;
    int place[HARDWARE_MAX_BUSES] = {0};
    memset(&tallies, 0, sizeof tallies);
    memset(d, 0, sizeof *d);
    d->component = -1;
    count_work(program, cores, &tallies);
    add_pipes(hw, timeline, &tallies, d);
    add_buses(hw, timeline, &tallies, d, place);
    find_waiting(hw, timeline, &tallies, place, d);
    d->launch_ns = ns_of(hardware_start_fs(hw, cores));
    d->time_ns = timeline->blocked >= 0 ? -1 : ns_of(timeline->end_fs);
    if (timeline->blocked >= 0)
        note_deadlock(program, timeline->blocked, d);
    else if (d->component_count == 0)
        snprintf(d->note, sizeof d->note, "the program has nothing to do");
    else
        note_launch(d);
}

/* ------------------------------------------------------------------ verdict */

/* Between them lies every verdict that Zhou et al. print: active ratios from 0.777 to 0.839,
 * utilisation from 0.591 to 0.662 without and from 0.716 to 0.935 with matrix work. */
const struct diagnosis_thresholds diagnosis_default_thresholds = {
    .active = 0.80,
    .utilisation = 0.65,
    .utilisation_matrix = 0.80,
};

/* Negative: not known. */
static double known_ratio(double part, double whole)
{
    return part >= 0 && whole > 0 ? part / whole : -1;
}

/* What is not known of a pipe is at most the time that it is busy. */
static double known_most_ns(const struct component *c)
{
    if (c->busy_ns < 0 || (c->most_ns > 0 && c->most_ns < c->busy_ns))
        return c->most_ns > 0 ? c->most_ns : -1;
    return c->busy_ns;
}

static void derive_ratios(struct diagnosis *d)
{
    for (int i = 0; i < d->component_count; i++) {
        struct component *c = &d->components[i];
        bool known = c->ideal_ns >= 0;
        c->efficiency = known_ratio(c->ideal_ns, c->busy_ns);
        c->active_ratio = known_ratio(c->busy_ns, d->time_ns);
        c->utilisation = known_ratio(c->ideal_ns, d->time_ns);
        c->utilisation_least = known_ratio(known ? c->ideal_ns : c->least_ns, d->time_ns);
        c->utilisation_most = known_ratio(known ? c->ideal_ns : known_most_ns(c), d->time_ns);
    }
}

static enum verdict bound_by(const struct component *c)
{
    return c->kind == COMPONENT_COMPUTE ? VERDICT_COMPUTE_BOUND : VERDICT_TRANSFER_BOUND;
}

static enum verdict inefficient_verdict(const struct component *c)
{
    return c->kind == COMPONENT_COMPUTE ? VERDICT_INEFFICIENT_COMPUTE
                                        : VERDICT_INEFFICIENT_TRANSFER;
}

/* The roofline of each kind of work alone, which cannot see that a pipe's kinds share its time. */
static void read_naively(struct diagnosis *d, double bound_from)
{
    struct naive_reading *naive = &d->naive;
    *naive = (struct naive_reading){.component = -1, .part = -1, .utilisation = -1};
    for (int i = 0; i < d->component_count; i++) {
        const struct component *c = &d->components[i];
        if (c->kind == COMPONENT_INTERCONNECT)
            continue;
        for (int p = 0; p < c->part_count; p++) {
            double utilisation = known_ratio(component_part_ns(&c->parts[p]), d->time_ns);
            if (utilisation > naive->utilisation)
                *naive = (struct naive_reading){VERDICT_NONE, i, p, utilisation};
        }
    }
    if (naive->component >= 0 && naive->utilisation >= bound_from)
        naive->verdict = bound_by(&d->components[naive->component]);
}

/* Of the components that reach their threshold the one of the largest utilisation, and of all pipes
 * the one of the largest active ratio; -1 where there is none. The first of equal ones. */
static int most_utilised(const struct diagnosis *d, const struct diagnosis_thresholds *thresholds)
{
    int most = -1;
    for (int i = 0; i < d->component_count; i++)
        if (d->components[i].utilisation_least >= component_bound_from(d, thresholds, i) &&
            (most < 0 ||
             d->components[i].utilisation_least > d->components[most].utilisation_least))
            most = i;
    return most;
}

static int most_active(const struct diagnosis *d)
{
    int most = -1;
    for (int i = 0; i < d->component_count; i++)
        if (d->components[i].kind != COMPONENT_INTERCONNECT &&
            d->components[i].active_ratio > (most < 0 ? -0.5 : d->components[most].active_ratio))
            most = i;
    return most;
}

/* How long some pipe was busy is not known: what is said to be the busiest might not be. */
static bool activity_is_open(const struct diagnosis *d)
{
    for (int i = 0; i < d->component_count; i++)
        if (d->components[i].kind != COMPONENT_INTERCONNECT && d->components[i].busy_ns < 0)
            return true;
    return false;
}

static void set_verdict(struct diagnosis *d, enum verdict verdict, int component)
{
    d->verdict = verdict;
    d->component = component;
}

void diagnose(struct diagnosis *d, const struct diagnosis_thresholds *thresholds)
{
    derive_ratios(d);
    read_naively(d, diagnosis_bound_from(d, thresholds));
    set_verdict(d, VERDICT_NONE, -1);
    int utilised = most_utilised(d, thresholds), active = most_active(d);
    if (utilised >= 0) {
        set_verdict(d, bound_by(&d->components[utilised]), utilised);
        return;
    }
    if (active < 0 || activity_is_open(d))
        return;
    const struct component *c = &d->components[active];
    if (c->active_ratio < thresholds->active)
        set_verdict(d, VERDICT_INSUFFICIENT_PARALLELISM, active);
    else if (c->waiting_ns > (c->busy_ns - c->ideal_ns) / 2)
        set_verdict(d, VERDICT_TRANSFER_BOUND, c->waits_for);
    else
        set_verdict(d, inefficient_verdict(c), active);
}
