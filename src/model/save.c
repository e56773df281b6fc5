// Writing checkpoints. Leaves are copied on the device by a program of their own; a thread fetches
// the copies one by one and writes them, while the context goes on.
//
// A file appears as a whole. Of several files, those with tensors come first, under names that no
// earlier save had; the index, replaced last, makes them the checkpoint, and only then are the
// files of earlier ones removed.
//
// Threads: the writing thread has the plan, the values and the path; the context's thread touches
// none of them until it has joined it.
#define _GNU_SOURCE
#include "model/model.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/stat.h>

#include "model/safetensors.h"

static const char index_suffix[] = ".safetensors.index.json";

typedef struct part_t {
    uint32_t first, count; // of the plan
    char *path;
} part_t;

struct keel_checkpoint_t {
    char *path;
    bool is_split;
    uint32_t count;
    keel_tensor_t *copies;       // of each leaf; the context's thread only
    stored_t *plan;              // by file, and in each file by place
    uint32_t *leaves;            // of each of the plan: which leaf
    keel_tensor_value_t *values; // by leaf
    keel_caller_t site;          // the user's line
    keel_arena_t names;
    KEEL_TABLE(part_t) parts;
    pthread_t thread;
    bool has_thread;
    atomic_bool is_done;
    keel_status_t status; // once it is done
};

// ---- the plan ----------------------------------------------------------------------------------

static uint64_t bytes_of(const stored_t *stored) {
    uint64_t bytes = 0;
    return keel_tensor_bytes(stored->dtype, &stored->shape, &bytes) ? bytes : 0;
}

static keel_status_t make_room(keel_checkpoint_t *save, uint32_t count) {
    void *memory;
    KEEL_TRY(keel_calloc(count, sizeof *save->copies, &memory));
    save->copies = memory;
    KEEL_TRY(keel_calloc(count, sizeof *save->plan, &memory));
    save->plan = memory;
    KEEL_TRY(keel_calloc(count, sizeof *save->values, &memory));
    save->values = memory;
    save->count = count;
    return NULL;
}

// In the order of the leaves. `end` has the number of the leaf until each has its place.
static keel_status_t describe(keel_checkpoint_t *save, const keel_tree_t *tree) {
    for (uint32_t i = 0; i < save->count; ++i) {
        const leaf_t *leaf = &tree->leaves.data[i];
        stored_t *stored = &save->plan[i];
        stored->dtype = keel_dtype(leaf->tensor);
        stored->shape = keel_shape(leaf->tensor);
        KEEL_TRY(keel_arena_str(&save->names, keel_str(leaf->name), &stored->name));
    }
    return NULL;
}

// Leaves one after the other, as many as fit, at least one.
static keel_status_t split(keel_checkpoint_t *save, uint64_t part_bytes) {
    part_t part = {0};
    uint64_t size = 0;
    for (uint32_t i = 0; i < save->count; ++i) {
        uint64_t bytes = bytes_of(&save->plan[i]);
        if (save->is_split && part.count && (size > part_bytes || bytes > part_bytes - size)) {
            KEEL_PUSH(&save->parts, part);
            part = (part_t){.first = i};
            size = 0;
        }
        ++part.count;
        size += bytes;
    }
    KEEL_PUSH(&save->parts, part);
    return NULL;
}

static size_t stem_size(const keel_checkpoint_t *save) {
    return strlen(save->path) - (sizeof index_suffix - 1);
}

// What no earlier save of this path was called.
static uint32_t new_tag(const keel_checkpoint_t *save) {
    static atomic_uint counter;
    const uint64_t seed[] = {keel_clock_wall(), (uint64_t)(uintptr_t)save,
                             atomic_fetch_add(&counter, 1)};
    return (uint32_t)keel_quick_hash(keel_bytes(seed, sizeof seed));
}

static keel_status_t name_parts(keel_checkpoint_t *save) {
    uint32_t tag = new_tag(save);
    for (uint32_t i = 0; i < save->parts.count; ++i) {
        part_t *part = &save->parts.data[i];
        if (save->is_split)
            KEEL_TRY(keel_path(&part->path, "%.*s-%08x-%05u-of-%05u.safetensors",
                               (int)stem_size(save), save->path, tag, i + 1, save->parts.count));
        else
            KEEL_TRY(keel_path(&part->path, "%s", save->path));
    }
    return NULL;
}

// Which leaf is which of the plan, once that is sorted: by name.
static keel_status_t sort_parts(keel_checkpoint_t *save, const keel_tree_t *tree) {
    void *memory;
    for (uint32_t i = 0; i < save->parts.count; ++i)
        safetensors_place(save->plan + save->parts.data[i].first, save->parts.data[i].count);
    KEEL_TRY(keel_calloc(save->count, sizeof *save->leaves, &memory));
    save->leaves = memory;
    for (uint32_t i = 0; i < save->count; ++i)
        save->leaves[i] = (uint32_t)(tree_find(tree, save->plan[i].name) - tree->leaves.data);
    return NULL;
}

static keel_status_t make_plan(keel_checkpoint_t *save, const keel_tree_t *tree,
                               uint64_t part_bytes) {
    KEEL_TRY(make_room(save, tree->leaves.count));
    KEEL_TRY(describe(save, tree));
    KEEL_TRY(split(save, part_bytes));
    KEEL_TRY(sort_parts(save, tree));
    return name_parts(save);
}

// ---- writing -----------------------------------------------------------------------------------

static keel_status_t write_tensor(const keel_checkpoint_t *save, keel_draft_t *draft,
                                  uint32_t place) {
    uint64_t size = bytes_of(&save->plan[place]);
    void *data;
    if (!size) return NULL;
    KEEL_TRY(keel_alloc(size, &data));
    keel_status_t status =
        keel_tensor_fetch(save->site, save->values[save->leaves[place]], data, size);
    if (!status) status = keel_draft_write(draft, keel_bytes(data, size));
    keel_free(data);
    return status;
}

static keel_status_t fill_part(const keel_checkpoint_t *save, const part_t *part,
                               keel_draft_t *draft) {
    keel_buffer_t header;
    keel_buffer_initialize(&header, SAFETENSORS_LENGTH + (size_t)SAFETENSORS_HEADER);
    safetensors_write(save->plan + part->first, part->count, &header);
    keel_status_t status = keel_buffer_status(&header);
    if (!status) status = keel_draft_write(draft, keel_buffer_bytes(&header));
    keel_buffer_deinitialize(&header);
    for (uint32_t i = 0; !status && i < part->count; ++i)
        status = write_tensor(save, draft, part->first + i);
    return status;
}

static keel_status_t write_part(const keel_checkpoint_t *save, const part_t *part) {
    keel_draft_t draft;
    KEEL_TRY(keel_draft_open_public(part->path, &draft));
    keel_status_t status = fill_part(save, part, &draft);
    if (!status) return keel_draft_publish(&draft, part->path);
    keel_draft_discard(&draft);
    return status;
}

static const char *name_of(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static keel_status_t write_index(const keel_checkpoint_t *save) {
    keel_buffer_t text;
    uint64_t total = 0;
    for (uint32_t i = 0; i < save->count; ++i)
        total += bytes_of(&save->plan[i]);
    keel_buffer_initialize(&text, 0);
    keel_json_t json = keel_json(&text, KEEL_JSON_SPACED);
    keel_json_object(&json, NULL);
    keel_json_object(&json, "metadata");
    keel_json_unsigned(&json, "total_size", total);
    keel_json_end_object(&json);
    keel_json_object(&json, "weight_map");
    for (uint32_t part = 0; part < save->parts.count; ++part)
        for (uint32_t i = 0; i < save->parts.data[part].count; ++i) {
            keel_json_key(&json, save->plan[save->parts.data[part].first + i].name);
            keel_json_string(&json, NULL, name_of(save->parts.data[part].path));
        }
    keel_json_end_object(&json);
    keel_json_end_object(&json);
    keel_buffer_byte(&text, '\n');
    keel_status_t status = keel_buffer_status(&text);
    if (!status) status = keel_file_replace_public(save->path, keel_buffer_bytes(&text));
    keel_buffer_deinitialize(&text);
    return status;
}

// ---- files of earlier saves --------------------------------------------------------------------

// Whether `name` is "STEM-xxxxxxxx-00001-of-00003.safetensors".
static bool is_part(keel_str_t stem, const char *name) {
    static const char pattern[] = "-xxxxxxxx-ddddd-of-ddddd.safetensors";
    keel_str_t text = keel_str(name);
    if (text.size != stem.size + sizeof pattern - 1 || !keel_str_starts(text, stem)) return false;
    name += stem.size;
    for (const char *p = pattern; *p; ++p, ++name) {
        bool is_hex = keel_is_digit(*name) || (*name >= 'a' && *name <= 'f');
        if (*p == 'x' ? !is_hex : *p == 'd' ? !keel_is_digit(*name) : *p != *name) return false;
    }
    return true;
}

typedef struct sweep_t {
    const keel_checkpoint_t *save;
    keel_str_t folder, stem;
} sweep_t;

static bool is_old_part(const sweep_t *sweep, const char *name) {
    if (!sweep->save->is_split || !is_part(sweep->stem, name)) return false;
    for (uint32_t i = 0; i < sweep->save->parts.count; ++i)
        if (!strcmp(name_of(sweep->save->parts.data[i].path), name)) return false;
    return true;
}

static keel_status_t remove_old(void *context, const char *name) {
    const sweep_t *sweep = context;
    keel_file_facts_t facts;
    char *path;
    long pid = 0;
    if (!keel_draft_is_temporary(name, &pid) && !is_old_part(sweep, name)) return NULL;
    KEEL_TRY(keel_path(&path, "%.*s%s", (int)sweep->folder.size, sweep->folder.data, name));
    keel_status_t status = pid ? keel_file_facts(path, &facts) : keel_file_remove(path);
    if (!status && pid) keel_draft_remove_stale(path, pid, &facts);
    keel_status_ignore(status);
    keel_free(path);
    return NULL;
}

// Also what killed processes left in the folder. What cannot be removed stays: the checkpoint is
// complete without this.
static void sweep_folder(const keel_checkpoint_t *save) {
    const char *name = name_of(save->path);
    const keel_str_t folder = {save->path, (size_t)(name - save->path)};
    sweep_t sweep = {save, folder, {name, save->is_split ? stem_size(save) - folder.size : 0}};
    char *path;
    keel_status_t status = keel_path(&path, "%.*s", folder.size ? (int)folder.size : 1,
                                     folder.size ? folder.data : ".");
    if (!status) {
        status = keel_directory_walk(path, remove_old, &sweep);
        keel_free(path);
    }
    keel_status_ignore(status);
}

// What a failed save has written already.
static void remove_parts(const keel_checkpoint_t *save, uint32_t count) {
    for (uint32_t i = 0; save->is_split && i < count; ++i)
        keel_status_ignore(keel_file_remove(save->parts.data[i].path));
}

static keel_status_t write_all(const keel_checkpoint_t *save) {
    for (uint32_t i = 0; i < save->parts.count; ++i) {
        keel_status_t status = write_part(save, &save->parts.data[i]);
        if (!status) continue;
        remove_parts(save, i + 1);
        return status;
    }
    // If it fails after the rename, in the sync of the folder, the index names these files.
    if (save->is_split) KEEL_TRY(write_index(save));
    sweep_folder(save);
    return NULL;
}

// ---- beginning and ending ----------------------------------------------------------------------

static void *run(void *memory) {
    keel_checkpoint_t *save = memory;
    save->status = write_all(save);
    atomic_store(&save->is_done, true);
    return NULL;
}

// Signals are for the threads of the program; those of a crash are not.
static void start(keel_checkpoint_t *save) {
    static const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS};
    sigset_t blocked, before;
    sigfillset(&blocked);
    for (size_t i = 0; i < sizeof crashes / sizeof *crashes; ++i)
        sigdelset(&blocked, crashes[i]);
    pthread_sigmask(SIG_SETMASK, &blocked, &before);
    save->has_thread = pthread_create(&save->thread, NULL, run, save) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!save->has_thread) run(save);
}

// Its errors have the caller's line.
static keel_status_t copy_leaves(keel_caller_t site, keel_checkpoint_t *save,
                                 const keel_tree_t *tree) {
    for (uint32_t i = 0; i < save->count; ++i)
        save->copies[i] = keel_tensor_copy(site, tree->leaves.data[i].tensor);
    KEEL_TRY(keel_step_end_at(site, tree->context));
    for (uint32_t i = 0; i < save->count; ++i)
        KEEL_TRY(keel_tensor_value(save->copies[i], &save->values[i]));
    return NULL;
}

static void free_save(keel_checkpoint_t *save) {
    for (uint32_t i = 0; i < save->count; ++i)
        keel_release(save->copies[i]);
    for (uint32_t i = 0; i < save->parts.count; ++i)
        keel_free(save->parts.data[i].path);
    void *const parts[] = {save->path,   save->copies, save->plan,
                           save->leaves, save->values, save->parts.data};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; ++i)
        keel_free(parts[i]);
    keel_arena_deinitialize(&save->names);
    keel_free(save);
}

static keel_status_t refuse(const char *what) {
    return keel_status_make(KEEL_INVALID, "save: %s", what);
}

static keel_status_t check(const keel_tree_t *tree, const char *path, uint64_t part_bytes) {
    if (!tree || !path || !*path) return refuse("no tree or no path");
    if (!tree->leaves.count) return refuse("the tree is empty");
    if (keel_tensor_is_step_open(tree->context)) return refuse("end the open step first");
    bool is_index = keel_str_ends(keel_str(path), keel_str(index_suffix));
    if (is_index != (part_bytes > 0))
        return refuse("a path ends in .safetensors.index.json if, and only if, parts have a size");
    struct stat there; // a rename would take the place of a device
    if (!stat(path, &there) && !S_ISREG(there.st_mode))
        return keel_status_make(KEEL_INVALID, "save: %s is not a regular file", path);
    return NULL;
}

static keel_status_t begin(keel_caller_t site, const keel_tree_t *tree, const char *path,
                           uint64_t part_bytes, keel_checkpoint_t **out) {
    void *memory;
    KEEL_TRY(keel_calloc(1, sizeof(keel_checkpoint_t), &memory));
    keel_checkpoint_t *save = memory;
    keel_arena_initialize(&save->names, 0);
    save->is_split = part_bytes > 0;
    save->site = site;
    keel_status_t status = keel_strdup(keel_str(path), &save->path);
    if (!status) status = make_plan(save, tree, part_bytes);
    status = keel_tensor_annotate(site, status);
    if (!status) status = copy_leaves(site, save, tree);
    if (status) {
        free_save(save);
        return status;
    }
    *out = save;
    start(save);
    return NULL;
}

keel_status_t keel_checkpoint_begin_at(keel_caller_t site, const keel_tree_t *tree,
                                       const char *path, uint64_t part_bytes,
                                       keel_checkpoint_t **out) {
    if (!out) return keel_tensor_annotate(site, refuse("no place for it"));
    *out = NULL;
    KEEL_TRY(keel_tensor_annotate(site, check(tree, path, part_bytes)));
    return begin(site, tree, path, part_bytes, out);
}

int keel_checkpoint_is_done(const keel_checkpoint_t *save) {
    return !save || atomic_load(&save->is_done);
}

keel_status_t keel_checkpoint_end(keel_checkpoint_t *save) {
    if (!save) return NULL;
    if (save->has_thread) pthread_join(save->thread, NULL);
    keel_status_t status = save->status;
    if (status) status = keel_status_annotate(status, "save %s", save->path);
    free_save(save);
    return status;
}

keel_status_t keel_checkpoint_save_at(keel_caller_t site, const keel_tree_t *tree, const char *path,
                                      uint64_t part_bytes) {
    keel_checkpoint_t *save;
    KEEL_TRY(keel_checkpoint_begin_at(site, tree, path, part_bytes, &save));
    return keel_tensor_annotate(site, keel_checkpoint_end(save));
}
