#include "jobs/generate.h"

#include "analysis/check/tidy.h"

enum status generate_program(const struct space *space, const struct tiling *tiling, int part,
                             struct program *program, struct error *error)
{
    enum status status = space->kind->generate(space, tiling, part, program, error);
    return status == STATUS_OK ? program_tidy(program, error) : status;
}
