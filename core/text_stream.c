/* A cookie of stdio's (fopencookie, of glibc) that grows by doubling. */
#include "core/text_stream.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#endif

struct text_stream {
    char **text;
    size_t *length, room;
    bool failed;
};

static ssize_t append(void *cookie, const char *bytes, size_t count)
{
    struct text_stream *stream = cookie;
    size_t used = *stream->length, needed = used + count + 1;
    if (stream->failed || needed < count)
        return 0;
    if (needed > stream->room) {
        size_t room = needed > 2 * stream->room ? needed : 2 * stream->room;
        char *larger = realloc(*stream->text, room);
        if (!larger) {
            stream->failed = true;
            return 0;
        }
        *stream->text = larger;
        stream->room = room;
    }
    memcpy(*stream->text + used, bytes, count);
    *stream->length = used + count;
    (*stream->text)[used + count] = 0;
    return (ssize_t)count;
}

static int close_stream(void *cookie)
{
    struct text_stream *stream = cookie;
    bool failed = stream->failed;
    if (failed) {
        free(*stream->text);
        *stream->text = NULL;
        *stream->length = 0;
    }
    free(stream);
    return failed ? EOF : 0;
}

FILE *text_stream_open(char **text, size_t *length)
{
    struct text_stream *stream = calloc(1, sizeof *stream);
    *text = calloc(1, 1);
    *length = 0;
    if (stream && *text) {
        *stream = (struct text_stream){.text = text, .length = length, .room = 1};
        FILE *file = fopencookie(stream, "w",
                                 (cookie_io_functions_t){.write = append, .close = close_stream});
#ifdef __SANITIZE_ADDRESS__
        if (file) /* the sanitizer wraps cookies where it does not look for what they lead to */
            __lsan_ignore_object(stream);
#endif
        if (file)
            return file;
    }
    free(stream);
    free(*text);
    *text = NULL;
    return NULL;
}
