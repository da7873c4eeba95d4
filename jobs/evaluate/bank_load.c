/* Collects what bank_read hands over row by row. Texts of a row belong to the reader and are
 * dropped. Whoever keeps going gets bad records noted with their reasons; otherwise the first of
 * them ends the loading. */
#include "core/array.h"
#include "jobs/evaluate/evaluation.h"

#include "formats/bank.h"

#include <stdlib.h>
#include <string.h>

static enum status add_row(void *context, const struct bank_row *row, struct error *error)
{
    struct bank *bank = context;
    if (!array_room(&bank->rows, (int64_t)bank->count, sizeof *bank->rows))
        return error_memory(error);
    struct bank_row *added = &bank->rows[bank->count++];
    *added = *row;
    added->text = added->key = NULL;
    added->text_length = 0;
    return STATUS_OK;
}

static enum status add_bad(void *context, int record, int line, const struct error *why)
{
    struct bank *bank = context;
    bool fits = array_room(&bank->bad, (int64_t)bank->bad_count, sizeof *bank->bad);
    char *text = fits ? strdup(why->text) : NULL;
    if (!text)
        return STATUS_NO_MEMORY;
    bank->bad[bank->bad_count++] = (struct bad_record){record, line, text};
    return STATUS_OK;
}

enum status bank_load(const char *file, int format, bool keep_going, struct bank *bank,
                      struct error *error)
{
    *bank = (struct bank){.file = file};
    struct bank_reader reader = {
        .row = add_row, .bad = keep_going ? add_bad : NULL, .context = bank};
    enum status status = bank_read(file, format, &reader, &bank->format, error);
    if (status == STATUS_NO_MEMORY)
        error_memory(error);
    if (status != STATUS_OK)
        bank_clear(bank);
    return status;
}

void bank_clear(struct bank *bank)
{
    for (size_t i = 0; i < bank->bad_count; i++)
        free(bank->bad[i].text);
    free(bank->bad);
    free(bank->rows);
    *bank = (struct bank){.file = bank->file};
}

int bank_row_name(const struct bank_row *row)
{
    bool lines = row->format == BANK_REPOSITORY || row->format == BANK_RUNTIME_KB;
    return lines ? row->line : row->record;
}

int bank_cores(const char *file)
{
    const char *slash = strrchr(file, '/');
    const char *mark = strstr(slash ? slash + 1 : file, "_AiCore");
    const char *start = mark;
    while (start && start > file && start[-1] >= '0' && start[-1] <= '9')
        start--;
    return start && start < mark && start > file && start[-1] == '_' && mark - start <= 4
               ? (int)strtol(start, NULL, 10)
               : 0;
}
