// pack: a run as one file, which goes where the run's folder does not.
//
//   pack.c      a run is packed: its journal, its explanations, its programs and sources
//   unpack.c    a file is unpacked, into a folder that is then a run folder
//   names.c     words in place of names
//   program.c   a program without names
//   journal.c   a journal without names or sources
//
// The file is a tar archive (POSIX ustar) in one zstd frame. Its members are those of a run folder
// (journal/journal.h), for one run, after a first one that says what it is:
//
//   keel-pack.json                        {"event": "pack", "form": 1, "keel": "0.1.0", "run":
//   "<run id>"} <run id>/journal.ndjson <run id>/explained.ndjson <run id>/sources.tsv
//   programs/<digest>.<mlir|hlo|options>.zst
//   sources/<digest>.zst
//
// A reader takes regular files of these names, each once, and refuses everything else, so nothing
// is written outside the folder. What is unpacked may be so many times as large as the file, and no
// more. Nothing in a pack is trusted beyond that: programs and sources are checked against their
// digests whenever they are read, and journals are read as those of damaged files are.
//
// Without names, each name is replaced by a word of the same length, everywhere by the same one. In
// programs that is done in place, so nothing moves, and the key of the program stays what it was
// (key/key.h), which is checked; its digest, which the journal names it by, is the one of the new
// bytes.
//
// Threads: no shared state.
#ifndef KEEL_PACK_PACK_H_
#define KEEL_PACK_PACK_H_

#include "base/base.h"

typedef struct keel_pack_settings_t {
    bool without_names;   // of files, functions, arguments, hosts and users; also without sources
    bool without_sources; // the text of source files, and what explanations quote of it
} keel_pack_settings_t;

typedef struct keel_packed_t {
    uint64_t programs, left_out; // programs; those that could not be packed
    char first_left_out[256];    // why the first of them could not be; or ""
    uint64_t bytes;              // of the file
} keel_packed_t;

// Writes the run to `path`, which is replaced as a whole. KEEL_NOT_FOUND without a journal.
keel_status_t keel_pack_write(const char *run_dir, const char *id,
                              const keel_pack_settings_t *settings, const char *path,
                              keel_packed_t *out) KEEL_MUST_CHECK;

// Whether the file begins as such a file does. False also if it cannot be read.
bool keel_pack_is(const char *path);

// Unpacks into an existing folder that only this user can write to. *out_id is the run's id, with a
// number if the folder has such a run already; the caller frees it. KEEL_CORRUPT, with the path and
// the reason, if it is no such file or damaged: then the folder may hold a part of it.
keel_status_t keel_pack_unpack(const char *path, const char *folder, char **out_id) KEEL_MUST_CHECK;

#endif // KEEL_PACK_PACK_H_
