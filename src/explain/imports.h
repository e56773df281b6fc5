// imports: where the imports of a Python source lead: to the user's own modules, such as one of
// settings, which no operation of a program names.
#ifndef KEEL_EXPLAIN_IMPORTS_H_
#define KEEL_EXPLAIN_IMPORTS_H_

#include "explain/depends.h"

// One after the other: `at` is 0 at first.
bool keel_imports_next(const keel_depends_t *reads, uint32_t *at, keel_import_t *out);

// Calls `visit` with the path of each file that may be meant: "settings.py",
// "settings/__init__.py", in the folder of `file`, then in those above it, then in `folders` (a
// line for each; may be NULL); files of libraries are left out. Whether there is such a file,
// `visit` knows: it sets *out_is_there, which ends the search. `is_whole`: the path is what has the
// name; otherwise it is the module it is taken of. Paths are valid during the call.
typedef keel_status_t keel_imports_visit_t(void *context, const char *path, bool is_whole,
                                           bool *out_is_there);
keel_status_t keel_import_files(const keel_import_t *import, const char *file, const char *folders,
                                keel_imports_visit_t *visit, void *context) KEEL_MUST_CHECK;
// The same for all imports of `text`, the content of `file`.
keel_status_t keel_imports_find(keel_str_t text, const char *file, const char *folders,
                                keel_imports_visit_t *visit, void *context) KEEL_MUST_CHECK;

#endif // KEEL_EXPLAIN_IMPORTS_H_
