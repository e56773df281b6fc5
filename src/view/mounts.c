// Reads /proc/self/mountinfo (proc_pid_mountinfo(5)): a line for each mount,
//   36 35 98:0 / /mnt/a\040b rw,noatime shared:1 - ext4 /dev/sda rw,errors=continue
// of which this takes the id, the point, the options, and behind the dash the type and the options
// of the whole file system.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "view/mounts.h"

enum { MOUNTINFO_LIMIT = 64 << 20 };

static keel_str_t next_word(keel_str_t *line) {
    size_t length = 0;
    while (length < line->size && line->data[length] != ' ')
        ++length;
    keel_str_t word = {line->data, length};
    size_t used = length < line->size ? length + 1 : length;
    *line = (keel_str_t){line->data + used, line->size - used};
    return word;
}

static bool has_option(keel_str_t options, const char *name) {
    while (options.size) {
        size_t length = 0;
        while (length < options.size && options.data[length] != ',')
            ++length;
        if (keel_str_is((keel_str_t){options.data, length}, name)) return true;
        size_t used = length < options.size ? length + 1 : length;
        options = (keel_str_t){options.data + used, options.size - used};
    }
    return false;
}

static bool is_octal(const char *text) {
    for (int i = 0; i < 3; ++i)
        if (text[i] < '0' || text[i] > '7') return false;
    return true;
}

// Blanks, tabs, newlines and backslashes are written as \040, in octal.
static keel_status_t unescape(keel_arena_t *texts, keel_str_t word, const char **out) {
    void *memory;
    KEEL_TRY(keel_arena_alloc(texts, word.size + 1, &memory));
    char *text = memory;
    size_t size = 0;
    for (size_t i = 0; i < word.size; ++i) {
        const char *at = word.data + i;
        bool is_escaped = *at == '\\' && word.size - i > 3 && is_octal(at + 1);
        text[size++] =
            is_escaped ? (char)((at[1] - '0') * 64 + (at[2] - '0') * 8 + (at[3] - '0')) : *at;
        if (is_escaped) i += 3;
    }
    text[size] = 0;
    *out = text;
    return NULL;
}

static keel_status_t add(keel_mounts_t *mounts, const keel_mount_t *mount) {
    for (size_t i = 0; i < mounts->count; ++i)
        if (strcmp(mounts->list[i].point, mount->point) == 0) {
            mounts->list[i] = *mount;
            return NULL;
        }
    void *list = mounts->list;
    KEEL_TRY(keel_grow_array(mounts->count, sizeof *mounts->list, &mounts->capacity, &list));
    mounts->list = list;
    mounts->list[mounts->count++] = *mount;
    return NULL;
}

static keel_status_t parse_line(keel_str_t line, keel_mounts_t *mounts) {
    keel_mount_t mount = {0};
    keel_str_t id = next_word(&line), word;
    for (size_t i = 0; i < id.size && id.data[i] >= '0' && id.data[i] <= '9'; ++i)
        mount.id = mount.id * 10 + (uint64_t)(id.data[i] - '0');
    next_word(&line); // the parent
    next_word(&line); // the device
    next_word(&line); // what of it is mounted
    keel_str_t point = next_word(&line), options = next_word(&line);
    do
        word = next_word(&line);
    while (line.size && !keel_str_is(word, "-"));
    keel_str_t type = next_word(&line);
    next_word(&line); // the source
    if (!type.size || !point.size || *point.data != '/') return NULL;
    mount.is_read_only = has_option(options, "ro") || has_option(next_word(&line), "ro");
    KEEL_TRY(unescape(&mounts->texts, point, &mount.point));
    KEEL_TRY(unescape(&mounts->texts, type, &mount.type));
    return add(mounts, &mount);
}

static int by_point(const void *a, const void *b) {
    return strcmp(((const keel_mount_t *)a)->point, ((const keel_mount_t *)b)->point);
}

keel_status_t keel_mounts_parse(keel_str_t text, keel_mounts_t *out) {
    keel_str_t line;
    *out = (keel_mounts_t){.list = NULL};
    keel_arena_initialize(&out->texts, 0);
    while (keel_str_line(&text, &line))
        KEEL_TRY(parse_line(line, out));
    if (out->count) qsort(out->list, out->count, sizeof *out->list, by_point);
    return NULL;
}

// Does not ask a server, which may not answer. A kernel before 5.8 does not tell.
static bool is_visible(const keel_mount_t *mount) {
    struct statx facts;
    if (statx(AT_FDCWD, mount->point, AT_NO_AUTOMOUNT | AT_SYMLINK_NOFOLLOW | AT_STATX_DONT_SYNC,
              STATX_MNT_ID, &facts))
        return false;
    return !(facts.stx_mask & STATX_MNT_ID) || facts.stx_mnt_id == mount->id;
}

keel_status_t keel_mounts_here(keel_mounts_t *out) {
    uint8_t *bytes;
    size_t size, kept = 0;
    KEEL_TRY(keel_mounts_parse(KEEL_STR(""), out));
    KEEL_TRY(keel_file_read("/proc/self/mountinfo", MOUNTINFO_LIMIT, &bytes, &size));
    keel_status_t status = keel_mounts_parse((keel_str_t){(const char *)bytes, size}, out);
    keel_free(bytes);
    KEEL_TRY(status);
    for (size_t i = 0; i < out->count; ++i)
        if (is_visible(&out->list[i])) out->list[kept++] = out->list[i];
    out->count = kept;
    if (kept && strcmp(out->list[0].point, "/") == 0) return NULL;
    return keel_status_make(KEEL_UNSUPPORTED, "/proc/self/mountinfo does not show what is at /");
}

void keel_mounts_deinitialize(keel_mounts_t *mounts) {
    keel_free(mounts->list);
    keel_arena_deinitialize(&mounts->texts);
    *mounts = (keel_mounts_t){.list = NULL};
}
