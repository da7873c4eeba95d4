/* Scripts: texts from outside are quoted; what Slurm reads itself (#SBATCH) is checked before. */
#include "jobs/sweep/slurm.h"

#include "formats/shell.h"

#include <inttypes.h>
#include <string.h>

enum status slurm_partition_check(const char *partition, struct error *error)
{
    static const char known[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.,";
    if (!partition || (*partition && partition[strspn(partition, known)] == '\0'))
        return STATUS_OK;
    return error_set(error, STATUS_INVALID,
                     "--partition %.64s: expected names of letters, digits, '_', '-' and '.', "
                     "separated by commas",
                     partition);
}

void slurm_ranges(const bool wanted[], int count, FILE *out)
{
    const char *comma = "";
    for (int first = 0, last; first < count; first = last + 1) {
        last = first;
        if (!wanted[first])
            continue;
        while (last + 1 < count && wanted[last + 1])
            last++;
        fprintf(out, "%s%d", comma, first + 1);
        if (last > first)
            fprintf(out, "-%d", last + 1);
        comma = ",";
    }
}

/* FNV-1a, 64 bits. */
static uint64_t hash(uint64_t value, const char *text)
{
    for (; *text; text++)
        value = (value ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    return value;
}

void slurm_name(const struct slurm_plan *plan, char name[SLURM_ID_SIZE])
{
    uint64_t value = hash(UINT64_C(0xcbf29ce484222325), plan->work_folder);
    value = hash(hash(value, "/"), plan->folder);
    snprintf(name, SLURM_ID_SIZE, "autotune-%016" PRIx64, value);
}

enum status slurm_store_path(const struct slurm_plan *plan, int shard, char path[PATH_MAX],
                             struct error *error)
{
    int length = snprintf(path, PATH_MAX, "%s/shard-%d-of-%d.db", plan->folder, shard, plan->tasks);
    if (length < PATH_MAX)
        return STATUS_OK;
    return error_set(error, STATUS_TOO_LARGE, "%.64s...: expected a shorter path", plan->folder);
}

/* ------------------------------------------------------------------ scripts */

static void write_head(const struct slurm_plan *plan, const char *suffix, FILE *out)
{
    char name[SLURM_ID_SIZE];
    slurm_name(plan, name);
    fprintf(out, "#!/bin/sh\n#SBATCH --job-name=%s%s\n", name, suffix);
    fprintf(out, "#SBATCH --nodes=1\n#SBATCH --ntasks=1\n#SBATCH --output=/dev/null\n");
    if (plan->partition)
        fprintf(out, "#SBATCH --partition=%s\n", plan->partition);
}

/* Into the folder, where what is printed goes to a file of its own. */
static void write_start(const struct slurm_plan *plan, const char *log, FILE *out)
{
    fputs("cd ", out);
    shell_quote(plan->work_folder, out);
    fputs(" || exit 2\nfolder=", out);
    shell_quote(plan->folder, out);
    fprintf(out, "\nexec >>\"$folder/%s.log\" 2>&1\n", log);
}

static void write_arguments(const struct slurm_plan *plan, FILE *out)
{
    for (int i = 0; i < plan->argument_count; i++) {
        fputc(' ', out);
        shell_quote(plan->arguments[i], out);
    }
}

/* A node of its own for each task, so that its threads disturb nobody. A node that is lost: Slurm
 * may start the task anew, and it goes on where its store ends. */
void slurm_array_write(const struct slurm_plan *plan, const bool wanted[], FILE *out)
{
    write_head(plan, "", out);
    fputs("#SBATCH --exclusive\n#SBATCH --requeue\n#SBATCH --array=", out);
    slurm_ranges(wanted, plan->tasks, out);
    if (plan->nodes)
        fprintf(out, "%%%d", plan->nodes);
    fputc('\n', out);
    write_start(plan, "task-$SLURM_ARRAY_TASK_ID", out);
    fputs("exec ", out);
    shell_quote(plan->program, out);
    fprintf(out, " sweep --quiet --shard \"$SLURM_ARRAY_TASK_ID/%d\"", plan->tasks);
    fprintf(out, " --db \"$folder/shard-$SLURM_ARRAY_TASK_ID-of-%d.db\"", plan->tasks);
    if (plan->threads)
        fprintf(out, " --threads %" PRId64, plan->threads);
    write_arguments(plan, out);
    fputs(" -- ", out);
    shell_quote(plan->file, out);
    fputc('\n', out);
}

void slurm_merge_write(const struct slurm_plan *plan, FILE *out)
{
    write_head(plan, "-merge", out);
    write_start(plan, "merge", out);
    fprintf(out,
            "set --\nfor store in \"$folder\"/shard-*-of-%d.db; do\n"
            "    if [ -s \"$store\" ]; then set -- \"$@\" \"$store\"; fi\ndone\n"
            "if [ $# -eq 0 ]; then echo 'no shard has a store'; exit 1; fi\nexec ",
            plan->tasks);
    shell_quote(plan->program, out);
    fputs(" merge --sweep ", out);
    shell_quote(plan->file, out);
    write_arguments(plan, out);
    fputs(" -- ", out);
    shell_quote(plan->db, out);
    fputs(" \"$@\"\n", out);
}
