/* How many instructions a second the simulator plays: one core, folding off, flags counted,
 * programs of about a million instructions, streams built anew each time; and how many of their
 * lines are parsed. In processor time.
 *
 *   bench_simulator [PROGRAM]     all rows, or those of one program */
#include "bench/bench.h"
#include "core/program_text.h"
#include "costmodel/simulate.h"
#include "costmodel/streams.h"
#include "hardware/load.h"

#include <string.h>

/* Double-buffered pipelines of the three kinds: nothing on a bus, one pipe on the bus at a time,
 * and loads and stores that share it all the time. `%1$d` is the number of iterations. */
static const struct {
    const char *name, *head, *half, *tail;
    int iterations;
} pipelines[] = {
    {"no bus", "set M MTE1 0\nset M MTE1 1\n",
     "wait M MTE1 %1$d\nMTE1 l1->l0a bytes=8192\nMTE1 l1->l0b bytes=4096\nset MTE1 M %1$d\n"
     "wait MTE1 M %1$d\nM mmad m=64 k=64 n=32\nset M MTE1 %1$d\n",
     "wait M MTE1 0\nwait M MTE1 1\n", 71428},
    {"bus, no contention", "set M MTE1 0\nset M MTE1 1\nset MTE1 MTE2 0\nset MTE1 MTE2 1\n",
     "wait MTE1 MTE2 %1$d\nMTE2 gm->l1 bytes=8192\nset MTE2 MTE1 %1$d\nwait MTE2 MTE1 %1$d\n"
     "wait M MTE1 %1$d\nMTE1 l1->l0a bytes=8192\nMTE1 l1->l0b bytes=4096\nset MTE1 MTE2 %1$d\n"
     "set MTE1 M %1$d\nwait MTE1 M %1$d\nM mmad m=64 k=64 n=32\nset M MTE1 %1$d\n",
     "wait M MTE1 0\nwait M MTE1 1\nwait MTE1 MTE2 0\nwait MTE1 MTE2 1\n", 41666},
    {"bus, contention", "set V MTE2 0\nset V MTE2 1\nset MTE3 V 0\nset MTE3 V 1\n",
     "wait V MTE2 %1$d\nMTE2 gm->ub bytes=8192\nset MTE2 V %1$d\nwait MTE2 V %1$d\n"
     "wait MTE3 V %1$d\nV relu elements=4096\nset V MTE2 %1$d\nset V MTE3 %1$d\n"
     "wait V MTE3 %1$d\nMTE3 ub->gm bytes=8192\nset MTE3 V %1$d\n",
     "wait V MTE2 0\nwait V MTE2 1\nwait MTE3 V 0\nwait MTE3 V 1\n", 45454},
};

struct job {
    const struct hardware *hw;
    char *text;
    struct simulator *simulator;
    struct streams streams;
    struct program program;
    struct timeline timeline;
};

static void parse(void *context)
{
    struct job *job = context;
    struct error error;
    program_clear(&job->program);
    bench_require(
        program_parse(job->hw, "(benchmark)", job->text, strlen(job->text), &job->program, &error),
        &error);
}

static void cut(void *context)
{
    struct job *job = context;
    struct error error;
    bench_require(streams_build(&job->streams, &job->program, 1, &error), &error);
}

static void play(void *context)
{
    struct job *job = context;
    struct error error;
    struct simulate_options options = {.cores = 1, .execute_fully = true};
    bench_require(simulate(job->simulator, &job->program, &options, &job->timeline, &error),
                  &error);
}

/* One body of two halves in a loop, or written out `iterations` times. */
static char *write_program(int kind, bool written_out)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    int bodies = written_out ? pipelines[kind].iterations : 1;
    fputs(pipelines[kind].head, out);
    if (!written_out)
        fprintf(out, "loop %d\n", pipelines[kind].iterations);
    for (int i = 0; i < bodies; i++)
        for (int half = 0; half < 2; half++) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
            fprintf(out, pipelines[kind].half, half);
#pragma GCC diagnostic pop
        }
    fputs(written_out ? "" : "end\n", out);
    fputs(pipelines[kind].tail, out);
    fclose(out);
    return text;
}

static double millions(const struct job *job, double seconds)
{
    return (double)job->program.executed / seconds / 1e6;
}

/* Cutting the program into streams is a part of playing it, and shown by itself too. */
static void measure(const struct hardware *hw, int kind, bool written_out)
{
    struct job job = {.hw = hw, .simulator = simulator_new()};
    double best[3];
    job.text = write_program(kind, written_out);
    parse(&job);
    double parsing = bench_cpu_median(parse, &job, &best[0]);
    double playing = bench_cpu_median(play, &job, &best[1]);
    double cutting = bench_cpu_median(cut, &job, &best[2]);
    printf("%-20s %-12s %8lld %8.1f %8.1f %8.1f %8.1f %12.1f\n", pipelines[kind].name,
           written_out ? "written out" : "loop", (long long)job.program.executed,
           millions(&job, playing), millions(&job, best[1]), millions(&job, playing - cutting),
           millions(&job, best[1] - best[2]), millions(&job, parsing));
    free(job.text);
    program_clear(&job.program);
    streams_clear(&job.streams);
    simulator_free(job.simulator);
}

int main(int argc, char **argv)
{
    struct hardware hw;
    struct error error;
    bench_require(hardware_load("ascend310", NULL, &hw, &error), &error);
    printf("%-20s %-12s %8s %8s %8s %8s %8s %12s\n", "", "", "", "M/s", "", "M/s but", "", "");
    printf("%-20s %-12s %8s %8s %8s %8s %8s %12s\n", "program", "form", "played", "played", "best",
           "cutting", "best", "parsed M/s");
    for (int kind = 0; kind < (int)(sizeof pipelines / sizeof *pipelines); kind++)
        for (int written_out = 0; written_out < 2; written_out++)
            if (argc < 2 || strcmp(argv[1], pipelines[kind].name) == 0)
                measure(&hw, kind, written_out);
    hardware_clear(&hw);
}
