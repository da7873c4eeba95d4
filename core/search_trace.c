#include "core/search_trace.h"

const char *const search_phase_names[SEARCH_PHASES] = {
    [PHASE_BOUNDING] = "bounding",   [PHASE_PROFILING] = "profiling tiles",
    [PHASE_SPLITTING] = "splitting", [PHASE_COUNTING] = "counting",
    [PHASE_SEEDING] = "seeding",     [PHASE_SIMULATING] = "simulating",
    [PHASE_ORDERING] = "ordering",   [PHASE_ANSWERING] = "answering",
    [PHASE_WAITING] = "waiting",
};
