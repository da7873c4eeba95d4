/* Makes the program of a tiling, and the sections of a page that show a program, or the maps of a
 * search. What limits a program follows from a play that the caller has; its timeline needs a
 * trace, for which the program is played once more, unless it is too long to be drawn. */
#include "jobs/tune/report_program.h"

#include "analysis/check/oversync.h"
#include "analysis/roofline.h"
#include "core/stop.h"
#include "costmodel/simulate.h"
#include "formats/text.h"
#include "results/report_landscape.h"
#include "results/report_roofline.h"
#include "results/report_timeline.h"
#include "search/landscape_make.h"

/* ------------------------------------------------------------------ as a user gets it */

static enum status time_program_fs(const struct program *program, int cores,
                                   const struct stop *stop, int64_t *fs, struct error *error)
{
    struct simulator *simulator = simulator_new();
    struct timeline timeline;
    if (!simulator)
        return error_memory(error);
    enum status status =
        simulate(simulator, program, &(struct simulate_options){.cores = cores, .stop = stop},
                 &timeline, error);
    *fs = timeline.end_fs;
    simulator_free(simulator);
    return status;
}

static enum status write_program(const struct space *space, const struct tiling *tiling, int part,
                                 struct program *program, struct error *error)
{
    program_reset(program, space->hw);
    return space->kind->generate(space, tiling, part, program, error);
}

enum status generate_program(const struct space *space, const struct tiling *tiling, int part,
                             const struct stop *tidying, struct program *program,
                             struct error *error)
{
    int64_t searched_fs = 0, tidy_fs = 0;
    int cores = space->kind->cores_used(space, tiling, part);
    bool dispatched = space->hw->dispatch_fs > 0; /* then the search has tidied it, too */
    TRY(write_program(space, tiling, part, program, error));
    if (!dispatched)
        TRY(time_program_fs(program, cores, space->stop, &searched_fs, error));
    enum status status = program_tidy(program, tidying, error);
    if (status == STATUS_STOPPED)
        return STATUS_OK;
    TRY(status);
    if (!dispatched)
        TRY(time_program_fs(program, cores, space->stop, &tidy_fs, error));
    if (tidy_fs != searched_fs)
        TRY(write_program(space, tiling, part, program, error));
    return STATUS_OK;
}

/* ------------------------------------------------------------------ on a page */

/* In the place of what space->stop has cut off. */
static json_t *cut_off(const char *title, const char *what)
{
    char note[160];
    snprintf(note, sizeof note, "The time was up, and %s would have taken too long.", what);
    return report_section("text", title, note);
}

static json_t *no_program(const char *part)
{
    char title[128];
    snprintf(title, sizeof title, "Program%s%s", part ? " of " : "", part ? part : "");
    return cut_off(title, "to write and to play this program (autotune explain does so)");
}

static json_t *no_timeline(const struct program *program, const char *title)
{
    char note[160], number[TEXT_SIZE];
    snprintf(note, sizeof note,
             "The program plays %s instructions, more than are drawn here; busy shares are in the "
             "table above.",
             text_count(program->executed, number));
    return report_section("text", title, note);
}

static enum status add_timeline(struct report *report, const struct program *program, int cores,
                                const struct stop *stop, const struct timeline *played,
                                const char *title, struct error *error)
{
    struct report_timeline gathered;
    struct timeline timeline;
    struct simulator *simulator = simulator_new();
    if (!simulator)
        return error_memory(error);
    report_timeline_open(&gathered, program, played->end_fs, REPORT_TIMELINE_EVENTS);
    struct simulate_options how = {.cores = cores, .trace = &gathered.trace, .stop = stop};
    enum status status = simulate(simulator, program, &how, &timeline, error);
    if (status == STATUS_OK)
        report_add(report, report_timeline_section(&gathered, &timeline, title));
    report_timeline_close(&gathered);
    simulator_free(simulator);
    return status;
}

enum status report_program(struct report *report, const struct program *program, int cores,
                           const struct stop *stop, const struct timeline *played,
                           const struct diagnosis_thresholds *thresholds, const char *title,
                           struct error *error)
{
    struct diagnosis diagnosis;
    char text[128];
    diagnosis_of_program(program, played, cores, &diagnosis);
    diagnose(&diagnosis, thresholds);
    report_diagnosis(report, &diagnosis, thresholds, title);
    if (played->blocked >= 0)
        return STATUS_OK;
    snprintf(text, sizeof text, "Timeline%s%s", title ? " of " : "", title ? title : "");
    if (program->executed <= REPORT_MAX_EXECUTED) {
        enum status status = add_timeline(report, program, cores, stop, played, text, error);
        if (status != STATUS_STOPPED)
            return status;
        report_add(report, cut_off(text, "to play the program once more"));
        return STATUS_OK;
    }
    report_add(report, no_timeline(program, text));
    return STATUS_OK;
}

/* One of the programs of a tiling. */
static enum status add_part(struct report *report, struct simulator *simulator,
                            const struct space *space, const struct tiling *tiling, int part,
                            const struct stop *tidying, struct error *error)
{
    const char *name = space->kind->parts[1] ? space->kind->parts[part] : NULL;
    struct simulate_options how = {.cores = space->kind->cores_used(space, tiling, part),
                                   .stop = space->stop};
    struct program program = {0};
    struct timeline timeline;
    program_reset(&program, space->hw);
    enum status status = stop_due(space->stop) ? STATUS_STOPPED : STATUS_OK;
    if (status == STATUS_OK)
        status = generate_program(space, tiling, part, tidying, &program, error);
    if (status == STATUS_OK)
        status = simulate(simulator, &program, &how, &timeline, error);
    if (status == STATUS_OK)
        status = report_program(report, &program, how.cores, space->stop, &timeline,
                                &diagnosis_default_thresholds, name, error);
    program_clear(&program);
    if (status != STATUS_STOPPED)
        return status;
    report_add(report, no_program(name));
    return STATUS_OK;
}

enum status report_tiling(struct report *report, const struct space *space,
                          const struct tiling *tiling, const struct stop *tidying,
                          struct error *error)
{
    if (!space->kind->generate)
        return STATUS_OK;
    enum status status = STATUS_OK;
    struct simulator *simulator = simulator_new();
    if (!simulator)
        return error_memory(error);
    for (int i = 0; space->kind->parts[i] && status == STATUS_OK; i++)
        status = add_part(report, simulator, space, tiling, i, tidying, error);
    simulator_free(simulator);
    return status;
}

static enum status add_map(struct report *report, const struct space *space,
                           const struct search_result *result, const int axes[2],
                           enum landscape_kind kind, int threads, struct error *error)
{
    struct landscape map;
    if (!landscape_possible(space, result, kind))
        return STATUS_OK;
    TRY(landscape_make(space, result, axes, kind, threads, &map, error));
    report_landscape(report, &map);
    landscape_clear(&map);
    return STATUS_OK;
}

enum status report_landscapes(struct report *report, const struct space *space,
                              const struct search_result *result, const char *axes, int threads,
                              struct error *error)
{
    int chosen[2];
    enum status status = landscape_axes(space, result, axes, chosen, error);
    if (status == STATUS_INVALID && !axes)
        return STATUS_OK;
    if (status == STATUS_OK)
        status = add_map(report, space, result, chosen, LANDSCAPE_ENVELOPE, threads, error);
    if (status == STATUS_OK)
        status = add_map(report, space, result, chosen, LANDSCAPE_SLICE, threads, error);
    if (status != STATUS_STOPPED)
        return status;
    report_add(report, cut_off("Time over two sizes", "to make this map"));
    return STATUS_OK;
}
