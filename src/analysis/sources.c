#include "analysis/sources.h"

#include <string.h>

#include "explain/imports.h"
#include "host/source.h"
#include "journal/journal.h"

enum { LIST_LIMIT = 1 << 20 };

// ---- texts -------------------------------------------------------------------------------------

static keel_status_t path_of_text(const sources_t *sources, const keel_digest_t *digest,
                                  char **out) {
    char hex[KEEL_DIGEST_HEX];
    keel_digest_hex(digest, hex);
    return keel_path(out, "%s/sources/%s.zst", sources->run_dir, hex);
}

static source_t *source_named(sources_t *sources, const char *file) {
    for (size_t i = 0; i < sources->count; ++i)
        if (strcmp(sources->files[i].file, file) == 0) return &sources->files[i];
    return NULL;
}

static keel_status_t read_text(void *context, const char *file, keel_str_t *out) {
    sources_t *sources = context;
    const source_t *source = source_named(sources, file);
    if (!source || !source->is_known)
        return keel_status_make(KEEL_NOT_FOUND, "%s: its text is unknown", file);
    char *path;
    KEEL_TRY(path_of_text(sources, &source->digest, &path));
    keel_free(sources->text);
    sources->text = NULL;
    sources->size = 0;
    keel_status_t status = keel_journal_read_program(path, &sources->text, &sources->size);
    keel_free(path);
    *out = (keel_str_t){(const char *)sources->text, sources->size};
    return status;
}

static keel_status_t write_text(const sources_t *sources, const keel_digest_t *digest,
                                keel_bytes_t bytes) {
    char *folder, *path = NULL;
    KEEL_TRY(keel_path(&folder, "%s/sources", sources->run_dir));
    keel_status_t status = keel_directory_make(folder);
    if (!status) status = path_of_text(sources, digest, &path);
    keel_free(folder);
    uint8_t *packed = NULL;
    size_t size = 0;
    if (!status && keel_is_file(path)) {
        status = keel_file_touch(path); // so that it does not count as unused
    } else if (!status) {
        status = keel_pack(bytes, &packed, &size);
        if (!status) status = keel_file_replace(path, keel_bytes(packed, size));
        keel_free(packed);
    }
    keel_free(path);
    return status;
}

// ---- the list of a run -------------------------------------------------------------------------

void sources_initialize(sources_t *sources, const char *run_dir) {
    *sources = (sources_t){.run_dir = run_dir};
    keel_buffer_initialize(&sources->folders, 1 << 18);
    keel_map_initialize(&sources->read);
}

static void clear(sources_t *sources) {
    for (size_t i = 0; i < sources->count; ++i)
        keel_free(sources->files[i].file);
    keel_map_deinitialize(&sources->read);
    keel_buffer_deinitialize(&sources->folders);
    keel_free(sources->home);
    keel_free(sources->run);
    keel_free(sources->text);
    sources_initialize(sources, sources->run_dir);
}

void sources_deinitialize(sources_t *sources) {
    clear(sources);
}

static keel_status_t add_file(sources_t *sources, keel_str_t file, const keel_digest_t *digest) {
    if (sources->count == SOURCES_FILES) return NULL;
    source_t source = {.is_known = digest != NULL};
    if (digest) source.digest = *digest;
    KEEL_TRY(keel_path(&source.file, "%.*s", (int)file.size, file.data));
    sources->files[sources->count++] = source;
    return NULL;
}

static keel_status_t add_folder(sources_t *sources, keel_str_t folder) {
    keel_buffer_str(&sources->folders, folder);
    keel_buffer_byte(&sources->folders, '\n');
    sources->face.folders = keel_buffer_cstr(&sources->folders);
    return keel_buffer_status(&sources->folders);
}

static keel_status_t read_line(sources_t *sources, keel_str_t line) {
    keel_str_t mark, path;
    keel_digest_t digest;
    if (!keel_source_line_read(line, &mark, &path)) return NULL;
    if (keel_str_is(mark, "+")) return add_folder(sources, path);
    return add_file(sources, path, keel_digest_unhex(mark, &digest) ? &digest : NULL);
}

static keel_status_t path_of_list(const sources_t *sources, char **out) {
    return keel_path(out, "%s/%s/sources.tsv", sources->run_dir, sources->run);
}

keel_status_t sources_load(sources_t *sources, const char *run) {
    if (sources->run && strcmp(sources->run, run) == 0) return NULL;
    clear(sources);
    KEEL_TRY(keel_path(&sources->run, "%s", run));
    sources->face = (keel_sources_t){.read = read_text, .context = sources};
    char *path;
    uint8_t *data = NULL;
    size_t size = 0;
    KEEL_TRY(path_of_list(sources, &path));
    keel_status_t status = keel_file_read(path, LIST_LIMIT, &data, &size);
    keel_free(path);
    for (size_t at = 0; !status && at < size;) {
        const uint8_t *end = memchr(data + at, '\n', size - at);
        if (!end) break;
        size_t length = (size_t)(end - data) - at;
        status = read_line(sources, (keel_str_t){(const char *)data + at, length});
        at += length + 1;
    }
    keel_free(data);
    if (keel_status_code(status) == KEEL_NO_MEMORY) return status;
    keel_status_ignore(status);
    return NULL;
}

// ---- noting ------------------------------------------------------------------------------------

// `mark`: a digest, "-" or "+".
static keel_status_t append(const sources_t *sources, const char *mark, const char *name) {
    char *path, *line;
    KEEL_TRY(path_of_list(sources, &path));
    keel_status_t status = keel_path(&line, "%s\t%s\n", mark, name);
    if (!status) {
        status = keel_file_append(path, keel_str_bytes(keel_str(line)));
        keel_free(line);
    }
    keel_free(path);
    return status;
}

static keel_status_t append_file(const sources_t *sources, const source_t *source) {
    char hex[KEEL_DIGEST_HEX] = "-";
    if (source->is_known) keel_digest_hex(&source->digest, hex);
    return append(sources, hex, source->file);
}

keel_status_t sources_home(sources_t *sources, const char *folder) {
    return sources->home || !*folder ? NULL : keel_strdup(keel_str(folder), &sources->home);
}

static bool is_listed(const sources_t *sources, keel_str_t folder) {
    for (const char *at = sources->face.folders ? sources->face.folders : ""; *at;) {
        size_t length = strcspn(at, "\n");
        if (keel_str_equal((keel_str_t){at, length}, folder)) return true;
        at += length + 1;
    }
    return false;
}

keel_status_t sources_folder(sources_t *sources, const char *folder) {
    enum { MOST = 1 << 14 };
    bool is_path = *folder == '/' && !strpbrk(folder, "\n\t");
    if (!sources->run || !is_path || is_listed(sources, keel_str(folder)) ||
        sources->folders.size > MOST)
        return NULL;
    KEEL_TRY(add_folder(sources, keel_str(folder)));
    keel_status_ignore(append(sources, "+", folder));
    return NULL;
}

typedef struct reading_t {
    uint8_t *text; // freed with keel_free
    size_t size;
    keel_digest_t digest;
    bool is_as_read; // the text is what the run read
} reading_t;

// A failure to read or keep it means that it is unknown.
static void read_named(const sources_t *sources, const char *file, reading_t *out) {
    char *path;
    if (!keel_source_is_noted(&sources->read, file)) return;
    keel_status_t status = *file == '/' ? keel_strdup(keel_str(file), &path)
                                        : keel_path(&path, "%s/%s", sources->home, file);
    if (!status) {
        status = keel_source_read(path, &out->text, &out->size);
        keel_free(path);
    }
    out->is_as_read =
        !status && keel_source_was_read(&sources->read, file, keel_bytes(out->text, out->size));
    keel_status_ignore(status);
}

// The change that counts is the inode's, which nobody can date back.
static void read_imported(const sources_t *sources, const char *file, reading_t *out) {
    keel_file_facts_t facts;
    keel_status_t status = keel_source_read(file, &out->text, &out->size);
    if (!status) status = keel_file_facts(file, &facts);
    out->is_as_read = !status && (double)facts.changed * 1e-9 < sources->asked;
    keel_status_ignore(status);
}

static void keep(const sources_t *sources, reading_t *reading) {
    if (!reading->is_as_read) return;
    reading->digest = keel_digest(keel_bytes(reading->text, reading->size));
    keel_status_t status =
        write_text(sources, &reading->digest, keel_bytes(reading->text, reading->size));
    reading->is_as_read = !status;
    keel_status_ignore(status);
}

static keel_status_t list(sources_t *sources, const char *file, const reading_t *reading) {
    size_t count = sources->count;
    KEEL_TRY(add_file(sources, keel_str(file), reading->is_as_read ? &reading->digest : NULL));
    return sources->count > count ? append_file(sources, &sources->files[count]) : NULL;
}

static keel_status_t note_imports(sources_t *sources, const char *file, const reading_t *reading);

static keel_status_t note_imported(void *context, const char *file, bool is_whole,
                                   bool *out_is_there) {
    sources_t *sources = context;
    reading_t reading = {0};
    (void)is_whole;
    *out_is_there = source_named(sources, file) || keel_is_file(file);
    if (!*out_is_there || source_named(sources, file) ||
        sources->imported == SOURCES_FILES - SOURCES_NAMED)
        return NULL;
    ++sources->imported;
    read_imported(sources, file, &reading);
    keep(sources, &reading);
    keel_status_t status = list(sources, file, &reading);
    if (!status) status = note_imports(sources, file, &reading);
    keel_free(reading.text);
    return status;
}

static keel_status_t note_imports(sources_t *sources, const char *file, const reading_t *reading) {
    if (!reading->is_as_read) return NULL;
    return keel_imports_find(keel_bytes_str(keel_bytes(reading->text, reading->size)), file,
                             sources->face.folders, note_imported, sources);
}

static keel_status_t note(sources_t *sources, const char *file) {
    reading_t reading = {0};
    read_named(sources, file, &reading);
    keep(sources, &reading);
    keel_status_t status = list(sources, file, &reading);
    if (!status) status = note_imports(sources, file, &reading);
    keel_free(reading.text);
    return status;
}

keel_status_t sources_read(sources_t *sources, const char *file, const char *digest) {
    return keel_source_note(&sources->read, file, digest);
}

void sources_note(sources_t *sources, const keel_program_t *program, double asked) {
    if (!sources->run) return;
    if (!sources->asked) sources->asked = asked;
    keel_string_id_t last = KEEL_NONE;
    for (uint32_t i = 0;
         i < program->attrs.count && sources->count - sources->imported < SOURCES_NAMED; ++i) {
        const keel_attr_t *attr = &program->attrs.data[i];
        if (attr->kind != KEEL_ATTR_LOC_FILE || attr->a == last) continue;
        last = attr->a;
        keel_str_t name = keel_program_str(program, attr->a);
        char *file;
        if (!name.size || keel_is_library_file(name) || memchr(name.data, '\n', name.size) ||
            memchr(name.data, '\t', name.size))
            continue;
        keel_status_t status = keel_path(&file, "%.*s", (int)name.size, name.data);
        if (!status) {
            // Without a folder, a name says little: the run itself must have read such a file.
            bool is_clear =
                *file == '/' || (sources->home && keel_source_is_noted(&sources->read, file));
            if (is_clear && !source_named(sources, file)) status = note(sources, file);
            keel_free(file);
        }
        keel_status_ignore(status);
    }
}
