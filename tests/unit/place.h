// A folder for one test, and assertions about statuses and files.
#ifndef KEEL_TESTS_PLACE_H_
#define KEEL_TESTS_PLACE_H_

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"

#define UNUSED __attribute__((unused))

typedef struct place_t {
    char root[256];  // made by place_make, removed by place_remove
    char cache[300]; // root/cache, not yet there
} place_t;

static inline void place_make_in(place_t *place, const char *base) {
    snprintf(place->root, sizeof place->root, "%s/keel-store-XXXXXX", base);
    assert_non_null(mkdtemp(place->root));
    snprintf(place->cache, sizeof place->cache, "%s/cache", place->root);
}

static inline void place_make(place_t *place) {
    const char *base = getenv("TMPDIR");
    place_make_in(place, base ? base : "/tmp");
}

UNUSED static int place_remove_one(const char *path, const struct stat *s, int kind,
                                   struct FTW *ftw) {
    (void)s;
    (void)kind;
    (void)ftw;
    return remove(path);
}

static inline void place_remove(place_t *place) {
    nftw(place->root, place_remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

#define assert_ok(expression)                                                                      \
    do {                                                                                           \
        keel_status_t assert_ok_ = (expression);                                                   \
        if (assert_ok_) fail_msg("%s: %s", #expression, keel_status_message(assert_ok_));          \
    } while (0)

#define assert_code(expression, code)                                                              \
    do {                                                                                           \
        keel_status_t assert_code_ = (expression);                                                 \
        if (keel_status_code(assert_code_) != (code))                                              \
            fail_msg("%s: %s, not %s: %s", #expression,                                            \
                     keel_code_word(keel_status_code(assert_code_)), keel_code_word(code),         \
                     keel_status_message(assert_code_));                                           \
        keel_status_ignore(assert_code_);                                                          \
    } while (0)

static inline void write_bytes(const char *path, const void *data, size_t size) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    fclose(file);
}

static inline bool exists(const char *path) {
    struct stat s;
    return stat(path, &s) == 0;
}

// Sets the time of use to `seconds` ago.
static inline void set_age(const char *path, long seconds) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    now.tv_sec -= seconds;
    struct timespec times[2] = {now, now};
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

// Files below `path` whose name contains `part`.
static inline unsigned count_below(const char *path, const char *part) {
    DIR *directory = opendir(path);
    unsigned count = 0;
    for (struct dirent *e; directory && (e = readdir(directory));) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0) continue;
        char *below = malloc(strlen(path) + strlen(e->d_name) + 2);
        memcpy(below, path, strlen(path));
        below[strlen(path)] = '/';
        memcpy(below + strlen(path) + 1, e->d_name, strlen(e->d_name) + 1);
        struct stat s;
        if (stat(below, &s) == 0 && S_ISDIR(s.st_mode))
            count += count_below(below, part);
        else if (strstr(e->d_name, part))
            ++count;
        free(below);
    }
    if (directory) closedir(directory);
    return count;
}

#endif // KEEL_TESTS_PLACE_H_
