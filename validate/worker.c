/* Runs work in a process of its own. It is a fork, with a pipe whose end tells the parent at once
 * that the child is gone; the child's last word through it says whether its work returned, which
 * an exit status alone cannot. Handlers, streams, core files and the order in which the system
 * ends processes are set before the work begins. Linux only: prctl, pipe2, /proc. */
#include "validate/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Exit statuses: `work` returned, exit was called in it, it could not be started. The first alone
 * proves nothing, for `work` may call _exit(0): whoever returns says so through the pipe. */
enum { RETURNED = 0, EXITED = 1, CANNOT = 2 };

struct job {
    void (*work)(void *context);
    void *context;
    int alive;
};

static const struct {
    int number;
    const char *name;
} signal_names[] = {
    {SIGSEGV, "SIGSEGV"}, {SIGBUS, "SIGBUS"},   {SIGFPE, "SIGFPE"},   {SIGILL, "SIGILL"},
    {SIGABRT, "SIGABRT"}, {SIGTRAP, "SIGTRAP"}, {SIGSYS, "SIGSYS"},   {SIGKILL, "SIGKILL"},
    {SIGTERM, "SIGTERM"}, {SIGXCPU, "SIGXCPU"}, {SIGPIPE, "SIGPIPE"}, {SIGALRM, "SIGALRM"},
};

/* Handlers that the parent set up, a sanitizer's too, would print or unwind into the parent's code.
 * Keys reach the whole foreground group: the child leaves them to its parent. */
static void quiet_signals(void)
{
    sigset_t none;
    for (size_t i = 0; i < sizeof signal_names / sizeof signal_names[0]; i++)
        if (signal_names[i].number != SIGKILL)
            (void)signal(signal_names[i].number, SIG_DFL);
    (void)signal(SIGINT, SIG_IGN);
    (void)signal(SIGQUIT, SIG_IGN);
    (void)signal(SIGHUP, SIG_IGN);
    sigemptyset(&none);
    (void)pthread_sigmask(SIG_SETMASK, &none, NULL);
}

static void quiet_streams(void)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; stream++)
        if (null < 0 || dup2(null, stream) < 0)
            close(stream);
}

static void no_core_file(void)
{
    struct rlimit none = {0, 0};
    (void)setrlimit(RLIMIT_CORE, &none);
    (void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); /* the limit does not hold for a pipe to a program */
}

/* 1000 is the most that there is (proc(5)). */
static void first_to_go(void)
{
    int file = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (file < 0)
        return;
    (void)!write(file, "1000", 4);
    close(file);
}

/* Registered last, so it runs before the parent's handlers, and instead of them. */
static void leave(void)
{
    _exit(EXITED);
}

static void *thread(void *context)
{
    struct job *job = context;
    job->work(job->context);
    _exit(write(job->alive, "", 1) == 1 ? RETURNED : CANNOT);
}

/* OpenMP keeps its threads by the thread that used it first; in a child of fork only the record of
 * them is left, and whoever uses it waits forever. A new thread has no such record. */
static void be_worker(struct job *job, pid_t parent)
{
    pthread_t id;
    if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) || getppid() != parent)
        _exit(CANNOT);
    first_to_go();
    no_core_file();
    quiet_signals();
    quiet_streams();
    if (atexit(leave) || pthread_create(&id, NULL, thread, job))
        _exit(CANNOT);
    (void)pthread_join(id, NULL);
    _exit(CANNOT);
}

enum status worker_start(struct worker *worker, void (*work)(void *context), void *context,
                         struct error *error)
{
    struct job job = {.work = work, .context = context};
    int ends[2];
    pid_t parent = getpid();
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK))
        return error_set(error, STATUS_IO, "no pipe to a child process: %s", strerror(errno));
    worker->pid = fork();
    if (worker->pid == 0) {
        close(ends[0]);
        job.alive = ends[1];
        be_worker(&job, parent);
    }
    int problem = errno;
    close(ends[1]);
    worker->alive = ends[0];
    if (worker->pid > 0)
        return STATUS_OK;
    close(ends[0]);
    return error_set(error, STATUS_IO, "no child process: %s", strerror(problem));
}

/* What was left of it, which is now nothing; false while it runs and `options` say not to wait. */
static bool reap(struct worker *worker, int options, struct worker_end *end)
{
    int status = 0;
    char byte;
    pid_t pid;
    while ((pid = waitpid(worker->pid, &status, options)) < 0 && errno == EINTR)
        continue;
    if (pid == 0)
        return false;
    *end = (struct worker_end){.status = -1};
    end->finished = read(worker->alive, &byte, 1) == 1;
    close(worker->alive);
    if (pid != worker->pid)
        return true; /* somebody else waited for it, or nobody is to (SIGCHLD ignored) */
    end->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    end->status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return true;
}

/* The pipe only wakes: it may be closed before the child has ended (a moment, or because it closed
 * it), or be open after (in children of the child). */
bool worker_wait(struct worker *worker, int timeout_ms, struct worker_end *end)
{
    const struct timespec moment = {.tv_nsec = 1000000};
    struct pollfd alive = {.fd = worker->alive, .events = POLLIN};
    int woken = poll(&alive, 1, timeout_ms);
    if (reap(worker, WNOHANG, end))
        return true;
    if (woken > 0)
        (void)nanosleep(&moment, NULL);
    return false;
}

void worker_stop(struct worker *worker, struct worker_end *end)
{
    (void)kill(worker->pid, SIGKILL);
    (void)reap(worker, 0, end);
}

void worker_end_text(const struct worker_end *end, char *text, size_t size)
{
    for (size_t i = 0; i < sizeof signal_names / sizeof signal_names[0]; i++)
        if (end->signal == signal_names[i].number) {
            (void)snprintf(text, size, "%s", signal_names[i].name);
            return;
        }
    if (end->signal)
        (void)snprintf(text, size, "signal %d", end->signal);
    else if (end->status >= 0)
        (void)snprintf(text, size, "exit status %d", end->status);
    else
        (void)snprintf(text, size, "an end of which nothing is known");
}
