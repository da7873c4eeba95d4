/* Tables of calls, answered in every format. */
#include "network/problem.h"
#include "network/read.h"
#include "results/report_network.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

static void require_calls(const struct network *network)
{
    fuzz_require(network->call_count > 0, "a network has calls");
    for (int64_t i = 0; i < network->call_count; i++) {
        const struct operator_call *call = &network->calls[i];
        fuzz_require(*call->op_type && call->count >= 1 && call->count <= CALL_MAX_COUNT,
                     "a call has a kind and a count");
        fuzz_require(call->measured_ns >= 0 && call->count_gradients <= call->count,
                     "times and counts are in range");
        for (int t = 0; t < call->input_count + call->output_count; t++)
            fuzz_require(call->inputs[t].rank <= TENSOR_MAX_RANK &&
                             call->inputs[t].bytes <= TENSOR_MAX_BYTES &&
                             call->inputs[t].bytes == operator_tensor_elements(&call->inputs[t]) *
                                                          dtype_bytes(call->inputs[t].type),
                         "bytes are those of the elements");
    }
}

static enum status write_page(const struct network_answer *answer, const struct style *style,
                              FILE *out, struct error *error)
{
    (void)style;
    char lead[NETWORK_LEAD_SIZE];
    struct report report = {.title = answer->file,
                            .lead = network_lead(answer, lead),
                            .command = "",
                            .version = "",
                            .sections = json_array()};
    enum status status = report_network(&report, answer, error);
    if (status == STATUS_OK)
        status = report_write(&report, out, error);
    report_clear(&report);
    return status;
}

static void write_all(const struct network_answer *answer)
{
    static enum status (*const writers[])(const struct network_answer *, const struct style *,
                                          FILE *, struct error *) = {
        network_write_json, network_write_table, network_write_csv, write_page};
    const struct style style = text_style(false, TEXT_WIDTH);
    for (size_t w = 0; w < sizeof writers / sizeof *writers; w++) {
        char *text = NULL;
        size_t length = 0;
        struct error error = {0};
        FILE *out = open_memstream(&text, &length);
        fuzz_require(out != NULL, "memory");
        fuzz_require_ok(writers[w](answer, &style, out, &error), &error);
        fuzz_require(fclose(out) == 0, "memory");
        if (w == 0)
            fuzz_require_json(text, length);
        free(text);
    }
}

/* As a table of 2 samples: whatever it holds is scaled, or refused in one line. */
static void scale(struct network *network, const struct hardware *chip, int64_t batch)
{
    struct error error = {0};
    struct network other;
    network->batch = 2;
    enum status status = network_at_batch(network, batch, &other, &error);
    fuzz_require_line(status, &error);
    if (status != STATUS_OK)
        return;
    require_calls(&other);
    network_relaunch(&other, chip, network, chip);
    network_free(&other);
}

void fuzz_read_network(const char *file)
{
    static struct hardware hw;
    struct error error = {0};
    struct network network;
    enum status status = network_read(file, &(struct network_request){0}, &network, &error);
    fuzz_require_line(status, &error);
    if (status != STATUS_OK)
        return;
    require_calls(&network);
    struct operator_time *times = calloc((size_t)network.call_count, sizeof *times);
    if (!times)
        abort();
    const struct hardware *chip = fuzz_chip("ascend910", &hw);
    fuzz_require_ok(operator_times(&network, chip, times, &error), &error);
    for (int64_t i = 0; i < network.call_count; i++)
        fuzz_require(times[i].low_ns <= times[i].predicted_ns &&
                         times[i].predicted_ns <= times[i].high_ns &&
                         (times[i].low_ns > 0) == !network.calls[i].uncovered,
                     "an interval holds its prediction");
    write_all(&(struct network_answer){.file = file,
                                       .network = &network,
                                       .hw = chip,
                                       .times = times,
                                       .total = network_interval(&network, times),
                                       .top = 3});
    free(times);
    for (int64_t batch = 1; batch <= 3; batch++)
        scale(&network, chip, batch);
    network_free(&network);
}
