/* All that can fail for want of a place to write is tried first: measuring takes seconds in which
 * the machine should do nothing else. Then loops, caches and memory are measured, the overlap of
 * loops and transfers is fitted, and doubts are told one by one. */
#include "cli/cmd_calibrate_host.h"
#include "cli/answer.h"
#include "kernels/registry.h"

#include "cli/progress.h"
#include "cli/signals.h"
#include "cli/threads.h"
#include "formats/json.h"
#include "formats/text.h"
#include "hardware/load.h"
#include "jobs/calibrate/calibrate_host.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SHOWN_LOOPS = 8 };

bool calibrate_is_of_host(const char *hw_name)
{
    const char *wanted = HARDWARE_HOST_NAME;
    for (; hw_name && *hw_name; hw_name++)
        if (!isspace((unsigned char)*hw_name) && tolower((unsigned char)*hw_name) != *wanted++)
            return false;
    return hw_name && !*wanted;
}

/* ---- stop and progress ---- */

static void tell(void *context, const char *phase, int64_t done, int64_t total)
{
    char words[64];
    (void)context;
    snprintf(words, sizeof words, "measuring: %.40s", phase);
    progress_count(words, done, total);
}

/* ---- where it is written ---- */

/* The folder with those above it. */
static void make_folder(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        (void)mkdir(path, 0777); /* the last one says what is wrong */
        *slash = '/';
    }
    if (mkdir(path, 0777) != 0 && errno != EEXIST)
        cli_die("%s: %s", path, strerror(errno));
    if (access(path, W_OK) != 0)
        cli_die("%s: %s", path, strerror(errno));
}

/* Before the measurement: seconds should not be lost for a folder. */
static const char *find_file(struct common *common, char path[PATH_MAX])
{
    struct error error;
    if (common->standard_output)
        return NULL;
    if (common->output)
        return common->output;
    cli_require(config_user_folder("hardware", path, PATH_MAX - sizeof "/host.cfg", &error),
                &error);
    make_folder(path);
    strcat(path, "/" HARDWARE_HOST_NAME ".cfg");
    files_note(&common->files, FILE_WRITTEN, "calibrate", path);
    return path;
}

/* ---- the answer ---- */

static void put_size(int64_t bytes, char text[TEXT_SIZE])
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB"};
    double size = (double)bytes;
    int unit = 0;
    for (; size >= 1024 && unit < 3; unit++)
        size /= 1024;
    snprintf(text, TEXT_SIZE, "%.4g %s", size, units[unit]);
}

static void put_facts(const struct host_calibration *c, const struct style *style, FILE *out)
{
    char time[TEXT_SIZE], samples[TEXT_SIZE], dropped[TEXT_SIZE], load[256];
    const struct topology *t = &c->topology;
    const struct host *host = &c->host;
    fprintf(out, "  topology  %d of %d processors, %d core%s; %d thread%s measured\n", t->allowed,
            t->processors, t->cores, t->cores == 1 ? "" : "s", t->threads,
            t->threads == 1 ? "" : "s");
    fprintf(out, "  settings  %s\n", host->settings);
    fprintf(out, "  peak      %.1f GFLOP/s a thread in FP32 multiply-adds, spread %.2f %%\n",
            host->peak_gflops, 100 * c->peak_spread);
    fprintf(out, "  parallel  %s for a region of %d thread%s, spread %.1f %%%s\n",
            text_time(c->parallel_measured_ns, time), host->threads, host->threads == 1 ? "" : "s",
            100 * c->parallel_spread,
            host->parallel_ns < c->parallel_measured_ns ? ": refused, taken to be free" : "");
    fprintf(
        out, "  noise     %.2f %% at the start, %.2f %% at the end: %s%s%s\n",
        100 * c->noise[0].spread, 100 * c->noise[1].spread, c->noisy ? style->warn : style->good,
        c->noisy ? "noisy, measure again when the machine does nothing else" : "quiet", style->end);
    load_text(&c->load, load, sizeof load);
    if (load_disturbs(&c->load, host->threads))
        fprintf(out, "  load      %s\n", load);
    if (c->doubts.count)
        fprintf(out, "  doubtful  %d number%s, marked in the description\n", c->doubts.count,
                c->doubts.count == 1 ? "" : "s");
    fprintf(out, "  samples   %s, %s of them dropped; %.1f s\n", text_count(c->samples, samples),
            text_count(c->dropped, dropped), c->seconds);
    if (c->fitted_kernels)
        fprintf(out,
                "  model     %d products of %d shapes it is fitted to: mean error %.1f %%, median "
                "%.1f %%, worst %.1f %%\n",
                c->fitted_kernels, c->fit.shapes, 100 * c->fit.mean_error,
                100 * c->fit.median_error, 100 * c->fit.worst_error);
    for (int i = 0; i < c->note_count; i++)
        fprintf(out, "  note      %s\n", c->notes[i]);
}

static void put_levels(const struct host_calibration *c, const struct style *style, FILE *out)
{
    fprintf(out, "\n%sGB/s%s     %10s  %7s  %14s  %14s  %14s  %10d threads\n", style->bold,
            style->end, "size", "threads", "read", "write", "past caches", c->host.threads);
    for (int l = 0; l < c->host.level_count; l++) {
        const struct host_level *level = &c->host.levels[l];
        const struct level_quality *q = &c->levels[l];
        char size[TEXT_SIZE], nominal[TEXT_SIZE] = "", all[TEXT_SIZE] = "-";
        put_size(level->capacity_bytes, size);
        put_size(q->nominal_bytes, nominal);
        if (level->shared_count)
            snprintf(all, sizeof all, "%.1f +- %.1f %%",
                     level->shared_gbps[level->shared_count - 1], 100 * q->shared_spread);
        fprintf(out,
                "  %-6s  %10s  %7d  %6.1f +- %3.1f %%  %6.1f +- %3.1f %%  %6.1f +- %3.1f %%  %18s",
                level->name, level->capacity_bytes ? size : "-", level->threads, level->read_gbps,
                100 * q->read_spread, level->write_gbps, 100 * q->write_spread, level->stream_gbps,
                100 * q->stream_spread, all);
        fprintf(out, q->shrunk ? "  of %s\n" : "\n", nominal);
    }
}

static double gflops_of(const struct host_loop *loop)
{
    return loop->flops / loop->step_ns;
}

/* The fastest loop that is not yet shown, or -1. */
static int next_fastest(const struct host *host, const bool *shown)
{
    int best = -1;
    for (int i = 0; i < host->loop_count; i++)
        if (!shown[i] && host->loops[i].flops > 0 &&
            (best < 0 || gflops_of(&host->loops[i]) > gflops_of(&host->loops[best])))
            best = i;
    return best;
}

static void put_loop(const struct host_calibration *c, int i, FILE *out)
{
    const struct host_loop *loop = &c->host.loops[i];
    const struct loop_fit *fit = &c->loops.loops[i].fit;
    char rate[TEXT_SIZE] = "-", share[TEXT_SIZE] = "-";
    if (loop->flops > 0)
        snprintf(rate, sizeof rate, "%.1f", gflops_of(loop));
    if (loop->flops > 0 && c->host.peak_gflops > 0)
        snprintf(share, sizeof share, "%.1f %%", 100 * gflops_of(loop) / c->host.peak_gflops);
    fprintf(out, "  %-16s %9.4g  %9.4g  %8s  %8s  %7.2f %%  %8.5f  %9.2f %%\n", loop->name,
            loop->step_ns, loop->call_ns, rate, share, 100 * loop->spread, fit->r_squared,
            100 * fit->max_error);
}

static void put_loops(const struct host_calibration *c, const struct style *style, FILE *out)
{
    bool shown[HOST_MAX_LOOPS] = {false};
    int count = 0, moves = 0;
    fprintf(out, "\n%s%-18s%s %9s  %9s  %8s  %8s  %9s  %8s  %11s\n", style->bold, "loops",
            style->end, "step ns", "call ns", "GFLOP/s", "of peak", "spread", "R2", "worst fit");
    for (int i; count < SHOWN_LOOPS && (i = next_fastest(&c->host, shown)) >= 0; count++) {
        shown[i] = true;
        put_loop(c, i, out);
    }
    for (int i = 0; i < c->host.loop_count && moves < SHOWN_LOOPS; i++)
        if (c->host.loops[i].flops == 0) {
            put_loop(c, i, out);
            moves++;
        }
    double worst_r = 1, worst_error = 0;
    for (int i = 0; i < c->host.loop_count; i++) {
        const struct loop_fit *fit = &c->loops.loops[i].fit;
        worst_r = fit->r_squared < worst_r ? fit->r_squared : worst_r;
        worst_error = fit->max_error > worst_error ? fit->max_error : worst_error;
    }
    fprintf(out, "  %d loops in all, R2 at least %.5f, worst fit %.2f %%\n", c->host.loop_count,
            worst_r, 100 * worst_error);
}

static void put_text(const struct host_calibration *c, const char *file, struct answer *answer)
{
    char line[TEXT_LINE_SIZE];
    const struct style *style = &answer->style;
    fprintf(answer->stream, "%s%s%s, measured on %s with %s\n", style->bold, c->host.cpu,
            style->end, c->host.date, host_isa_name(c->host.isa));
    if (file)
        fprintf(answer->stream, "written to %s\n", text_line(file, line));
    fputc('\n', answer->stream);
    put_facts(c, style, answer->stream);
    put_levels(c, style, answer->stream);
    put_loops(c, style, answer->stream);
}

static void put_json(const struct host_calibration *c, const char *file, struct answer *answer)
{
    struct error error;
    json_t *document = json_pack("{s:i, s:s, s:o}", "schema", 1, "hardware", HARDWARE_HOST_NAME,
                                 "written", file ? json_text(file) : json_null());
    if (json_object_update_new(document, host_calibration_json(c)) < 0)
        cli_die("out of memory");
    cli_require(json_write(document, answer->stream, &error), &error);
}

/* The description to its file, then what there is to say; or the description alone. */
static void write_answer(struct common *common, const struct host_calibration *c, const char *file)
{
    struct answer answer;
    struct error error;
    char *text;
    cli_require(host_calibration_text(c, &text, &error), &error);
    if (file)
        cli_require(files_write(&common->files, file, text, strlen(text), &error), &error);
    common->output = NULL; /* it held the description */
    cli_answer_open(&answer, common);
    if (!file)
        answer.kind = ANSWER_EXACT;
    if (!file)
        fputs(text, answer.stream);
    else if (common->format == FORMAT_JSON)
        put_json(c, file, &answer);
    else
        put_text(c, file, &answer);
    free(text);
    cli_answer_close(&answer);
}

/* One line for each number that stays implausible. */
static void tell_doubts(const struct host_calibration *c)
{
    for (int i = 0; i < c->doubts.count && i < DOUBTS_MOST; i++) {
        const struct doubt *doubt = &c->doubts.list[i];
        cli_warn("%s%simplausible: %s", doubt->key, *doubt->key ? ": " : "", doubt->text);
    }
    if (c->doubts.count > DOUBTS_MOST)
        cli_warn("and %d implausible numbers more", c->doubts.count - DOUBTS_MOST);
}

static void check_options(const struct common *common, const char *of_fits)
{
    if (of_fits)
        cli_die("--%s: expected nothing of it with --hw host, which is measured", of_fits);
    if (common->override_count)
        cli_die("--set-hw: expected nothing of it with calibrate --hw host, which is measured");
    if (common->cores)
        cli_die("--cores: expected nothing of it here; --threads says how many are measured");
}

int calibrate_the_host(struct common *common, int threads, const char *of_fits)
{
    struct error error;
    char path[PATH_MAX];
    check_options(common, of_fits);
    const char *file = find_file(common, path);
    cli_check_files(common);
    struct host_calibration *calibration = cli_require_memory(malloc(sizeof *calibration));
    busy_warn(threads, common->quiet);
    const struct calibrate_host_options options = {
        .family_at = loop_family_at,
        .threads = threads,
        .control = {.stop = stop_asked(), .progress = tell}};
    stop_open();
    enum status status = calibrate_host(&options, calibration, &error);
    if (status == STATUS_OK && !calibration->stopped)
        status = calibrate_overlap(calibration, &options.control, &error);
    progress_phase("answering");
    cli_require(status, &error);
    if (!calibration->stopped)
        tell_doubts(calibration);
    if (!calibration->stopped)
        write_answer(common, calibration, file);
    free(calibration);
    cli_close(common);
    stop_close();
    return EXIT_ANSWER;
}
