/* autotune: finds the word, hands over to its command. */
#include "cli/commands.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

const struct command commands[] = {
    {"tune", "find the fastest tiling (the main job: the word may be left out)", cmd_tune},
    {"program", "print the kernel program of a tiling", cmd_program},
    {"simulate", "play a program and say how long it takes", cmd_simulate},
    {"check", "find hazards, doubly set flags, deadlocks and overflows in a program", cmd_check},
    {"analyse", "say what limits a program, or the kernels of a profile: component roofline",
     cmd_analyse},
    {"advise", "say what to change in a program, and what that would save", cmd_advise},
    {"explain", "say why a tiling is illegal, and the nearest legal one", cmd_explain},
    {"evaluate", "predict a bank of measured kernels and compare", cmd_evaluate},
    {"reproduce", "recompute the papers' numbers, side by side", cmd_reproduce},
    {"calibrate", "measure this machine, or fit a description to measurements", cmd_calibrate},
    {"validate", "run tilings on this machine and compare with the model", cmd_validate},
    {"sweep", "tune many shapes and chips from a file, and keep what is found", cmd_sweep},
    {"merge", "join the stores of a sweep's shards", cmd_merge},
    {"table", "write the best tilings of a store as a table that a library loads", cmd_table},
    {"store", "look into a store of results, compare, export, import, tidy up", cmd_store},
    {"list", "list operators, hardware, spaces, strategies, formats", cmd_list},
    {NULL, NULL, NULL},
};

static void print_overview(void)
{
    printf(
        "autotune finds the fastest tiling of an operator on a described chip, and proves it.\n\n"
        "  autotune --op matmul --shape 512x1024x512\n\n"
        "Commands (each has --help with examples):\n");
    for (const struct command *c = commands; c->word; c++)
        printf("  %-10s %s\n", c->word, c->title);
    printf("\nExit status: 0 answered; 1 answered \"none\" (no legal tiling, a check failed, a "
           "deadlock);\n2 usage, input or I/O error. `autotune --version` prints the version.\n");
}

static void die_of_word(const char *word)
{
    char list[256] = "";
    for (const struct command *c = commands; c->word; c++)
        strcat(strcat(list, *list ? ", " : ""), c->word);
    cli_die("unknown command '%.64s', expected one of %s", word, list);
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

int main(int argc, char **argv)
{
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
    if (argv[1][0] == '-')
        return commands[0].run(argc, argv);
    for (const struct command *c = commands; c->word; c++)
        if (strcmp(argv[1], c->word) == 0)
            return c->run(argc - 1, argv + 1);
    die_of_word(argv[1]);
}
