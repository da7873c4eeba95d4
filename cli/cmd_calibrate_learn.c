/* Every bank is loaded with the description of its chip, on as many cores as the bank's name says.
 * The correction goes to -o, and the answer says what it was learned from and how well it does on
 * kernels that it has not seen. */
#include "cli/cmd_calibrate_learn.h"

#include "cli/answer.h"
#include "cli/signals.h"
#include "formats/bank.h"
#include "formats/correction_file.h"
#include "formats/json.h"
#include "formats/text.h"
#include "hardware/load.h"
#include "jobs/calibrate/learn.h"
#include "jobs/evaluate/evaluation.h"
#include "results/outline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* All banks: own ones first. */
struct sources {
    int count;
    struct bank *banks;
    struct hardware *chips;     /* one a bank */
    struct hardware *campaigns; /* of own ones, where the clock was another */
    struct learn_bank *learned;
};

/* --set-hw is about the chip of --hw. */
static void load_chip(struct common *common, const char *name, bool own, const char *file,
                      struct hardware *hw)
{
    char cores[32];
    struct error error;
    const char *texts[MAX_OVERRIDES + 1];
    size_t count = own ? (size_t)common->override_count : 0;
    int named = bank_cores(file);
    memcpy(texts, common->overrides, count * sizeof *texts);
    snprintf(cores, sizeof cores, "cores=%d", named);
    if (named > 0)
        texts[count++] = cores;
    const struct hardware_overrides overrides = {texts, count};
    cli_reads_hardware(common, name);
    cli_require(hardware_load_from(common->hw_folders, name, &overrides, hw, &error), &error);
    cli_require_chip(hw);
}

static void add_source(struct common *common, const struct learn_asked *asked, const char *name,
                       bool own, const char *file, struct sources *sources)
{
    struct error error;
    int i = sources->count++;
    struct bank *bank = &sources->banks[i];
    cli_reads(common, file);
    load_chip(common, name, own, file, &sources->chips[i]);
    cli_require(bank_load(file, BANK_AUTO, asked->keep_going, bank, &error), &error);
    sources->learned[i] =
        (struct learn_bank){file, bank->rows, bank->count, &sources->chips[i], NULL, own};
}

static void load_sources(struct common *common, const struct learn_asked *asked,
                         struct sources *sources)
{
    size_t most = (size_t)asked->from_count + (size_t)asked->pool_count;
    if (most > CORRECTION_MAX_BANKS)
        cli_die("--from, --pool: expected at most %d banks together", CORRECTION_MAX_BANKS);
    *sources = (struct sources){
        .banks = cli_require_memory(calloc(most, sizeof *sources->banks)),
        .chips = cli_require_memory(calloc(most, sizeof *sources->chips)),
        .campaigns = cli_require_memory(calloc(most, sizeof *sources->campaigns)),
        .learned = cli_require_memory(calloc(most, sizeof *sources->learned)),
    };
    for (int i = 0; i < asked->from_count; i++)
        add_source(common, asked, common->hw_name, true, asked->from[i], sources);
    for (int i = 0; i < asked->pool_count; i++) {
        const char *equals = strchr(asked->pools[i], '=');
        char *name =
            cli_require_memory(strndup(asked->pools[i], (size_t)(equals - asked->pools[i])));
        add_source(common, asked, name, false, equals + 1, sources);
        free(name);
    }
}

static void clear_sources(struct sources *sources)
{
    for (int i = 0; i < sources->count; i++) {
        bank_clear(&sources->banks[i]);
        hardware_clear(&sources->chips[i]);
        hardware_clear(&sources->campaigns[i]);
    }
    free(sources->banks);
    free(sources->chips);
    free(sources->campaigns);
    free(sources->learned);
}

/* The clock that the chip ran at when its own kernels were measured. */
static enum status load_campaigns(const struct learn_options *options, struct sources *sources,
                                  struct error *error)
{
    char change[64];
    double mhz;
    TRY(learn_clock(sources->learned, sources->count, options, &mhz, error));
    snprintf(change, sizeof change, "clock_mhz=%.15g", mhz);
    for (int i = 0; i < sources->count; i++) {
        struct learn_bank *bank = &sources->learned[i];
        if (!bank->own || llround(mhz * 1e6) == bank->hw->clock_hz)
            continue;
        TRY(hardware_reload(bank->hw, change, &sources->campaigns[i], error));
        bank->campaign = &sources->campaigns[i];
    }
    return STATUS_OK;
}

/* True where that is all there is to print. */
static bool write_correction(struct common *common, const struct correction *correction)
{
    struct error error;
    char *text;
    size_t length;
    bool alone = common->standard_output;
    cli_require(correction_text(correction, &text, &length, &error), &error);
    if (alone) {
        struct answer answer;
        cli_answer_open(&answer, common);
        answer.kind = ANSWER_EXACT;
        fputs(text, answer.stream);
        cli_answer_close(&answer);
    } else if (common->output) {
        cli_require(files_write(&common->files, common->output, text, length, &error), &error);
    }
    free(text);
    return alone;
}

static void write_answer(struct common *common, const struct hardware *hw,
                         const struct correction *correction)
{
    struct answer answer;
    struct error error;
    char line[TEXT_LINE_SIZE];
    const char *output = common->output;
    json_t *document = learned_json(correction);
    if (!document)
        cli_die("out of memory");
    common->output = NULL; /* it holds the correction */
    cli_answer_open(&answer, common);
    if (common->format == FORMAT_JSON) {
        json_object_set_new(document, "schema", json_integer(1));
        json_object_set_new(document, "hardware", json_text(hw->name));
        json_object_set_new(document, "hardware_file", json_text(hw->file));
        json_object_set_new(document, "written", output ? json_text(output) : json_null());
        cli_require(json_write(json_incref(document), answer.stream, &error), &error);
    } else {
        fprintf(answer.stream, "%s%s%s, %s\n", answer.style.bold, hw->name, answer.style.end,
                correction->law_count ? "what operators of networks take"
                                      : "what is left of its simulator's error");
        text_put_hardware(hw, &answer.style, answer.stream);
        if (output)
            fprintf(answer.stream, "written to %s\n", text_line(output, line));
        outline_write(document, &answer.style, answer.stream);
    }
    cli_answer_close(&answer);
    json_decref(document);
}

/* The clock at which the banks were measured is found first. */
static enum status learn_banks(struct common *common, const struct learn_asked *asked,
                               const struct learn_options *options, struct sources *sources,
                               struct correction *correction, struct error *error)
{
    load_sources(common, asked, sources);
    cli_check_files(common);
    stop_open();
    TRY(load_campaigns(options, sources, error));
    return learn(sources->learned, sources->count, options, correction, error);
}

int calibrate_learn(struct common *common, const struct learn_asked *asked)
{
    struct sources sources = {0};
    struct hardware hw;
    struct correction correction = {0};
    struct error error;
    const struct learn_options options = {
        .seed = asked->seed, .threads = asked->threads, .stop = stop_asked()};
    bool runs = calibrate_is_runs(asked);
    load_chip(common, common->hw_name, true, asked->from[0], &hw);
    enum status status =
        runs ? calibrate_learn_runs(common, asked, &hw, &options, &correction, &error)
             : learn_banks(common, asked, &options, &sources, &correction, &error);
    if (status == STATUS_STOPPED) /* there is nothing to write */
        stop_close();
    cli_require(status, &error);
    if (!write_correction(common, &correction))
        write_answer(common, &hw, &correction);
    correction_clear(&correction);
    clear_sources(&sources);
    hardware_clear(&hw);
    cli_close(common);
    stop_close();
    return EXIT_ANSWER;
}
