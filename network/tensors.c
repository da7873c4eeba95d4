/* Lists are walked once, each by a pointer of its own (network/tensors.h). Profilers put a list in
 * quotation marks of its own and write N/A for none. */
#include "network/tensors.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

static const char around[] = "\" \t\r\n";

static bool is_absent(const char *list)
{
    list += strspn(list, around);
    size_t length = strncasecmp(list, "N/A", 3) == 0 ? 3 : 0;
    return list[length + strspn(list + length, around)] == '\0';
}

static int count_entries(const char *list)
{
    int count = 1;
    for (; *list; list++)
        count += *list == ';';
    return count;
}

int tensors_count(const struct tensor_lists *lists)
{
    if (is_absent(lists->types))
        return is_absent(lists->shapes) ? 0 : -1;
    int count = count_entries(lists->types);
    bool agree = count_entries(lists->shapes) == count && count_entries(lists->formats) == count;
    return agree && count <= CALL_MAX_TENSORS ? count : -1;
}

/* The next entry without what stands around it; the list goes on behind it. */
static const char *next_entry(const char **list, int *length)
{
    size_t all = strcspn(*list, ";");
    const char *entry = *list;
    *list += all + ((*list)[all] == ';');
    for (; all && strchr(around, *entry); entry++)
        all--;
    while (all && strchr(around, entry[all - 1]))
        all--;
    *length = (int)all;
    return entry;
}

/* A size: digits, of which no more are read than a tensor may have elements. */
static bool read_size(const char **at, const char *end, int64_t *size)
{
    const char *begin = *at;
    for (*size = 0; *at < end && **at >= '0' && **at <= '9' && *size <= TENSOR_MAX_BYTES; ++*at)
        *size = 10 * *size + (**at - '0');
    return *at > begin && *size <= TENSOR_MAX_BYTES;
}

static bool read_shape(const char *at, int length, struct operator_tensor *tensor)
{
    const char *end = at + length;
    for (tensor->rank = 0; at < end; tensor->rank++) {
        if (tensor->rank == TENSOR_MAX_RANK || !read_size(&at, end, &tensor->size[tensor->rank]))
            return false;
        if (at < end && ((*at != 'x' && *at != ',') || ++at == end))
            return false;
    }
    return true;
}

/* Of what is quoted, so much is shown. */
static int shown(int length)
{
    return length < 40 ? length : 40;
}

bool tensors_read(const struct tensor_lists *lists, int count, struct operator_tensor *tensors,
                  char why[TENSOR_WHY_SIZE])
{
    struct tensor_lists rest = *lists;
    for (int t = 0; t < count; t++) {
        int length, shape_length, type;
        const char *shape = next_entry(&rest.shapes, &shape_length);
        const char *text = next_entry(&rest.formats, &length);
        tensors[t].format = tensor_format_find(text, length);
        text = next_entry(&rest.types, &length);
        type = lists->find_type(text, length);
        if (type < 0) {
            snprintf(why, TENSOR_WHY_SIZE, "tensor %d: no type is called '%.*s'", t + 1,
                     shown(length), text);
            return false;
        }
        tensors[t].type = (enum dtype)type;
        if (!read_shape(shape, shape_length, &tensors[t]) || !tensor_measure(&tensors[t])) {
            snprintf(why, TENSOR_WHY_SIZE,
                     "tensor %d: shape '%.*s', expected up to %d sizes, and at most %lld bytes",
                     t + 1, shown(shape_length), shape, TENSOR_MAX_RANK,
                     (long long)TENSOR_MAX_BYTES);
            return false;
        }
    }
    return true;
}
