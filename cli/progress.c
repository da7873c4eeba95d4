#include "cli/progress.h"

#include "results/text.h"

#include <stdio.h>
#include <unistd.h>

void progress_open(struct progress *progress, bool quiet)
{
    *progress = (struct progress){.shown = !quiet && isatty(STDERR_FILENO)};
}

void progress_draw(void *context, const struct search_progress *now)
{
    struct progress *progress = context;
    char done[TEXT_SIZE], total[TEXT_SIZE], best[TEXT_SIZE], bound[TEXT_SIZE];
    if (!progress->shown || now->seconds - progress->last_s < 0.1)
        return;
    progress->last_s = now->seconds;
    progress->drawn = true;
    double rate = now->seconds > 0 ? (double)now->done / now->seconds : 0;
    double gap = now->best_fs
                     ? 100.0 * (double)(now->best_fs - now->lower_bound_fs) / (double)now->best_fs
                     : 0;
    fprintf(stderr, "\r\033[K%s %s/%s  %.0f/s  best %s  bound %s  gap %.2f %%  ETA <= %.0f s",
            now->phase, text_count(now->done, done), text_count(now->total, total), rate,
            text_time((double)now->best_fs / 1e6, best),
            text_time((double)now->lower_bound_fs / 1e6, bound), gap,
            rate > 0 ? (double)(now->total - now->done) / rate : 0);
    fflush(stderr);
}

void progress_close(struct progress *progress)
{
    if (progress->drawn)
        fputs("\r\033[K", stderr);
}
