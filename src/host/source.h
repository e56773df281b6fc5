// source: the user's source files. A journal can name any file, and a link can lead to any, but a
// report is passed on. So a file is shown only if it has the digest that the run recorded: to know
// that digest, the run must have read the file.
//
// Threads: no shared state.
#ifndef KEEL_HOST_SOURCE_H_
#define KEEL_HOST_SOURCE_H_

#include "base/base.h"

enum { KEEL_SOURCE_LIMIT = 1 << 20 }; // larger files are not read

// The text of a file, freed with keel_free. KEEL_REFUSED if the path leads to something that is not
// named like a source file ("train.py").
keel_status_t keel_source_read(const char *path, uint8_t **out, size_t *out_size) KEEL_MUST_CHECK;

// What the processes of a run read: digests by file. A file that was edited while the run went on
// has several. All zero but the map, which the caller initializes and deinitializes.
keel_status_t keel_source_note(keel_map_t *read, const char *file,
                               const char *digest) KEEL_MUST_CHECK;
// True if any digest was noted for that file; if this digest was.
bool keel_source_is_noted(const keel_map_t *read, const char *file);
bool keel_source_was_read(const keel_map_t *read, const char *file, keel_bytes_t text);

// A line of a run's sources.tsv (analysis/sources.h): what stands before the tab, and the path.
// False if there is no tab.
bool keel_source_line_read(keel_str_t line, keel_str_t *out_mark, keel_str_t *out_path);

#endif // KEEL_HOST_SOURCE_H_
