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
    char path[] = "store.db.XXXXXX";
    int ready[2];
    cr_assert_eq(pipe(ready), 0);
    pid_t maker = fork();
    if (maker == 0) {
        bool made = draft_open(path) >= 0;
        (void)!write(ready[1], path, made ? sizeof path : 0);
        pause();
    }
    cr_assert_eq(read(ready[0], path, sizeof path), (ssize_t)sizeof path);
    char wal[32];
    snprintf(wal, sizeof wal, "%s-wal", path);
    touch(wal);
    drafts_sweep("store.db.XXXXXX");
    cr_expect(is_there(path) && is_there(wal), "its maker lives");
    kill(maker, SIGKILL);
    waitpid(maker, NULL, 0);
    drafts_sweep("./store.db.XXXXXX");
    cr_expect(!is_there(path) && !is_there(wal));
}

Test(draft, alone_is_removed, .init = enter, .fini = leave)
{
    static const char *const others[] = {"x.abcdef",        "store.db.abcde", "store.db.abcdefg",
                                         "store.db.abc-ef", "store.db",       "xstore.db.abcdef"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        touch(others[i]);
    cr_assert_eq(mkdir("store.db.folder", 0700), 0);
    cr_assert_eq(mkfifo("store.db.thpipe", 0600), 0);
    cr_assert_eq(symlink("x.abcdef", "store.db.alinks"), 0);
    touch("store.db.abcdef");
    drafts_sweep("store.db.XXXXXX");
    drafts_sweep("/nowhere/store.db.XXXXXX");
    cr_expect(!is_there("store.db.abcdef"));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        cr_expect(is_there(others[i]), "%s", others[i]);
    cr_expect(is_there("store.db.folder") && is_there("store.db.thpipe") &&
              is_there("store.db.alinks"));
}
