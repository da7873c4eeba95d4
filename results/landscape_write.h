/* A map of a search as JSON (core/landscape.h has the meaning of each number):
 *
 *   {"kind": "slice"|"envelope", "best_ns": 0.0,
 *    "axes": [{"name": "m_slice", "unit": "elements"|null, "values": [16, …], "left_out": 0}, y],
 *    "best": [x, y],
 *    "cells": [[{"points": 1, "legal": 1, "played": 1, "time_ns": 0.0|null, "bound_ns": 0.0|null,
 *                "limit": "L1"|null}, … along x], … along y]}
 *
 * Values of enumerations are strings. */
#ifndef AUTOTUNE_RESULTS_LANDSCAPE_WRITE_H
#define AUTOTUNE_RESULTS_LANDSCAPE_WRITE_H

#include "core/landscape.h"

#include <jansson.h>

/* NULL when out of memory. */
json_t *landscape_json(const struct landscape *landscape);

#endif
