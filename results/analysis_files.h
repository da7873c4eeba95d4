/* The files and modes of a profile's answer as JSON. */
#ifndef AUTOTUNE_RESULTS_ANALYSIS_FILES_H
#define AUTOTUNE_RESULTS_ANALYSIS_FILES_H

#include "formats/profile_join.h"

#include <jansson.h>

/* The names of these modes: bits by enum profile_mode. */
json_t *analysis_modes_json(unsigned modes);

/* Each file with its format and modes. */
json_t *analysis_files_json(const struct profile_join *join);

#endif
