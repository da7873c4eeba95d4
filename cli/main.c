/* autotune: finds the word, hands over to its command. */
#include "cli/commands.h"
#include "cli/progress.h"
#include "core/suggest.h"

#include <fcntl.h>
#include <jansson.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void print_overview(void)
{
    printf(
        "autotune finds the fastest tiling of an operator on a described chip, and proves\nit.\n\n"
        "  autotune --op matmul --shape 512x1024x512\n\n"
        "Commands (each has --help with examples):\n");
    for (const struct command *c = commands; c->word; c++)
        printf("  %-10s %s\n", c->word, c->title);
    printf("\nExit status: 0 answered; 1 answered \"none\" (no legal tiling, a check failed, a\n"
           "deadlock); 2 usage, input or I/O error. `autotune --version` prints the version.\n");
}

/* NULL: it is none's. */
static const struct command *find_command(const char *word)
{
    if (word[0] == '-')
        return commands;
    for (const struct command *c = commands; c->word; c++)
        if (strcmp(word, c->word) == 0)
            return c;
    return NULL;
}

/* argv begins with COMPLETE_WORD, which stands for a command's word too. */
static int complete(int argc, char **argv)
{
    if (argc < 3 && (argc < 2 || argv[1][0] != '-'))
        complete_command(argc < 2 ? "" : argv[1]);
    const struct command *command = find_command(argv[1]);
    if (!command)
        return EXIT_NONE;
    bool has_word = argv[1][0] != '-';
    if (has_word)
        argv[1] = argv[0];
    return command->run(argc - has_word, argv + has_word);
}

static _Noreturn void die_of_word(const char *word)
{
    char list[256] = "";
    struct suggestion like = suggest_for(word, -1);
    for (const struct command *c = commands; c->word; c++) {
        strcat(strcat(list, *list ? ", " : ""), c->word);
        suggest_try(&like, c->word);
    }
    cli_die("unknown command '%.64s', expected one of %s%s", word, list, like.text);
}

/* A standard stream that the caller closed would become the next file opened. Opened for the other
 * direction, it still fails as a closed one does. */
static void open_standard_streams(void)
{
    for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; stream++) {
        int mode = stream == STDIN_FILENO ? O_WRONLY : O_RDONLY;
        /* cppcheck-suppress leakReturnValNotUsed ; it takes the number of the closed one */
        if (fcntl(stream, F_GETFD) < 0 && open("/dev/null", mode) < 0)
            _exit(EXIT_BAD);
    }
}

/* Threads that wait for each other sleep soon. gcc's OpenMP lets them spin for milliseconds, in
 * which nobody else can work: beside two busy programs a search takes up to eight times as long.
 * How long is read from the environment when the library is loaded, hence once more from the start.
 */
static void let_waiting_threads_sleep(char **argv)
{
    if (!getenv("GOMP_SPINCOUNT") && !getenv("OMP_WAIT_POLICY") &&
        setenv("GOMP_SPINCOUNT", "1000", 1) == 0)
        execv("/proc/self/exe", argv); /* where that is not possible, they spin */
}

/* Without memory a document would lack what it was to hold. */
static void *allocate(size_t bytes)
{
    return cli_require_memory(malloc(bytes));
}

int main(int argc, char **argv)
{
    json_set_alloc_funcs(allocate, free);
    let_waiting_threads_sleep(argv);
    open_standard_streams();
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a file too large is an error of writing it */
    if (argc < 2)
        cli_die("nothing asked for; `autotune --help` says what there is");
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
        strcmp(argv[1], "help") == 0) {
        print_overview();
        cli_exit_printed();
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("autotune %s\n", AUTOTUNE_VERSION);
        cli_exit_printed();
    }
    if (strcmp(argv[1], COMPLETE_WORD) == 0)
        return complete(argc - 1, argv + 1);
    const struct command *command = find_command(argv[1]);
    if (!command)
        die_of_word(argv[1]);
    bool has_word = argv[1][0] != '-';
    int status = command->run(argc - has_word, argv + has_word);
    progress_close();
    return status;
}
