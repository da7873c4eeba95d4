/* Keeps chips that are in use, and some that were. A list under one lock, the last used first;
 * whoever finds nothing loads the description with the lock held, so that threads that ask for the
 * same get the same. A chip is known by its name and changes as one text. Those without users stay
 * for the next who asks, up to a number; the ones unused for longest go. */
#include "jobs/tune/chips.h"

#include "core/array.h"
#include "core/text_stream.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_IDLE = 32 }; /* kept without a user: a description takes about 0.2 MB */

struct chips {
    pthread_mutex_t lock;
    char *folders;
    struct chip *first; /* last used first */
    char **names;       /* that were looked up, each once; owned */
    size_t name_count;
};

enum status chips_open(const char *folders, struct chips **chips, struct error *error)
{
    struct chips *made = calloc(1, sizeof *made);
    *chips = NULL;
    if (made && folders)
        made->folders = strdup(folders);
    if (!made || (folders && !made->folders)) {
        free(made);
        return error_memory(error);
    }
    pthread_mutex_init(&made->lock, NULL);
    *chips = made;
    return STATUS_OK;
}

const char *chips_folders(const struct chips *chips)
{
    return chips->folders;
}

static void chip_free(struct chip *chip)
{
    hardware_clear(&chip->hw);
    free(chip->asked);
    free(chip);
}

void chips_close(struct chips *chips)
{
    if (!chips)
        return;
    while (chips->first) {
        struct chip *next = chips->first->next;
        chip_free(chips->first);
        chips->first = next;
    }
    for (size_t i = 0; i < chips->name_count; i++)
        free(chips->names[i]);
    free(chips->names);
    pthread_mutex_destroy(&chips->lock);
    free(chips->folders);
    free(chips);
}

/* Lengths before the texts: no name can look like two. */
static char *describe(const char *name, const struct hardware_overrides *changes)
{
    char *text = NULL;
    size_t size;
    FILE *out = text_stream_open(&text, &size);
    if (!out)
        return NULL;
    fprintf(out, "%zu %s", strlen(name), name);
    for (size_t i = 0; i < changes->count; i++)
        fprintf(out, " %zu %s", strlen(changes->texts[i]), changes->texts[i]);
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

/* Takes the chip out of the list; NULL where it is not in it. */
static struct chip *take(struct chips *chips, const char *asked)
{
    struct chip **at = &chips->first;
    while (*at && strcmp((*at)->asked, asked) != 0)
        at = &(*at)->next;
    struct chip *found = *at;
    if (found)
        *at = found->next;
    return found;
}

static enum status note_name(struct chips *chips, const char *name, struct error *error)
{
    size_t count = chips->name_count;
    for (size_t i = 0; i < count; i++)
        if (strcmp(chips->names[i], name) == 0)
            return STATUS_OK;
    if (!array_room(&chips->names, (int64_t)count, sizeof *chips->names))
        return error_memory(error);
    chips->names[count] = strdup(name);
    chips->name_count += chips->names[count] != NULL;
    return chips->names[count] ? STATUS_OK : error_memory(error);
}

void chips_each_file(const struct chips *chips, void (*visit)(void *context, const char *file),
                     void *context)
{
    for (size_t i = 0; i < chips->name_count; i++)
        hardware_each_file(chips->folders, chips->names[i], visit, context);
}

static enum status load(struct chips *chips, const char *name,
                        const struct hardware_overrides *changes, struct chip **chip,
                        struct error *error)
{
    struct chip *made = calloc(1, sizeof *made);
    if (!made || note_name(chips, name, error) != STATUS_OK) {
        free(made);
        return error_memory(error);
    }
    enum status status = hardware_load_from(chips->folders, name, changes, &made->hw, error);
    if (status == STATUS_OK) {
        hardware_fingerprint(&made->hw, made->fingerprint);
        *chip = made;
    } else {
        free(made);
    }
    return status;
}

enum status chips_get(struct chips *chips, const char *name,
                      const struct hardware_overrides *changes, const struct chip **chip,
                      struct error *error)
{
    char *asked = describe(name, changes);
    struct chip *found = NULL;
    enum status status = STATUS_OK;
    if (!asked)
        return error_memory(error);
    pthread_mutex_lock(&chips->lock);
    found = take(chips, asked);
    if (!found) {
        status = load(chips, name, changes, &found, error);
        if (status == STATUS_OK && found) {
            found->asked = asked;
            asked = NULL;
        }
    }
    if (status == STATUS_OK && found) {
        found->users++;
        found->next = chips->first;
        chips->first = found;
        *chip = found;
    }
    pthread_mutex_unlock(&chips->lock);
    free(asked);
    return status;
}

/* Of those that nobody uses the last used ones stay. */
static void drop_idle(struct chips *chips)
{
    int idle = 0;
    for (struct chip **at = &chips->first; *at;) {
        struct chip *chip = *at;
        if (chip->users || ++idle <= MOST_IDLE) {
            at = &chip->next;
            continue;
        }
        *at = chip->next;
        chip_free(chip);
    }
}

void chips_put(struct chips *chips, const struct chip *chip)
{
    if (!chip)
        return;
    pthread_mutex_lock(&chips->lock);
    for (struct chip *c = chips->first; c; c = c->next)
        if (c == chip)
            c->users--;
    drop_idle(chips);
    pthread_mutex_unlock(&chips->lock);
}

enum status chip_cores(const struct hardware *hw, int most, int64_t asked, int *cores,
                       struct error *error)
{
    if (asked > most)
        return error_set(error, STATUS_INVALID, "--cores %lld: expected at most %d, all of %s",
                         (long long)asked, most, hw->name);
    *cores = asked ? (int)asked : most;
    return STATUS_OK;
}
