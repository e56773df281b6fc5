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

// ---- facts -------------------------------------------------------------------------------------

keel_status_t keel_bundle_clean(keel_arena_t *arena, keel_str_t text, size_t limit,
                                const char **out) {
    void *memory;
    size_t used = 0, length;
    KEEL_TRY(keel_arena_alloc(arena, (text.size < limit ? text.size : limit) + 1, &memory));
    char *to = memory;
    for (size_t at = 0; at < text.size; at += length) {
        bool shows = keel_utf8_shows(text, at, &length);
        size_t size = shows ? length : 1;
        if (used + size > limit) break;
        bool blank = strchr("\n\t", text.data[at]) && text.data[at];
        memcpy(to + used, shows ? text.data + at : blank ? " " : "?", size);
        used += size;
    }
    to[used] = 0;
    *out = to;
    return NULL;
}

int bundle_order(const keel_bundle_fact_t *x, const keel_bundle_fact_t *y) {
    if (x->section != y->section) return x->section < y->section ? -1 : 1;
    return strcmp(x->name, y->name);
}

// Where the fact stands, or would stand.
static size_t place_of(const keel_bundle_t *bundle, keel_bundle_section_t section, const char *name,
                       bool *out_there) {
    const keel_bundle_fact_t fact = {.section = section, .name = name};
    size_t low = 0, high = bundle->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (bundle_order(&bundle->facts[middle], &fact) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    *out_there = low < bundle->count && !bundle_order(&bundle->facts[low], &fact);
    return low;
}

const char *keel_bundle_find(const keel_bundle_t *bundle, keel_bundle_section_t section,
                             const char *name) {
    bool there;
    size_t at = place_of(bundle, section, name, &there);
    return there ? bundle->facts[at].value : NULL;
}

static keel_status_t insert_fact(keel_bundle_t *bundle, size_t at, keel_bundle_fact_t fact) {
    void *memory = bundle->facts;
    KEEL_TRY(keel_grow_array(bundle->count, sizeof *bundle->facts, &bundle->room, &memory));
    bundle->facts = memory;
    memmove(bundle->facts + at + 1, bundle->facts + at, (bundle->count - at) * sizeof fact);
    bundle->facts[at] = fact;
    ++bundle->count;
    return NULL;
}

keel_status_t keel_bundle_add(keel_bundle_t *bundle, keel_bundle_section_t section, keel_str_t name,
                              keel_str_t value) {
    // In JSON, a byte takes at most two, because what would take more is "?" by now; a fact has
    // quotes and commas, and there is something around the facts.
    enum { WRITTEN = 2, FRAME = 8, ROOM = KEEL_BUNDLE_JSON_LIMIT - 1024 };
    keel_bundle_fact_t fact = {.section = section};
    bool there;
    bundle->known[section] = true;
    KEEL_TRY(keel_bundle_clean(&bundle->arena, name, KEEL_BUNDLE_NAME_LIMIT, &fact.name));
    size_t at = place_of(bundle, section, fact.name, &there);
    if (there) return NULL;
    KEEL_TRY(keel_bundle_clean(&bundle->arena, value, KEEL_BUNDLE_VALUE_LIMIT, &fact.value));
    size_t bytes = WRITTEN * (strlen(fact.name) + strlen(fact.value)) + FRAME;
    if (bundle->count == KEEL_BUNDLE_FACTS || bundle->bytes + bytes > ROOM) {
        ++bundle->left_out;
        return NULL;
    }
    bundle->bytes += bytes;
    return insert_fact(bundle, at, fact);
}

keel_status_t keel_bundle_format(keel_bundle_t *bundle, keel_bundle_section_t section,
                                 const char *name, const char *format, ...) {
    char text[KEEL_BUNDLE_VALUE_LIMIT + 1];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return keel_bundle_add(bundle, section, keel_str(name), keel_str(text));
}

void bundle_looking(const keel_bundle_request_t *request, const char *path) {
    if (request->looking) request->looking(path);
}

keel_status_t bundle_forgive(keel_status_t status) {
    if (keel_status_code(status) == KEEL_NO_MEMORY) return status;
    keel_status_ignore(status);
    return NULL;
}

// ---- text --------------------------------------------------------------------------------------

static keel_str_t trim(keel_str_t text) {
    while (text.size && strchr(" \t\r", text.data[0]))
        text = (keel_str_t){text.data + 1, text.size - 1};
    while (text.size && strchr(" \t\r", text.data[text.size - 1]))
        --text.size;
    return text;
}

bool bundle_field(keel_str_t line, char separator, keel_str_t *out_name, keel_str_t *out_value) {
    const char *at = line.size ? memchr(line.data, separator, line.size) : NULL;
    if (!at) return false;
    *out_name = trim((keel_str_t){line.data, (size_t)(at - line.data)});
    *out_value = trim((keel_str_t){at + 1, (size_t)(line.data + line.size - at - 1)});
    return true;
}

bool bundle_unquote(keel_str_t *value) {
    char quote = value->size > 1 ? value->data[0] : 0;
    if ((quote != '"' && quote != '\'') || value->data[value->size - 1] != quote) return false;
    *value = (keel_str_t){value->data + 1, value->size - 2};
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

bool bundle_lists(const char *list, keel_str_t folder) {
    char listed[BUNDLE_PATH];
    while (bundle_folder(&list, listed))
        if (keel_str_is(folder, listed)) return true;
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
