/* Criterion starts each test as a process of its own, by executing its program again. Where an
 * emulator runs that program, the kernel does not know what to do with it: the emulator is executed
 * instead, for the program. For tests only, which execute nothing else by this name. */
#include <sys/syscall.h>
#include <unistd.h>

int execve(const char *path, char *const argv[], char *const envp[])
{
    static const char *const emulator[] = {EMULATOR};
    enum { MOST = 256, EMULATOR_WORDS = sizeof emulator / sizeof *emulator };
    const char *words[MOST + EMULATOR_WORDS + 4];
    int count = 0;
    for (int i = 0; i < EMULATOR_WORDS; i++)
        words[count++] = emulator[i];
    words[count++] = "-0";
    words[count++] = argv[0];
    words[count++] = path;
    for (int i = 1; i < MOST && argv[i]; i++)
        words[count++] = argv[i];
    words[count] = NULL;
    return (int)syscall(SYS_execve, emulator[0], words, envp);
}
