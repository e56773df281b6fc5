// What each mount becomes in a view.
#define _GNU_SOURCE
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "view/mounts.h"

enum { STEPS_MOST = 20000, OTHERS_MOST = 256 };

// They show the kernel's own state, and have no files of a user's.
static const char *const kernel_types[] = {
    "proc",    "sysfs",      "devtmpfs",   "devpts",   "cgroup",      "cgroup2",   "mqueue",
    "debugfs", "tracefs",    "securityfs", "configfs", "efivarfs",    "pstore",    "bpf",
    "nsfs",    "rpc_pipefs", "fusectl",    "autofs",   "binfmt_misc", "hugetlbfs", NULL};
static const char *const kernel_points[] = {"/proc", "/sys", "/dev", NULL};
static const char *const state_points[] = {"/proc", "/sys", NULL};
static const char *const memory_types[] = {"tmpfs", "ramfs", NULL};
static const char shared_memory[] = "/dev/shm";

typedef struct planning_t {
    const keel_mounts_t *mounts;
    keel_plan_t *plan;
    bool is_locked;
} planning_t;

static bool is_kernel(const keel_mount_t *mount) {
    return keel_str_is_one_of(keel_str(mount->type), kernel_types) ||
           keel_str_is_one_of(keel_str(mount->point), kernel_points);
}

// Devices can be written on a mount for reading; the regular files that root may have made beside
// them cannot.
static bool has_devices(const keel_mount_t *mount) {
    return strcmp(mount->type, "devtmpfs") == 0 || strcmp(mount->point, "/dev") == 0;
}

static bool is_below(const char *path, const char *folder) {
    size_t length = strlen(folder);
    if (length == 1) return path[1] != 0; // of "/"
    return strncmp(path, folder, length) == 0 && path[length] == '/';
}

static keel_step_kind_t kind_of(const keel_mount_t *mount) {
    struct stat facts;
    if (is_kernel(mount)) return has_devices(mount) ? KEEL_STEP_DEVICES : KEEL_STEP_TREE;
    if (mount->is_read_only) return KEEL_STEP_SAME;
    // A file can be mounted too, and takes no overlay.
    if (lstat(mount->point, &facts) == 0 && !S_ISDIR(facts.st_mode)) return KEEL_STEP_READ_ONLY;
    bool in_memory = keel_str_is_one_of(keel_str(mount->type), memory_types);
    return in_memory ? KEEL_STEP_IN_MEMORY : KEEL_STEP_OVERLAY;
}

static keel_status_t add(keel_plan_t *plan, keel_step_kind_t kind, const char *path) {
    keel_str_t kept;
    void *steps = plan->steps;
    if (plan->count >= STEPS_MOST)
        return keel_status_make(KEEL_UNSUPPORTED, "there are too many mounts");
    KEEL_TRY(keel_grow_array(plan->count, sizeof *plan->steps, &plan->capacity, &steps));
    plan->steps = steps;
    KEEL_TRY(keel_arena_str(&plan->texts, keel_str(path), &kept));
    plan->steps[plan->count++] = (keel_step_t){kind, kept.data};
    return NULL;
}

static const keel_mount_t *mount_at(const keel_mounts_t *mounts, const char *path) {
    for (size_t i = 0; i < mounts->count; ++i)
        if (strcmp(mounts->list[i].point, path) == 0) return &mounts->list[i];
    return NULL;
}

static bool has_below(const keel_mounts_t *mounts, const char *path) {
    for (size_t i = 0; i < mounts->count; ++i)
        if (is_below(mounts->list[i].point, path)) return true;
    return false;
}

// A folder that has no mount of its own, if /dev is a tmpfs.
static keel_status_t add_shared_memory(planning_t *planning) {
    struct stat facts;
    if (mount_at(planning->mounts, shared_memory)) return NULL;
    bool is_there = lstat(shared_memory, &facts) == 0 && S_ISDIR(facts.st_mode);
    return is_there ? add(planning->plan, KEEL_STEP_IN_MEMORY, shared_memory) : NULL;
}

// Stays as it is, but what else is mounted below has files: shared memory below /dev, and what an
// automounter mounts, such as home folders. Below /proc and /sys it only hides something.
static keel_status_t add_kernel(planning_t *planning, const keel_mount_t *kernel) {
    KEEL_TRY(add(planning->plan, kind_of(kernel), kernel->point));
    if (keel_str_is_one_of(keel_str(kernel->point), state_points)) return NULL;
    if (strcmp(kernel->point, "/dev") == 0) KEEL_TRY(add_shared_memory(planning));
    for (size_t i = 0; i < planning->mounts->count; ++i) {
        const keel_mount_t *mount = &planning->mounts->list[i];
        if (!is_below(mount->point, kernel->point) || is_kernel(mount)) continue;
        if (planning->is_locked && has_below(planning->mounts, mount->point))
            return keel_status_make(KEEL_UNSUPPORTED,
                                    "%s is on an automounter and has mounts below", mount->point);
        KEEL_TRY(add(planning->plan, kind_of(mount), mount->point));
    }
    return NULL;
}

// ---- for root ----------------------------------------------------------------------------------

static keel_status_t plan_each(planning_t *planning) {
    const keel_mount_t *kernel = NULL;
    for (size_t i = 0; i < planning->mounts->count; ++i) {
        const keel_mount_t *mount = &planning->mounts->list[i];
        if (kernel && is_below(mount->point, kernel->point)) continue;
        if (is_kernel(mount)) kernel = mount;
        KEEL_TRY(is_kernel(mount) ? add_kernel(planning, mount)
                                  : add(planning->plan, kind_of(mount), mount->point));
    }
    return NULL;
}

// ---- for others --------------------------------------------------------------------------------

typedef struct covering_t {
    planning_t *planning;
    const char *path;
    const keel_mount_t *mount; // that the path is on
} covering_t;

static keel_status_t cover(planning_t *planning, const char *path, const keel_mount_t *mount);

static keel_status_t cover_child(void *context, const char *name) {
    const covering_t *covering = context;
    struct stat facts;
    char *path;
    const char *separator = covering->path[1] ? "/" : "";
    KEEL_TRY(keel_path(&path, "%s%s%s", covering->path, separator, name));
    const keel_mount_t *own = mount_at(covering->planning->mounts, path);
    keel_status_t status = NULL;
    if (lstat(path, &facts) == 0) {
        if (S_ISLNK(facts.st_mode))
            status = add(covering->planning->plan, KEEL_STEP_LINK, path);
        else if (S_ISDIR(facts.st_mode))
            status = cover(covering->planning, path, own ? own : covering->mount);
        else
            status = add(covering->planning->plan, KEEL_STEP_READ_ONLY, path);
    }
    keel_free(path);
    return status;
}

static keel_status_t cover(planning_t *planning, const char *path, const keel_mount_t *mount) {
    if (is_kernel(mount)) return add_kernel(planning, mount);
    if (!has_below(planning->mounts, path)) return add(planning->plan, kind_of(mount), path);
    KEEL_TRY(add(planning->plan, KEEL_STEP_FOLDER, path));
    if (access(path, X_OK)) return NULL; // nothing in it can be reached
    covering_t covering = {planning, path, mount};
    return keel_directory_walk(path, cover_child, &covering);
}

keel_status_t keel_plan_make(const keel_mounts_t *mounts, bool is_locked, keel_plan_t *out) {
    planning_t planning = {mounts, out, is_locked};
    *out = (keel_plan_t){.steps = NULL};
    keel_arena_initialize(&out->texts, 0);
    return is_locked ? cover(&planning, "/", &mounts->list[0]) : plan_each(&planning);
}

// ---- folders of others -------------------------------------------------------------------------

// An overlay copies a folder before something in it is written, and the copy cannot be given to
// another user or group. So what this user may write below such a folder needs an overlay whose top
// it is: that is no copy.

// The deepest step at the path or above.
static const keel_step_t *step_at(const keel_plan_t *plan, const char *path) {
    const keel_step_t *found = NULL;
    for (size_t i = 0; i < plan->count; ++i) {
        const keel_step_t *step = &plan->steps[i];
        bool covers = strcmp(step->path, path) == 0 || is_below(path, step->path);
        if (covers && (!found || strlen(step->path) >= strlen(found->path))) found = step;
    }
    return found;
}

static bool is_foreign(const struct stat *facts) {
    return facts->st_uid != geteuid() || facts->st_gid != getegid();
}

typedef struct others_t {
    keel_plan_t *plan;
    const char *path;
    size_t most; // steps
} others_t;

static keel_status_t add_other(others_t *others, bool below_foreign);

static keel_status_t add_other_child(void *context, const char *name) {
    const others_t *above = context;
    char *path;
    if (above->plan->count >= above->most) return NULL;
    KEEL_TRY(keel_path(&path, "%s/%s", above->path, name));
    others_t others = {above->plan, path, above->most};
    keel_status_t status = add_other(&others, false);
    keel_free(path);
    return status;
}

static keel_status_t add_other(others_t *others, bool below_foreign) {
    struct stat facts;
    const keel_step_t *step = step_at(others->plan, others->path);
    bool is_overlay =
        step && (step->kind == KEEL_STEP_OVERLAY || step->kind == KEEL_STEP_IN_MEMORY);
    if (!is_overlay || lstat(others->path, &facts) || !S_ISDIR(facts.st_mode)) return NULL;
    bool is_step = strcmp(step->path, others->path) == 0;
    bool needs_one = is_foreign(&facts) || (below_foreign && !is_step);
    if (!needs_one || access(others->path, W_OK | X_OK)) return NULL;
    if (!is_step) KEEL_TRY(add(others->plan, step->kind, others->path));
    // What is in a folder of this user's own is this user's too, or need not be written.
    if (!is_foreign(&facts)) return NULL;
    return keel_directory_walk(others->path, add_other_child, others);
}

keel_status_t keel_plan_add_others(const char *folder, keel_plan_t *plan) {
    char *path;
    bool below_foreign = false;
    others_t others = {plan, NULL, plan->count + OTHERS_MOST};
    KEEL_TRY(keel_strdup(keel_str(folder), &path));
    keel_status_t status = NULL;
    for (char *end = path; !status && end && end[1];) {
        struct stat facts;
        end = strchr(end + 1, '/');
        if (end) *end = 0;
        others.path = path;
        status = add_other(&others, below_foreign);
        const keel_step_t *step = step_at(plan, path);
        bool is_top = step && strcmp(step->path, path) == 0;
        below_foreign =
            !is_top && lstat(path, &facts) == 0 && (below_foreign || is_foreign(&facts));
        if (end) *end = '/';
    }
    keel_free(path);
    return status;
}

void keel_plan_deinitialize(keel_plan_t *plan) {
    keel_free(plan->steps);
    keel_arena_deinitialize(&plan->texts);
    *plan = (keel_plan_t){.steps = NULL};
}
