/* Reads what a user asks of an answer about Cube-fx. A row a request for --help, and a reader of
 * each. Functions are read first: others make sense only with them. */
#include "kernels/cubefx/cubefx_requests.h"

#include "core/number.h"

#include <math.h>
#include <string.h>

#define MAX_WEIGHT 1e9
enum { MAX_MAC = 4096 };

const struct operator_request cubefx_request_rows[CUBEFX_REQUESTS] = {
    [CUBEFX_FUNCTION] = {"function", "NAME,...",
                         "the functions instead of their number: sin, cos, tan, tanh, sigmoid, "
                         "gelu, exp, log1p, of a signal amplitude, log-amplitude, power, gradient, "
                         "autocorrelation:LAG:WINDOW, or coefficients such as 1:0:-0.5",
                         false},
    [CUBEFX_MAC] = {"mac", "S", "edge of the matrix unit in the integer program (default 16)",
                    true},
    [CUBEFX_TRANSFER_WEIGHT] = {"transfer-weight", "B",
                                "cost of an element moved, in matrix operations (default 0)", true},
    [CUBEFX_EXPAND_AT] = {"expand-at", "P", "the point of the expansions of --function (default 0)",
                          true},
};

static enum status read_mac(const char *text, struct cubefx_requests *requests, struct error *error)
{
    return number_count("--mac", text, 1, MAX_MAC, &requests->mac, error);
}

static enum status read_weight(const char *text, struct cubefx_requests *requests,
                               struct error *error)
{
    requests->transfer_weight = number_real(text);
    if (requests->transfer_weight >= 0 && requests->transfer_weight <= MAX_WEIGHT)
        return STATUS_OK;
    return error_set(error, STATUS_INVALID,
                     "--transfer-weight %.64s: expected a number from 0 to %.0f", text, MAX_WEIGHT);
}

static enum status read_point(const char *text, struct cubefx_requests *requests,
                              struct error *error)
{
    requests->expand_at = number_real(text);
    if (isnan(requests->expand_at))
        return error_set(error, STATUS_INVALID, "--expand-at %.64s: expected a finite number",
                         text);
    if (requests->function_count == 0)
        return error_set(error, STATUS_INVALID,
                         "--expand-at: expected --function, whose series it is about");
    return STATUS_OK;
}

static enum status read_functions(const char *text, struct cubefx_requests *requests,
                                  struct error *error)
{
    struct error why;
    if (cubefx_functions_parse(text, CUBEFX_MAX_FUNCTIONS, requests->functions,
                               &requests->function_count, &why) == STATUS_OK)
        return STATUS_OK;
    return error_set(error, why.status, "--function: %s", why.text);
}

enum status cubefx_requests_read(const struct problem *problem, struct cubefx_requests *requests,
                                 struct error *error)
{
    static enum status (*const readers[CUBEFX_REQUESTS])(const char *, struct cubefx_requests *,
                                                         struct error *) = {
        [CUBEFX_FUNCTION] = read_functions,
        [CUBEFX_MAC] = read_mac,
        [CUBEFX_TRANSFER_WEIGHT] = read_weight,
        [CUBEFX_EXPAND_AT] = read_point,
    };
    memset(requests, 0, sizeof *requests);
    for (int i = 0; i < CUBEFX_REQUESTS; i++)
        TRY(problem->request[i] ? readers[i](problem->request[i], requests, error) : STATUS_OK);
    return STATUS_OK;
}
