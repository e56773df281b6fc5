// Namespaces and mounts. A child, the builder, makes a mount namespace, and as another user than
// root a user namespace around it, and in it a second tree of mounts:
//
//   <folder>/root           the tree while it is built, a step of the plan at a time; then it is
//                           moved over /
//   <folder>/disk/<step>    upper and work folder of an overlay
//   <folder>/memory/<step>  likewise, on a tmpfs of the namespace
//   <folder>/lock           held while the view lives; has the namespace's name
//
// The namespaces live on in descriptors of this process, and in the processes that enter them. What
// is mounted in them ends with them, even if all are killed.
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "view/calls.h"

// A file server that does not answer would hold the builder. Mounts take microseconds.
enum { PATIENCE_MS = 20000, SOCKETS_LIMIT = 16 << 20 };

typedef struct build_t {
    keel_view_t *view;
    const keel_view_settings_t *settings;
    bool is_locked; // as another user than root
} build_t;

// ---- mounts ------------------------------------------------------------------------------------

static keel_status_t do_mount(const char *source, const char *target, const char *type,
                              unsigned long flags, const char *options) {
    if (!view_fails() && mount(source, target, type, flags, options) == 0) return NULL;
    return view_refused(type ? type : "a mount at", target);
}

static unsigned long mount_flags(unsigned long flags) {
    static const unsigned long pairs[][2] = {
        {ST_NOSUID, MS_NOSUID},   {ST_NODEV, MS_NODEV},           {ST_NOEXEC, MS_NOEXEC},
        {ST_NOATIME, MS_NOATIME}, {ST_NODIRATIME, MS_NODIRATIME}, {ST_RELATIME, MS_RELATIME}};
    unsigned long out = 0;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; ++i)
        if (flags & pairs[i][0]) out |= pairs[i][1];
    return out;
}

static keel_status_t make_folder(const char *path) {
    if (!view_fails() && (mkdir(path, 0700) == 0 || errno == EEXIST)) return NULL;
    return view_refused("the folder", path);
}

// Where the path stands in the new tree.
static keel_status_t target_of(const build_t *build, const char *path, char **out) {
    return keel_path(out, "%s/root%s", build->view->folder, path[1] ? path : "");
}

// In a folder that is made anew, what is mounted needs a place.
static keel_status_t make_target(const char *path, const char *target) {
    struct stat facts;
    if (lstat(target, &facts) == 0) return NULL;
    if (lstat(path, &facts)) return view_refused("cannot look at", path);
    if (S_ISDIR(facts.st_mode)) return make_folder(target);
    int made = view_fails() ? -1 : open(target, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
    if (made < 0) return view_refused("the file", target);
    close(made);
    return NULL;
}

static keel_status_t bind_at(const char *path, const char *target, bool is_tree) {
    KEEL_TRY(make_target(path, target));
    return do_mount(path, target, NULL, MS_BIND | (is_tree ? MS_REC : 0), NULL);
}

static keel_status_t bind_read_only(const char *path, const char *target, bool is_tree) {
    struct statvfs facts;
    KEEL_TRY(bind_at(path, target, is_tree));
    // What the mount forbids already cannot be allowed here.
    if (statvfs(target, &facts)) return view_refused("cannot look at", target);
    unsigned long flags = MS_REMOUNT | MS_BIND | MS_RDONLY | mount_flags(facts.f_flag);
    keel_status_t status = do_mount(NULL, target, NULL, flags, NULL);
    if (status) umount2(target, MNT_DETACH);
    return status;
}

// ---- overlays ----------------------------------------------------------------------------------

// A folder of the view's that looks like one of the user's. Whoever is not root cannot give it to
// its owner, so its permissions become what this user may do in that one.
static keel_status_t look_like(const char *path, const char *own) {
    struct stat facts;
    if (stat(path, &facts)) return view_refused("cannot look at", path);
    mode_t mode = facts.st_mode & 07777;
    if (geteuid() != 0 && facts.st_uid != geteuid())
        mode = (mode & 07077) | (access(path, R_OK) ? 0 : 0400) | (access(path, W_OK) ? 0 : 0200) |
               (access(path, X_OK) ? 0 : 0100);
    int changed = geteuid() == 0 ? chown(own, facts.st_uid, facts.st_gid) : 0;
    if (view_fails() || chmod(own, mode) ||
        (changed && geteuid() == 0 && errno != EPERM && errno != EINVAL))
        return view_refused("the permissions of", own);
    return NULL;
}

// Paths in options would need escapes, which differ between kernels; numbers do not.
static keel_status_t mount_overlay(const build_t *build, int lower, const char *base,
                                   const char *target) {
    char options[160], upper[PATH_MAX], work[PATH_MAX];
    struct statvfs facts = {0};
    snprintf(upper, sizeof upper, "%s/upper", base);
    snprintf(work, sizeof work, "%s/work", base);
    int up = open(upper, O_PATH | O_DIRECTORY | O_CLOEXEC);
    int working = open(work, O_PATH | O_DIRECTORY | O_CLOEXEC);
    snprintf(options, sizeof options,
             "lowerdir=/proc/self/fd/%d,upperdir=/proc/self/fd/%d,workdir=/proc/self/fd/%d,%s%s",
             lower, up, working, build->is_locked ? "userxattr" : "redirect_dir=on",
             build->view->is_volatile ? ",volatile" : "");
    unsigned long flags = fstatvfs(lower, &facts) ? 0 : mount_flags(facts.f_flag);
    // Its source is the folder's name, by which a sweep knows whose mount it is (tree.c).
    const char *source = strrchr(build->view->folder, '/') + 1;
    keel_status_t status = do_mount(source, target, "overlay", flags, options);
    if (up >= 0) close(up);
    if (working >= 0) close(working);
    return status;
}

static keel_status_t make_layers(const char *base) {
    char upper[PATH_MAX], work[PATH_MAX];
    if ((size_t)snprintf(upper, sizeof upper, "%s/upper", base) >= sizeof upper)
        return keel_status_make(KEEL_UNSUPPORTED, "%s: the path is too long", base);
    snprintf(work, sizeof work, "%s/work", base);
    KEEL_TRY(make_folder(base));
    KEEL_TRY(make_folder(upper));
    return make_folder(work);
}

static keel_status_t overlay_at(const build_t *build, size_t number, const char *path,
                                const char *target) {
    const keel_view_t *view = build->view;
    bool in_memory = view->in_memory || view->plan.steps[number].kind == KEEL_STEP_IN_MEMORY;
    char *base;
    KEEL_TRY(make_target(path, target));
    KEEL_TRY(keel_path(&base, "%s/%s/%zu", view->folder, in_memory ? "memory" : "disk", number));
    int lower = -1;
    keel_status_t status = make_layers(base);
    if (!status) {
        lower = view_fails() ? -1 : open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (lower < 0) status = view_refused("the folder", path);
    }
    char *upper = NULL;
    if (!status) status = keel_path(&upper, "%s/upper", base);
    if (!status) status = look_like(path, upper);
    if (!status) status = mount_overlay(build, lower, base, target);
    if (lower >= 0) close(lower);
    keel_free(upper);
    keel_free(base);
    return status;
}

static keel_status_t try_overlay(const build_t *build, const char *base, const char *root) {
    int lower = view_fails() ? -1 : open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (lower < 0) return view_refused("the folder", root);
    keel_status_t status = mount_overlay(build, lower, base, root);
    close(lower);
    if (!status) umount2(root, MNT_DETACH);
    return status;
}

// Whether an overlay can write there at all. A volatile one leaves a mark that it cannot be used
// again, so each try has folders of its own.
static keel_status_t check_place(const build_t *build) {
    static const char *const names[] = {"try", "try-again"};
    keel_status_t status = NULL;
    char *root;
    KEEL_TRY(keel_path(&root, "%s/root", build->view->folder));
    for (size_t i = 0; i < 2; ++i) {
        char *base = NULL;
        build->view->is_volatile = i == 0;
        keel_status_ignore(status);
        status = keel_path(&base, "%s/%s/%s", build->view->folder,
                           build->view->in_memory ? "memory" : "disk", names[i]);
        if (!status) status = make_layers(base);
        if (!status) status = try_overlay(build, base, root);
        keel_free(base);
        if (!status) break;
    }
    keel_free(root);
    return status;
}

// ---- steps -------------------------------------------------------------------------------------

static keel_status_t make_new_folder(const char *path, const char *target) {
    if (!path[1])
        KEEL_TRY(do_mount("keel", target, "tmpfs", MS_NOSUID | MS_NODEV, "mode=0700"));
    else
        KEEL_TRY(make_folder(target));
    return look_like(path, target);
}

static keel_status_t make_link(const char *path, const char *target) {
    char to[PATH_MAX];
    ssize_t size = view_fails() ? -1 : readlink(path, to, sizeof to);
    if (size < 0 || (size_t)size >= sizeof to) return view_refused("the link", path);
    to[size] = 0;
    if (symlink(to, target)) return view_refused("the link", target);
    return NULL;
}

static keel_status_t take_step(const build_t *build, size_t number, const char *target) {
    const keel_step_t *step = &build->view->plan.steps[number];
    keel_status_t status;
    switch (step->kind) {
        case KEEL_STEP_OVERLAY:
        case KEEL_STEP_IN_MEMORY:
            return overlay_at(build, number, step->path, target);
        case KEEL_STEP_SAME:
            return bind_at(step->path, target, false);
        case KEEL_STEP_TREE:
            return bind_at(step->path, target, true);
        case KEEL_STEP_DEVICES:
            status = bind_read_only(step->path, target, true);
            if (!status) return NULL;
            keel_status_ignore(status);
            return bind_at(step->path, target, true);
        case KEEL_STEP_READ_ONLY:
            return bind_read_only(step->path, target, false);
        case KEEL_STEP_FOLDER:
            return make_new_folder(step->path, target);
        case KEEL_STEP_LINK:
            return make_link(step->path, target);
    }
    return NULL;
}

static bool is_overlay(keel_step_kind_t kind) {
    return kind == KEEL_STEP_OVERLAY || kind == KEEL_STEP_IN_MEMORY;
}

// What takes no overlay can only be read. What this user cannot reach may be missing.
static keel_status_t step(const build_t *build, size_t number) {
    const keel_step_t *own = &build->view->plan.steps[number];
    char *target;
    KEEL_TRY(target_of(build, own->path, &target));
    keel_status_t status = take_step(build, number, target);
    if (status && is_overlay(own->kind) && own->path[1]) {
        keel_status_ignore(status);
        status = bind_read_only(own->path, target, false);
        build->view->read_only[number] = !status;
    }
    keel_free(target);
    if (!status || !build->is_locked || access(own->path, R_OK | X_OK) == 0) return status;
    keel_status_ignore(status);
    return NULL;
}

static keel_status_t show(const build_t *build, const char *path, bool is_read_only) {
    char *target;
    KEEL_TRY(target_of(build, path, &target));
    keel_status_t status =
        is_read_only ? bind_read_only(path, target, false) : bind_at(path, target, false);
    keel_free(target);
    return status;
}

// A socket of another process is found by its file, which an overlay would replace.
static keel_status_t show_sockets(const build_t *build) {
    uint8_t *bytes;
    size_t size;
    keel_str_t line;
    struct stat facts;
    KEEL_TRY(keel_file_read("/proc/net/unix", SOCKETS_LIMIT, &bytes, &size));
    keel_str_t rest = {(const char *)bytes, size};
    while (keel_str_line(&rest, &line)) {
        char path[128]; // the kernel's limit is 108
        const char *at = memchr(line.data, '/', line.size);
        size_t length = at ? line.size - (size_t)(at - line.data) : 0;
        if (!length || length >= sizeof path || at[-1] != ' ') continue;
        memcpy(path, at, length);
        path[length] = 0;
        if (lstat(path, &facts) || !S_ISSOCK(facts.st_mode)) continue;
        keel_status_ignore(show(build, path, false)); // it may be on a mount that is hidden
    }
    keel_free(bytes);
    return NULL;
}

// ---- the builder -------------------------------------------------------------------------------

static keel_status_t write_map(const char *path, const char *format, unsigned id) {
    char text[64];
    int size = snprintf(text, sizeof text, format, id, id);
    int file = view_fails() ? -1 : open(path, O_WRONLY | O_CLOEXEC);
    ssize_t written = file < 0 ? -1 : write(file, text, (size_t)size);
    keel_status_t status = written == size ? NULL : view_refused("cannot write", path);
    if (file >= 0) close(file);
    return status;
}

static keel_status_t separate(const build_t *build) {
    unsigned user = geteuid(), group = getegid();
    int namespaces = CLONE_NEWNS | (build->is_locked ? CLONE_NEWUSER : 0);
    if (view_fails() || unshare(namespaces))
        return view_refused("a private", build->is_locked ? "user namespace" : "mount namespace");
    if (build->is_locked) {
        KEEL_TRY(write_map("/proc/self/setgroups", "deny", 0));
        KEEL_TRY(write_map("/proc/self/uid_map", "%u %u 1", user));
        KEEL_TRY(write_map("/proc/self/gid_map", "%u %u 1", group));
    }
    return do_mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL);
}

static keel_status_t mount_memory(const build_t *build, int *out) {
    bool is_needed = build->view->in_memory;
    char *memory;
    for (size_t i = 0; i < build->view->plan.count; ++i)
        is_needed = is_needed || build->view->plan.steps[i].kind == KEEL_STEP_IN_MEMORY;
    if (!is_needed) return NULL;
    KEEL_TRY(keel_path(&memory, "%s/memory", build->view->folder));
    keel_status_t status = do_mount("keel", memory, "tmpfs", 0, "mode=0700");
    if (!status) {
        *out = view_fails() ? -1 : open(memory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (*out < 0) status = view_refused("the folder", memory);
    }
    keel_free(memory);
    return status;
}

// Whoever enters a mount namespace is at its first root, which is not this process's if that was
// changed (chroot), so the builder's root is kept.
static keel_status_t move_over_root(const build_t *build) {
    char *root;
    KEEL_TRY(target_of(build, "/", &root));
    keel_status_t status = view_fails() || chdir(root) ? view_refused("the folder", root) : NULL;
    keel_free(root);
    if (!status) status = do_mount(".", "/", NULL, MS_MOVE, NULL);
    if (!status && chroot(".")) status = view_refused("the new", "/");
    return status;
}

static keel_status_t build_view(const build_t *build, int *out_memory) {
    KEEL_TRY(separate(build));
    KEEL_TRY(mount_memory(build, out_memory));
    KEEL_TRY(check_place(build));
    for (size_t i = 0; i < build->view->plan.count; ++i)
        KEEL_TRY(step(build, i));
    for (const char *const *at = build->settings->kept; *at; ++at)
        KEEL_TRY(show(build, *at, false));
    for (const char *const *at = build->settings->shown; *at; ++at)
        KEEL_TRY(show(build, *at, true));
    KEEL_TRY(show_sockets(build));
    return move_over_root(build);
}

typedef struct report_t {
    keel_code_t code;
    int memory; // the builder's descriptor
    char message[512];
} report_t;

// Ends when the other end of `until` is closed.
static void be_builder(const build_t *build, int to, int until) {
    report_t report = {.memory = -1};
    char nothing;
    keel_status_t status = build_view(build, &report.memory);
    report.code = keel_status_code(status);
    if (status) snprintf(report.message, sizeof report.message, "%s", keel_status_message(status));
    keel_status_ignore(status);
    if (write(to, &report, sizeof report) == sizeof report)
        while (read(until, &nothing, 1) < 0 && errno == EINTR)
            ;
    _exit(0);
}

// ---- its parent --------------------------------------------------------------------------------

static keel_status_t open_of(pid_t builder, const char *what, int *out) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)builder, what);
    *out = view_fails() ? -1 : open(path, O_RDONLY | O_CLOEXEC);
    return *out < 0 ? view_refused("cannot open", path) : NULL;
}

static bool read_name(const char *path, char *out, size_t room) {
    ssize_t size = view_fails() ? -1 : readlink(path, out, room);
    if (size < 0 || (size_t)size >= room) return false;
    out[size] = 0;
    return true;
}

// For keel_view_sweep: which namespace must be gone.
static keel_status_t sign(keel_view_t *view, pid_t builder) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/ns/mnt", (int)builder);
    if (!read_name(path, view->name, sizeof view->name))
        return view_refused("cannot look at", path);
    return keel_lock_describe(&view->lock, keel_str_bytes(keel_str(view->name)));
}

static keel_status_t take_over(const build_t *build, pid_t builder, const report_t *report) {
    keel_view_t *view = build->view;
    char what[32];
    if (report->code) return keel_status_make(report->code, "%s", report->message);
    KEEL_TRY(open_of(builder, "ns/mnt", &view->mounts));
    KEEL_TRY(open_of(builder, "root", &view->root));
    if (build->is_locked) KEEL_TRY(open_of(builder, "ns/user", &view->user));
    KEEL_TRY(sign(view, builder));
    if (report->memory < 0) return NULL;
    snprintf(what, sizeof what, "fd/%d", report->memory);
    return open_of(builder, what, &view->memory_place);
}

static keel_status_t hear(int from, report_t *out) {
    struct pollfd awaited = {.fd = from, .events = POLLIN};
    uint64_t until = keel_clock_monotonic() + (uint64_t)PATIENCE_MS * 1000000;
    int ready;
    do
        ready = poll(&awaited, 1, PATIENCE_MS);
    while (ready < 0 && errno == EINTR && keel_clock_monotonic() < until);
    if (ready <= 0)
        return keel_status_make(KEEL_UNSUPPORTED, "a file system did not answer for %d s",
                                PATIENCE_MS / 1000);
    if (!view_fails() && read(from, out, sizeof *out) == sizeof *out) return NULL;
    return keel_status_make(KEEL_UNSUPPORTED, "the process that mounts was ended");
}

static keel_status_t run_builder(const build_t *build) {
    int report_pipe[2], until[2];
    report_t report;
    if (view_fails() || pipe2(report_pipe, O_CLOEXEC)) return view_refused("a pipe", "");
    if (pipe2(until, O_CLOEXEC)) {
        close(report_pipe[0]);
        close(report_pipe[1]);
        return view_refused("a pipe", "");
    }
    pid_t builder = view_fails() ? -1 : fork();
    if (builder == 0) {
        close(until[1]);
        be_builder(build, report_pipe[1], until[0]);
    }
    keel_status_t status = builder < 0 ? view_refused("a new", "process") : NULL;
    close(report_pipe[1]);
    close(until[0]);
    if (!status) status = hear(report_pipe[0], &report);
    bool hangs = status != NULL;
    if (!status) status = take_over(build, builder, &report);
    close(report_pipe[0]);
    close(until[1]);
    if (builder > 0 && hangs) kill(builder, SIGKILL);
    // One that a file server holds cannot be waited for.
    if (builder > 0) waitpid(builder, NULL, hangs ? WNOHANG : 0);
    return status;
}

// ---- a view ------------------------------------------------------------------------------------

static keel_status_t make_folders(keel_view_t *view, const char *place) {
    static const char *const names[] = {"root", "disk", "memory"};
    char *path;
    KEEL_TRY(keel_directory_make(place));
    KEEL_TRY(keel_path(&view->folder, "%s/.keel-writes-%d-%llx", place, (int)getpid(),
                       (unsigned long long)keel_clock_monotonic()));
    if (view_fails() || mkdir(view->folder, 0700)) {
        keel_status_t status = view_refused("the folder", view->folder);
        keel_free(view->folder);
        view->folder = NULL;
        return status;
    }
    KEEL_TRY(keel_path(&path, "%s/lock", view->folder));
    keel_status_t status = keel_lock_take(path, &view->lock);
    keel_free(path);
    for (size_t i = 0; !status && i < sizeof names / sizeof *names; ++i) {
        status = keel_path(&path, "%s/%s", view->folder, names[i]);
        if (status) break;
        status = make_folder(path);
        if (!status && strcmp(names[i], "disk") == 0) {
            view->disk_place = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
            if (view->disk_place < 0) status = view_refused("the folder", path);
        }
        keel_free(path);
    }
    return status;
}

static keel_status_t plan(const keel_mounts_t *mounts, const build_t *build) {
    keel_view_t *view = build->view;
    KEEL_TRY(keel_plan_make(mounts, build->is_locked, &view->plan));
    for (const char *const *at = build->settings->likely; at && build->is_locked && *at; ++at)
        KEEL_TRY(keel_plan_add_others(*at, &view->plan));
    void *shared = view_fails() ? MAP_FAILED
                                : mmap(NULL, view->plan.count, PROT_READ | PROT_WRITE,
                                       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) return keel_status_make(KEEL_NO_MEMORY, "out of memory");
    view->read_only = shared;
    return NULL;
}

static keel_status_t try_in(const keel_view_settings_t *settings, const keel_mounts_t *mounts,
                            const char *place, bool is_locked, bool in_memory, keel_view_t **out) {
    void *room;
    KEEL_TRY(keel_calloc(1, sizeof(keel_view_t), &room));
    keel_view_t *view = room;
    *view = (keel_view_t){.lock = KEEL_NO_LOCK,
                          .user = -1,
                          .mounts = -1,
                          .root = -1,
                          .disk_place = -1,
                          .memory_place = -1,
                          .in_memory = in_memory};
    const build_t build = {view, settings, is_locked};
    keel_status_t status = make_folders(view, place);
    if (!status) status = plan(mounts, &build);
    if (!status) status = run_builder(&build);
    if (status)
        keel_view_destroy(view);
    else
        *out = view;
    return status;
}

// As root without a user namespace, unless this root may not mount.
static keel_status_t try_place(const keel_view_settings_t *settings, const keel_mounts_t *mounts,
                               const char *place, bool in_memory, keel_view_t **out) {
    keel_status_t status = NULL;
    for (int is_locked = geteuid() != 0; is_locked < 2; ++is_locked) {
        keel_status_ignore(status);
        status = try_in(settings, mounts, place, is_locked, in_memory, out);
        if (!status) break;
    }
    return status;
}

// The real paths of a list; those that do not exist are left out.
typedef struct paths_t {
    const char *list[24];
    size_t count;
} paths_t;

static void release_paths(paths_t *paths) {
    for (size_t i = 0; i < paths->count; ++i)
        keel_free((void *)(uintptr_t)paths->list[i]);
    paths->count = 0;
}

static keel_status_t resolve(const char *const *given, bool makes, paths_t *out) {
    char real[PATH_MAX], *copy;
    for (; *given && out->count + 1 < sizeof out->list / sizeof *out->list; ++given) {
        if (makes) keel_status_ignore(keel_directory_make(*given)); // without it nothing is kept
        if (!realpath(*given, real)) continue;
        KEEL_TRY(keel_strdup(keel_str(real), &copy));
        out->list[out->count++] = copy;
    }
    return NULL;
}

static keel_status_t create(const keel_view_settings_t *settings, const keel_mounts_t *mounts,
                            keel_view_t **out) {
    keel_status_t first = NULL;
    for (int in_memory = 0; in_memory < 2; ++in_memory)
        for (const char *const *place = settings->places; *place; ++place) {
            keel_status_t status = try_place(settings, mounts, *place, in_memory, out);
            if (!status || first) {
                keel_status_ignore(status ? status : first);
                if (!status) return NULL;
            } else {
                first = status;
            }
        }
    if (first) return first;
    return keel_status_make(KEEL_UNSUPPORTED, "there is no folder for what is written");
}

keel_status_t keel_view_create(const keel_view_settings_t *settings, keel_view_t **out) {
    paths_t kept = {.count = 0}, shown = {.count = 0}, likely = {.count = 0};
    keel_mounts_t mounts;
    *out = NULL;
    keel_status_t status = resolve(settings->kept, true, &kept);
    if (!status) status = resolve(settings->shown, false, &shown);
    if (!status && settings->likely) status = resolve(settings->likely, false, &likely);
    const keel_view_settings_t real = {settings->places, kept.list, shown.list, likely.list};
    if (!status) {
        status = keel_mounts_here(&mounts);
        if (!status) status = create(&real, &mounts, out);
        keel_mounts_deinitialize(&mounts);
    }
    release_paths(&kept);
    release_paths(&shown);
    release_paths(&likely);
    return status;
}

const char *keel_view_name(const keel_view_t *view) {
    return view->name;
}

bool keel_view_is_here(const char *name) {
    char own[64];
    return read_name("/proc/self/ns/mnt", own, sizeof own) && strcmp(own, name) == 0;
}

const char *keel_view_folder(const keel_view_t *view) {
    return view->folder;
}

const char *keel_view_read_only(const keel_view_t *view, size_t i) {
    for (size_t at = 0; at < view->plan.count; ++at)
        if (view->read_only[at] && i-- == 0) return view->plan.steps[at].path;
    return NULL;
}

bool keel_view_is_full(const keel_view_t *view) {
    enum { LITTLE = 16 << 20 };
    struct statvfs facts;
    int place = view->in_memory ? view->memory_place : view->disk_place;
    if (place < 0 || fstatvfs(place, &facts)) return false;
    return (uint64_t)facts.f_bavail * facts.f_frsize < LITTLE;
}

static void close_if(int descriptor) {
    if (descriptor >= 0) close(descriptor);
}

void keel_view_destroy(keel_view_t *view) {
    if (!view) return;
    close_if(view->user);
    close_if(view->mounts);
    close_if(view->root);
    close_if(view->memory_place);
    close_if(view->disk_place);
    if (view->read_only) munmap(view->read_only, view->plan.count);
    if (view->folder) view_remove(view->folder);
    keel_lock_release(&view->lock);
    keel_plan_deinitialize(&view->plan);
    keel_free(view->folder);
    keel_free(view);
}
