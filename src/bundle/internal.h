// What the files of this room share.
#ifndef KEEL_BUNDLE_INTERNAL_H_
#define KEEL_BUNDLE_INTERNAL_H_

#include "bundle/bundle.h"

// By section and name.
int bundle_order(const keel_bundle_fact_t *x, const keel_bundle_fact_t *y);
// Calls request->looking.
void bundle_looking(const keel_bundle_request_t *request, const char *path);
// Ignores failures to read, except for lack of memory. Takes the status.
keel_status_t bundle_forgive(keel_status_t status) KEEL_MUST_CHECK;
// The parts of "name = value", trimmed; false if the line has no separator.
bool bundle_field(keel_str_t line, char separator, keel_str_t *out_name, keel_str_t *out_value);
// Strips quotes; false if there are none.
bool bundle_unquote(keel_str_t *value);
// Takes the next folder off "a:b:c"; false at the end.
enum { BUNDLE_PATH = 4096 };
bool bundle_folder(const char **list, char out[BUNDLE_PATH]);
// Whether it is in "a:b:c".
bool bundle_lists(const char *list, keel_str_t folder);

// The beginning of a file.
typedef struct bundle_head_t {
    char data[1 << 14];
    keel_str_t rest; // for keel_str_line
    bool is_there;   // the file can be read
} bundle_head_t;
// Fails only with KEEL_NO_MEMORY.
keel_status_t bundle_read_head(bundle_head_t *out, const char *format, ...)
    KEEL_PRINTF(2, 3) KEEL_MUST_CHECK;

// ---- the parts, which collect.c calls ----------------------------------------------------------

keel_status_t bundle_flags(keel_bundle_t *bundle) KEEL_MUST_CHECK;     // environment.c
keel_status_t bundle_variables(keel_bundle_t *bundle) KEEL_MUST_CHECK; // environment.c
// python.c: the interpreter, with the folders of its packages.
keel_status_t bundle_interpreter(const keel_bundle_request_t *request,
                                 keel_bundle_t *bundle) KEEL_MUST_CHECK;
// packages.c: the packages in those folders; in a client, also in the folders that its libraries
// are mapped from.
keel_status_t bundle_packages(const keel_bundle_request_t *request,
                              keel_bundle_t *bundle) KEEL_MUST_CHECK;

// The interpreter's fact with the list of package folders, separated by ':'.
#define BUNDLE_SITES "site-packages"

#endif // KEEL_BUNDLE_INTERNAL_H_
