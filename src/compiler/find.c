#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "compiler/internal.h"

// Where this code is: in libkeel_pjrt.so, or in a program, whose name is what it was called by.
static bool find_self(char out[PATH_MAX]) {
    Dl_info self;
    bool known = dladdr((void *)(uintptr_t)keel_compiler_find_worker, &self) && self.dli_fname;
    const char *file = known && strchr(self.dli_fname, '/') ? self.dli_fname : "/proc/self/exe";
    return known && realpath(file, out);
}

keel_status_t keel_compiler_find_worker(const char *given, char **out) {
    char self[PATH_MAX];
    if (!given) given = getenv("KEEL_WORKER");
    if (given && *given) return keel_strdup(keel_str(given), out);
    char *slash = find_self(self) ? strrchr(self, '/') : NULL;
    if (!slash)
        return keel_status_make(KEEL_NOT_FOUND, "the program keel, which runs compilers, is not "
                                                "found; set KEEL_WORKER to its path");
    *slash = 0;
    KEEL_TRY(keel_path(out, "%s/../bin/keel", self));
    if (keel_is_file(*out)) return NULL;
    keel_status_t status =
        keel_status_make(KEEL_NOT_FOUND,
                         "the program keel, which runs compilers, is not at %s; set KEEL_WORKER to "
                         "its path",
                         *out);
    keel_free(*out);
    return status;
}

keel_status_t compiler_find_library(char **out) {
    static const char name[] = "libkeel_pjrt.so";
    char self[PATH_MAX];
    char *slash = find_self(self) ? strrchr(self, '/') : NULL;
    if (slash && strcmp(slash + 1, name) == 0) return keel_strdup(keel_str(self), out);
    if (slash) *slash = 0;
    KEEL_TRY(keel_path(out, "%s/../lib/%s", slash ? self : "", name));
    if (slash && keel_is_file(*out)) return NULL;
    keel_status_t status =
        keel_status_make(KEEL_NOT_FOUND, "%s is not at %s; install Keel as a whole", name, *out);
    keel_free(*out);
    return status;
}
