// Entering a view. What a process has open stays what it was outside: a file that the shell
// redirects to is meant to be written, but a folder would be a way to all that is below it.
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "view/calls.h"

// Opens the folder again, in the view, under its number. One that is no longer there is closed.
static void open_again(int number, const char *path) {
    int kept = fcntl(number, F_GETFL) & O_PATH;
    int opened = view_fails() ? -1 : open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | kept);
    if (opened < 0 || dup2(opened, number) < 0) close(number);
    if (opened >= 0) close(opened);
}

static int open_folders_again(DIR *descriptors) {
    char path[PATH_MAX];
    struct stat facts;
    errno = 0;
    for (struct dirent *entry; (entry = readdir(descriptors)); errno = 0) {
        int number = (int)strtol(entry->d_name, NULL, 10);
        if (*entry->d_name == '.' || fstat(number, &facts) || !S_ISDIR(facts.st_mode)) continue;
        if (fcntl(number, F_GETFD) & FD_CLOEXEC) continue; // the command does not get it
        ssize_t size = readlinkat(dirfd(descriptors), entry->d_name, path, sizeof path - 1);
        if (size < 0) return errno;
        path[size] = 0;
        open_again(number, path);
    }
    return errno;
}

// The working folder was removed. In the old one ".." would still be the real folder above.
static int go_to_a_removed_folder(void) {
    static const char *const places[] = {"/tmp", "/var/tmp", "/dev/shm"};
    char path[64];
    for (size_t i = 0; i < sizeof places / sizeof *places; ++i) {
        snprintf(path, sizeof path, "%s/keel-removed-XXXXXX", places[i]);
        if (view_fails() || !mkdtemp(path)) continue;
        int error = chdir(path) ? errno : 0;
        rmdir(path);
        return error;
    }
    return ENOENT;
}

int keel_view_enter(const keel_view_t *view) {
    char folder[PATH_MAX];
    bool is_there = !view_fails() && getcwd(folder, sizeof folder);
    if (!is_there && errno != ENOENT) return errno;
    DIR *descriptors = view_fails() ? NULL : opendir("/proc/self/fd");
    if (!descriptors) return errno;
    int error = 0;
    if (view->user >= 0 && setns(view->user, CLONE_NEWUSER)) error = errno;
    if (!error && setns(view->mounts, CLONE_NEWNS)) error = errno;
    if (!error && (fchdir(view->root) || chroot("."))) error = errno;
    if (!error) error = open_folders_again(descriptors);
    closedir(descriptors);
    if (error) return error;
    if (!is_there) return go_to_a_removed_folder();
    return chdir(folder) ? errno : 0;
}
