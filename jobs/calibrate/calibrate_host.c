/* Writes a measured processor as a description and as JSON. The numbers are laid out with a source
 * each: measured, published by the system, assumed; one that is implausible
 * (validate/calibrate/host_calibration.h) says so where it stands. A description is built from the
 * result before it is written, so that none is written that would not load. */
#include "jobs/calibrate/calibrate_host.h"

#include "formats/json.h"
#include "hardware/description.h"

#include <stdio.h>
#include <string.h>

enum { SOURCE_SIZE = 160 };

/* Where the numbers come from. */
struct texts {
    char all[SOURCE_SIZE], overlap[SOURCE_SIZE], capacity[HOST_MAX_LEVELS][SOURCE_SIZE];
};

static void describe_capacity(const struct host_calibration *c, int l, char text[SOURCE_SIZE])
{
    if (c->levels[l].shrunk)
        snprintf(text, SOURCE_SIZE,
                 "measured: from here on reading is nearer to the next level's rate; the system "
                 "says %lld bytes",
                 (long long)c->levels[l].nominal_bytes);
    else if (c->topology.assumed)
        snprintf(text, SOURCE_SIZE, "assumed: the system tells no sizes of caches");
    else
        snprintf(text, SOURCE_SIZE, "published by the system, read with hwloc");
}

static void describe_sources(const struct host_calibration *c, struct texts *texts,
                             struct host_sources *sources)
{
    const struct host *host = &c->host;
    snprintf(texts->all, sizeof texts->all, "measured on %s on %s: autotune calibrate --hw host",
             host->cpu, host->date);
    strcpy(texts->overlap, "assumed: computing hides nothing; not fitted");
    if (c->fitted_kernels)
        snprintf(texts->overlap, sizeof texts->overlap,
                 "measured on %s on %s%s: fitted to %d products", host->cpu, host->date,
                 doubts_about(&c->doubts, "host.overlap") ? ", but implausible" : "",
                 c->fitted_kernels);
    *sources = (struct host_sources){.all = texts->all, .overlap = texts->overlap};
    for (int l = 0; l + 1 < host->level_count; l++) {
        describe_capacity(c, l, texts->capacity[l]);
        sources->capacity[l] = texts->capacity[l];
    }
}

/* Numbers that are doubtful say so themselves; a cost of parallel regions is refused (it would be
 * most of every time that is predicted). */
static enum status mark_doubts(const struct host_calibration *c, struct description *description,
                               struct error *error)
{
    for (int i = 0; i < c->doubts.count && i < DOUBTS_MOST; i++) {
        const struct doubt *doubt = &c->doubts.list[i];
        char source[2 * SOURCE_SIZE];
        double value;
        if (!description_get(description, doubt->key, &value))
            continue;
        if (strcmp(doubt->key, "host.parallel_ns") == 0)
            snprintf(source, sizeof source, "assumed: free; measured was %s", doubt->text);
        else
            snprintf(source, sizeof source, "measured on %s on %s, but implausible: %s",
                     c->host.cpu, c->host.date, doubt->text);
        TRY(description_set(description, doubt->key, value, source, error));
    }
    return STATUS_OK;
}

static enum status write_checked(const struct description *description, char **text,
                                 struct error *error)
{
    static const char heading[] =
        "# This machine's processor, measured by `autotune calibrate --hw host`, which writes this "
        "file anew.\n";
    struct hardware hw;
    TRY(description_build(description, &hw, error));
    hardware_clear(&hw);
    return description_write(description, heading, text, error);
}

enum status host_calibration_text(const struct host_calibration *calibration, char **text,
                                  struct error *error)
{
    struct texts texts = {.all = ""};
    struct host_sources sources;
    struct description description;
    const struct host *host = &calibration->host;
    *text = NULL;
    describe_sources(calibration, &texts, &sources);
    enum status status =
        description_of_host(host, host->cpu, "what was measured", &sources, &description, error);
    if (status != STATUS_OK)
        return status;
    const struct fit fit = {.error = calibration_digits(calibration->fit.median_error)};
    if (calibration->fitted_kernels)
        status = description_set_fit(&description, &fit, texts.overlap, error);
    if (status == STATUS_OK)
        status = mark_doubts(calibration, &description, error);
    if (status == STATUS_OK)
        status = write_checked(&description, text, error);
    description_clear(&description);
    return status;
}

static json_t *topology_json(const struct topology *t)
{
    json_t *threads = json_array();
    for (int i = 0; i < t->threads; i++)
        json_array_append_new(threads, json_integer(t->processor_of[i]));
    return json_pack("{s:i, s:i, s:i, s:o, s:i, s:o}", "processors", t->processors, "allowed",
                     t->allowed, "cores", t->cores, "quota", json_number_above_0(t->quota),
                     "threads", t->threads, "pinned_to", threads);
}

static json_t *level_json(const struct host_level *level, const struct level_quality *quality)
{
    json_t *shared = json_array();
    for (int n = 0; n < level->shared_count; n++)
        json_array_append_new(shared, json_real(level->shared_gbps[n]));
    bool memory = quality->nominal_bytes == 0;
    return json_pack(
        "{s:s, s:o, s:o, s:i, s:I, s:f, s:f, s:f, s:f, s:o, s:f, s:o, s:f}", "level", level->name,
        "capacity_bytes", memory ? json_null() : json_integer(level->capacity_bytes),
        "nominal_bytes", memory ? json_null() : json_integer(quality->nominal_bytes), "threads",
        level->threads, "measured_bytes", (json_int_t)quality->bytes, "read_gbps", level->read_gbps,
        "read_spread", quality->read_spread, "write_gbps", level->write_gbps, "write_spread",
        quality->write_spread, "stream_gbps", json_number_above_0(level->stream_gbps),
        "stream_spread", quality->stream_spread, "shared_gbps", shared, "shared_spread",
        quality->shared_spread);
}

static json_t *loop_json(const struct loop_time *time, const struct host_loop *loop,
                         double peak_gflops)
{
    double gflops = loop->flops > 0 ? loop->flops / loop->step_ns : 0;
    return json_pack("{s:s, s:f, s:f, s:o, s:o, s:f, s:f, s:f}", "loop", loop->name, "step_ns",
                     loop->step_ns, "call_ns", loop->call_ns, "gflops", json_number_above_0(gflops),
                     "peak_share", json_number_above_0(peak_gflops > 0 ? gflops / peak_gflops : 0),
                     "spread", loop->spread, "r_squared", time->fit.r_squared, "max_relative_error",
                     time->fit.max_error);
}

static json_t *noise_json(const struct timing_noise *noise)
{
    return json_pack("{s:f, s:f}", "spread", noise->spread, "dropped_share", noise->dropped);
}

static json_t *load_json(const struct load *load)
{
    return json_pack("{s:f, s:f, s:f, s:f}", "others", load->others, "steal", load->steal,
                     "waiting", load->waiting, "throttled", load->throttled);
}

static json_t *doubts_json(const struct doubts *doubts)
{
    json_t *list = json_array();
    for (int i = 0; i < doubts->count && i < DOUBTS_MOST; i++) {
        const struct doubt *doubt = &doubts->list[i];
        json_array_append_new(list, json_pack("{s:o, s:s}", "key",
                                              *doubt->key ? json_string(doubt->key) : json_null(),
                                              "text", doubt->text));
    }
    return list;
}

/* How well the products are predicted that the overlap was fitted to. */
static json_t *fit_json(const struct host_calibration *c)
{
    if (!c->fitted_kernels)
        return json_null();
    json_t *exposed = json_array(), *jumps = json_array();
    for (int l = 0; l < c->host.level_count; l++) {
        json_array_append_new(exposed, json_real(c->host.overlap.exposed[l]));
        json_array_append_new(jumps, json_real(c->host.overlap.jump_ns[l]));
    }
    return json_pack("{s:o, s:o, s:f, s:f, s:i, s:i, s:f, s:f, s:f}", "exposed", exposed, "jump_ns",
                     jumps, "walk_ns", c->host.overlap.walk_ns, "copying", c->host.overlap.copying,
                     "kernels", c->fitted_kernels, "shapes", c->fit.shapes, "mean_relative_error",
                     c->fit.mean_error, "median_relative_error", c->fit.median_error,
                     "max_relative_error", c->fit.worst_error);
}

json_t *host_calibration_json(const struct host_calibration *c)
{
    const struct host *host = &c->host;
    json_t *levels = json_array(), *loops = json_array(), *notes = json_array();
    for (int l = 0; l < host->level_count; l++)
        json_array_append_new(levels, level_json(&host->levels[l], &c->levels[l]));
    for (int i = 0; i < host->loop_count; i++)
        json_array_append_new(loops,
                              loop_json(&c->loops.loops[i], &host->loops[i], host->peak_gflops));
    for (int i = 0; i < c->note_count; i++)
        json_array_append_new(notes, json_string(c->notes[i]));
    return json_pack("{s:s, s:s, s:s, s:s, s:o, s:o, s:o, s:f, s:f, s:f, s:o, s:i, s:o, s:o, s:b, "
                     "s:I, s:I, s:f, s:o, s:o, s:o, s:o, s:o}",
                     "cpu", host->cpu, "date", host->date, "isa", host_isa_name(host->isa),
                     "settings", host->settings, "topology", topology_json(&c->topology), "levels",
                     levels, "peak_gflops", json_number_above_0(host->peak_gflops), "peak_spread",
                     c->peak_spread, "parallel_ns", host->parallel_ns, "parallel_spread",
                     c->parallel_spread, "loops", loops, "loops_left_out", c->loops.left_out,
                     "noise_at_start", noise_json(&c->noise[0]), "noise_at_end",
                     noise_json(&c->noise[1]), "noisy", c->noisy, "samples", (json_int_t)c->samples,
                     "dropped", (json_int_t)c->dropped, "seconds", c->seconds, "overlap",
                     fit_json(c), "notes", notes, "load", load_json(&c->load), "doubts",
                     doubts_json(&c->doubts), "clock_ghz", json_number_above_0(c->clock_ghz));
}
