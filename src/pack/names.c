#include "pack/names.h"

void names_initialize(names_t *names) {
    *names = (names_t){.next = {0, 0}};
    keel_map_initialize(&names->words);
    keel_map_initialize(&names->taken);
    keel_buffer_initialize(&names->text, 0);
}

void names_deinitialize(names_t *names) {
    keel_map_deinitialize(&names->words);
    keel_map_deinitialize(&names->taken);
    keel_buffer_deinitialize(&names->text);
}

keel_status_t names_keep(names_t *names, keel_str_t text) {
    return keel_map_put(&names->taken, keel_str_bytes(text), 1);
}

bool names_keeps(const names_t *names, keel_str_t text) {
    const uint64_t *kind = keel_map_find(&names->taken, keel_str_bytes(text));
    return kind && *kind == 1;
}

// The part of a name that a word takes the place of: without what says what the name is.
static keel_str_t stem_of(keel_str_t name) {
    if (name.size > 1 && (*name.data == '/' || *name.data == '<'))
        name = (keel_str_t){name.data + 1, name.size - 1};
    if (name.size > 3 && keel_str_ends(name, KEEL_STR(".py"))) name.size -= 3;
    return keel_str_without_number(name, '.');
}

// Digits of `number`, the last one last, and the rest of the places 0. A word begins with a letter.
// False if there are not that many of the length.
static bool spell(uint64_t number, size_t size, char *out) {
    static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyz";
    enum { LETTERS = 26, BASE = 36, FIRST_LETTER = 10 };
    for (size_t i = size; i-- > 1; number /= BASE)
        out[i] = digits[number % BASE];
    if (number >= LETTERS) return false;
    // Long words begin with the same letter: n0000012.
    out[0] = size < 4 ? digits[FIRST_LETTER + number] : 'n';
    return size < 4 || number == 0;
}

static keel_status_t make_word(names_t *names, size_t size, char *out) {
    enum { TRIES = 1 << 20 };
    uint64_t number = size < 4 ? 0 : names->next[1];
    for (int i = 0; i < TRIES; ++i, ++number) {
        if (!spell(number, size, out)) break;
        if (keel_map_find(&names->taken, keel_bytes(out, size))) continue;
        if (size >= 4) names->next[1] = number + 1;
        return keel_map_put(&names->taken, keel_bytes(out, size), 2);
    }
    return keel_status_make(KEEL_UNSUPPORTED, "there are too many names of %zu bytes for words",
                            size);
}

keel_status_t names_word(names_t *names, keel_str_t name, char *out) {
    keel_str_t stem = stem_of(name);
    // What Python calls what has no name.
    bool is_nobodys = keel_str_is(name, "<module>") || keel_str_is(name, "<lambda>");
    if (!stem.size || is_nobodys) return NULL;
    char *at = out + (stem.data - name.data);
    const uint64_t *known = keel_map_find(&names->words, keel_str_bytes(stem));
    if (known) {
        memcpy(at, names->text.data + *known, stem.size);
        return NULL;
    }
    KEEL_TRY(make_word(names, stem.size, at));
    KEEL_TRY(keel_map_put(&names->words, keel_str_bytes(stem), names->text.size));
    keel_buffer_append(&names->text, at, stem.size);
    return keel_buffer_status(&names->text);
}

static bool ends_path(char c) {
    return (unsigned char)c <= ' ' || strchr("=,;:\"'()[]{}", c);
}

keel_status_t names_put_without_paths(names_t *names, keel_str_t text, keel_buffer_t *out) {
    for (size_t at = 0, end; at < text.size; at = end) {
        for (end = at; end < text.size && !ends_path(text.data[end]);)
            ++end;
        keel_str_t part = {text.data + at, end - at};
        size_t written = out->size;
        keel_buffer_append(out, part.data, part.size);
        if (!out->failed && part.size && memchr(part.data, '/', part.size))
            KEEL_TRY(names_word(names, part, (char *)out->data + written));
        if (end < text.size) keel_buffer_byte(out, (uint8_t)text.data[end++]);
    }
    return keel_buffer_status(out);
}
