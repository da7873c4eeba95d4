/* All messages go through one function, which writes one line to standard error and shows what
 * quoted texts may hide. A closed pipe counts as success: whoever reads has seen enough.
 *
 * A thread of its own draws, so that a command that is busy in one long step is seen to live, and
 * its clock to go on. Every line begins with a return and ECMA-48's "erase to the end of the line",
 * so that it replaces the one before; it is cut at the terminal's width, since a wrapped line could
 * not be replaced. The thread writes to the descriptor: a lock of stdio's would be inherited by
 * processes that measure. Without a thread there is no line.
 *
 * How long it will still take is extrapolated in three ways that go wrong differently: at the mean
 * pace so far; at the pace of the last third; and along a power of the share, which is fitted to
 * when half of it was done (work that is ordered by size grows or falls as one). Where they agree
 * within a factor of two, what they have in common is believed, the geometric mean of the least and
 * the greatest; where they do not, or the work comes in few large pieces, nothing is.
 *
 * The answer is collected in memory, or where it may be long in a file without a name, and let out
 * in one go at the end. On the way every character that a terminal may not get is replaced, block
 * by block: what a block's end cuts through is held back for the next. */
#include "cli/say.h"

#include "cli/answer.h"
#include "cli/progress.h"
#include "core/number.h"
#include "core/text_stream.h"
#include "core/utf8.h"
#include "formats/text.h"
#include "jobs/sweep/sweep.h"
#include "search/clock.h"
#include "search/search.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* ------------------------------------------------------------------ what is left */

#define LEAST_SHARE 0.1
#define AGREE       2.0

enum { LEAST_STEPS = 12 }; /* done, and left */

void eta_note(struct eta *eta, double share, double seconds)
{
    share = fmin(share, 1);
    while (eta->marks < (int)(share * ETA_MARKS)) {
        /* between two notes at an even pace */
        double at = (double)(eta->marks + 1) / ETA_MARKS;
        double part = share > eta->share ? (at - eta->share) / (share - eta->share) : 1;
        eta->reached_s[++eta->marks] = eta->seconds + part * (seconds - eta->seconds);
    }
    eta->steps += share > eta->share;
    eta->share = fmax(eta->share, share);
    eta->seconds = seconds;
}

/* When so much was done. */
static double reached_s(const struct eta *eta, double share)
{
    double at = share * ETA_MARKS;
    int before = (int)at;
    double next_s = before < eta->marks ? eta->reached_s[before + 1] : eta->seconds;
    return eta->reached_s[before] + (at - before) * (next_s - eta->reached_s[before]);
}

double eta_left_s(const struct eta *eta)
{
    double share = eta->share, half_s = reached_s(eta, share / 2);
    if (share < LEAST_SHARE || eta->steps < LEAST_STEPS || half_s <= 0 ||
        eta->steps * (1 - share) < LEAST_STEPS * share)
        return -1;
    double mean_s = eta->seconds * (1 - share) / share;
    double late_s = (eta->seconds - reached_s(eta, share * 2 / 3)) * (1 - share) / (share / 3);
    double power_s = eta->seconds * (pow(share, -log2(eta->seconds / half_s)) - 1);
    double least_s = fmin(mean_s, fmin(late_s, power_s));
    double most_s = fmax(mean_s, fmax(late_s, power_s));
    return most_s <= AGREE * least_s ? sqrt(least_s * most_s) : -1;
}

/* ------------------------------------------------------------------ the line */

#define FIRST_NS 150000000
#define EVERY_NS 100000000

enum { PHASE_SIZE = 64, NOTE_SIZE = 96, LINE_SIZE = 320 };

/* The terminal's line: one in a process, as the terminal is. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t ended;
    pthread_t thread;
    bool open, drawn;
    struct timespec started; /* the phase */
    char phase[PHASE_SIZE], note[NOTE_SIZE];
    struct progress_now now; /* but for its texts */
    struct eta eta;
} line = {.lock = PTHREAD_MUTEX_INITIALIZER, .ended = PTHREAD_COND_INITIALIZER};

/* ------------------------------------------------------------------ what it says */

static void put_count(FILE *out)
{
    char done[TEXT_SIZE], total[TEXT_SIZE];
    const struct progress_now *now = &line.now;
    if (now->total > 0)
        fprintf(out, " %s/%s", text_count(now->done, done), text_count(now->total, total));
    else if (now->done > 0)
        fprintf(out, " %s", text_count(now->done, done));
    if (now->paced > 0 && line.eta.seconds > 0)
        fprintf(out, "  %.*f/s", (double)now->paced < 10 * line.eta.seconds,
                (double)now->paced / line.eta.seconds);
}

static void put_best(FILE *out)
{
    char best[TEXT_SIZE], bound[TEXT_SIZE];
    const struct progress_now *now = &line.now;
    if (now->best_fs > 0)
        fprintf(out, "  best %s", text_time((double)now->best_fs / 1e6, best));
    if (now->lower_bound_fs > 0)
        fprintf(out, "  bound %s", text_time((double)now->lower_bound_fs / 1e6, bound));
    if (now->best_fs > 0 && now->lower_bound_fs > 0)
        fprintf(out, "  gap %.2f %%",
                100.0 * (double)(now->best_fs - now->lower_bound_fs) / (double)now->best_fs);
}

static void put_time(FILE *out, double seconds)
{
    double left_s = eta_left_s(&line.eta);
    fprintf(out, "  %.1f s", seconds);
    if (left_s >= 0)
        fprintf(out, "  ETA %.0f s", left_s);
}

/* Draws the line; the lock is held. */
static void draw(void)
{
    char text[LINE_SIZE] = "";
    double seconds = seconds_since(&line.started);
    FILE *out = fmemopen(text, sizeof text, "w");
    if (!out)
        return;
    fputs(line.phase, out);
    put_count(out);
    put_best(out);
    fputs(line.note, out);
    put_time(out, seconds);
    fclose(out);
    dprintf(STDERR_FILENO, "\r\033[K%.*s", cli_width(STDERR_FILENO) - 1, text);
    line.drawn = true;
}

static void erase(void)
{
    if (line.drawn)
        dprintf(STDERR_FILENO, "\r\033[K");
    line.drawn = false;
}

/* ------------------------------------------------------------------ who draws it */

static struct timespec after(struct timespec time, long ns)
{
    time.tv_nsec += ns;
    time.tv_sec += time.tv_nsec / 1000000000;
    time.tv_nsec %= 1000000000;
    return time;
}

static void *keep_drawing(void *unused)
{
    struct timespec next;
    clock_gettime(CLOCK_REALTIME, &next);
    next = after(next, FIRST_NS);
    pthread_mutex_lock(&line.lock);
    while (line.open)
        if (pthread_cond_timedwait(&line.ended, &line.lock, &next) != 0 && line.open) {
            draw();
            clock_gettime(CLOCK_REALTIME, &next);
            next = after(next, EVERY_NS);
        }
    pthread_mutex_unlock(&line.lock);
    return unused;
}

/* Signals are the command's. */
static bool start_drawing(void)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = pthread_create(&line.thread, NULL, keep_drawing, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

void progress_open(const char *what, bool quiet)
{
    if (quiet || line.open || !cli_is_terminal(STDERR_FILENO))
        return;
    clock_gettime(CLOCK_MONOTONIC, &line.started);
    snprintf(line.phase, sizeof line.phase, "%s", what);
    line.open = true;
    line.open = start_drawing();
}

void progress_close(void)
{
    pthread_mutex_lock(&line.lock);
    bool was_open = line.open;
    line.open = false;
    erase();
    pthread_cond_signal(&line.ended);
    pthread_mutex_unlock(&line.lock);
    if (was_open)
        pthread_join(line.thread, NULL);
}

static void progress_hide(void)
{
    pthread_mutex_lock(&line.lock);
    erase();
}

static void progress_show(void)
{
    pthread_mutex_unlock(&line.lock);
}

/* ------------------------------------------------------------------ what it is told */

static void begin_phase(const char *phase)
{
    snprintf(line.phase, sizeof line.phase, "%s", phase);
    clock_gettime(CLOCK_MONOTONIC, &line.started);
    line.eta = (struct eta){0};
}

void progress_tell(const struct progress_now *now)
{
    pthread_mutex_lock(&line.lock);
    if (line.open) {
        if (strncmp(line.phase, now->phase, sizeof line.phase - 1) != 0)
            begin_phase(now->phase);
        line.now = *now;
        snprintf(line.note, sizeof line.note, "%s", now->note ? now->note : "");
        eta_note(&line.eta, now->share, seconds_since(&line.started));
    }
    pthread_mutex_unlock(&line.lock);
}

void progress_phase(const char *phase)
{
    progress_tell(&(struct progress_now){.phase = phase});
}

void progress_count(const char *phase, int64_t done, int64_t total)
{
    progress_tell(&(struct progress_now){.phase = phase,
                                         .done = done,
                                         .total = total,
                                         .paced = done,
                                         .share = total > 0 ? (double)done / (double)total : 0});
}

void progress_search(void *context, const struct search_progress *now)
{
    (void)context;
    progress_tell(
        &(struct progress_now){.phase = now->phase,
                               .done = now->done,
                               .total = now->total,
                               .paced = now->done,
                               .share = now->total > 0 ? (double)now->done / (double)now->total : 0,
                               .best_fs = now->best_fs,
                               .lower_bound_fs = now->lower_bound_fs});
}

/* What the store had is not work; what is left is weighed by what it may cost. */
void progress_sweep(void *context, const struct sweep_progress *now)
{
    char faults[TEXT_SIZE], note[NOTE_SIZE] = "";
    (void)context;
    if (now->faults)
        snprintf(note, sizeof note, "  %s bad", text_count(now->faults, faults));
    progress_tell(&(struct progress_now){
        .phase = "sweeping",
        .done = now->done,
        .total = now->total,
        .paced = now->done - now->from_store,
        .share = now->cost_total > 0 ? (double)now->cost_done / (double)now->cost_total : 0,
        .note = note});
}

enum { LEAST_WIDTH = 40, MOST_WIDTH = 1000 }; /* of lines */

/* Texts quote what the user gave: all messages pass here, as one line that can be shown. */
static void print_message(const char *before, const char *format, va_list list)
{
    char text[PATH_MAX + 512];
    vsnprintf(text, sizeof text, format, list);
    utf8_show(text);
    progress_hide();
    fprintf(stderr, "%s%s\n", before, text);
    progress_show();
}

void cli_warn(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    print_message("autotune: ", format, list);
    va_end(list);
}

void cli_note(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    print_message("", format, list);
    va_end(list);
}

void cli_die(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    progress_close();
    print_message("autotune: ", format, list);
    va_end(list);
    exit(EXIT_BAD);
}

bool cli_flushed(FILE *file)
{
    return (!ferror(file) && fflush(file) == 0) || errno == EPIPE;
}

void cli_exit_printed(void)
{
    if (!cli_flushed(stdout))
        cli_die("standard output: %s", strerror(errno));
    exit(EXIT_ANSWER);
}

bool cli_is_terminal(int descriptor)
{
    const char *kind = getenv("TERM");
    return isatty(descriptor) && kind && strcmp(kind, "dumb") != 0;
}

int cli_width(int descriptor)
{
    struct winsize size;
    const char *text = getenv("COLUMNS");
    if (!isatty(descriptor))
        return TEXT_WIDTH;
    long columns = text ? strtol(text, NULL, 10) : 0;
    if (columns <= 0 && ioctl(descriptor, TIOCGWINSZ, &size) == 0)
        columns = size.ws_col;
    if (columns <= 0)
        return TEXT_WIDTH;
    return columns < LEAST_WIDTH ? LEAST_WIDTH : columns > MOST_WIDTH ? MOST_WIDTH : (int)columns;
}

void *cli_require_memory(void *memory)
{
    if (!memory)
        cli_die("out of memory");
    return memory;
}

void cli_close_text(FILE *text)
{
    if (fclose(text))
        cli_die("out of memory");
}

static void die_of(const struct error *error)
{
    if (error->excerpt[0])
        fprintf(stderr, "%s\n", error->excerpt);
    exit(EXIT_BAD);
}

void cli_require(enum status status, const struct error *error)
{
    if (status == STATUS_OK)
        return;
    progress_close();
    cli_warn("%s", error->text);
    die_of(error);
}

void cli_require_of(const char *file, enum status status, const struct error *error)
{
    if (status == STATUS_OK)
        return;
    progress_close();
    cli_warn("%s: %s", file, error->text);
    die_of(error);
}

static int64_t count_from(const char *option, const char *text, int64_t least, int64_t largest)
{
    struct error error;
    int64_t value;
    cli_require(number_count(option, text, least, largest, &value, &error), &error);
    return value;
}

int64_t cli_count(const char *option, const char *text, int64_t largest)
{
    return count_from(option, text, 1, largest);
}

int64_t cli_count_or_none(const char *option, const char *text, int64_t largest)
{
    return count_from(option, text, 0, largest);
}

double cli_number(const char *text)
{
    return number_real(text);
}

double cli_seconds(const char *option, const char *text)
{
    struct error error;
    double seconds;
    cli_require(number_seconds(option, text, &seconds, &error), &error);
    return seconds;
}

/* ------------------------------------------------------------------ the answer */

void cli_answer_open(struct answer *answer, const struct common *common)
{
    *answer = (struct answer){.common = common, .kind = formats[common->format].kind};
    const char *plain = getenv("NO_COLOR");
    bool colour = !common->output && cli_is_terminal(STDOUT_FILENO) && !(plain && *plain);
    answer->style = text_style(colour, common->output ? TEXT_WIDTH : cli_width(STDOUT_FILENO));
    answer->stream = cli_require_memory(text_stream_open(&answer->text, &answer->length));
}

void cli_answer_open_long(struct answer *answer, const struct common *common)
{
    cli_answer_open(answer, common);
    fclose(answer->stream);
    free(answer->text);
    answer->text = NULL;
    answer->is_long = true;
    answer->stream = files_temporary();
}

/* How the answer is let out to a stream: an answer is a terminal's, or a file's or pipe's. */
struct way_out {
    const struct answer *answer;
    bool terminal;
};

static bool put_block(const struct way_out *way, const char *text, size_t length, bool is_last,
                      size_t *taken, FILE *out)
{
    static const enum utf8_way ways[] = {UTF8_TEXT, UTF8_JSON, UTF8_TEXT};
    enum answer_kind kind = way->answer->kind;
    if (kind == ANSWER_EXACT && !way->terminal)
        *taken = fwrite(text, 1, length, out);
    else
        *taken = utf8_put(
            text, length, is_last,
            kind == ANSWER_LINES && *way->answer->style.bold ? UTF8_COLOUR : ways[kind], out);
    return !ferror(out);
}

/* False where it cannot be written, or read back. */
static bool put_answer(const void *context, FILE *out)
{
    const struct way_out *way = context;
    const struct answer *answer = way->answer;
    char block[1 << 16];
    size_t held = 0, count, taken;
    if (!answer->is_long)
        return put_block(way, answer->text, answer->length, true, &taken, out);
    rewind(answer->stream);
    while ((count = fread(block + held, 1, sizeof block - held, answer->stream)) > 0) {
        held += count;
        if (!put_block(way, block, held, false, &taken, out))
            return false;
        held -= taken;
        memmove(block, block + taken, held);
    }
    return !ferror(answer->stream) && put_block(way, block, held, true, &taken, out);
}

void cli_answer_close(struct answer *answer)
{
    struct error error;
    const char *output = answer->common->output;
    struct way_out way = {answer, !output && isatty(STDOUT_FILENO)};
    progress_close();
    if (memory_was_short())
        cli_die("out of memory");
    if (answer->is_long ? ferror(answer->stream) || fflush(answer->stream) : fclose(answer->stream))
        cli_die("%s: %s", answer->is_long ? "a temporary file" : "the answer", strerror(errno));
    if (output)
        cli_require(files_write_by(&answer->common->files, output, put_answer, &way, &error),
                    &error);
    else if (!put_answer(&way, stdout) && answer->is_long && ferror(answer->stream))
        cli_die("a temporary file: %s", strerror(errno));
    if (!cli_flushed(stdout))
        cli_die("standard output: %s", strerror(errno));
    if (answer->is_long)
        fclose(answer->stream);
    free(answer->text);
}
