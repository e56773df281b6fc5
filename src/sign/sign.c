#define _GNU_SOURCE
#include "sign/sign.h"

#include <sodium/crypto_sign_ed25519.h>
#include <sodium/utils.h>
#include <stdio.h>
#include <sys/random.h>

enum { SEED = crypto_sign_ed25519_SEEDBYTES, FILE_LIMIT = 1 << 20 };

// ---- text --------------------------------------------------------------------------------------

static bool is_name(keel_str_t text) {
    if (!text.size || text.size >= KEEL_SIGN_NAME) return false;
    for (size_t i = 0; i < text.size; ++i) {
        char c = text.data[i];
        bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || keel_is_digit(c);
        if (!is_letter && (!c || !strchr("-_.@", c))) return false;
    }
    return true;
}

static bool split(keel_str_t text, char name[KEEL_SIGN_NAME], uint8_t bytes[32]) {
    const char *colon = text.size ? memchr(text.data, ':', text.size) : NULL;
    if (!colon) return false;
    keel_str_t first = {text.data, (size_t)(colon - text.data)};
    if (!is_name(first)) return false;
    memcpy(name, first.data, first.size);
    name[first.size] = 0;
    return keel_unhex((keel_str_t){colon + 1, text.size - first.size - 1}, bytes, 32);
}

void keel_sign_show(const keel_public_key_t *key, char out[KEEL_SIGN_TEXT]) {
    char hex[2 * KEEL_SIGN_PUBLIC + 1];
    keel_hex(key->bytes, KEEL_SIGN_PUBLIC, hex);
    snprintf(out, KEEL_SIGN_TEXT, "%s:%s", key->name, hex);
}

keel_status_t keel_sign_read(keel_str_t text, keel_public_key_t *out) {
    *out = (keel_public_key_t){.name = ""};
    if (split(text, out->name, out->bytes)) return NULL;
    return keel_status_make(KEEL_INVALID,
                            "'%.*s' is not a public key; one is NAME:HEX with 64 hex digits, as "
                            "`keel cache keys` prints it",
                            KEEL_STR_ARGS(text));
}

// ---- files -------------------------------------------------------------------------------------

static keel_status_t read_guarded(const char *path, uint64_t limit, bool is_secret, uint8_t **out,
                                  size_t *out_size) {
    keel_file_facts_t facts;
    KEEL_TRY(keel_file_read_with_facts(path, limit, out, out_size, &facts));
    keel_status_t status = keel_file_check_owner(path, &facts);
    if (!status && is_secret && facts.permissions & 077)
        status = keel_status_make(KEEL_REFUSED,
                                  "%s: others can read this private key; take it back with chmod "
                                  "600 and, if somebody may have read it, make another",
                                  path);
    if (!status) return NULL;
    sodium_memzero(*out, *out_size);
    keel_free(*out);
    return status;
}

static keel_str_t first_line(keel_bytes_t bytes) {
    keel_str_t rest = keel_bytes_str(bytes), line = {NULL, 0};
    if (!keel_str_line(&rest, &line)) return line;
    return line;
}

static void derive(const uint8_t seed[SEED], keel_signing_key_t *key) {
    crypto_sign_ed25519_seed_keypair(key->open.bytes, key->secret, seed);
}

static keel_status_t load_from(const char *path, keel_signing_key_t *out) {
    uint8_t *data, seed[SEED];
    size_t size;
    KEEL_TRY(read_guarded(path, FILE_LIMIT, true, &data, &size));
    bool is_key = split(first_line(keel_bytes(data, size)), out->open.name, seed);
    sodium_memzero(data, size);
    keel_free(data);
    if (is_key) derive(seed, out);
    sodium_memzero(seed, sizeof seed);
    return is_key ? NULL
                  : keel_status_make(KEEL_INVALID,
                                     "%s is not a private key; make one with `keel cache keygen`",
                                     path);
}

keel_status_t keel_sign_load(const char *folder, keel_signing_key_t *out) {
    char *path;
    *out = (keel_signing_key_t){.open = {.name = ""}};
    KEEL_TRY(keel_path(&path, "%s/signing", folder));
    keel_status_t status = keel_directory_check_owner(folder);
    if (!status) status = load_from(path, out);
    keel_free(path);
    return status;
}

void keel_sign_forget(keel_signing_key_t *key) {
    sodium_memzero(key, sizeof *key);
}

static keel_status_t write_new(const char *folder, const char *name, const uint8_t seed[SEED]) {
    char *path, hex[2 * SEED + 1], text[KEEL_SIGN_TEXT + 1];
    keel_hex(seed, SEED, hex);
    int size = snprintf(text, sizeof text, "%s:%s\n", name, hex);
    KEEL_TRY(keel_path(&path, "%s/signing", folder));
    keel_status_t status = keel_directory_make(folder);
    if (!status) status = keel_directory_check_owner(folder);
    if (!status && keel_is_file(path))
        status = keel_status_make(
            KEEL_INVALID, "%s is there already; move it away if you want another key", path);
    if (!status) status = keel_file_replace(path, keel_bytes(text, (size_t)size));
    keel_free(path);
    sodium_memzero(hex, sizeof hex);
    sodium_memzero(text, sizeof text);
    return status;
}

keel_status_t keel_sign_generate(const char *folder, const char *name, keel_public_key_t *out) {
    uint8_t seed[SEED];
    if (!is_name(keel_str(name)))
        return keel_status_make(KEEL_INVALID,
                                "'%s' is not a name for a key; use up to %d letters, digits and "
                                "-_.@",
                                name, KEEL_SIGN_NAME - 1);
    if (getrandom(seed, sizeof seed, 0) != sizeof seed)
        return keel_status_make(KEEL_IO, "the system gives no random bytes for a key");
    keel_status_t status = write_new(folder, name, seed);
    keel_signing_key_t key;
    derive(seed, &key);
    *out = key.open;
    snprintf(out->name, sizeof out->name, "%s", name);
    keel_sign_forget(&key);
    sodium_memzero(seed, sizeof seed);
    return status;
}

// ---- trusted keys ------------------------------------------------------------------------------

static keel_str_t trimmed(keel_str_t line) {
    const char *comment = line.size ? memchr(line.data, '#', line.size) : NULL;
    if (comment) line.size = (size_t)(comment - line.data);
    while (line.size && strchr(" \t\r", line.data[line.size - 1]))
        --line.size;
    while (line.size && strchr(" \t", *line.data))
        line = (keel_str_t){line.data + 1, line.size - 1};
    return line;
}

static keel_status_t add(keel_public_keys_t *keys, const keel_public_key_t *key) {
    void *grown = keys->keys;
    KEEL_TRY(keel_grow_array(keys->count, sizeof *keys->keys, &keys->capacity, &grown));
    keys->keys = grown;
    keys->keys[keys->count++] = *key;
    return NULL;
}

static keel_status_t parse(keel_bytes_t bytes, const char *path, keel_public_keys_t *out) {
    keel_str_t rest = keel_bytes_str(bytes), line;
    for (unsigned number = 1; keel_str_line(&rest, &line); ++number) {
        keel_public_key_t key;
        line = trimmed(line);
        if (!line.size) continue;
        keel_status_t wrong = keel_sign_read(line, &key);
        if (wrong) {
            keel_status_t status = keel_status_make(KEEL_INVALID, "%s:%u: %s", path, number,
                                                    keel_status_message(wrong));
            keel_status_ignore(wrong);
            return status;
        }
        KEEL_TRY(add(out, &key));
    }
    return NULL;
}

static keel_status_t read_trusted(const char *path, keel_public_keys_t *out) {
    uint8_t *data;
    size_t size;
    keel_status_t status = read_guarded(path, FILE_LIMIT, false, &data, &size);
    if (keel_status_code(status) == KEEL_NOT_FOUND) {
        keel_status_ignore(status);
        return NULL;
    }
    KEEL_TRY(status);
    status = parse(keel_bytes(data, size), path, out);
    keel_free(data);
    return status;
}

keel_status_t keel_sign_trusted(const char *folder, keel_public_keys_t *out) {
    char *path;
    *out = (keel_public_keys_t){.keys = NULL};
    KEEL_TRY(keel_path(&path, "%s/trusted", folder));
    keel_status_t status = keel_directory_check_owner(folder);
    if (!status) status = read_trusted(path, out);
    keel_free(path);
    if (status) keel_sign_free(out);
    return status;
}

void keel_sign_free(keel_public_keys_t *keys) {
    keel_free(keys->keys);
    *keys = (keel_public_keys_t){.keys = NULL};
}

static keel_status_t write_trusted(const char *folder, const keel_public_keys_t *keys) {
    char *path, text[KEEL_SIGN_TEXT];
    keel_buffer_t buffer;
    KEEL_TRY(keel_path(&path, "%s/trusted", folder));
    keel_buffer_initialize(&buffer, 0);
    for (size_t i = 0; i < keys->count; ++i) {
        keel_sign_show(&keys->keys[i], text);
        keel_buffer_format(&buffer, "%s\n", text);
    }
    keel_status_t status = keel_buffer_status(&buffer);
    if (!status) status = keel_directory_make(folder);
    if (!status) status = keel_file_replace(path, keel_buffer_bytes(&buffer));
    keel_buffer_deinitialize(&buffer);
    keel_free(path);
    return status;
}

keel_status_t keel_sign_trust(const char *folder, const keel_public_key_t *key, bool *out_old) {
    keel_public_keys_t keys;
    *out_old = false;
    KEEL_TRY(keel_sign_trusted(folder, &keys));
    for (size_t i = 0; i < keys.count && !*out_old; ++i) {
        if (strcmp(keys.keys[i].name, key->name) != 0) continue;
        keys.keys[i] = *key;
        *out_old = true;
    }
    keel_status_t status = *out_old ? NULL : add(&keys, key);
    if (!status) status = write_trusted(folder, &keys);
    keel_sign_free(&keys);
    return status;
}

keel_status_t keel_sign_untrust(const char *folder, keel_str_t name) {
    keel_public_keys_t keys;
    size_t kept = 0;
    KEEL_TRY(keel_sign_trusted(folder, &keys));
    for (size_t i = 0; i < keys.count; ++i) {
        char text[KEEL_SIGN_TEXT];
        keel_sign_show(&keys.keys[i], text);
        if (!keel_str_is(name, keys.keys[i].name) && !keel_str_is(name, text))
            keys.keys[kept++] = keys.keys[i];
    }
    keel_status_t status = NULL;
    if (kept == keys.count)
        status = keel_status_make(KEEL_NOT_FOUND,
                                  "no trusted key is named '%.*s'; `keel cache keys` lists them",
                                  KEEL_STR_ARGS(name));
    keys.count = kept;
    if (!status) status = write_trusted(folder, &keys);
    keel_sign_free(&keys);
    return status;
}

// ---- signatures --------------------------------------------------------------------------------

void keel_sign_make(const keel_signing_key_t *key, keel_bytes_t message,
                    uint8_t out[KEEL_SIGN_SIGNATURE]) {
    crypto_sign_ed25519_detached(out, NULL, message.data, message.size, key->secret);
}

bool keel_sign_holds(const uint8_t key[KEEL_SIGN_PUBLIC], keel_bytes_t message,
                     const uint8_t signature[KEEL_SIGN_SIGNATURE]) {
    return crypto_sign_ed25519_verify_detached(signature, message.data, message.size, key) == 0;
}
