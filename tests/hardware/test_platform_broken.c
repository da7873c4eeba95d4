/* Broken platform files: each class is refused with file, line and expectation, and whatever is
 * done to a good one, the answer is a good description or one line about the file. */
#include "tests/hardware_files.h"
#include "tests/support/cases.h"

#include <gsl/gsl_rng.h>
#include <math.h>

TestSuite(platform_broken, .init = enter, .fini = leave);

static const char good[] = "[version]\n"                     /* 1 */
                           "SoC_version=Test\n"              /* 2 */
                           "[SoCInfo]\n"                     /* 3 */
                           "ai_core_cnt=6\n"                 /* 4 */
                           "cube_core_cnt=4\n"               /* 5 */
                           "cube_vector_combine=split\n"     /* 6 */
                           "l2_type=0\n"                     /* 7 */
                           "[AICoreSpec]\n"                  /* 8 */
                           "cube_freq=800\n"                 /* 9 */
                           "cube_m_size=16\n"                /* 10 */
                           "cube_n_size=16\n"                /* 11 */
                           "cube_k_size=16\n"                /* 12 */
                           "vec_calc_size=128\n"             /* 13 */
                           "l0_a_size=65536\n"               /* 14 */
                           "l0_b_size=65536\n"               /* 15 */
                           "l0_c_size=131072\n"              /* 16 */
                           "l1_size=524288\n"                /* 17 */
                           "ub_size=196608\n"                /* 18 */
                           "[AICoreMemoryRates]\n"           /* 19 */
                           "l2_read_rate=110\n"              /* 20 */
                           "l2_write_rate=86\n"              /* 21 */
                           "l1_to_l0_a_rate=512\n"           /* 22 */
                           "l1_to_l0_b_rate=256\n"           /* 23 */
                           "ub_to_l2_rate=64\n"              /* 24 */
                           "[DtypeMKN]\n"                    /* 25 */
                           "Default=16,16,16\n"              /* 26 */
                           "DT_INT8=16,32,16\n"              /* 27 */
                           "[VectorCoreintrinsicDtypeMap]\n" /* 28 */
                           "0=Intrinsic_vrec|float16\n";     /* 29 */

struct broken {
    const char *from, *to; /* the first `from` of the text becomes `to` */
    int line;              /* of the message */
    const char *message;   /* its beginning, right behind "file:line: " */
};

static void expect_broken(const struct broken *broken)
{
    char *changed = replaced(good, broken->from, broken->to), expected[600];
    struct hardware hw;
    struct error error = {0};
    write_file("broken.ini", changed);
    const char *path = in_folder("broken.ini");
    snprintf(expected, sizeof expected, "%s:%d: %s", path, broken->line, broken->message);
    enum status status = hardware_load(path, NULL, &hw, &error);
    cr_expect_eq(status, STATUS_INVALID, "\"%s\" is taken", broken->to);
    cr_expect(strncmp(error.text, expected, strlen(expected)) == 0, "%s\ngives    %s\nexpected %s",
              broken->to, error.text, expected);
    cr_expect_null(hw.facts);
    free(changed);
}

#define EXPECT_ALL_BROKEN(table)                                                                   \
    for (size_t i = 0; i < sizeof(table) / sizeof *(table); i++)                                   \
    expect_broken(&(table)[i])

#define MHZ     "expected a number from 1 to 100000 MHz"
#define CORES   "expected a whole number from 1 to 4096 cores"
#define BYTES   "expected a whole number from 1 to 1099511627776 bytes"
#define RATE    "expected a number from 0.001 to 100000 bytes a cycle, or a fraction such as 3/2"
#define BLOCK   "expected m,k,n: three whole numbers from 1 to 4096"
#define NEITHER "expected [section], key=value or a comment"

Test(platform_broken, good_one_is_good)
{
    struct hardware hw;
    write_file("good.ini", good);
    load_ok(in_folder("good.ini"), NULL, &hw);
    hardware_clear(&hw);
}

Test(platform_broken, form)
{
    static const struct broken broken[] = {
        {"cube_freq=800", "cube_freq 800", 9, "\"cube_freq 800\", " NEITHER},
        {"cube_freq=800", "cube_freq", 9, "\"cube_freq\", " NEITHER},
        {"cube_freq=800", "=800", 9, "expected a key of 1 to 63 characters before the ="},
        {"cube_freq=800", " = ", 9, "expected a key of 1 to 63 characters"},
        {"cube_freq=800", "cube_freq:800", 9, "\"cube_freq:800\", " NEITHER},
        {"[AICoreSpec]", "[AICoreSpec", 8, "a section without its end, expected [name]"},
        {"[AICoreSpec]", "[AICoreSpec] # x", 8, "a section without its end"},
        {"[AICoreSpec]", "[AICoreSpec]]", 8, "a section without its end"},
        {"[AICoreSpec]", "[]", 8, "expected the name of a section"},
        {"[AICoreSpec]", "[ \t]", 8, "expected the name of a section"},
        {"[AICoreSpec]", "AICoreSpec]", 8, "\"AICoreSpec]\", " NEITHER},
        {"[version]", "x=1\n[version]", 1, "x: a key before the first section"},
        {"[version]", "<?xml?>", 1, "\"<?xml?>\", " NEITHER},
        {"[version]", "{\"a\": 1}", 1, "\"{\"a\": 1}\", " NEITHER},
        {"0=Intrinsic", "junk\n0=Intrinsic", 29, "\"junk\", " NEITHER},
        {"cube_freq=800", "cube_freq=8\x01", 9, "a control character or malformed UTF-8"},
        {"cube_freq=800", "cube_freq=8\r0", 9, "a control character"},
        {"cube_freq=800", "cube_freq=\x1b[31m800", 9, "a control character"},
        {"cube_freq=800", "cube\xff_freq=8", 9, "a control character or malformed UTF-8"},
        {"cube_freq=800", "cube_freq=\xc3", 9, "a control character or malformed UTF-8"},
        {"0=Intrinsic", "0=\x7f", 29, "a control character"},
        {"[version]", "\xff\xfe[version]", 1, "UTF-16, expected text in UTF-8"},
        {"[version]", "\xef\xbb\xbf\xef\xbb\xbf[version]", 1,
         "a control character or malformed UTF-8"},
    };
    EXPECT_ALL_BROKEN(broken);
}

Test(platform_broken, twice)
{
    static const struct broken broken[] = {
        {"cube_freq=800", "cube_freq=800\ncube_freq=800", 10,
         "cube_freq: given twice, expected once (line 9 has cube_freq)"},
        {"cube_freq=800", "cube_freq=800\ncubeFreq=900", 10,
         "cubeFreq: given twice, expected once (line 9 has cube_freq)"},
        {"cube_freq=800", "cube_freq=\nCUBE_FREQ=900", 10, "CUBE_FREQ: given twice"},
        {"ub_size=196608", "x=1\nx=2", 19, "x: given twice, expected once (line 18 has x)"},
        {"[DtypeMKN]", "[AICoreSpec]", 25, "[AICoreSpec]: given twice, expected once (line 8"},
        {"[DtypeMKN]", "[SoCInfo]", 25, "[SoCInfo]: given twice, expected once (line 3"},
        {"[DtypeMKN]", "[ai_core_spec]", 25, "[ai_core_spec]: given twice"},
        {"DT_INT8=16,32,16", "default=16,16,16", 27, "default: given twice"},
    };
    EXPECT_ALL_BROKEN(broken);
}

Test(platform_broken, numbers)
{
    static const struct broken broken[] = {
        {"cube_freq=800", "cube_freq=fast", 9, "cube_freq: \"fast\", " MHZ},
        {"cube_freq=800", "cube_freq=0", 9, "cube_freq: \"0\", " MHZ},
        {"cube_freq=800", "cube_freq=0.5", 9, "cube_freq: \"0.5\", " MHZ},
        {"cube_freq=800", "cube_freq=800000000", 9, "cube_freq: \"800000000\", " MHZ},
        {"cube_freq=800", "cube_freq=-800", 9, "cube_freq: \"-800\", " MHZ},
        {"cube_freq=800", "cube_freq=+800", 9, "cube_freq: \"+800\", " MHZ},
        {"cube_freq=800", "cube_freq=8e2", 9, "cube_freq: \"8e2\", " MHZ},
        {"cube_freq=800", "cube_freq=0x320", 9, "cube_freq: \"0x320\", " MHZ},
        {"cube_freq=800", "cube_freq=nan", 9, "cube_freq: \"nan\", " MHZ},
        {"cube_freq=800", "cube_freq=inf", 9, "cube_freq: \"inf\", " MHZ},
        {"cube_freq=800", "cube_freq=800 MHz", 9, "cube_freq: \"800 MHz\", " MHZ},
        {"cube_freq=800", "cube_freq=800 # MHz", 9, "cube_freq: \"800 # MHz\", " MHZ},
        {"cube_freq=800", "cube_freq=8,00", 9, "cube_freq: \"8,00\", " MHZ},
        {"cube_freq=800", "cube_freq=\"800\"", 9, "cube_freq: \"\"800\"\", " MHZ},
        {"cube_freq=800", "cube_freq==800", 9, "cube_freq: \"=800\", " MHZ},
        {"cube_freq=800", "cube_freq=1600/2", 9, "cube_freq: \"1600/2\", " MHZ},
        {"cube_freq=800", "cube_freq=800.", 9, "cube_freq: \"800.\", " MHZ},
        {"cube_freq=800", "cube_freq=.8", 9, "cube_freq: \".8\", " MHZ},
        {"cube_freq=800", "cube_freq=8.0.0", 9, "cube_freq: \"8.0.0\", " MHZ},
        {"cube_core_cnt=4", "cube_core_cnt=0", 5, "cube_core_cnt: \"0\", " CORES},
        {"cube_core_cnt=4", "cube_core_cnt=4.5", 5, "cube_core_cnt: \"4.5\", " CORES},
        {"cube_core_cnt=4", "cube_core_cnt=4097", 5, "cube_core_cnt: \"4097\", " CORES},
        {"cube_core_cnt=4", "cube_core_cnt=99999999999999999999", 5, "cube_core_cnt: \"9999"},
        {"l1_size=524288", "l1_size=0", 17, "l1_size: \"0\", " BYTES},
        {"l1_size=524288", "l1_size=512K", 17, "l1_size: \"512K\", " BYTES},
        {"l1_size=524288", "l1_size=1099511627777", 17, "l1_size: \"1099511627777\", " BYTES},
        {"l0_a_size=65536", "l0ASize=x", 14, "l0ASize: \"x\", " BYTES},
        {"ub_size=196608", "ub_size=131072/2", 18, "ub_size: \"131072/2\", " BYTES},
        {"vec_calc_size=128", "vec_calc_size=1", 13,
         "vec_calc_size: \"1\", expected a whole number from 2 to 32768 elements of f16"},
        {"vec_calc_size=128", "vec_calc_size=65536", 13, "vec_calc_size: \"65536\", expected"},
        {"vec_calc_size=128", "vec_calc_size=3", 13,
         "vector_repeat_bytes: 6, expected a multiple of 4 bytes"},
        {"l2_read_rate=110", "l2_read_rate=0", 20, "l2_read_rate: \"0\", " RATE},
        {"l2_read_rate=110", "l2_read_rate=-1", 20, "l2_read_rate: \"-1\", " RATE},
        {"l2_read_rate=110", "l2_read_rate=100001", 20, "l2_read_rate: \"100001\", " RATE},
        {"l2_read_rate=110", "l2_read_rate=1/0", 20, "l2_read_rate: \"1/0\", " RATE},
        {"l2_read_rate=110", "l2_read_rate=/2", 20, "l2_read_rate: \"/2\", " RATE},
        {"l2_read_rate=110", "l2_read_rate=1/", 20, "l2_read_rate: \"1/\", " RATE},
        {"l2_read_rate=110", "l2_read_rate=1/2/3", 20, "l2_read_rate: \"1/2/3\", " RATE},
        {"l2_read_rate=110", "l2_read_rate=1 / 2", 20, "l2_read_rate: \"1 / 2\", " RATE},
        {"l2_read_rate=110", "l2_read_rate=1/100000", 20, "l2_read_rate: \"1/100000\", " RATE},
        {"ub_to_l2_rate=64", "ub_to_l2_rate=many", 24, "ub_to_l2_rate: \"many\", " RATE},
        {"l1_to_l0_a_rate=512", "l1_to_l0_a_rate=512,256", 22, "l1_to_l0_a_rate: \"512,256\", "},
        /* in range by themselves, but not times the clock */
        {"l1_to_l0_a_rate=512", "l1_to_l0_a_rate=0.001", 22,
         "paths.l1->l0a.bytes_per_cycle: 0.001, expected a number from 0.00125 to 1250000 bytes a "
         "cycle"},
        {"Default=16,16,16", "Default=16,16", 26, "Default: \"16,16\", " BLOCK},
        {"Default=16,16,16", "Default=16,16,16,16", 26, "Default: \"16,16,16,16\", " BLOCK},
        {"Default=16,16,16", "Default=16,0,16", 26, "Default: \"16,0,16\", " BLOCK},
        {"Default=16,16,16", "Default=16;16;16", 26, "Default: \"16;16;16\", " BLOCK},
        {"Default=16,16,16", "Default=16,1 6,16", 26, "Default: \"16,1 6,16\", " BLOCK},
        {"Default=16,16,16", "Default=,,", 26, "Default: \",,\", " BLOCK},
        {"Default=16,16,16", "Default=4097,1,1", 26, "Default: \"4097,1,1\", " BLOCK},
        {"DT_INT8=16,32,16", "DT_INT8=wide", 27, "DT_INT8: \"wide\", " BLOCK},
        {"Default=16,16,16", "Default=4096,4096,4096", 26,
         "matrix.f16.block_flop: 137438953472, expected a whole number from 1 to 1000000000"},
    };
    EXPECT_ALL_BROKEN(broken);
}

Test(platform_broken, missing_and_odd)
{
    static const struct broken broken[] = {
        {"cube_freq=800\n", "", 8, "AICoreSpec.cube_freq: missing, expected it in MHz"},
        {"cube_freq=800", "cube_freq=", 9, "AICoreSpec.cube_freq: empty, expected it in MHz"},
        {"cube_freq=800", "cube_frequency=800", 8, "AICoreSpec.cube_freq: missing"},
        {"ai_core_cnt=6\ncube_core_cnt=4\n", "", 3,
         "SoCInfo.cube_core_cnt: missing, expected it in cores"},
        {"ai_core_cnt=6\ncube_core_cnt=4", "ai_core_cnt=\ncube_core_cnt=", 5,
         "SoCInfo.cube_core_cnt: empty, expected it in cores"},
        {"[SoCInfo]", "[SocketInfo]", 29, "ends without [SoCInfo], expected a whole CANN"},
        {"[AICoreSpec]", "[VectorCoreSpec]", 29, "ends without [AICoreSpec]"},
        {"[AICoreMemoryRates]", "[VectorCoreMemoryRates]", 29, "ends without [AICoreMemoryRates]"},
        {"cube_vector_combine=split", "cube_vector_combine=apart", 6,
         "cube_vector_combine: \"apart\", expected split, or a list with fuse"},
        {"cube_vector_combine=split", "cube_vector_combine=split,split", 6,
         "cube_vector_combine: \"split,split\", expected split"},
        {"l2_type=0", "l2_type=2", 7, "l2_type: \"2\", expected 0 for a cache or 1 for a buffer"},
        {"l2_type=0", "l2_type=cache", 7, "l2_type: \"cache\", expected 0"},
        {"SoC_version=Test",
         "SoC_version=1234567890123456789012345678901234567890123456789012345678901234", 2,
         "SoC_version: \"1234567890123456789012345678901234567890\", expected a name of at most"},
    };
    EXPECT_ALL_BROKEN(broken);
}

Test(platform_broken, sizes_without_their_section)
{
    char *text = replaced(good, "[DtypeMKN]", "[Other]");
    char *bad = replaced(text, "cube_k_size=16", "cube_k_size=16.5");
    write_file("sizes.ini", bad);
    expect_load_error(
        in_folder("sizes.ini"), NULL, STATUS_INVALID,
        "sizes.ini:12: cube_k_size: \"16.5\", expected a whole number from 1 to 4096");
    free(bad);
    free(text);
}

Test(platform_broken, limits_and_files)
{
    enum { LARGE = 300 * 1024 };
    char *large = malloc(LARGE + 1), *at = large;
    memset(large, '#', LARGE);
    large[LARGE] = '\0';
    write_bytes(in_folder("large.ini"), large, LARGE);
    write_bytes(in_folder("line.ini"), large, 5000);
    at += sprintf(at, "[SoCInfo]\n");
    for (int i = 0; i < 1025; i++)
        at += sprintf(at, "k%d=1\n", i);
    write_bytes(in_folder("keys.ini"), large, (size_t)(at - large));
    memset(large, 'k', 100);
    memcpy(large, "[x]\n", 4);
    memcpy(large + 100, "=1\n", 4);
    write_file("name.ini", large);
    memset(large, 'k', 100);
    large[0] = '[';
    memcpy(large + 100, "]\n", 3);
    write_file("section.ini", large);
    free(large);
    write_bytes(in_folder("zero.ini"), "[SoCInfo]\nx\0=1", 14);
    write_file("empty.ini", "");
    write_file("blank.ini", "\n\n  \n");
    cr_assert_eq(mkfifo(in_folder("fifo.ini"), 0600), 0);
    cr_assert_eq(mkdir(in_folder("folder.ini"), 0700), 0);
    expect_load_error(in_folder("large.ini"), NULL, STATUS_TOO_LARGE,
                      "large.ini: 307200 bytes, expected at most");
    expect_load_error(in_folder("line.ini"), NULL, STATUS_INVALID,
                      "line.ini:1: a line of more than 4096 bytes");
    expect_load_error(in_folder("keys.ini"), NULL, STATUS_INVALID,
                      "keys.ini:1026: too many keys, expected at most 1024");
    expect_load_error(in_folder("name.ini"), NULL, STATUS_INVALID, "name.ini:2: expected a key");
    expect_load_error(in_folder("section.ini"), NULL, STATUS_INVALID,
                      "section.ini:1: expected the name of a section");
    expect_load_error(in_folder("zero.ini"), NULL, STATUS_INVALID, "zero.ini:2: holds a byte of 0");
    expect_load_error(in_folder("empty.ini"), NULL, STATUS_INVALID,
                      "empty.ini:1: ends without [SoCInfo]");
    expect_load_error(in_folder("blank.ini"), NULL, STATUS_INVALID,
                      "blank.ini:3: ends without [SoCInfo]");
    expect_load_error(in_folder("fifo.ini"), NULL, STATUS_IO, "expected a regular file");
    expect_load_error(in_folder("folder.ini"), NULL, STATUS_IO, "expected a regular file");
    expect_load_error(in_folder("none.ini"), NULL, STATUS_IO, "none.ini: cannot be read: No such");
}

/* ---- whatever is done to a good file ---- */

struct text {
    char bytes[4096];
    size_t length;
};

static unsigned long below(gsl_rng *rng, size_t n)
{
    return n ? gsl_rng_uniform_int(rng, n) : 0;
}

static void splice(struct text *text, size_t at, size_t gone, const char *put, size_t count)
{
    if (text->length - gone + count > sizeof text->bytes)
        return;
    memmove(text->bytes + at + count, text->bytes + at + gone, text->length - at - gone);
    memcpy(text->bytes + at, put, count);
    text->length += count - gone;
}

static void cut(struct text *text, gsl_rng *rng)
{
    text->length = below(rng, text->length + 1);
}

static void drop(struct text *text, gsl_rng *rng)
{
    size_t at = below(rng, text->length), left = text->length - at;
    splice(text, at, 1 + below(rng, left < 30 ? left : 30), "", 0);
}

static void insert(struct text *text, gsl_rng *rng)
{
    static const char *const pieces[] = {
        "\n", "[",  "]", "=",  "0",           "9999",  "-",
        ".",  "/",  ",", "#",  ";",           "\r",    "\xff",
        "\0", "\t", "_", "e5", "l2_rate=1\n", "split", "\xef\xbb\xbf",
        "nan"};
    size_t which = below(rng, sizeof pieces / sizeof *pieces);
    size_t count = strlen(pieces[which]);
    splice(text, below(rng, text->length + 1), 0, pieces[which], count ? count : 1);
}

static void overwrite(struct text *text, gsl_rng *rng)
{
    if (text->length)
        text->bytes[below(rng, text->length)] = (char)gsl_rng_uniform_int(rng, 256);
}

static size_t line_start(const struct text *text, size_t at)
{
    while (at > 0 && text->bytes[at - 1] != '\n')
        at--;
    return at;
}

static size_t line_length(const struct text *text, size_t at)
{
    const char *end = memchr(text->bytes + at, '\n', text->length - at);
    return end ? (size_t)(end - text->bytes) - at + 1 : text->length - at;
}

/* Copies a line to another place: keys in other sections, keys twice. */
static void copy_line(struct text *text, gsl_rng *rng)
{
    char line[sizeof text->bytes];
    size_t from = line_start(text, below(rng, text->length)), length = line_length(text, from);
    memcpy(line, text->bytes + from, length);
    splice(text, line_start(text, below(rng, text->length)), 0, line, length);
}

static void swap_digits(struct text *text, gsl_rng *rng)
{
    for (int i = 0; i < 3 && text->length; i++) {
        size_t at = below(rng, text->length);
        if (text->bytes[at] >= '0' && text->bytes[at] <= '9')
            text->bytes[at] = (char)('0' + gsl_rng_uniform_int(rng, 10));
    }
}

static void swap_bytes(struct text *text, gsl_rng *rng)
{
    size_t a = below(rng, text->length), b = below(rng, text->length);
    char kept = text->bytes[a];
    text->bytes[a] = text->bytes[b];
    text->bytes[b] = kept;
}

static void (*const changes[])(struct text *text, gsl_rng *rng) = {
    cut, drop, insert, overwrite, copy_line, swap_digits, swap_bytes};

/* A good description obeys its rules to the last bus total. */
static void expect_good(const struct hardware *hw)
{
    cr_expect(hw->cores >= 1 && hw->cores <= 4096 && hw->clock_hz >= 1000000 && hw->name[0]);
    for (int b = 0; b < hw->bus_count; b++)
        for (int n = 2; n <= hw->buses[b].sharers; n++) {
            int64_t fewer = hw->buses[b].total_bytes_per_s[n - 2];
            int64_t total = hw->buses[b].total_bytes_per_s[n - 1];
            cr_expect(total >= fewer && total * (n - 1) <= fewer * n);
        }
    for (int p = 0; p < hw->price_count; p++)
        cr_expect(hw->prices[p].rate.units > 0 && hw->prices[p].rate.fs >= 0);
    for (size_t i = 0; i < hw->fact_count; i++)
        cr_expect(*hw->facts[i].source && *hw->facts[i].value &&
                  isfinite(strtod(hw->facts[i].value, NULL)));
}

static void expect_line(const char *path, const struct error *error)
{
    size_t length = strlen(path);
    cr_expect_eq(error->status, STATUS_INVALID, "%s", error->text);
    cr_expect(strncmp(error->text, path, length) == 0 && error->text[length] == ':' &&
                  error->text[length + 1] >= '1' && error->text[length + 1] <= '9',
              "%s", error->text);
    cr_expect_not(strchr(error->text, '\n'));
}

Test(platform_broken, random_changes)
{
    int runs = test_cases(700), taken = 0;
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    gsl_rng_set(rng, 910);
    const char *path = in_folder("random.ini");
    for (int i = 0; i < runs; i++) {
        struct text text = {.length = sizeof good - 1};
        struct hardware hw;
        struct error error = {0};
        memcpy(text.bytes, good, text.length);
        for (unsigned long n = 1 + below(rng, 3); n > 0 && text.length; n--)
            changes[below(rng, sizeof changes / sizeof *changes)](&text, rng);
        write_bytes(path, text.bytes, text.length);
        if (hardware_load(path, NULL, &hw, &error) == STATUS_OK) {
            taken++;
            expect_good(&hw);
        } else {
            expect_line(path, &error);
            cr_expect_null(hw.facts);
        }
        hardware_clear(&hw);
    }
    cr_expect(taken > runs / 20 && taken < runs * 19 / 20, "%d of %d are taken", taken, runs);
    gsl_rng_free(rng);
}
