/* Commands end the process that they run in, so each run has its own. */
#include "tests/fuzz/fuzz.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <omp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_SECONDS = 5 }; /* what asks for more says nothing about a parser */

/* How often libFuzzer has seen each edge of the program: nothing in other builds. */
extern uint8_t __start___sancov_cntrs[] __attribute__((weak)); /* NOLINT(*-reserved-identifier) */
extern uint8_t __stop___sancov_cntrs[] __attribute__((weak));  /* NOLINT(*-reserved-identifier) */

static size_t reached_bytes(void)
{
    return (uintptr_t)__stop___sancov_cntrs - (uintptr_t)__start___sancov_cntrs;
}

/* What the child leaves to its parent. */
struct left {
    bool ended;
    int status;
    uint8_t reached[];
};

static void leave(int status, void *context)
{
    struct left *left = context;
    fflush(NULL);
    omp_pause_resource_all(omp_pause_hard); /* some keep a file of the process */
    left->status = status;
    left->ended = true;
    if (reached_bytes())
        memcpy(left->reached, __start___sancov_cntrs, reached_bytes());
    _exit(0);
}

static _Noreturn void run(int (*command)(int argc, char **argv), int argc, char **argv,
                          const char *folder, const int ends[2], struct left *left)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGALRM, SIG_DFL);
    alarm(MOST_SECONDS);
    bool ready = chdir(folder) == 0 && dup2(ends[0], STDOUT_FILENO) >= 0 &&
                 dup2(ends[1], STDERR_FILENO) >= 0 && on_exit(leave, left) == 0;
    if (!ready)
        _exit(0);
    exit(command(argc, argv));
}

/* A file that a word names, or what SQLite keeps beside it. */
static bool is_asked_for(const char *name, int argc, char **argv)
{
    static const char *const beside[] = {"-wal", "-shm", "-journal"};
    size_t length = strlen(name);
    for (size_t i = 0; i < sizeof beside / sizeof *beside; i++)
        if (length > strlen(beside[i]) && strcmp(name + length - strlen(beside[i]), beside[i]) == 0)
            length -= strlen(beside[i]);
    for (int i = 1; i < argc; i++)
        if (memmem(argv[i], strlen(argv[i]), name, length))
            return true;
    return false;
}

static int is_file(const struct dirent *entry)
{
    return strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
}

/* Empties the folder; a command that ended by itself has left there what was asked for only. */
static void clear_folder(const char *folder, bool stopped, int argc, char **argv)
{
    struct dirent **names;
    int count = scandir(folder, &names, is_file, alphasort);
    for (int i = 0; i < count; i++) {
        char path[FUZZ_PATH_SIZE + sizeof names[i]->d_name + 1];
        snprintf(path, sizeof path, "%s/%s", folder, names[i]->d_name);
        fuzz_require(unlink(path) == 0, path);
        fuzz_require(stopped || is_asked_for(names[i]->d_name, argc, argv),
                     "nothing is written but what was asked for");
        free(names[i]);
    }
    fuzz_require(count >= 0 && rmdir(folder) == 0, folder);
    free(names);
}

/* libFuzzer's clock interrupts. */
static int wait_for(pid_t child)
{
    int ended;
    while (waitpid(child, &ended, 0) != child)
        fuzz_require(errno == EINTR, "a process ends");
    return ended;
}

static char *take_text(int fd, size_t *length)
{
    char path[FUZZ_PATH_SIZE];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    char *text = fuzz_text(path, length);
    close(fd);
    return text;
}

static void take(const struct left *left, int ended, const int ends[2], struct fuzz_answer *answer)
{
    bool stopped = WIFSIGNALED(ended) && WTERMSIG(ended) == SIGALRM;
    answer->out = take_text(ends[0], &answer->out_length);
    answer->said = take_text(ends[1], &answer->said_length);
    if (!left->ended && !stopped)
        fputs(answer->said, stderr);
    fuzz_require(left->ended || stopped, "a command ends by itself");
    answer->status = left->ended ? left->status : -1;
    if (left->ended && reached_bytes())
        memcpy(__start___sancov_cntrs, left->reached, reached_bytes());
}

void fuzz_run(int (*command)(int argc, char **argv), int argc, char **argv,
              struct fuzz_answer *answer)
{
    char folder[FUZZ_PATH_SIZE];
    size_t size = sizeof(struct left) + reached_bytes();
    /* cppcheck-suppress invalidFunctionArg ; memory without a file has none */
    struct left *left = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    const int ends[2] = {memfd_create("out", MFD_CLOEXEC), memfd_create("said", MFD_CLOEXEC)};
    fuzz_require(left != MAP_FAILED && ends[0] >= 0 && ends[1] >= 0, "memory");
    fuzz_require(mkdir(fuzz_path(".folder", folder), 0700) == 0, folder);
    fflush(NULL);
    pid_t child = fork();
    fuzz_require(child >= 0, "a process");
    if (child == 0)
        run(command, argc, argv, folder, ends, left);
    take(left, wait_for(child), ends, answer);
    clear_folder(folder, answer->status < 0, argc, argv);
    munmap(left, size);
}

void fuzz_answer_clear(struct fuzz_answer *answer)
{
    free(answer->out);
    free(answer->said);
    *answer = (struct fuzz_answer){0};
}
