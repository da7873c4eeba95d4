/* `autotune kernel new`. The text that it writes is read like any other before it is let out, so
 * that a name that is none is refused as a text's reader refuses it. */
#include "cli/answer.h"
#include "cli/commands.h"
#include "core/suggest.h"
#include "core/text_stream.h"
#include "kernels/registry.h"

#include <limits.h>
#include <string.h>
#include <sys/stat.h>

static const struct usage usage = {
    .name = "autotune kernel",
    .args_doc = "new NAME",
    .doc = "Writes NAME.kernel, a kernel's text to begin with: it can be tuned as it is, and its "
           "comments say what each line is for. A file that is there stays as it is.\v"
           "Examples:\n"
           "  autotune kernel new scale -o -\n",
};

static const char skeleton[] =
    "kernel %s  # its name in answers and stores\n"
    "title \"Z = X + Y, element by element\"\n"
    "\n"
    "# What is given, and what is tuned.\n"
    "size N pad 16         # --shape N; counted in blocks of 16 elements\n"
    "tensor X[N] dtype, Y[N] dtype, Z[N] dtype  # in global memory, of the type of --dtype\n"
    "axis t = slices(N)    # how much of N a round takes: its equal parts, in whole blocks\n"
    "axis bufs = 1, 2      # copies of each tile: with 2, a load goes on beside the computing\n"
    "cores N               # the cores share N\n"
    "\n"
    "# What is done: each line below runs once a round, i is the part of N that the round is "
    "about.\n"
    "for i in N by t\n"
    "  tile x: ub[i] dtype x bufs  # room in the unified buffer, as much as a round needs\n"
    "  tile y: ub[i] dtype x bufs\n"
    "  tile z: ub[i] dtype x bufs\n"
    "  load x <- X                 # X[i]: the part is the loop's\n"
    "  load y <- Y\n"
    "  vadd z <- x, y              # an operation of the vector unit: `autotune list hw NAME`\n"
    "  store Z <- z\n";

/* The text, to be freed. */
static char *make_text(const char *name, const char *file)
{
    char *text = NULL;
    size_t length;
    const struct operator* op;
    struct error error;
    FILE *out = cli_require_memory(text_stream_open(&text, &length));
    if (operator_find(name))
        cli_die("kernel new %.64s: an operator has this name, expected another one", name);
    fprintf(out, skeleton, name);
    cli_close_text(out);
    cli_require(operator_parse(file, text, length, &op, &error), &error);
    operator_free(op);
    return text;
}

/* Where it goes; NULL: the standard output. */
static const char *choose_file(struct common *common, const char *name, char file[PATH_MAX])
{
    struct stat info;
    if (strchr(name, '/') || snprintf(file, PATH_MAX, "%s.kernel", name) >= PATH_MAX)
        cli_die("kernel new %.64s: expected a name; -o says which file", name);
    if (!common->output && !common->standard_output) {
        files_note(&common->files, FILE_WRITTEN, "kernel new", file);
        common->output = file;
    }
    if (common->output && stat(common->output, &info) == 0 && S_ISREG(info.st_mode))
        cli_die("%s: it is there, expected a new file", common->output);
    return common->output;
}

int cmd_kernel(int argc, char **argv)
{
    struct common common = {.formats = 1 << FORMAT_TABLE};
    const char *words[2];
    char path[PATH_MAX];
    struct answer answer;
    int count = cli_parse(&usage, argc, argv, &common, words, 2);
    if (count < 1 || strcmp(words[0], "new") != 0)
        cli_die("kernel%s%.64s: expected new NAME", count < 1 ? "" : " ",
                count < 1 ? "" : words[0]);
    if (count < 2)
        cli_die("kernel new: expected a name");
    const char *file = choose_file(&common, words[1], path);
    char *text = make_text(words[1], path);
    cli_check_files(&common);
    cli_answer_open(&answer, &common);
    answer.kind = ANSWER_EXACT;
    fputs(text, answer.stream);
    cli_answer_close(&answer);
    if (file && !common.quiet)
        cli_note("wrote %s; autotune --kernel %s --shape 4096", file, file);
    free(text);
    cli_close(&common);
    return EXIT_ANSWER;
}
