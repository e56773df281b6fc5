// view: a private view of the file system, for a command that shall change nothing.
//
// In it every file is what it is outside, and the command and all that it starts read back what
// they write; but what they write goes to a folder of the view's own, in overlays that only these
// processes see.
//
//   mounts.c    what is mounted here
//   plan.c      what each mount becomes in the view
//   view.c      namespaces and mounts
//   enter.c     what a process takes along into the view
//   written.c   what was written, compared with what is there
//   tree.c      removing what was written; folders that a killed process left behind
//
// Ownership: a view is made once and destroyed by its owner. Threads: one; keel_view_create forks.
#ifndef KEEL_VIEW_VIEW_H_
#define KEEL_VIEW_VIEW_H_

#include "base/base.h"

typedef struct keel_view_t keel_view_t;

// Lists end with NULL. Paths are absolute.
typedef struct keel_view_settings_t {
    // In one of these folders is made a folder for what is written: in the first on whose file
    // system an overlay can write. If there is none, it is kept in memory.
    const char *const *places;
    // Folders that are the real ones in the view too; missing ones are made.
    const char *const *kept;
    // Files that are the real ones, for reading.
    const char *const *shown;
    // Folders in which the command is likely to write. NULL: none.
    const char *const *likely;
} keel_view_settings_t;

// KEEL_UNSUPPORTED, with the reason, if the kernel or a file system does not allow it.
keel_status_t keel_view_create(const keel_view_settings_t *settings,
                               keel_view_t **out) KEEL_MUST_CHECK;
// Moves this process, which has one thread, into the view. Its working folder and other folders
// that the next program would find open become those of the view with the same names. 0, or an
// error number. Call it in a forked child.
int keel_view_enter(const keel_view_t *view);
// What a process below finds out with keel_view_is_here; a word.
const char *keel_view_name(const keel_view_t *view);
// Whether this process is in the view of that name. One that a service started for it is not.
bool keel_view_is_here(const char *name);
// The folder with what was written.
const char *keel_view_folder(const keel_view_t *view);
// Mounts that can only be read in the view, because they take no overlay: the i-th, or NULL.
const char *keel_view_read_only(const keel_view_t *view, size_t i);
// Whether there was no room for more.
bool keel_view_is_full(const keel_view_t *view);
// Removes what was written. NULL is allowed.
void keel_view_destroy(keel_view_t *view);
// Removes what killed processes left behind in these folders, unless something still runs in it.
void keel_view_sweep(const char *const *places);

// ---- written.c ---------------------------------------------------------------------------------

// Files below one folder; or one file.
typedef struct keel_written_group_t {
    char *path; // ends with a slash if it is a folder
    uint64_t files, bytes, removed;
} keel_written_group_t;

enum { KEEL_WRITTEN_GROUPS = 3 };

typedef struct keel_written_t {
    uint64_t files, bytes; // new or changed, and their sizes
    uint64_t removed;      // files that were there
    keel_written_group_t groups[KEEL_WRITTEN_GROUPS];
    size_t group_count;
} keel_written_t;

// What differs in the view from what is there. Bytecode of Python (__pycache__) and shared memory
// do not count. Release it with keel_written_deinitialize, also after a failure.
keel_status_t keel_view_written(const keel_view_t *view, keel_written_t *out) KEEL_MUST_CHECK;
void keel_written_deinitialize(keel_written_t *written);
// Opens what was written below a folder, by its real path: a folder that has only that. -1:
// nothing.
int keel_view_open_written(const keel_view_t *view, const char *folder);

#endif // KEEL_VIEW_VIEW_H_
