#include "key/key.h"

#include <stdio.h>

static const char *const names[] = {
#define NAME(name, text, sentence) text,
    KEEL_KEY_COMPONENTS(NAME)
#undef NAME
};

const char *keel_component_name(keel_component_t component) {
    return component < KEEL_COMPONENT_COUNT ? names[component] : "";
}

keel_component_t keel_component_by_name(keel_str_t name) {
    for (int i = 0; i < KEEL_COMPONENT_COUNT; ++i)
        if (keel_str_is(name, names[i])) return (keel_component_t)i;
    return KEEL_COMPONENT_COUNT;
}

void keel_key_initialize(keel_key_t *key) {
    *key = (keel_key_t){0};
}

void keel_key_deinitialize(keel_key_t *key) {
    for (int i = 0; i < KEEL_COMPONENT_COUNT; ++i)
        keel_free(key->values[i]);
    keel_key_initialize(key);
}

bool keel_key_has(const keel_key_t *key, keel_component_t component) {
    static const keel_digest_t zero;
    KEEL_ASSERT(component < KEEL_COMPONENT_COUNT);
    return !keel_digest_equal(&key->components[component], &zero);
}

keel_status_t keel_key_copy(const keel_key_t *key, keel_key_t *out) {
    keel_key_t copy = *key;
    memset(copy.values, 0, sizeof copy.values);
    for (int i = 0; i < KEEL_COMPONENT_COUNT; ++i) {
        if (!key->values[i]) continue;
        keel_status_t status = keel_strdup(keel_str(key->values[i]), &copy.values[i]);
        if (status) {
            keel_key_deinitialize(&copy);
            return status;
        }
    }
    *out = copy;
    return NULL;
}

// Tag, length, bytes: two different lists of inputs never give the same bytes.
static void frame(keel_hasher_t *hasher, keel_str_t tag, keel_bytes_t bytes) {
    uint8_t sizes[16];
    for (int i = 0; i < 8; ++i) {
        sizes[i] = (uint8_t)((uint64_t)tag.size >> (8 * i));
        sizes[8 + i] = (uint8_t)((uint64_t)bytes.size >> (8 * i));
    }
    keel_hasher_update(hasher, sizes, sizeof sizes);
    keel_hasher_update(hasher, tag.data, tag.size);
    keel_hasher_update(hasher, bytes.data, bytes.size);
}

// Cut between characters, so that readable text stays readable.
static keel_str_t cut(keel_str_t value) {
    if (value.size <= KEEL_KEY_VALUE_LIMIT) return value;
    size_t end = KEEL_KEY_VALUE_LIMIT;
    while (end && ((uint8_t)value.data[end] & 0xc0) == 0x80)
        --end;
    return (keel_str_t){value.data, end};
}

keel_status_t keel_key_set(keel_key_t *key, keel_component_t component, keel_bytes_t canonical,
                           keel_str_t value) {
    char *copy;
    KEEL_ASSERT(component < KEEL_COMPONENT_COUNT);
    KEEL_TRY(keel_strdup(cut(value), &copy));
    keel_free(key->values[component]);
    key->values[component] = copy;
    keel_hasher_t hasher;
    keel_hasher_initialize(&hasher);
    frame(&hasher, keel_str(names[component]), canonical);
    key->components[component] = keel_hasher_finish(&hasher);
    return NULL;
}

// Only some keys have it.
static bool is_of_some(int component) {
    return component == KEEL_COMPONENT_KERNELS || component == KEEL_COMPONENT_TOOLKIT;
}

keel_status_t keel_key_finish(keel_key_t *key) {
    char version[16];
    int size = snprintf(version, sizeof version, "%d", KEEL_KEY_VERSION);
    keel_str_t text = {version, (size_t)size};
    KEEL_TRY(keel_key_set(key, KEEL_COMPONENT_KEY_VERSION, keel_str_bytes(text), text));

    keel_hasher_t hasher;
    keel_hasher_initialize(&hasher);
    frame(&hasher, KEEL_STR("keel key"), keel_str_bytes(text));
    for (int i = 0; i < KEEL_COMPONENT_COUNT; ++i)
        if (!is_of_some(i) || keel_key_has(key, (keel_component_t)i))
            frame(&hasher, keel_str(names[i]),
                  keel_bytes(key->components[i].bytes, KEEL_DIGEST_SIZE));
    key->digest = keel_hasher_finish(&hasher);
    return NULL;
}
