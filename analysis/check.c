#include "analysis/check.h"

#include "analysis/findings.h"
#include "analysis/order.h"
#include "analysis/overlap.h"
#include "analysis/region.h"

#include <stdio.h>

static int32_t line_of(const struct program *program, int32_t item)
{
    return program->items[item].line;
}

static const char *pipe_name(const struct program *program, int pipe)
{
    return program->hw->pipes[pipe].name;
}

/* "MTE2 MTE1 0" */
struct flag_name {
    char text[2 * HARDWARE_NAME_SIZE + 16];
};

static struct flag_name flag_name(const struct program *program, int from, int to, int flag)
{
    struct flag_name name;
    snprintf(name.text, sizeof name.text, "%s %s %d", pipe_name(program, from),
             pipe_name(program, to), flag);
    return name;
}

static struct flag_name flag_name_of(const struct program *program, const struct instruction *in)
{
    return flag_name(program, in->from, in->to, in->flag);
}

static const char *role_name(int role)
{
    static const char *const names[OPERAND_ROLES] = {"dst", "src", "src2", "a", "b"};
    return names[role];
}

static void capacity_text(const struct program *program, const struct instruction *in,
                          const struct region *region, const struct range *range, char *text,
                          size_t size)
{
    const struct buffer *buffer = &program->hw->buffers[region->buffer];
    int used =
        snprintf(text, size, "%s of line %d reaches %s[%lld, %lld), ", role_name(region->role),
                 in->line, buffer->name, (long long)range->low, (long long)range->high);
    if (range->low < 0)
        snprintf(text + used, size - (size_t)used, "%llu bytes before its start",
                 0 - (unsigned long long)range->low);
    else
        snprintf(text + used, size - (size_t)used, "%lld bytes beyond its %lld",
                 (long long)(range->high - buffer->capacity_bytes),
                 (long long)buffer->capacity_bytes);
}

static void check_region(const struct program *program, const struct nest *nest, int32_t item,
                         const struct region *region, struct findings *findings)
{
    const struct instruction *in = &program->items[item];
    int64_t capacity = program->hw->buffers[region->buffer].capacity_bytes;
    struct range range;
    if (region->bytes == 0)
        return;
    bool fits = region_range(program, nest, item, region, &range) && range.low > INT64_MIN;
    if (fits && range.low >= 0 && (capacity == 0 || range.high <= capacity))
        return;
    struct finding *finding = findings_add(findings, FINDING_CAPACITY, &in->line, 1);
    if (!finding)
        return;
    if (fits)
        capacity_text(program, in, region, &range, finding->text, sizeof finding->text);
    else
        snprintf(finding->text, sizeof finding->text,
                 "%s of line %d reaches addresses of %s beyond 64 bits", role_name(region->role),
                 in->line, program->hw->buffers[region->buffer].name);
}

/* In closed form: an affine address is smallest and largest at ends of the index ranges. */
static void check_capacity(const struct program *program, const struct nest *nest,
                           struct findings *findings)
{
    for (int32_t item = 0; item < program->count; item++) {
        const struct instruction *in = &program->items[item];
        if (nest->played[item] == 0)
            continue;
        for (int32_t i = 0; i < in->region_count; i++)
            check_region(program, nest, item, &program->regions[in->first_region + i], findings);
    }
}

static void check_unmatched(const struct flags *flags, const struct nest *nest, size_t index,
                            struct findings *findings)
{
    const struct flag_register *reg = &flags->registers[index];
    int32_t lines[FINDING_MAX_LINES];
    int count = flags_surplus_lines(flags, nest, index, lines, FINDING_MAX_LINES);
    struct finding *finding = findings_add(findings, FINDING_UNMATCHED_FLAG, lines, count);
    if (!finding)
        return;
    int pair = (int)index / flags->per_pair;
    struct flag_name name = flag_name(flags->program, pair / flags->pipes, pair % flags->pipes,
                                      (int)index % flags->per_pair);
    bool sets = reg->total_sets > reg->total_waits;
    snprintf(finding->text, sizeof finding->text,
             "sets and waits of flag %s: %lld and %lld; the last %s, in line "
             "%d, has no partner",
             name.text, (long long)reg->total_sets, (long long)reg->total_waits,
             sets ? "set" : "wait", lines[0]);
}

static void check_totals(const struct flags *flags, const struct nest *nest,
                         struct findings *findings)
{
    for (size_t i = 0; i < flags_count(flags); i++)
        if (flags->registers[i].total_sets != flags->registers[i].total_waits)
            check_unmatched(flags, nest, i, findings);
}

static void add_double_set(const struct program *program, const struct double_set *twice,
                           struct findings *findings)
{
    const struct instruction *in = &program->items[twice->set];
    int32_t lines[3] = {in->line, line_of(program, twice->earlier)};
    if (twice->wait >= 0)
        lines[2] = line_of(program, twice->wait);
    struct finding *finding =
        findings_add(findings, FINDING_DOUBLE_SET, lines, twice->wait >= 0 ? 3 : 2);
    if (!finding)
        return;
    struct flag_name name = flag_name_of(program, in);
    int used = snprintf(finding->text, sizeof finding->text,
                        "flag %s is set in line %d while its set of line %d may still be up; ",
                        name.text, lines[0], lines[1]);
    if (twice->wait >= 0)
        snprintf(finding->text + used, sizeof finding->text - (size_t)used,
                 "make %s wait for %s's wait in line %d first, or use another register",
                 pipe_name(program, in->from), pipe_name(program, in->to), lines[2]);
    else
        snprintf(finding->text + used, sizeof finding->text - (size_t)used,
                 "no wait takes that one");
}

static void add_deadlock(const struct order *order, int32_t item, struct findings *findings)
{
    const struct program *program = order->program;
    const struct instruction *in = &program->items[item];
    const struct flag_register *reg = &order->flags.registers[flags_index(&order->flags, in)];
    struct finding *finding = findings_add(findings, FINDING_DEADLOCK, &in->line, 1);
    if (!finding)
        return;
    struct flag_name name = flag_name_of(program, in);
    int used = snprintf(finding->text, sizeof finding->text,
                        "%s waits for ever at 'wait %s' in line %d: ", pipe_name(program, in->pipe),
                        name.text, in->line);
    if (reg->total_sets == reg->sets)
        snprintf(finding->text + used, sizeof finding->text - (size_t)used,
                 "it needs set number %lld and the program has %lld", (long long)reg->waits + 1,
                 (long long)reg->total_sets);
    else
        snprintf(finding->text + used, sizeof finding->text - (size_t)used,
                 "its set on %s stands behind something that is blocked itself",
                 pipe_name(program, in->from));
}

/* What can only be said after the last event that could run. */
static void check_end(struct order *order, struct findings *findings)
{
    struct double_set twice;
    for (int pipe = 0; pipe < order->program->hw->pipe_count; pipe++)
        if (order_blocked(order, pipe) >= 0)
            add_deadlock(order, order_blocked(order, pipe), findings);
    while (flags_leftover(&order->flags, &twice))
        add_double_set(order->program, &twice, findings);
}

static enum status play(struct order *order, struct overlap *overlap, struct findings *findings,
                        struct error *error)
{
    struct event event;
    enum status status;
    while ((status = order_next(order, &event, error)) == STATUS_OK && event.item >= 0) {
        if (event.twice.set >= 0)
            add_double_set(order->program, &event.twice, findings);
        status = overlap_event(overlap, &event, findings, error);
        if (status != STATUS_OK)
            return status;
    }
    return status;
}

static enum status check_order(const struct program *program, const struct nest *nest,
                               struct findings *findings, struct error *error)
{
    struct order order;
    struct overlap overlap = {0};
    enum status status = order_init(&order, program, nest, error);
    if (status == STATUS_OK)
        status = overlap_init(&overlap, program, nest, error);
    if (status == STATUS_OK)
        status = play(&order, &overlap, findings, error);
    if (status == STATUS_OK) {
        check_totals(&order.flags, nest, findings);
        check_end(&order, findings);
    }
    overlap_clear(&overlap);
    order_clear(&order);
    return status;
}

enum status program_check(const struct program *program, struct check *check, struct error *error)
{
    struct findings findings = {0};
    struct nest nest;
    enum status status = nest_init(&nest, program, error);
    if (status != STATUS_OK)
        return status;
    check_capacity(program, &nest, &findings);
    status = check_order(program, &nest, &findings, error);
    if (status == STATUS_OK)
        status = findings_take(&findings, check, error);
    findings_clear(&findings);
    nest_clear(&nest);
    return status;
}
