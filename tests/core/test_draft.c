/* Drafts (core/draft.h): what killed makers left is removed, what others are making is not. */
#include "core/draft.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[] = "/tmp/draft-XXXXXX";

static void enter(void)
{
    cr_assert(mkdtemp(folder) && chdir(folder) == 0);
}

static void leave(void)
{
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", folder);
    cr_assert_eq(system(command), 0);
}

static bool is_there(const char *name)
{
    return access(name, F_OK) == 0;
}

static void touch(const char *name)
{
    int file = open(name, O_CREAT | O_WRONLY, 0600);
    cr_assert(file >= 0);
    close(file);
}

Test(draft, of_a_killed_maker_is_removed, .init = enter, .fini = leave)
{
    char path[DRAFT_PATH_SIZE] = "";
    int ready[2];
    cr_assert_eq(pipe(ready), 0);
    pid_t maker = fork();
    if (maker == 0) {
        bool made = draft_open("store.db", path) >= 0;
        (void)!write(ready[1], path, made ? sizeof path : 0);
        pause();
    }
    cr_assert_eq(read(ready[0], path, sizeof path), (ssize_t)sizeof path);
    char wal[DRAFT_PATH_SIZE + 8];
    snprintf(wal, sizeof wal, "%s-wal", path);
    touch(wal);
    drafts_sweep("store.db");
    cr_expect(is_there(path) && is_there(wal), "its maker lives");
    kill(maker, SIGKILL);
    waitpid(maker, NULL, 0);
    drafts_sweep("./other.db");
    cr_expect(!is_there(path) && !is_there(wal));
}

Test(draft, alone_is_removed, .init = enter, .fini = leave)
{
    static const char *const others[] = {"store.db.backup",         ".autotune-draft-abcde",
                                         ".autotune-draft-abcdefg", ".autotune-draft-abc-ef",
                                         ".autotune-config",        "x.autotune-draft-abcdef"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        touch(others[i]);
    cr_assert_eq(mkdir(".autotune-draft-folder", 0700), 0);
    cr_assert_eq(mkfifo(".autotune-draft-thpipe", 0600), 0);
    cr_assert_eq(symlink("store.db.backup", ".autotune-draft-alinks"), 0);
    touch(".autotune-draft-abcdef");
    drafts_sweep("store.db");
    drafts_sweep("/nowhere/store.db");
    cr_expect(!is_there(".autotune-draft-abcdef"));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        cr_expect(is_there(others[i]), "%s", others[i]);
    cr_expect(is_there(".autotune-draft-folder") && is_there(".autotune-draft-thpipe") &&
              is_there(".autotune-draft-alinks"));
}
