/* What a function that can fail returns, and the one line a user reads about it.
 *
 * A function that can fail returns enum status and fills the struct error that its caller owns;
 * after a failure its outputs are as if it had not been called unless its header says otherwise.
 * "No answer" (no legal tiling, a deadlock) is a value, never an error. */
#ifndef AUTOTUNE_CORE_STATUS_H
#define AUTOTUNE_CORE_STATUS_H

#include <stdbool.h>
#include <stddef.h>

enum status {
    STATUS_OK = 0,
    STATUS_INVALID,   /* an input breaks a rule; the text names file, line, value, expectation */
    STATUS_TOO_LARGE, /* legal, but beyond a documented limit */
    STATUS_NO_MEMORY,
    STATUS_IO,
    STATUS_STOPPED, /* told to end early (core/stop.h): neither an answer nor an error */
};

enum { ERROR_COLUMNS = 76 }; /* of a line that is shown */

struct error {
    enum status status;
    char text[512]; /* one line, without "autotune:" and without a newline */
    /* The line of a file that it is about, and below it a caret under the column: two lines, the
     * last one without a newline; "" where the column is not known. */
    char excerpt[512];
};

/* Shows where in a line of `length` bytes the error that was set is: at this byte, from 0 on. Every
 * character takes a column, a tab one too, and '?' stands for what is not shown; of a long line
 * there is what is around the byte. An empty line has nothing to show. */
void error_show(struct error *error, const char *line, size_t length, size_t at);

/* Both fill *error (which may be NULL) and return the status given, so that a caller can write
 * `return error_set(error, STATUS_IO, …)`. error_at starts the text with "file:line: "; a line of
 * 0 or less leaves the number out. */
enum status error_set(struct error *error, enum status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
enum status error_at(struct error *error, const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Returns from the function around it what the call in parentheses returns, unless that is
 * STATUS_OK: for functions that have nothing to clean up. */
#define TRY(...)                                                                                   \
    do {                                                                                           \
        enum status try_status = (__VA_ARGS__);                                                    \
        if (try_status != STATUS_OK)                                                               \
            return try_status;                                                                     \
    } while (0)

/* Was memory short since the program began? What is made then may lack something, whoever took the
 * failure for one of many reasons: it is not let out (cli/say.c, cli/files.c). */
void memory_note_short(void);
bool memory_was_short(void);

/* STATUS_NO_MEMORY with the standard text, noted. Here, so that an analyser sees that it never
 * returns STATUS_OK. */
static inline enum status error_memory(struct error *error)
{
    memory_note_short();
    error_set(error, STATUS_NO_MEMORY, "out of memory");
    return STATUS_NO_MEMORY;
}

#endif
