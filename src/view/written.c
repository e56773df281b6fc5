// What was written in a view. An overlay keeps it in its upper folder: a file that is new or was
// opened for writing is there as a whole, one that was removed as a device 0:0, and a folder whose
// former contents are gone, or come from elsewhere, has an attribute.
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "view/calls.h"

enum { ENTRIES_MOST = 200000, DEPTH_MOST = 500 };

typedef struct entry_t {
    const char *path;
    uint64_t bytes;
    bool is_removed;
} entry_t;

typedef struct looking_t {
    keel_arena_t texts;
    entry_t *entries;
    size_t count, capacity;
    uint64_t left; // entries that are still looked at
    keel_written_t *out;
} looking_t;

// A folder of an overlay.
typedef struct pair_t {
    int upper;
    const char *path;  // in the view
    const char *lower; // what it was before; NULL: nothing that shows
    int depth;
} pair_t;

// ---- entries -----------------------------------------------------------------------------------

static keel_status_t note(looking_t *looking, const char *path, uint64_t bytes, bool is_removed) {
    keel_str_t kept;
    void *entries = looking->entries;
    looking->out->files += !is_removed;
    looking->out->bytes += bytes;
    looking->out->removed += is_removed;
    KEEL_TRY(keel_grow_array(looking->count, sizeof(entry_t), &looking->capacity, &entries));
    looking->entries = entries;
    KEEL_TRY(keel_arena_str(&looking->texts, keel_str(path), &kept));
    looking->entries[looking->count++] = (entry_t){kept.data, bytes, is_removed};
    return NULL;
}

static bool is_left_out(const char *name) {
    return strcmp(name, "__pycache__") == 0;
}

// All files below a folder that was removed.
static keel_status_t note_removed(looking_t *looking, const char *lower, const char *path,
                                  int depth);

typedef struct removed_t {
    looking_t *looking;
    const char *lower, *path;
    int depth;
} removed_t;

static keel_status_t note_removed_below(void *context, const char *name) {
    const removed_t *removed = context;
    char *lower, *path = NULL;
    if (is_left_out(name)) return NULL;
    KEEL_TRY(keel_path(&lower, "%s/%s", removed->lower, name));
    keel_status_t status = keel_path(&path, "%s/%s", removed->path, name);
    if (!status) status = note_removed(removed->looking, lower, path, removed->depth + 1);
    keel_free(path);
    keel_free(lower);
    return status;
}

static keel_status_t note_removed(looking_t *looking, const char *lower, const char *path,
                                  int depth) {
    struct stat facts;
    if (lstat(lower, &facts) || depth > DEPTH_MOST || !looking->left) return NULL;
    --looking->left;
    if (!S_ISDIR(facts.st_mode)) return note(looking, path, 0, true);
    removed_t removed = {looking, lower, path, depth};
    keel_status_ignore(keel_directory_walk(lower, note_removed_below, &removed));
    return NULL; // what cannot be read could not be removed
}

static bool is_same(const struct stat *a, const struct stat *b) {
    return a->st_size == b->st_size && a->st_mode == b->st_mode &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
           (a->st_mode & S_IFMT) == (b->st_mode & S_IFMT);
}

// ---- folders -----------------------------------------------------------------------------------

static bool has_attribute(int folder, const char *name, char *value, size_t size) {
    static const char *const kinds[] = {"trusted.overlay.", "user.overlay."};
    char attribute[64];
    for (int i = 0; i < 2; ++i) {
        snprintf(attribute, sizeof attribute, "%s%s", kinds[i], name);
        ssize_t got = fgetxattr(folder, attribute, value, size - 1);
        if (got > 0) {
            value[got] = 0;
            return true;
        }
    }
    return false;
}

static keel_status_t look_in(looking_t *looking, const pair_t *pair);

// A folder that was there before and is emptied: what is not in it again was removed.
static keel_status_t look_in_new(looking_t *looking, const pair_t *pair, const char *before) {
    const pair_t new = {pair->upper, pair->path, NULL, pair->depth};
    char value[PATH_MAX];
    // Moved here with its contents: they are new at this place.
    if (has_attribute(pair->upper, "redirect", value, sizeof value))
        KEEL_TRY(note(looking, pair->path, 0, false));
    KEEL_TRY(look_in(looking, &new));
    if (!before) return NULL;
    DIR *names = NULL;
    int listed = open(before, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (listed >= 0) names = fdopendir(listed);
    keel_status_t status = NULL;
    for (struct dirent *entry; names && !status && (entry = readdir(names));) {
        struct stat facts;
        removed_t removed = {looking, before, pair->path, pair->depth};
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        if (fstatat(pair->upper, entry->d_name, &facts, AT_SYMLINK_NOFOLLOW))
            status = note_removed_below(&removed, entry->d_name);
    }
    if (names)
        closedir(names);
    else if (listed >= 0)
        close(listed);
    return status;
}

static keel_status_t look_at_folder(looking_t *looking, const pair_t *pair, const char *name,
                                    const char *path, const char *lower) {
    struct stat before;
    char value[PATH_MAX];
    int upper = view_fails()
                    ? -1
                    : openat(pair->upper, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (upper < 0) return NULL; // the command took its own permission to look
    bool was_there = lower && lstat(lower, &before) == 0 && S_ISDIR(before.st_mode);
    bool is_new = !was_there || has_attribute(upper, "opaque", value, sizeof value) ||
                  has_attribute(upper, "redirect", value, sizeof value);
    const pair_t inner = {upper, path, was_there ? lower : NULL, pair->depth + 1};
    keel_status_t status =
        is_new ? look_in_new(looking, &inner, was_there ? lower : NULL) : look_in(looking, &inner);
    close(upper);
    return status;
}

static keel_status_t look_at_entry(looking_t *looking, const pair_t *pair, const char *name,
                                   const char *path, const char *lower) {
    struct stat facts, before;
    if (fstatat(pair->upper, name, &facts, AT_SYMLINK_NOFOLLOW)) return NULL;
    if (S_ISDIR(facts.st_mode)) return look_at_folder(looking, pair, name, path, lower);
    if (S_ISCHR(facts.st_mode) && facts.st_rdev == makedev(0, 0))
        return lower ? note_removed(looking, lower, path, pair->depth) : NULL;
    bool was_there = lower && lstat(lower, &before) == 0;
    if (was_there && is_same(&facts, &before)) return NULL;
    return note(looking, path, S_ISREG(facts.st_mode) ? (uint64_t)facts.st_size : 0, false);
}

static keel_status_t look_at_name(looking_t *looking, const pair_t *pair, const char *name) {
    char *path, *lower = NULL;
    if (is_left_out(name) || !looking->left) return NULL;
    --looking->left;
    KEEL_TRY(keel_path(&path, "%s/%s", pair->path[1] ? pair->path : "", name));
    keel_status_t status =
        pair->lower ? keel_path(&lower, "%s/%s", pair->lower[1] ? pair->lower : "", name) : NULL;
    if (!status) status = look_at_entry(looking, pair, name, path, lower);
    keel_free(lower);
    keel_free(path);
    return status;
}

static keel_status_t look_in(looking_t *looking, const pair_t *pair) {
    if (pair->depth > DEPTH_MOST) return NULL;
    int listed = view_fails() ? -1 : openat(pair->upper, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *names = listed < 0 ? NULL : fdopendir(listed);
    if (!names) {
        if (listed >= 0) close(listed);
        return NULL;
    }
    keel_status_t status = NULL;
    for (struct dirent *entry; !status && (entry = readdir(names));)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            status = look_at_name(looking, pair, entry->d_name);
    closedir(names);
    return status;
}

// The upper folder of an overlay, or a path below it, through no link; -1 with errno.
static int open_upper(const keel_view_t *view, size_t number, const char *below) {
    const keel_step_t *step = &view->plan.steps[number];
    bool in_memory = view->in_memory || step->kind == KEEL_STEP_IN_MEMORY;
    struct open_how how = {.flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC,
                           .resolve = RESOLVE_NO_SYMLINKS | RESOLVE_BENEATH};
    char name[PATH_MAX];
    if ((size_t)snprintf(name, sizeof name, "%zu/upper%s", number, below) >= sizeof name) {
        errno = ENAMETOOLONG;
        return -1;
    }
    int place = in_memory ? view->memory_place : view->disk_place;
    return (int)syscall(SYS_openat2, place, name, &how, sizeof how);
}

static bool is_overlay(const keel_view_t *view, size_t number) {
    keel_step_kind_t kind = view->plan.steps[number].kind;
    return (kind == KEEL_STEP_OVERLAY || kind == KEEL_STEP_IN_MEMORY) && !view->read_only[number];
}

static keel_status_t look_at_step(looking_t *looking, const keel_view_t *view, size_t number) {
    const keel_step_t *step = &view->plan.steps[number];
    if (!is_overlay(view, number) || strcmp(step->path, "/dev/shm") == 0) return NULL;
    int upper = open_upper(view, number, "");
    if (upper < 0 && errno == EACCES) return NULL; // a folder in which this user can do nothing
    if (upper < 0) return view_refused("cannot look at what was written to", step->path);
    const pair_t pair = {upper, step->path, step->path, 0};
    keel_status_t status = look_in(looking, &pair);
    close(upper);
    return status;
}

int keel_view_open_written(const keel_view_t *view, const char *folder) {
    size_t own = 0, most = 0;
    for (size_t i = 0; i < view->plan.count; ++i) {
        const char *path = view->plan.steps[i].path;
        size_t length = path[1] ? strlen(path) : 0;
        bool holds =
            strncmp(folder, path, length) == 0 && (!folder[length] || folder[length] == '/');
        if (!holds || length < most) continue;
        own = i;
        most = length;
    }
    if (!view->plan.count || !is_overlay(view, own)) return -1;
    return open_upper(view, own, folder + most);
}

// ---- groups ------------------------------------------------------------------------------------

// Entries that stand beside each other; `folder` bytes of the first one's path are common to all.
typedef struct span_t {
    size_t first, count, folder;
} span_t;

static int by_path(const void *a, const void *b) {
    return strcmp(((const entry_t *)a)->path, ((const entry_t *)b)->path);
}

// The length of the deepest folder that both are in, with its slash.
static size_t common_folder(const char *a, size_t a_size, const char *b, size_t b_size) {
    size_t size = 0;
    for (size_t i = 0; i < a_size && i < b_size && a[i] == b[i]; ++i)
        if (a[i] == '/') size = i + 1;
    return size;
}

static size_t folder_of(const char *path) {
    return (size_t)(strrchr(path, '/') - path) + 1;
}

static size_t common_of(const looking_t *looking, const span_t *a, const span_t *b) {
    return common_folder(looking->entries[a->first].path, a->folder,
                         looking->entries[b->first].path, b->folder);
}

// Merges neighbors, those in the deepest folder first, until few are left.
static size_t merge(const looking_t *looking, span_t *spans, size_t count) {
    while (count > KEEL_WRITTEN_GROUPS) {
        size_t deepest = 0, kept = 0;
        for (size_t i = 1; i < count; ++i) {
            size_t common = common_of(looking, &spans[i - 1], &spans[i]);
            if (common > deepest) deepest = common;
        }
        for (size_t i = 1; i < count; ++i) {
            span_t *last = &spans[kept];
            if (common_of(looking, last, &spans[i]) >= deepest) {
                last->count += spans[i].count;
                last->folder = common_of(looking, last, &spans[i]);
            } else {
                spans[++kept] = spans[i];
            }
        }
        count = kept + 1;
    }
    return count;
}

static keel_status_t describe(const looking_t *looking, const span_t *span) {
    keel_written_group_t *group = &looking->out->groups[looking->out->group_count];
    const char *path = looking->entries[span->first].path;
    keel_str_t shown = span->count == 1 ? keel_str(path) : (keel_str_t){path, span->folder};
    *group = (keel_written_group_t){.path = NULL};
    KEEL_TRY(keel_strdup(shown, &group->path));
    ++looking->out->group_count;
    for (size_t i = span->first; i < span->first + span->count; ++i) {
        const entry_t *entry = &looking->entries[i];
        group->files += !entry->is_removed;
        group->removed += entry->is_removed;
        group->bytes += entry->bytes;
    }
    return NULL;
}

static keel_status_t group(looking_t *looking) {
    size_t count = 0;
    void *memory;
    if (!looking->count) return NULL;
    qsort(looking->entries, looking->count, sizeof *looking->entries, by_path);
    KEEL_TRY(keel_calloc(looking->count, sizeof(span_t), &memory));
    span_t *spans = memory;
    for (size_t i = 0; i < looking->count; ++i) {
        const char *path = looking->entries[i].path;
        size_t folder = folder_of(path);
        span_t *last = count ? &spans[count - 1] : NULL;
        if (last && last->folder == folder &&
            memcmp(looking->entries[last->first].path, path, folder) == 0)
            ++last->count;
        else
            spans[count++] = (span_t){i, 1, folder};
    }
    count = merge(looking, spans, count);
    keel_status_t status = NULL;
    for (size_t i = 0; i < count && !status; ++i)
        status = describe(looking, &spans[i]);
    keel_free(spans);
    return status;
}

keel_status_t keel_view_written(const keel_view_t *view, keel_written_t *out) {
    looking_t looking = {.left = ENTRIES_MOST, .out = out};
    keel_status_t status = NULL;
    *out = (keel_written_t){.files = 0};
    keel_arena_initialize(&looking.texts, 0);
    for (size_t i = 0; i < view->plan.count && !status; ++i)
        status = look_at_step(&looking, view, i);
    if (!status) status = group(&looking);
    keel_free(looking.entries);
    keel_arena_deinitialize(&looking.texts);
    return status;
}

void keel_written_deinitialize(keel_written_t *written) {
    for (size_t i = 0; i < written->group_count; ++i)
        keel_free(written->groups[i].path);
    written->group_count = 0;
}
