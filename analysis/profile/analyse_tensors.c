/* Lists are walked in place, entry by entry, without a copy: rows come by the million. Numbers are
 * doubles, since a product of eight sizes is beyond 64 bits. */
#include "analysis/profile/analyse_tensors.h"

#include "core/dtype.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char around[] = "\" \t\r\n";

static bool is_absent(const char *list)
{
    list += strspn(list, around);
    return strncasecmp(list, "N/A", 3) == 0 && list[3 + strspn(list + 3, around)] == 0;
}

int list_count(const char *list)
{
    int count = 1;
    if (!*list || is_absent(list))
        return 0;
    for (; *list; list++)
        count += *list == ';';
    return count;
}

const char *list_entry(const char *list, int index, int *length)
{
    for (; index > 0 && *list; index--)
        list += strcspn(list, ";") + (strchr(list, ';') != NULL);
    list += strspn(list, around);
    *length = (int)strcspn(list, ";");
    while (*length && strchr(around, list[*length - 1]))
        --*length;
    return list;
}

/* A size: digits, and not so many that it exceeds a billion. */
static bool read_size(const char **at, const char *end, double *size)
{
    const char *begin = *at;
    *size = 0;
    while (*at < end && **at >= '0' && **at <= '9' && *size <= 1e9)
        *size = 10 * *size + (*(*at)++ - '0');
    return *at > begin && *size <= 1e9;
}

bool tensor_read(const char *list, int index, struct tensor *tensor)
{
    int length;
    const char *at = list_entry(list, index, &length), *end = at + length;
    tensor->count = 0;
    if (index >= list_count(list))
        return false;
    while (at < end) {
        if (tensor->count == TENSOR_MAX_DIMENSIONS ||
            !read_size(&at, end, &tensor->size[tensor->count++]))
            return false;
        if (at < end && (*at++ != ',' || at == end))
            return false;
    }
    return true;
}

double tensor_elements(const struct tensor *tensor)
{
    double elements = 1;
    for (int i = 0; i < tensor->count; i++)
        elements *= tensor->size[i];
    return elements;
}

int data_type_of(const char *list, int index)
{
    int length;
    const char *text = list_entry(list, index, &length);
    return dtype_find_profiled(text, length);
}
