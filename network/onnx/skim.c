/* Walks protobuf's wire format (protobuf.dev/programming-guides/encoding) by a table of the fields
 * that are kept. A message's length is written over five bytes, for it is known once its fields are
 * copied. Numbers of fields are those of onnx.proto. */
#include "network/onnx/skim.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum message {
    MODEL,
    GRAPH,
    NODE,
    ATTRIBUTE,
    TENSOR,
    VALUE,
    TYPE,
    PLAIN, /* kept as it stands */
    DATA,  /* kept up to SKIM_MAX_DATA bytes */
};
enum { WIRE_VARINT, WIRE_64, WIRE_BYTES, WIRE_32 = 5 };

/* What is kept of a message, and as what. No message leads to itself, so nothing is deep. */
static const struct {
    enum message message;
    int field;
    enum message kept;
} fields[] = {
    {MODEL, 7, GRAPH},                             /* graph */
    {MODEL, 8, PLAIN},                             /* opset_import */
    {GRAPH, 1, NODE},                              /* node */
    {GRAPH, 5, TENSOR},                            /* initializer */
    {GRAPH, 11, VALUE},                            /* input */
    {GRAPH, 13, VALUE},                            /* value_info */
    {NODE, 1, PLAIN},      {NODE, 2, PLAIN},       /* input, output */
    {NODE, 3, PLAIN},      {NODE, 4, PLAIN},       /* name, op_type */
    {NODE, 5, ATTRIBUTE},  {NODE, 7, PLAIN},       /* attribute, domain */
    {ATTRIBUTE, 1, PLAIN}, {ATTRIBUTE, 20, PLAIN}, /* name, type */
    {ATTRIBUTE, 2, PLAIN}, {ATTRIBUTE, 3, PLAIN},  /* f, i */
    {ATTRIBUTE, 4, PLAIN}, {ATTRIBUTE, 5, TENSOR}, /* s, t */
    {ATTRIBUTE, 7, PLAIN}, {ATTRIBUTE, 8, PLAIN},  /* floats, ints */
    {TENSOR, 1, PLAIN},    {TENSOR, 2, PLAIN},     /* dims, data_type */
    {TENSOR, 8, PLAIN},    {TENSOR, 4, DATA},      /* name, float_data */
    {TENSOR, 5, DATA},     {TENSOR, 7, DATA},      /* int32_data, int64_data */
    {TENSOR, 9, DATA},     {TENSOR, 10, DATA},     /* raw_data, double_data */
    {VALUE, 1, PLAIN},     {VALUE, 2, TYPE},       /* name, type */
    {TYPE, 1, PLAIN},                              /* tensor_type */
};

enum { LENGTH_BYTES = 5 };

struct skim {
    const char *name;
    const uint8_t *bytes; /* of the whole file */
    size_t at;
    struct skimmed *out;
    size_t room;
    struct error *error;
};

static enum status wrong(const struct skim *s, size_t at, const char *what)
{
    return error_set(s->error, STATUS_INVALID, "%s: byte %zu: %s, expected a model of ONNX",
                     s->name, at, what);
}

static enum status put(struct skim *s, const uint8_t *bytes, size_t size)
{
    struct skimmed *out = s->out;
    if (size > SKIM_MAX_BYTES - out->size)
        return error_set(s->error, STATUS_TOO_LARGE,
                         "%s: its graph takes more than %d MiB without what tensors hold", s->name,
                         SKIM_MAX_BYTES >> 20);
    if (out->size + size > s->room) {
        size_t room = 2 * (out->size + size);
        uint8_t *grown = realloc(out->bytes, room);
        if (!grown)
            return error_memory(s->error);
        out->bytes = grown;
        s->room = room;
    }
    memcpy(out->bytes + out->size, bytes, size);
    out->size += size;
    return STATUS_OK;
}

static bool read_varint(struct skim *s, size_t end, uint64_t *value)
{
    *value = 0;
    for (int shift = 0; shift < 64 && s->at < end; shift += 7) {
        uint8_t byte = s->bytes[s->at++];
        *value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return true;
    }
    return false;
}

static bool is_kept(enum message message, uint64_t field, enum message *kept)
{
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (fields[i].message == message && (uint64_t)fields[i].field == field) {
            *kept = fields[i].kept;
            return true;
        }
    return false;
}

static enum status copy_message(struct skim *s, enum message message, size_t end);

/* Copies what a message within another one keeps, after its tag. */
static enum status copy_inner(struct skim *s, enum message message, size_t end)
{
    static const uint8_t length[LENGTH_BYTES] = {0x80, 0x80, 0x80, 0x80, 0};
    TRY(put(s, length, sizeof length));
    size_t begin = s->out->size;
    TRY(copy_message(s, message, end));
    for (int i = 0; i < LENGTH_BYTES; i++)
        s->out->bytes[begin - LENGTH_BYTES + (size_t)i] |=
            (uint8_t)((s->out->size - begin) >> (7 * i) & 0x7f);
    return STATUS_OK;
}

/* A field whose tag began at `start`: where it ends, and where its bytes begin. */
static enum status find_end(struct skim *s, uint64_t tag, size_t start, size_t end,
                            size_t *field_end)
{
    uint64_t length = 0;
    bool is_whole = true;
    switch (tag & 7) {
    case WIRE_VARINT:
        is_whole = read_varint(s, end, &length);
        length = 0;
        break;
    case WIRE_64:
        length = 8;
        break;
    case WIRE_32:
        length = 4;
        break;
    case WIRE_BYTES:
        is_whole = read_varint(s, end, &length);
        break;
    default:
        return wrong(s, start, "a field of a kind that ONNX has not");
    }
    if (!is_whole || length > end - s->at)
        return wrong(s, start, "a field that ends behind what it is in");
    *field_end = s->at + (size_t)length;
    return STATUS_OK;
}

static enum status copy_field(struct skim *s, enum message message, size_t end)
{
    size_t start = s->at, tag_end, field_end = 0;
    uint64_t tag;
    enum message kept;
    if (!read_varint(s, end, &tag) || tag >> 3 == 0)
        return wrong(s, start, "not the tag of a field");
    tag_end = s->at;
    TRY(find_end(s, tag, start, end, &field_end));
    if (!is_kept(message, tag >> 3, &kept) || (kept == DATA && field_end - s->at > SKIM_MAX_DATA)) {
        s->at = field_end;
        return STATUS_OK;
    }
    if (kept == PLAIN || kept == DATA || (tag & 7) != WIRE_BYTES) {
        s->at = field_end;
        return put(s, s->bytes + start, field_end - start);
    }
    TRY(put(s, s->bytes + start, tag_end - start));
    return copy_inner(s, kept, field_end);
}

static enum status copy_message(struct skim *s, enum message message, size_t end)
{
    while (s->at < end)
        TRY(copy_field(s, message, end));
    return STATUS_OK;
}

enum status onnx_skim(const char *name, const uint8_t *bytes, size_t size, struct skimmed *skimmed,
                      struct error *error)
{
    struct skim s = {.name = name, .bytes = bytes, .out = skimmed, .error = error};
    *skimmed = (struct skimmed){0};
    enum status status = copy_message(&s, MODEL, size);
    if (status != STATUS_OK)
        free(skimmed->bytes);
    return status;
}
