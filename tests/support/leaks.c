/* Leaks that are not ours to mend, for the leak checker of every program with tests: libconfig
 * loses a string of up to 64 bytes where the syntax breaks right behind it, as in
 * tests/fuzz/description/lost.cfg. */

const char *__lsan_default_suppressions(void); /* NOLINT(bugprone-reserved-identifier) */
const char *__lsan_default_suppressions(void)  /* NOLINT(bugprone-reserved-identifier) */
{
    return "leak:libconfig\n";
}
