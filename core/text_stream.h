/* A stream whose text is kept in memory, as that of open_memstream, which however forgets that it
 * had none: once memory was short, closing this one fails. */
#ifndef AUTOTUNE_CORE_TEXT_STREAM_H
#define AUTOTUNE_CORE_TEXT_STREAM_H

#include <stddef.h>
#include <stdio.h>

/* NULL without memory. After fflush or fclose *text is what was written, with a 0 behind it, and
 * *length its bytes; the caller frees it, NULL where fclose fails. Both outlive the stream. */
FILE *text_stream_open(char **text, size_t *length);

#endif
