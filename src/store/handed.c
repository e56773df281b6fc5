#include "store/handed.h"

#include <stdlib.h>

#include "store/layout.h"

static const char head[] = "keel handed 1\n", ending[] = ".program";
enum { HEAD = sizeof head - 1, ENDING = sizeof ending - 1, SIZES = 3 };

static keel_status_t path_of(const char *folder, const keel_digest_t *bytes, char **out) {
    char hex[KEEL_DIGEST_HEX];
    keel_digest_hex(bytes, hex);
    return keel_path(out, "%s/handed/%s%s", folder, hex, ending);
}

// ---- writing -----------------------------------------------------------------------------------

keel_status_t keel_handed_write(const char *folder, const keel_digest_t *bytes,
                                const keel_handed_t *handed) {
    keel_buffer_t file;
    char *path;
    if (handed->packed.size > KEEL_HANDED_LIMIT)
        return keel_status_make(KEEL_UNSUPPORTED, "the program has %zu bytes packed",
                                handed->packed.size);
    KEEL_TRY(path_of(folder, bytes, &path));
    keel_buffer_initialize(&file, 0);
    keel_buffer_append(&file, head, HEAD);
    keel_buffer_u64(&file, handed->format.size);
    keel_buffer_u64(&file, handed->options.size);
    keel_buffer_u64(&file, handed->packed.size);
    keel_buffer_str(&file, handed->format);
    keel_buffer_append(&file, handed->options.data, handed->options.size);
    keel_buffer_append(&file, handed->packed.data, handed->packed.size);
    keel_digest_t digest = keel_digest(keel_buffer_bytes(&file));
    keel_buffer_append(&file, digest.bytes, sizeof digest.bytes);
    keel_status_t status = keel_buffer_status(&file);
    if (!status) status = keel_store_replace(path, keel_buffer_bytes(&file));
    keel_buffer_deinitialize(&file);
    keel_free(path);
    return status;
}

// ---- reading -----------------------------------------------------------------------------------

static bool parse(keel_bytes_t file, keel_handed_t *out) {
    keel_digest_t digest;
    if (file.size < HEAD + sizeof digest.bytes || memcmp(file.data, head, HEAD) != 0) return false;
    file.size -= sizeof digest.bytes;
    digest = keel_digest(file);
    if (memcmp(file.data + file.size, digest.bytes, sizeof digest.bytes) != 0) return false;
    keel_cursor_t cursor = keel_cursor(keel_bytes(file.data + HEAD, file.size - HEAD));
    uint64_t sizes[SIZES];
    for (int i = 0; i < SIZES; ++i)
        sizes[i] = keel_cursor_u64(&cursor);
    out->format = keel_bytes_str(keel_cursor_take(&cursor, sizes[0]));
    out->options = keel_cursor_take(&cursor, sizes[1]);
    out->packed = keel_cursor_take(&cursor, sizes[2]);
    return !cursor.failed && !keel_cursor_left(&cursor);
}

static keel_status_t read_at(const char *path, bool is_shared, keel_handed_t *out) {
    uint8_t *data;
    size_t size;
    keel_file_facts_t facts;
    KEEL_TRY(keel_file_read_with_facts(path, KEEL_HANDED_LIMIT + (1 << 20), &data, &size, &facts));
    keel_status_t status = is_shared ? NULL : keel_file_check_owner(path, &facts);
    out->memory_ = data;
    if (!status && !parse(keel_bytes(data, size), out))
        status = keel_status_make(KEEL_CORRUPT, "%s: damaged; remove it", path);
    if (status) keel_handed_release(out);
    return status;
}

keel_status_t keel_handed_read(const char *folder, const keel_digest_t *bytes, bool is_shared,
                               keel_handed_t *out) {
    char *path;
    *out = (keel_handed_t){0};
    KEEL_TRY(path_of(folder, bytes, &path));
    keel_status_t status = read_at(path, is_shared, out);
    if (!status) keel_status_ignore(keel_file_touch(path)); // at worst it is removed too early
    keel_free(path);
    return status;
}

void keel_handed_release(keel_handed_t *handed) {
    keel_free(handed->memory_);
    *handed = (keel_handed_t){0};
}

// ---- removing ----------------------------------------------------------------------------------

static bool is_record(const char *name) {
    size_t size = strlen(name);
    return size == KEEL_DIGEST_HEX - 1 + ENDING && strcmp(name + KEEL_DIGEST_HEX - 1, ending) == 0;
}

keel_status_t keel_handed_remove(const char *folder, uint64_t age) {
    char *path;
    KEEL_TRY(keel_path(&path, "%s/handed", folder));
    keel_status_t status = keel_store_remove_aged(path, is_record, age);
    keel_free(path);
    return status;
}

typedef struct times_t {
    const char *folder;
    uint64_t *list; // when each record was last used
    size_t count, capacity;
} times_t;

static keel_status_t note_time(void *context, const char *name) {
    times_t *times = context;
    keel_file_facts_t facts;
    char *path;
    if (!is_record(name)) return NULL;
    KEEL_TRY(keel_path(&path, "%s/%s", times->folder, name));
    keel_status_t status = keel_file_facts(path, &facts);
    keel_free(path);
    if (status) {
        keel_status_ignore(status);
        return NULL;
    }
    void *grown = times->list;
    KEEL_TRY(keel_grow_array(times->count, sizeof *times->list, &times->capacity, &grown));
    times->list = grown;
    times->list[times->count++] = facts.modified;
    return NULL;
}

static int rising(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

keel_status_t keel_handed_limit(const char *folder, size_t most) {
    char *path;
    KEEL_TRY(keel_path(&path, "%s/handed", folder));
    times_t times = {.folder = path};
    keel_status_t status = keel_directory_walk(path, note_time, &times);
    if (!status && times.count > most) {
        qsort(times.list, times.count, sizeof *times.list, rising);
        uint64_t now = keel_clock_wall(), last = times.list[times.count - most - 1];
        status = keel_store_remove_aged(path, is_record, now > last ? now - last - 1 : 1);
    }
    keel_free(times.list);
    keel_free(path);
    return status;
}
