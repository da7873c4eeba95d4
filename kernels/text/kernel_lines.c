/* The body: loops, tiles, lets and steps, which kernel_steps.c reads. Lines go into one array in
 * the order of the text; who is around whom is known by numbers. */
#include "kernels/text/kernel_parser.h"

#include "core/array.h"

/* The next line of the kernel; it goes with the next one. */
static enum status add_line(struct kernel_parser *parser, enum kernel_line_kind kind,
                            struct expression *stage, int number, struct kernel_step *step)
{
    struct kernel_text *kernel = parser->kernel;
    if (!array_room(&kernel->lines, kernel->line_count, sizeof *kernel->lines))
        return error_memory(parser->error);
    kernel->lines[kernel->line_count++] = (struct kernel_line){
        .kind = kind,
        .at = {parser->line, parser->tokens[0].column},
        .around = parser->depth ? parser->open[parser->depth - 1] : -1,
        .number = number,
        .step = step,
        .stage = stage,
    };
    return STATUS_OK;
}

static enum status parse_for(struct kernel_parser *parser, struct expression *stage)
{
    struct kernel_loop loop = {.line = parser->kernel->line_count};
    int number;
    if (parser->depth == KERNEL_MAX_DEPTH)
        return kernel_fail(parser, STATUS_TOO_LARGE, reader_place(parser),
                           "loops nested deeper than %d", KERNEL_MAX_DEPTH);
    TRY(reader_name(parser, false, &loop.name));
    parser->declaring = loop.name;
    TRY(reader_expect(parser, "in"));
    TRY(reader_expression(parser, &wanted_whole, &loop.in));
    TRY(reader_expect(parser, "by"));
    TRY(reader_expression(parser, &wanted_whole, &loop.by));
    loop.each = reader_take(parser, "each");
    TRY(reader_declare(parser, NAME_LOOP, &loop.name, &number));
    parser->kernel->loops[number] = loop;
    TRY(add_line(parser, LINE_FOR, stage, number, NULL));
    parser->open[parser->depth++] = number;
    return STATUS_OK;
}

static enum status parse_let(struct kernel_parser *parser)
{
    struct kernel_let let = {.line = parser->kernel->line_count};
    int number;
    TRY(reader_name(parser, false, &let.name));
    TRY(reader_expect(parser, "="));
    parser->declaring = let.name;
    TRY(reader_expression(parser, &wanted_let, &let.value));
    TRY(reader_declare(parser, NAME_LET, &let.name, &number));
    parser->kernel->lets[number] = let;
    return add_line(parser, LINE_LET, NULL, number, NULL);
}

/* "x2" is a name; copies are "x 2". */
static enum status check_blank(struct kernel_parser *parser)
{
    const struct token *token = reader_peek(parser);
    if (token->kind != TOKEN_WORD || token->text[0] != 'x' || token->length < 2)
        return STATUS_OK;
    return FAIL(parser, "'%.*s', expected 'x %.*s' for copies", token->length, token->text,
                token->length - 1, token->text + 1);
}

static enum status parse_tile(struct kernel_parser *parser)
{
    struct kernel_tile tile = {.line = parser->kernel->line_count};
    int number;
    TRY(reader_name(parser, false, &tile.name));
    TRY(reader_expect(parser, ":"));
    parser->declaring = tile.name;
    TRY(reader_foreign(parser, "a buffer", tile.buffer));
    TRY(reader_dims(parser, &wanted_whole, &tile.dims, &tile.dim_count));
    TRY(reader_type(parser, &tile.type));
    TRY(check_blank(parser));
    if (reader_take(parser, "x"))
        TRY(reader_tight(parser, &wanted_count, &tile.copies));
    if (reader_take(parser, "at"))
        TRY(reader_life(parser, &tile.life));
    TRY(reader_declare(parser, NAME_TILE, &tile.name, &number));
    parser->kernel->tiles[number] = tile;
    return add_line(parser, LINE_TILE, NULL, number, NULL);
}

static enum status parse_step(struct kernel_parser *parser, struct expression *stage)
{
    struct kernel_step *step = kernel_allocate(parser->kernel, sizeof *step);
    if (!step)
        return error_memory(parser->error);
    TRY(reader_step(parser, step));
    return add_line(parser, LINE_STEP, stage, 0, step);
}

static enum status parse_stage(struct kernel_parser *parser, struct expression **stage)
{
    struct kernel_place at = reader_place(parser);
    if (!reader_take(parser, "@"))
        return STATUS_OK;
    if (!parser->depth)
        return FAIL_AT(parser, at, "'@' outside of any loop, expected inside one");
    TRY(reader_tight(parser, &wanted_count, stage));
    const struct token *token = reader_peek(parser);
    if (token_is(token, "let") || token_is(token, "tile"))
        return reader_fail_expected(parser, "'for' or a step behind '@'");
    return STATUS_OK;
}

enum status reader_line(struct kernel_parser *parser)
{
    struct expression *stage = NULL;
    parser->has_body = true;
    TRY(parse_stage(parser, &stage));
    if (reader_take(parser, "for"))
        TRY(parse_for(parser, stage));
    else if (reader_take(parser, "let"))
        TRY(parse_let(parser));
    else if (reader_take(parser, "tile"))
        TRY(parse_tile(parser));
    else
        TRY(parse_step(parser, stage));
    parser->declaring.text[0] = '\0';
    return reader_expect_end(parser);
}
