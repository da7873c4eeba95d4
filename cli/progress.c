/* Every line begins with a return and ECMA-48's "erase to the end of the line", so that it replaces
 * the one before; it is cut at the terminal's width, since a wrapped line could not be replaced. */
#include "cli/progress.h"

#include "cli/options.h"
#include "formats/text.h"

#include <stdio.h>
#include <unistd.h>

void progress_open(struct progress *progress, bool quiet)
{
    *progress = (struct progress){.shown = !quiet && cli_is_terminal(STDERR_FILENO)};
}

/* A longer line would wrap, and then not be drawn over. */
static int line_width(void)
{
    return cli_width(STDERR_FILENO) - 1;
}

void progress_count(struct progress *progress, const char *phase, int64_t done, int64_t total,
                    double seconds)
{
    char line[128], texts[2][TEXT_SIZE];
    if (!progress->shown || seconds - progress->last_s < 0.1)
        return;
    progress->last_s = seconds;
    progress->drawn = true;
    snprintf(line, sizeof line, "%s %s/%s", phase, text_count(done, texts[0]),
             text_count(total, texts[1]));
    fprintf(stderr, "\r\033[K%.*s", line_width(), line);
    fflush(stderr);
}

void progress_draw(void *context, const struct search_progress *now)
{
    struct progress *progress = context;
    char line[256], done[TEXT_SIZE], total[TEXT_SIZE], best[TEXT_SIZE], bound[TEXT_SIZE];
    if (!progress->shown || now->seconds - progress->last_s < 0.1)
        return;
    progress->last_s = now->seconds;
    progress->drawn = true;
    double rate = now->seconds > 0 ? (double)now->done / now->seconds : 0;
    double gap = now->best_fs
                     ? 100.0 * (double)(now->best_fs - now->lower_bound_fs) / (double)now->best_fs
                     : 0;
    snprintf(line, sizeof line, "%s %s/%s  %.0f/s  best %s  bound %s  gap %.2f %%  ETA <= %.0f s",
             now->phase, text_count(now->done, done), text_count(now->total, total), rate,
             now->best_fs ? text_time((double)now->best_fs / 1e6, best) : "none yet",
             text_time((double)now->lower_bound_fs / 1e6, bound), gap,
             rate > 0 ? (double)(now->total - now->done) / rate : 0);
    fprintf(stderr, "\r\033[K%.*s", line_width(), line);
    fflush(stderr);
}

void progress_sweep(void *context, const struct sweep_progress *now)
{
    struct progress *progress = context;
    char line[256], done[TEXT_SIZE], total[TEXT_SIZE], faults[TEXT_SIZE + 16] = "", eta[48] = "";
    if (!progress->shown || now->seconds - progress->last_s < 0.1)
        return;
    progress->last_s = now->seconds;
    progress->drawn = true;
    int64_t searched = now->done - now->from_store;
    double rate = now->seconds > 0 ? (double)searched / now->seconds : 0;
    if (now->cost_done > 0)
        snprintf(eta, sizeof eta, "  ETA %.0f s",
                 now->seconds * (double)(now->cost_total - now->cost_done) /
                     (double)now->cost_done);
    if (now->faults)
        snprintf(faults, sizeof faults, "  %s bad", text_count(now->faults, line));
    snprintf(line, sizeof line, "sweeping %s/%s  %.1f/s%s%s", text_count(now->done, done),
             text_count(now->total, total), rate, faults, eta);
    fprintf(stderr, "\r\033[K%.*s", line_width(), line);
    fflush(stderr);
}

void progress_close(struct progress *progress)
{
    if (progress->drawn)
        fputs("\r\033[K", stderr);
}
