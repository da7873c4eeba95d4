/* The table of targets, and what they share. A broken promise aborts, as fuzzers expect it. Texts
 * go by way of files in memory, for readers open files themselves; a process has names of its own,
 * so that several can run. */
#include "tests/fuzz/fuzz.h"

#include "hardware/load.h"

#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const struct fuzz_target fuzz_targets[] = {
    {"platform", ".ini", fuzz_read_description}, /* files of CANN */
    {"description", ".cfg", fuzz_read_description},
    {"program", ".txt", fuzz_read_program},
    {"bank", ".json", fuzz_read_bank},
    {"curves", ".csv", fuzz_read_curves},
    {"sgemm-table", ".csv", fuzz_read_sgemm_table},
    {"results", ".jsonl", fuzz_read_results},
    {"sweep", ".cfg", fuzz_read_sweep},
    {"sweep-table", ".csv", fuzz_read_sweep},
    {"network", ".csv", fuzz_read_network},
    {"onnx", ".onnx", fuzz_read_network},
    {"graph", ".txt", fuzz_read_graph},
    {"profile", ".csv", fuzz_read_profile},
    {"answer", ".json", fuzz_read_answer},
    {"slurm", ".txt", fuzz_read_slurm},
    {"command", ".txt", fuzz_read_command},
    {"kernel", ".kernel", fuzz_read_kernel},
    {"lowering", ".kernel", fuzz_read_lowering},
    {"array", ".npy", fuzz_read_array},
    {"correction", ".json", fuzz_read_correction},
    {"shape-range", ".txt", fuzz_read_shape_range},
    {NULL, NULL, NULL},
};

const struct fuzz_target *fuzz_target_find(const char *name)
{
    for (const struct fuzz_target *t = fuzz_targets; t->name; t++)
        if (strcmp(t->name, name) == 0)
            return t;
    return NULL;
}

void fuzz_play(const struct fuzz_target *target, const uint8_t *bytes, size_t count)
{
    char file[FUZZ_PATH_SIZE];
    fuzz_write(fuzz_path(target->suffix, file), bytes, count);
    target->read(file);
    unlink(file);
}

/* ------------------------------------------------------------------ promises */

void fuzz_require(bool kept, const char *what)
{
    if (kept)
        return;
    fprintf(stderr, "broken promise: %s\n", what);
    abort();
}

void fuzz_require_ok(enum status status, const struct error *error)
{
    fuzz_require(status == STATUS_OK, error->text);
}

void fuzz_require_line(enum status status, const struct error *error)
{
    if (status == STATUS_OK)
        return;
    fuzz_require(error->text[0] && strlen(error->text) < sizeof error->text, "an error has a text");
    fuzz_require(!strchr(error->text, '\n'), "an error is one line");
    const char *caret = strchr(error->excerpt, '\n');
    fuzz_require(!error->excerpt[0] ||
                     (caret && strspn(caret + 1, " ") + 2 == strlen(caret) && strchr(caret, '^')),
                 "what it shows is a line and a caret");
}

void fuzz_require_json(const char *text, size_t length)
{
    json_error_t why;
    json_t *value = json_loadb(text, length, JSON_REJECT_DUPLICATES, &why);
    fuzz_require(value != NULL, why.text);
    json_decref(value);
}

/* ------------------------------------------------------------------ files */

const char *fuzz_path(const char *suffix, char path[FUZZ_PATH_SIZE])
{
    snprintf(path, FUZZ_PATH_SIZE, "/dev/shm/autotune-fuzz-%d%s", (int)getpid(), suffix);
    return path;
}

void fuzz_write(const char *path, const void *bytes, size_t count)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    fuzz_require(fd >= 0, path);
    ssize_t written = write(fd, bytes, count);
    fuzz_require(close(fd) == 0 && written == (ssize_t)count, path);
}

char *fuzz_text(const char *file, size_t *length)
{
    FILE *in = fopen(file, "re");
    fuzz_require(in && fseek(in, 0, SEEK_END) == 0 && ftell(in) >= 0, file);
    *length = (size_t)ftell(in);
    char *text = malloc(*length + 1);
    rewind(in);
    fuzz_require(text && fread(text, 1, *length, in) == *length, file);
    fclose(in);
    text[*length] = 0;
    return text;
}

const struct hardware *fuzz_chip(const char *name, struct hardware *hw)
{
    struct error error;
    if (!hw->cores)
        fuzz_require_ok(hardware_load(name, NULL, hw, &error), &error);
    return hw;
}
