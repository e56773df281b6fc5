// sign: who compiled an entry, and whether this user runs what they compiled. Ed25519 keys, in
// files of one folder (the setting keys_dir):
//
//   signing   "NAME:<64 hex digits>\n", the seed of the private key; only its owner may read it
//   trusted   a line "NAME:<64 hex digits>" for each public key that is trusted; "#" begins a
//   comment
//
// Whoever can write there decides what runs as this user, so both files, and the folder, must be
// this user's or root's, and nobody else's to write. One's own key is trusted without a line.
//
// Ownership: callers own what they get; lists are freed with keel_sign_free, and private keys are
// forgotten with keel_sign_forget. Threads: no shared state; two processes that change `trusted` at
// once may lose one of both changes.
#ifndef KEEL_SIGN_SIGN_H_
#define KEEL_SIGN_SIGN_H_

#include "base/base.h"

enum {
    KEEL_SIGN_PUBLIC = 32,
    KEEL_SIGN_SECRET = 64,
    KEEL_SIGN_SIGNATURE = 64,
    KEEL_SIGN_NAME = 64,                                        // with its zero byte
    KEEL_SIGN_TEXT = KEEL_SIGN_NAME + 1 + 2 * KEEL_SIGN_PUBLIC, // the same
};

typedef struct keel_public_key_t {
    char name[KEEL_SIGN_NAME]; // letters, digits and -_.@
    uint8_t bytes[KEEL_SIGN_PUBLIC];
} keel_public_key_t;

typedef struct keel_signing_key_t {
    keel_public_key_t open;
    uint8_t secret[KEEL_SIGN_SECRET];
} keel_signing_key_t;

typedef struct keel_public_keys_t {
    keel_public_key_t *keys;
    size_t count, capacity;
} keel_public_keys_t;

// "NAME:<hex>", as people pass it on. KEEL_INVALID, with a message that says what such a text looks
// like, if it is none.
void keel_sign_show(const keel_public_key_t *key, char out[KEEL_SIGN_TEXT]);
keel_status_t keel_sign_read(keel_str_t text, keel_public_key_t *out) KEEL_MUST_CHECK;

// Makes a key pair and keeps its private key in `folder`. KEEL_INVALID if that has one, or if the
// name cannot be one.
keel_status_t keel_sign_generate(const char *folder, const char *name,
                                 keel_public_key_t *out) KEEL_MUST_CHECK;
// KEEL_NOT_FOUND: there is none. KEEL_REFUSED: others can read or write it.
keel_status_t keel_sign_load(const char *folder, keel_signing_key_t *out) KEEL_MUST_CHECK;
void keel_sign_forget(keel_signing_key_t *key);

// The keys of `trusted`, without one's own. No file: none. KEEL_REFUSED: others can write it.
keel_status_t keel_sign_trusted(const char *folder, keel_public_keys_t *out) KEEL_MUST_CHECK;
void keel_sign_free(keel_public_keys_t *keys);
// A key of the same name is replaced; *out_old says whether there was one.
keel_status_t keel_sign_trust(const char *folder, const keel_public_key_t *key,
                              bool *out_old) KEEL_MUST_CHECK;
// By its name, or by its whole text. KEEL_NOT_FOUND if no such key is trusted.
keel_status_t keel_sign_untrust(const char *folder, keel_str_t name) KEEL_MUST_CHECK;

void keel_sign_make(const keel_signing_key_t *key, keel_bytes_t message,
                    uint8_t out[KEEL_SIGN_SIGNATURE]);
bool keel_sign_holds(const uint8_t key[KEEL_SIGN_PUBLIC], keel_bytes_t message,
                     const uint8_t signature[KEEL_SIGN_SIGNATURE]);

#endif // KEEL_SIGN_SIGN_H_
