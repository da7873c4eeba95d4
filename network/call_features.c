/* Sizes are base-2 logarithms of one more than they are. The kind goes in as what its law says of
 * it and by a few parts of its name, never as a column a kind, so that a kind which was not learned
 * has a place among those that were. */
#include "network/call_features.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void put(struct features *f, const char *name, double value)
{
    if (f->count < FEATURES_MAX) {
        snprintf(f->name[f->count], FEATURE_NAME_SIZE, "%s", name);
        f->value[f->count++] = value;
    }
}

static double logarithm(double size)
{
    return log2(1 + fmax(size, 0));
}

static double elements(const struct operator_tensor *t)
{
    double product = 1;
    for (int i = 0; i < t->rank; i++)
        product *= (double)t->size[i];
    return product;
}

static double last(const struct operator_tensor *t)
{
    return t->rank > 0 ? (double)t->size[t->rank - 1] : 0;
}

/* Elements beneath the outermost dimension, which a batch does not change. */
static double inner(const struct operator_tensor *t)
{
    return t->rank > 0 && t->size[0] > 0 ? elements(t) / (double)t->size[0] : 1;
}

static double pixels(const struct operator_tensor *t)
{
    return t->format == FORMAT_NC1HWC0 && t->rank == 5 ? (double)t->size[2] * (double)t->size[3]
                                                       : 0;
}

/* ------------------------------------------------------------------ tensors */

struct summary {
    int count, big, scalars, formats[FORMAT_COUNT];
    double bytes_in, bytes_out, most_in, most_out, least_last;
    const struct operator_tensor *largest;
};

static void summarise(const struct operator_call *call, struct summary *s)
{
    *s = (struct summary){.count = call->input_count + call->output_count};
    for (int i = 0; i < s->count; i++) {
        const struct operator_tensor *t = &call->inputs[i];
        double all = elements(t);
        bool in = i < call->input_count;
        *(in ? &s->bytes_in : &s->bytes_out) += (double)t->bytes;
        *(in ? &s->most_in : &s->most_out) = fmax(in ? s->most_in : s->most_out, all);
        if (!s->largest || all > elements(s->largest))
            s->largest = t;
        if (all > 64 && (s->least_last <= 0 || last(t) < s->least_last))
            s->least_last = last(t);
        s->scalars += all <= 1;
        s->formats[t->format]++;
    }
    for (int i = 0; i < s->count; i++)
        s->big += elements(&call->inputs[i]) > elements(s->largest) / 4;
    if (s->least_last <= 0 && s->largest)
        s->least_last = last(s->largest);
}

static void put_tensors(const struct operator_call *call, const struct call_sizes *sizes,
                        struct features *f)
{
    static const char *const dimensions[] = {"largest 0", "largest 1", "largest 2", "largest 3"};
    struct summary s;
    summarise(call, &s);
    put(f, "bytes", logarithm(s.bytes_in + s.bytes_out));
    put(f, "bytes in", logarithm(s.bytes_in));
    put(f, "bytes out", logarithm(s.bytes_out));
    put(f, "elements", logarithm(sizes->largest));
    put(f, "elements a block", logarithm(sizes->largest / sizes->blocks));
    put(f, "bytes an element", logarithm(s.bytes_in + s.bytes_out) - logarithm(sizes->largest));
    put(f, "out over in", log2((s.most_out + 1) / (s.most_in + 1)));
    put(f, "tensors", s.count);
    put(f, "inputs", call->input_count);
    put(f, "big tensors", s.big);
    put(f, "scalars", s.scalars);
    put(f, "least last", logarithm(s.least_last));
    put(f, "least last of 16", fmod(s.least_last, 16));
    for (int i = 0; i < 4; i++)
        put(f, dimensions[i],
            s.largest && i < s.largest->rank ? logarithm((double)s.largest->size[i]) : 0);
    put(f, "inner elements", s.largest ? logarithm(inner(s.largest)) : 0);
    put(f, "pixels", s.largest ? pixels(s.largest) : 0);
    put(f, "pixels of 16", s.largest ? fmod(pixels(s.largest), 16) : 0);
    put(f, "rank", s.largest ? s.largest->rank : 0);
    put(f, "element bytes", s.largest ? dtype_bytes(s.largest->type) : 0);
    put(f, "nz", (double)s.formats[FORMAT_NZ] / fmax(s.count, 1));
    put(f, "nc1hwc0", (double)s.formats[FORMAT_NC1HWC0] / fmax(s.count, 1));
    put(f, "z", (double)s.formats[FORMAT_Z] / fmax(s.count, 1));
}

/* The first two inputs and the first output. */
static void put_first(const struct operator_call *call, struct features *f)
{
    const struct operator_tensor none = {.format = FORMAT_ND};
    const struct operator_tensor *a = call->input_count > 0 ? &call->inputs[0] : &none;
    const struct operator_tensor *b = call->input_count > 1 ? &call->inputs[1] : &none;
    const struct operator_tensor *c = call->output_count > 0 ? &call->outputs[0] : &none;
    put(f, "first input", logarithm(elements(a)));
    put(f, "second input", b == &none ? 0 : logarithm(elements(b)));
    put(f, "input bytes", a == &none ? 0 : dtype_bytes(a->type));
    put(f, "output bytes", c == &none ? 0 : dtype_bytes(c->type));
    put(f, "input last", logarithm(last(a)));
    put(f, "output last", logarithm(last(c)));
    put(f, "input turned",
        a->rank >= 4 && c->rank >= 4 && a->size[a->rank - 3] != c->size[c->rank - 3]);
    put(f, "second turned",
        b->rank >= 4 && c->rank >= 4 && b->size[b->rank - 4] != c->size[c->rank - 4]);
}

/* ------------------------------------------------------------------ products */

/* How often 2 divides a count of blocks, up to 10. */
static int twos(double count)
{
    int power = 0;
    while (power < 10 && count >= 1 && fmod(count, 2) == 0) {
        count /= 2;
        power++;
    }
    return power;
}

/* The share of a last round of blocks that is empty. */
static double idle(double count, int blocks)
{
    double left = fmod(count, blocks);
    return left > 0 ? (blocks - left) / blocks : 0;
}

static void put_product(const struct call_sizes *sizes, struct features *f)
{
    const struct call_product *p = &sizes->product;
    double all = p->m * p->n * p->k * p->batch;
    put(f, "m", logarithm(p->m));
    put(f, "n", logarithm(p->n));
    put(f, "k", logarithm(p->k));
    put(f, "batch", logarithm(p->batch));
    put(f, "twos of m", twos(p->m));
    put(f, "twos of n", twos(p->n));
    put(f, "twos of k", twos(p->k));
    put(f, "idle by m", idle(p->m, sizes->blocks));
    put(f, "idle by n", idle(p->n, sizes->blocks));
    put(f, "products", logarithm(all));
    put(f, "products a block", logarithm(all / sizes->blocks));
    put(f, "results a block", logarithm(p->m * p->n / sizes->blocks));
    put(f, "products a byte", log2((all + 1) / (sizes->bytes + 1)));
}

/* ------------------------------------------------------------------ all of them */

static void put_kind(const struct operator_call *call, const struct trained_law *known,
                     struct features *f)
{
    static const char *const parts[] = {"Grad",     "Backprop", "Filter", "Conv2D", "MatMul",
                                        "FusionOp", "AddN",     "Re",     "GeLU",   "Softmax"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        put(f, parts[i], strstr(call->op_type, parts[i]) != NULL);
    put(f, "law's rows", known ? (double)known->rows : 0);
    put(f, "law's spread", known ? known->spread : 0);
    put(f, "law's lean", known ? known->lean : 0);
}

void call_features(const struct operator_call *call, const struct call_sizes *sizes,
                   const double terms[CALL_TERMS], double law_us, const struct trained_law *known,
                   struct features *features)
{
    char name[FEATURE_NAME_SIZE];
    features->count = 0;
    put(features, "law", log(law_us));
    put(features, "blocks", sizes->blocks);
    put(features, "share", sizes->share);
    put(features, "busy", sizes->busy / sizes->share);
    for (int t = 1; t < CALL_TERMS; t++) {
        snprintf(name, sizeof name, "%s of law", call_terms[t].name);
        put(features, name, log(terms[t] / law_us + 1e-4));
    }
    put_tensors(call, sizes, features);
    put_first(call, features);
    put_product(sizes, features);
    put_kind(call, known, features);
}
