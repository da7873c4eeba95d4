/* The version of the model: what a stored result depends on besides its key. It grows by one
 * whenever any simulated time, bound or choice among equals may differ from before; results of
 * other versions are never answered with. tests/whole/test_model_version.sh fails when recorded
 * kernels' times have changed and this has not. */
#ifndef AUTOTUNE_CORE_VERSION_H
#define AUTOTUNE_CORE_VERSION_H

enum { MODEL_VERSION = 6 };

#endif
