#include "cli/lint_files.h"

enum { DEEPEST = 64 };

// ---- which files -------------------------------------------------------------------------------

static keel_status_t add_file(lint_files_t *files, const char *path) {
    keel_str_t kept;
    KEEL_TRY(keel_arena_str(&files->texts, keel_str(path), &kept));
    KEEL_TRY(keel_grow_array(files->count, sizeof *files->files, &files->capacity,
                             (void **)&files->files));
    files->files[files->count++] = (lint_file_t){.path = kept.data};
    return NULL;
}

typedef struct folder_t {
    lint_files_t *files;
    const char *path;
    unsigned depth;
} folder_t;

static bool is_left_out(const char *name) {
    static const char *const names[] = {"__pycache__", "node_modules", "site-packages", NULL};
    return *name == '.' || keel_str_is_one_of(keel_str(name), names);
}

static bool is_environment(const char *path) {
    char *config = NULL;
    keel_status_t status = keel_path(&config, "%s/pyvenv.cfg", path);
    bool is_it = !status && keel_is_file(config);
    keel_status_ignore(status);
    keel_free(config);
    return is_it;
}

static keel_status_t add_folder(lint_files_t *files, const char *path, unsigned depth);

static keel_status_t visit(void *context, const char *name) {
    const folder_t *folder = context;
    char *path;
    if (is_left_out(name)) return NULL;
    bool has_slash = keel_str_ends(keel_str(folder->path), KEEL_STR("/"));
    KEEL_TRY(keel_path(&path, "%s%s%s", folder->path, has_slash ? "" : "/", name));
    keel_status_t status = NULL;
    if (keel_is_folder(path)) {
        if (!keel_is_link(path) && !is_environment(path) && folder->depth < DEEPEST)
            status = add_folder(folder->files, path, folder->depth + 1);
    } else if (keel_str_ends(keel_str(name), KEEL_STR(".py"))) {
        status = add_file(folder->files, path);
    }
    keel_free(path);
    return status;
}

static keel_status_t add_folder(lint_files_t *files, const char *path, unsigned depth) {
    folder_t folder = {files, path, depth};
    return keel_directory_walk(path, visit, &folder);
}

keel_status_t lint_files_add(lint_files_t *files, const char *path) {
    if (strcmp(path, "-") != 0 && keel_is_folder(path)) return add_folder(files, path, 0);
    return add_file(files, path);
}

// ---- reading them ------------------------------------------------------------------------------

typedef struct text_t {
    uint8_t *data;
    size_t size;
} text_t;

static keel_status_t read_text(const char *path, text_t *out) {
    *out = (text_t){0};
    bool is_input = strcmp(path, "-") == 0;
    KEEL_TRY(cli_read_file(is_input ? "/dev/stdin" : path, &out->data, &out->size));
    if (!out->size || !memchr(out->data, '\0', out->size)) return NULL;
    keel_free(out->data);
    out->data = NULL;
    return keel_status_make(KEEL_INVALID, "%s: not Python source: it contains NUL bytes",
                            is_input ? "standard input" : path);
}

// Memory may run out; whatever else happens is the file's.
static keel_status_t note_unread(lint_files_t *files, lint_file_t *file, keel_status_t status) {
    if (keel_status_code(status) == KEEL_NO_MEMORY) return status;
    keel_str_t kept;
    keel_status_t copied =
        keel_arena_str(&files->texts, keel_str(keel_status_message(status)), &kept);
    keel_status_ignore(status);
    KEEL_TRY(copied);
    file->unread = kept.data;
    ++files->unread;
    return NULL;
}

// Whether one of them imports PyTorch/XLA or TorchTPU: then all of them run there.
static bool find_xla(const lint_files_t *files) {
    bool is_it = false;
    for (size_t i = 0; i < files->count && !is_it; ++i) {
        text_t text;
        if (strcmp(files->files[i].path, "-") == 0) continue; // it can be read once
        keel_status_t status = read_text(files->files[i].path, &text);
        if (!status)
            is_it = keel_lint_imports_xla(keel_bytes_str(keel_bytes(text.data, text.size)));
        keel_status_ignore(status);
        keel_free(text.data);
    }
    return is_it;
}

static keel_status_t check_file(lint_files_t *files, lint_file_t *file,
                                const keel_lint_options_t *options) {
    text_t text;
    keel_status_t status = read_text(file->path, &text);
    if (!status) {
        status = keel_lint_text(keel_bytes_str(keel_bytes(text.data, text.size)), options,
                                &file->report);
        keel_free(text.data);
    }
    if (status) return note_unread(files, file, status);
    files->findings += file->report.count;
    files->with_findings += file->report.count > 0;
    files->ignored += file->report.ignored;
    files->unparsed += file->report.error_line > 0;
    return NULL;
}

keel_status_t lint_files_check(lint_files_t *files, const keel_lint_options_t *options) {
    keel_lint_options_t all = *options;
    all.is_xla = all.is_xla || find_xla(files);
    for (size_t i = 0; i < files->count; ++i)
        KEEL_TRY(check_file(files, &files->files[i], &all));
    return NULL;
}

void lint_files_release(lint_files_t *files) {
    for (size_t i = 0; i < files->count; ++i)
        keel_lint_deinitialize(&files->files[i].report);
    keel_free(files->files);
    keel_arena_deinitialize(&files->texts);
}
