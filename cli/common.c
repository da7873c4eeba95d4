/* What commands do with the options that all share: the files that they note and check, and the
 * chip that they load. */
#include "cli/options.h"
#include "hardware/load.h"
#include "jobs/tune/chips.h"
#include "jobs/tune/kernels.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

const char *cli_hardware_name(const struct common *common)
{
    return common->hw_name ? common->hw_name : CHIP_DEFAULT;
}

void cli_reads(struct common *common, const char *file)
{
    files_note(&common->files, FILE_READ, NULL, file);
}

static void note_read(void *context, const char *file)
{
    cli_reads(context, file);
}

void cli_reads_hardware(struct common *common, const char *name)
{
    hardware_each_file(common->hw_folders, name, note_read, common);
}

void cli_reads_chips(struct common *common, const struct chips *chips)
{
    chips_each_file(chips, note_read, common);
}

void cli_reads_kernels(struct common *common, const struct kernels *kernels)
{
    kernels_each_file(kernels, note_read, common);
}

void cli_keeps(struct common *common, const char *store)
{
    files_note(&common->files, FILE_STORE, NULL, store);
}

void cli_check_files(struct common *common)
{
    bool prints = !common->output;
    int mode = fcntl(STDOUT_FILENO, F_GETFL);
    if (prints && (mode & O_ACCMODE) == O_RDONLY) /* so is what main opens for a closed one */
        cli_die("standard output: %s", strerror(EBADF));
    files_note(&common->files, FILE_WRITTEN, "standard output", prints ? "/dev/stdout" : NULL);
    files_check(&common->files);
}

void cli_close(struct common *common)
{
    files_clear(&common->files);
}

void cli_load_hardware(struct common *common, struct hardware *hw)
{
    struct error error;
    struct hardware_overrides overrides = {common->overrides, (size_t)common->override_count};
    cli_require(
        hardware_load_from(common->hw_folders, cli_hardware_name(common), &overrides, hw, &error),
        &error);
    cli_reads_hardware(common, cli_hardware_name(common));
    if (common->verbose)
        cli_note("hardware: %s from %s", hw->name, hw->file);
}

void cli_require_chip(const struct hardware *hw)
{
    if (hw->host)
        cli_die("%s is a processor, whose kernels are compiled code, not programs: expected --hw "
                "of a chip",
                hw->name);
}

int cli_cores(const struct common *common, const struct hardware *hw, int most)
{
    struct error error;
    int cores;
    cli_require(chip_cores(hw, most, common->cores, &cores, &error), &error);
    return cores;
}

int cli_program_cores(const struct common *common, const struct program *program)
{
    unsigned buffers = 0;
    for (int32_t r = 0; r < program->region_count; r++)
        if (program->regions[r].buffer >= 0)
            buffers |= 1U << program->regions[r].buffer;
    return cli_cores(common, program->hw, hardware_cores_with(program->hw, buffers));
}

void cli_load_chip(struct common *common, struct hardware *hw)
{
    cli_load_hardware(common, hw);
    cli_require_chip(hw);
}
