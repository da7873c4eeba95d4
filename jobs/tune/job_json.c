#include "jobs/tune/job_json.h"

#include <math.h>

bool job_get_integer(const json_t *object, const char *name, int64_t least, int64_t *value)
{
    const json_t *member = json_object_get(object, name);
    *value = json_integer_value(member);
    return json_is_integer(member) && *value >= least;
}

bool job_get_count(const json_t *object, const char *name, int most, int *value)
{
    int64_t number;
    bool good = job_get_integer(object, name, 0, &number) && number <= most;
    *value = good ? (int)number : 0;
    return good;
}

bool job_get_real(const json_t *object, const char *name, double *value)
{
    const json_t *member = json_object_get(object, name);
    *value = json_number_value(member);
    return json_is_number(member) && isfinite(*value) && *value >= 0;
}

bool job_get_known(const json_t *object, const char *name, double *value)
{
    *value = 0;
    return json_is_null(json_object_get(object, name)) || job_get_real(object, name, value);
}

bool job_get_bool(const json_t *object, const char *name, bool *value)
{
    const json_t *member = json_object_get(object, name);
    *value = json_is_true(member);
    return json_is_boolean(member);
}
