#include "jobs/report_program.h"

#include "analysis/roofline.h"
#include "costmodel/simulate.h"
#include "results/report_roofline.h"
#include "results/report_timeline.h"
#include "results/text.h"

static json_t *no_timeline(const struct program *program, const char *title)
{
    char note[160], number[TEXT_SIZE];
    snprintf(note, sizeof note,
             "The program plays %s instructions, more than are drawn here; busy shares are in the "
             "table above.",
             text_count(program->played, number));
    return report_section("text", title, note);
}

static enum status add_timeline(struct report *report, struct simulator *simulator,
                                const struct program *program, int cores,
                                const struct timeline *played, const char *title,
                                struct error *error)
{
    struct report_timeline gathered;
    struct timeline timeline;
    if (program->played > REPORT_MAX_PLAYED) {
        report_add(report, no_timeline(program, title));
        return STATUS_OK;
    }
    report_timeline_open(&gathered, program, played->end_fs, REPORT_TIMELINE_EVENTS);
    enum status status = simulate(
        simulator, program, &(struct simulate_options){.cores = cores, .trace = &gathered.trace},
        &timeline, error);
    if (status == STATUS_OK)
        report_add(report, report_timeline_section(&gathered, &timeline, title));
    report_timeline_close(&gathered);
    return status;
}

enum status report_program(struct report *report, const struct program *program, int cores,
                           const struct diagnosis_thresholds *thresholds, const char *title,
                           struct error *error)
{
    struct timeline timeline;
    struct diagnosis diagnosis;
    char text[128];
    struct simulator *simulator = simulator_new();
    if (!simulator)
        return error_memory(error);
    enum status status =
        simulate(simulator, program, &(struct simulate_options){.cores = cores}, &timeline, error);
    if (status == STATUS_OK) {
        diagnosis_of_program(program, &timeline, cores, &diagnosis);
        diagnose(&diagnosis, thresholds);
        report_diagnosis(report, &diagnosis, thresholds, title);
    }
    snprintf(text, sizeof text, "Timeline%s%s", title ? " of " : "", title ? title : "");
    if (status == STATUS_OK && timeline.blocked < 0)
        status = add_timeline(report, simulator, program, cores, &timeline, text, error);
    simulator_free(simulator);
    return status;
}

enum status report_tiling(struct report *report, const struct space *space,
                          const struct tiling *tiling, struct error *error)
{
    const char *const *parts = space->kind->parts;
    struct program program = {0};
    enum status status = STATUS_OK;
    int cores = space->kind->generate ? space->kind->cores_used(space, tiling) : 0;
    for (int i = 0; space->kind->generate && parts[i] && status == STATUS_OK; i++) {
        program_reset(&program, space->hw);
        status = space->kind->generate(space, tiling, i, &program, error);
        if (status == STATUS_OK)
            status = report_program(report, &program, cores, &diagnosis_default_thresholds,
                                    parts[1] ? parts[i] : NULL, error);
    }
    program_clear(&program);
    return status;
}
