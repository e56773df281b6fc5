// Reading checkpoints. Everything that a header or an index says is checked, and compared with the
// tree, before the first value is read.
#include "model/model.h"

#include <stdio.h>

#include "model/safetensors.h"

static const uint64_t index_limit = (uint64_t)100 << 20;

typedef struct file_t {
    keel_input_file_t reading;
    safetensors_t contents;
} file_t;

typedef struct wanted_t {
    const leaf_t *leaf;   // NULL: not chosen
    uint32_t file, place; // where it was found; KEEL_NONE
} wanted_t;

typedef struct load_t {
    const keel_tree_t *tree;
    bool is_whole;    // all leaves are read
    wanted_t *wanted; // by leaf
    KEEL_TABLE(file_t) files;
    keel_map_t file_ids; // of an index: name -> index
    keel_buffer_t wrong;
    uint32_t wrong_count;
} load_t;

// ---- what does not fit -------------------------------------------------------------------------

static void say(load_t *load, const char *format, ...) KEEL_PRINTF(2, 3);

static void say(load_t *load, const char *format, ...) {
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    ++load->wrong_count;
    if (load->wrong.size > 3000) return; // a status ends at 4 KiB
    keel_buffer_format(&load->wrong, "%s%s", load->wrong.size ? "; " : "", text);
}

static const char *stored_text(const stored_t *stored, char out[KEEL_TENSOR_TEXT]) {
    char shape[KEEL_TENSOR_TEXT];
    if (stored->dtype != KEEL_DTYPE_COUNT)
        return keel_tensor_text(stored->dtype, &stored->shape, out);
    keel_tensor_text(KEEL_U8, &stored->shape, shape);
    snprintf(out, KEEL_TENSOR_TEXT, "%.*s%s", (int)(stored->dtype_name.size & 15),
             stored->dtype_name.data, shape + 2);
    return out;
}

static void compare(load_t *load, const leaf_t *leaf, const stored_t *stored) {
    char wanted[KEEL_TENSOR_TEXT], got[KEEL_TENSOR_TEXT];
    const keel_shape_t shape = keel_shape(leaf->tensor);
    if (keel_dtype(leaf->tensor) != stored->dtype ||
        !keel_tensor_same_shape(&shape, &stored->shape))
        say(load, "%s is %s in the tree and %s in the file", leaf->name,
            keel_tensor_text(keel_dtype(leaf->tensor), &shape, wanted), stored_text(stored, got));
}

// Notes where a tensor of a file is wanted.
static void take(load_t *load, uint32_t file, uint32_t place) {
    const stored_t *stored = &load->files.data[file].contents.tensors.data[place];
    const leaf_t *leaf = tree_find(load->tree, stored->name);
    wanted_t *wanted = leaf ? &load->wanted[leaf - load->tree->leaves.data] : NULL;
    if (!leaf && load->is_whole)
        say(load, "%.200s is in the file and not in the tree", stored->name.data);
    if (!leaf || !wanted->leaf) return;
    if (wanted->file != KEEL_NONE) {
        say(load, "%s is in two files", leaf->name);
        return;
    }
    wanted->file = file;
    wanted->place = place;
    compare(load, leaf, stored);
}

static keel_status_t judge(load_t *load) {
    for (uint32_t i = 0; i < load->tree->leaves.count; ++i)
        if (load->wanted[i].leaf && load->wanted[i].file == KEEL_NONE)
            say(load, "%s is in the tree and not in the file", load->wanted[i].leaf->name);
    if (!load->wrong_count) return NULL;
    KEEL_TRY(keel_buffer_status(&load->wrong));
    return keel_status_make(KEEL_INVALID, "%u tensor%s not fit: %s%s", load->wrong_count,
                            load->wrong_count == 1 ? " does" : "s do",
                            keel_buffer_cstr(&load->wrong), load->wrong.size > 3000 ? "; ..." : "");
}

// ---- files -------------------------------------------------------------------------------------

static keel_status_t open_file(load_t *load, const char *path) {
    KEEL_TRY(keel_table_reserve(&load->files, 1));
    file_t *file = &load->files.data[load->files.count];
    KEEL_TRY(keel_input_file_open(path, &file->reading));
    safetensors_initialize(&file->contents);
    ++load->files.count;
    return safetensors_read(&file->reading, &file->contents);
}

static keel_status_t open_indexed(load_t *load, const char *path, keel_str_t name) {
    const char *slash = strrchr(path, '/');
    char *file;
    if (keel_map_find(&load->file_ids, keel_str_bytes(name))) return NULL;
    KEEL_TRY(keel_map_put(&load->file_ids, keel_str_bytes(name), load->files.count));
    KEEL_TRY(keel_path(&file, "%.*s%.*s", slash ? (int)(slash - path + 1) : 0, path,
                       KEEL_STR_ARGS(name)));
    keel_status_t status = open_file(load, file);
    keel_free(file);
    return status;
}

// The files have as many tensors as the index; which they are, the tree will say.
static keel_status_t check_index(const load_t *load, const safetensors_index_t *index) {
    uint64_t count = 0;
    for (uint32_t i = 0; i < load->files.count; ++i)
        count += load->files.data[i].contents.tensors.count;
    if (count == index->tensors.count) return NULL;
    return keel_status_make(KEEL_CORRUPT, "the index has %u tensors, and its files %llu",
                            index->tensors.count, (unsigned long long)count);
}

static keel_status_t open_index(load_t *load, const char *path) {
    safetensors_index_t index;
    uint8_t *bytes;
    size_t size;
    KEEL_TRY(keel_file_read(path, index_limit, &bytes, &size));
    safetensors_index_initialize(&index);
    keel_status_t status = safetensors_index_parse(path, keel_bytes(bytes, size), &index);
    for (uint32_t i = 0; !status && i < index.tensors.count; ++i)
        status = open_indexed(load, path, index.tensors.data[i].file);
    if (!status) status = check_index(load, &index);
    safetensors_index_deinitialize(&index);
    keel_free(bytes);
    return status;
}

// ---- values ------------------------------------------------------------------------------------

static bool are_bools(const uint8_t *data, size_t size) {
    for (size_t i = 0; i < size; ++i)
        if (data[i] > 1) return false;
    return true;
}

static keel_status_t read_value(const load_t *load, const wanted_t *wanted) {
    const file_t *file = &load->files.data[wanted->file];
    const stored_t *stored = &file->contents.tensors.data[wanted->place];
    const size_t size = stored->end - stored->begin;
    void *data;
    KEEL_TRY(keel_alloc(size, &data));
    keel_status_t status =
        keel_input_file_read(&file->reading, file->contents.data_begin + stored->begin, data, size);
    if (!status && stored->dtype == KEEL_BOOL && !are_bools(data, size))
        status =
            keel_status_make(KEEL_CORRUPT, "%s has bytes that are not bools", wanted->leaf->name);
    if (!status) status = keel_tensor_write(wanted->leaf->tensor, data);
    keel_free(data);
    return status;
}

static keel_status_t read_values(const load_t *load) {
    bool is_partial = false;
    for (uint32_t i = 0; i < load->tree->leaves.count; ++i) {
        const wanted_t *wanted = &load->wanted[i];
        if (!wanted->leaf) continue;
        keel_status_t status = read_value(load, wanted);
        if (status && is_partial)
            status = keel_status_annotate(status, "the leaves before %s have new values",
                                          wanted->leaf->name);
        KEEL_TRY(status);
        is_partial = true;
    }
    return NULL;
}

// ---- all of it ---------------------------------------------------------------------------------

static keel_status_t choose(load_t *load, keel_filter_t filter, const void *data) {
    const uint32_t count = load->tree->leaves.count;
    void *memory;
    KEEL_TRY(keel_calloc(count, sizeof *load->wanted, &memory));
    load->wanted = memory;
    for (uint32_t i = 0; i < count; ++i) {
        const keel_leaf_t leaf = keel_tree_leaf(load->tree, i);
        load->wanted[i].file = KEEL_NONE;
        if (!filter || filter(&leaf, data)) load->wanted[i].leaf = &load->tree->leaves.data[i];
    }
    return NULL;
}

static keel_status_t load_all(load_t *load, const char *path, keel_filter_t filter,
                              const void *data) {
    KEEL_TRY(choose(load, filter, data));
    KEEL_TRY(keel_str_ends(keel_str(path), KEEL_STR(".index.json")) ? open_index(load, path)
                                                                    : open_file(load, path));
    for (uint32_t file = 0; file < load->files.count; ++file)
        for (uint32_t i = 0; i < load->files.data[file].contents.tensors.count; ++i)
            take(load, file, i);
    KEEL_TRY(judge(load));
    return read_values(load);
}

static keel_status_t check(const keel_tree_t *tree, const char *path) {
    if (!tree || !path) return keel_status_make(KEEL_INVALID, "load: no tree or no path");
    if (keel_tensor_is_step_open(tree->context))
        return keel_status_make(KEEL_INVALID, "load: end the open step first");
    return NULL;
}

keel_status_t keel_checkpoint_load_at(keel_caller_t site, keel_tree_t *tree, const char *path,
                                      keel_filter_t filter, const void *data) {
    KEEL_TRY(keel_tensor_annotate(site, check(tree, path)));
    load_t load = {.tree = tree, .is_whole = !filter};
    keel_buffer_initialize(&load.wrong, 0);
    keel_map_initialize(&load.file_ids);
    keel_status_t status = load_all(&load, path, filter, data);
    for (uint32_t i = 0; i < load.files.count; ++i) {
        safetensors_deinitialize(&load.files.data[i].contents);
        keel_input_file_close(&load.files.data[i].reading);
    }
    keel_free(load.files.data);
    keel_free(load.wanted);
    keel_map_deinitialize(&load.file_ids);
    keel_buffer_deinitialize(&load.wrong);
    if (status) status = keel_status_annotate(status, "load %s", path);
    return keel_tensor_annotate(site, status);
}
