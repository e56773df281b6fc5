// A fork for tests whose process has threads.
#ifndef KEEL_TESTS_FORK_AT_REST_H_
#define KEEL_TESTS_FORK_AT_REST_H_

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include "base/poison.h"

static inline bool thread_sleeps(const char *task) {
    char path[64], line[256] = "";
    snprintf(path, sizeof path, "/proc/self/task/%.10s/stat", task);
    FILE *file = fopen(path, "r");
    bool was_read = file && fgets(line, sizeof line, file);
    if (file) fclose(file);
    const char *name_end = was_read ? strrchr(line, ')') : NULL;
    return !name_end || name_end[2] == 'S'; // a thread that has ended holds nothing
}

static inline bool other_threads_sleep(void) {
    bool all = true;
    char self[16];
    snprintf(self, sizeof self, "%d", gettid());
    DIR *tasks = opendir("/proc/self/task");
    for (struct dirent *entry; tasks && (entry = readdir(tasks));) {
        bool is_other = *entry->d_name != '.' && strcmp(entry->d_name, self);
        if (is_other) all = all && thread_sleeps(entry->d_name);
    }
    if (tasks) closedir(tasks);
    return all;
}

// Under the address sanitizer, forks while the other threads sleep, or after 10 seconds: GCC 12's
// does not take its allocator's locks for a fork, so the child of a process that is allocating in
// another thread may find one held by nobody.
static inline pid_t fork_at_rest(void) {
    for (int i = 0; KEEL_POISONS && i < 10000 && !other_threads_sleep(); ++i)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    return fork();
}

#endif // KEEL_TESTS_FORK_AT_REST_H_
