/* Combinations are counted like digits, the last key's values going round fastest. Keys are batch,
 * hw, and those of --set-hw (cli/network_what_if.h). */
#include "cli/network_what_if.h"

#include "core/number.h"
#include "hardware/load.h"
#include "network/problem.h"
#include "network/read.h"
#include "results/network.h"

#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ options */

void what_if_take(struct what_if *what_if, const char *text)
{
    if (what_if->key_count == WHAT_IF_MAX_KEYS)
        cli_die("--what-if: at most %d of them", WHAT_IF_MAX_KEYS);
    struct what_if_key *key = &what_if->keys[what_if->key_count];
    key->key = cli_require_memory(strdup(text));
    char *at = strchr(key->key, '=');
    if (!at || at == key->key)
        cli_die("--what-if %.64s: expected KEY=VALUE, with commas between further values", text);
    while (at) {
        *at++ = '\0';
        if (key->count == WHAT_IF_MAX_VARIANTS)
            cli_die("--what-if %s: expected at most %d values", key->key, WHAT_IF_MAX_VARIANTS);
        key->values[key->count++] = at;
        if (*at == '\0' || *at == ',')
            cli_die("--what-if %.64s: expected a value between commas", text);
        at = strchr(at, ',');
    }
    for (int k = 0; k < what_if->key_count; k++)
        if (strcmp(what_if->keys[k].key, key->key) == 0)
            cli_die("--what-if %s: given twice, expected all values in one", key->key);
    what_if->key_count++;
}

/* ------------------------------------------------------------------ chips */

/* The chip and batch of one combination. */
static void load_variant(const struct what_if *what_if, int64_t number, struct common *common,
                         struct hardware *hw, int64_t *batch)
{
    const char *texts[MAX_OVERRIDES + WHAT_IF_MAX_KEYS], *name = cli_hardware_name(common);
    char changes[WHAT_IF_MAX_KEYS][256];
    struct error error;
    struct hardware_overrides overrides = {texts, (size_t)common->override_count};
    memcpy(texts, common->overrides, overrides.count * sizeof *texts);
    *batch = 0;
    for (int k = what_if->key_count - 1; k >= 0; k--) {
        const struct what_if_key *key = &what_if->keys[k];
        const char *value = key->values[number % key->count];
        number /= key->count;
        if (strcmp(key->key, "batch") == 0) {
            *batch = cli_count("--what-if batch", value, INT32_MAX);
        } else if (strcmp(key->key, "hw") == 0) {
            name = value;
        } else {
            int length = snprintf(changes[k], sizeof changes[k], "%s=%s", key->key, value);
            if (length >= (int)sizeof changes[k])
                cli_die("--what-if %.64s: expected at most %d bytes", key->key,
                        (int)sizeof changes[k] - 1);
            texts[overrides.count++] = changes[k];
        }
    }
    cli_require(hardware_load_from(common->hw_folders, name, &overrides, hw, &error), &error);
    cli_require_chip(hw);
    cli_reads_hardware(common, name);
}

void what_if_load(struct what_if *what_if, struct common *common, const struct hardware *hw)
{
    int64_t count = 1;
    for (int k = 0; k < what_if->key_count; k++) {
        count *= what_if->keys[k].count;
        if (count > WHAT_IF_MAX_VARIANTS)
            cli_die("--what-if: expected at most %d combinations", WHAT_IF_MAX_VARIANTS);
    }
    if (what_if->key_count == 0)
        return;
    what_if->count = count + 1;
    what_if->hw = cli_require_memory(calloc((size_t)count, sizeof *what_if->hw));
    what_if->variants =
        cli_require_memory(calloc((size_t)what_if->count, sizeof *what_if->variants));
    what_if->variants[0].hw = hw;
    for (int64_t i = 0; i < count; i++) {
        struct network_variant *variant = &what_if->variants[i + 1];
        load_variant(what_if, i, common, &what_if->hw[i], &variant->batch);
        variant->hw = &what_if->hw[i];
    }
}

void what_if_clear(struct what_if *what_if)
{
    for (int k = 0; k < what_if->key_count; k++)
        free(what_if->keys[k].key);
    for (int64_t i = 1; i < what_if->count; i++)
        hardware_clear(&what_if->hw[i - 1]);
    free(what_if->hw);
    free(what_if->variants);
}

/* ------------------------------------------------------------------ times */

static void predict(struct network_variant *variant, const char *file,
                    const struct network_request *request, const struct network_answer *answer)
{
    struct network network;
    struct error error;
    cli_require(
        network_read_at_batch(file, request, answer->network, variant->batch, &network, &error),
        &error);
    if (!network.is_model)
        network_relaunch(&network, variant->hw, answer->network, answer->hw);
    struct operator_time *times =
        cli_require_memory(calloc((size_t)network.call_count, sizeof *times));
    cli_require(operator_times(&network, variant->hw, times, &error), &error);
    variant->total = network_interval(&network, times);
    free(times);
    network_free(&network);
}

void what_if_predict(struct what_if *what_if, const char *file,
                     const struct network_request *request, struct network_answer *answer)
{
    for (int64_t i = 0; i < what_if->count; i++) {
        struct network_variant *variant = &what_if->variants[i];
        variant->batch = variant->batch ? variant->batch : answer->network->batch;
        if (i == 0)
            variant->total = answer->total;
        else
            predict(variant, file, request, answer);
    }
    network_mark_front(what_if->variants, what_if->count);
    answer->variants = what_if->variants;
    answer->variant_count = what_if->count;
}
