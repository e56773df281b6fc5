#include <stdio.h>

#include "bundle/internal.h"

const char *keel_bundle_section_name(keel_bundle_section_t section) {
    static const char *const names[] = {
#define NAME(name, word, ...) word,
        KEEL_BUNDLE_SECTIONS(NAME)
#undef NAME
    };
    return names[section];
}

void keel_bundle_initialize(keel_bundle_t *bundle) {
    *bundle = (keel_bundle_t){0};
    keel_arena_initialize(&bundle->arena, 1 << 14);
}

void keel_bundle_deinitialize(keel_bundle_t *bundle) {
    keel_arena_deinitialize(&bundle->arena);
    keel_free(bundle->facts);
    *bundle = (keel_bundle_t){0};
}

// ---- adding ------------------------------------------------------------------------------------

// A UTF-8 copy of at most `limit` bytes, never cut inside a character. *out_written grows by its
// size as a JSON string.
static keel_status_t copy_utf8(keel_bundle_t *bundle, keel_str_t text, size_t limit,
                               const char **out, size_t *out_written) {
    static const char unknown[] = "\xef\xbf\xbd";
    void *memory;
    KEEL_TRY(keel_arena_alloc(&bundle->arena, limit + 1, &memory));
    char *to = memory;
    size_t used = 0;
    for (size_t at = 0; at < text.size;) {
        size_t length = keel_utf8_length(text, at);
        const char *from = length ? text.data + at : unknown;
        size_t size = length ? length : sizeof unknown - 1;
        if (used + size > limit) break;
        memcpy(to + used, from, size);
        bool escaped = size == 1 && ((unsigned char)*from < ' ' || *from == '"' || *from == '\\' ||
                                     *from == 0x7f);
        *out_written += escaped ? 6 : size;
        used += size;
        at += length ? length : 1;
    }
    to[used] = 0;
    *out = to;
    return NULL;
}

static keel_status_t make_room(keel_bundle_t *bundle) {
    if (bundle->count < bundle->room) return NULL;
    size_t room = bundle->room ? bundle->room * 2 : 64;
    void *memory = bundle->facts;
    KEEL_TRY(keel_realloc_array(room, sizeof *bundle->facts, &memory));
    bundle->facts = memory;
    bundle->room = room;
    return NULL;
}

static size_t least(size_t a, size_t b) {
    return a < b ? a : b;
}

keel_status_t bundle_add(keel_bundle_t *bundle, keel_bundle_section_t section, keel_str_t name,
                         keel_str_t value) {
    enum { FRAME = 8, HEAD = 512 }; // quotes and commas of a fact; everything around the facts
    bundle->known[section] = true;
    if (bundle->count == KEEL_BUNDLE_FACTS) {
        ++bundle->left_out;
        return NULL;
    }
    KEEL_TRY(make_room(bundle));
    keel_bundle_fact_t fact = {.section = section};
    size_t written = FRAME;
    // A byte that is not UTF-8 becomes three.
    size_t name_room = least(name.size * 3, KEEL_BUNDLE_NAME_LIMIT);
    size_t value_room = least(value.size * 3, KEEL_BUNDLE_VALUE_LIMIT);
    KEEL_TRY(copy_utf8(bundle, name, name_room, &fact.name, &written));
    KEEL_TRY(copy_utf8(bundle, value, value_room, &fact.value, &written));
    if (bundle->bytes + written > KEEL_BUNDLE_JSON_LIMIT - HEAD) {
        ++bundle->left_out;
        return NULL;
    }
    bundle->bytes += written;
    bundle->facts[bundle->count++] = fact;
    return NULL;
}

keel_status_t bundle_format(keel_bundle_t *bundle, keel_bundle_section_t section, const char *name,
                            const char *format, ...) {
    char text[KEEL_BUNDLE_VALUE_LIMIT + 1];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return bundle_add(bundle, section, keel_str(name), keel_str(text));
}

void bundle_looking(const keel_bundle_request_t *request, const char *path) {
    if (request->looking) request->looking(path);
}

keel_status_t bundle_forgive(keel_status_t status) {
    if (keel_status_code(status) == KEEL_NO_MEMORY) return status;
    keel_status_ignore(status);
    return NULL;
}

// ---- sorting and finding -----------------------------------------------------------------------

int bundle_order(const keel_bundle_fact_t *x, const keel_bundle_fact_t *y) {
    if (x->section != y->section) return x->section < y->section ? -1 : 1;
    return strcmp(x->name, y->name);
}

// Stable; the facts are mostly in order already.
static void insert_in_order(keel_bundle_fact_t *facts, size_t count) {
    for (size_t i = 1; i < count; ++i) {
        keel_bundle_fact_t fact = facts[i];
        size_t at = i;
        while (at && bundle_order(&facts[at - 1], &fact) > 0) {
            facts[at] = facts[at - 1];
            --at;
        }
        facts[at] = fact;
    }
}

void bundle_sort(keel_bundle_t *bundle) {
    insert_in_order(bundle->facts, bundle->count);
    size_t kept = 0;
    for (size_t i = 0; i < bundle->count; ++i) {
        if (kept && bundle_order(&bundle->facts[kept - 1], &bundle->facts[i]) == 0) continue;
        bundle->facts[kept++] = bundle->facts[i];
    }
    bundle->count = kept;
}

const char *keel_bundle_find(const keel_bundle_t *bundle, keel_bundle_section_t section,
                             const char *name) {
    for (size_t i = 0; i < bundle->count; ++i)
        if (bundle->facts[i].section == section && strcmp(bundle->facts[i].name, name) == 0)
            return bundle->facts[i].value;
    return NULL;
}

// ---- text --------------------------------------------------------------------------------------

keel_str_t bundle_trim(keel_str_t text) {
    while (text.size && strchr(" \t\r", text.data[0]))
        text = (keel_str_t){text.data + 1, text.size - 1};
    while (text.size && strchr(" \t\r", text.data[text.size - 1]))
        --text.size;
    return text;
}

bool bundle_field(keel_str_t line, char separator, keel_str_t *out_name, keel_str_t *out_value) {
    const char *at = line.size ? memchr(line.data, separator, line.size) : NULL;
    if (!at) return false;
    *out_name = bundle_trim((keel_str_t){line.data, (size_t)(at - line.data)});
    *out_value = bundle_trim((keel_str_t){at + 1, (size_t)(line.data + line.size - at - 1)});
    return true;
}

bool bundle_folder(const char **list, char out[BUNDLE_PATH]) {
    while (**list) {
        size_t length = strcspn(*list, ":");
        const char *folder = *list;
        *list += length + (folder[length] == ':');
        if (!length || length >= BUNDLE_PATH) continue;
        memcpy(out, folder, length);
        out[length] = 0;
        return true;
    }
    return false;
}

keel_status_t bundle_read_head(bundle_head_t *out, const char *format, ...) {
    char path[BUNDLE_PATH];
    keel_file_facts_t facts;
    size_t size = 0;
    va_list arguments;
    out->rest = (keel_str_t){out->data, 0};
    out->is_there = false;
    va_start(arguments, format);
    int length = vsnprintf(path, sizeof path, format, arguments);
    va_end(arguments);
    if (length < 0 || (size_t)length >= sizeof path) return NULL;
    keel_status_t status =
        keel_file_read_head(path, (uint8_t *)out->data, sizeof out->data, &size, &facts);
    out->is_there = !status;
    out->rest.size = size;
    return bundle_forgive(status);
}
