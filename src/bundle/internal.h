// What the files of this room share.
#ifndef KEEL_BUNDLE_INTERNAL_H_
#define KEEL_BUNDLE_INTERNAL_H_

#include "bundle/bundle.h"

// ---- lines.c: files and lists that others write ------------------------------------------------

// The parts of "name = value", trimmed; false if the line has no separator.
bool bundle_field(keel_str_t line, char separator, keel_str_t *out_name, keel_str_t *out_value);
// Strips quotes; false if there are none.
bool bundle_unquote(keel_str_t *value);
// Takes the next folder off "a:b:c"; false at the end.
enum { BUNDLE_PATH = 4096 };
bool bundle_folder(const char **list, char out[BUNDLE_PATH]);
// Adds a folder to "a:b:c", unless it is in it.
void bundle_list_folder(keel_buffer_t *list, keel_str_t folder);

// The beginning of a file, line by line.
typedef struct bundle_head_t {
    char data[1 << 14];
    keel_str_t rest; // for keel_str_line
} bundle_head_t;
// Nothing, and false, if it cannot be read.
bool bundle_read_head(bundle_head_t *out, const char *format, ...) KEEL_PRINTF(2, 3);

// Calls request->looking.
void bundle_looking(const keel_bundle_request_t *request, const char *path);

// ---- the parts, which collect.c calls ----------------------------------------------------------

// environment.c
void bundle_variables(keel_bundle_t *bundle);
// python.c: the interpreter, with the folders of its packages.
void bundle_interpreter(const keel_bundle_request_t *request, keel_bundle_t *bundle);
// packages.c: the packages in those folders; in a client, also in the folders that its libraries
// are mapped from.
void bundle_packages(const keel_bundle_request_t *request, keel_bundle_t *bundle);

// The interpreter's fact with the list of package folders, separated by ':'.
#define BUNDLE_SITES "site-packages"

#endif // KEEL_BUNDLE_INTERNAL_H_
