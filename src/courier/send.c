// What is to be stored elsewhere: a queue of keys, and a few threads that read these entries from
// the disk tier, sign them and send them. Whoever compiled one does not wait.
#include "courier/courier.h"

#include <stdio.h>

#include "sign/sign.h"
#include "store/layout.h"
#include "store/seal.h"

enum { SENDERS = 4, QUEUED = 100000, REPLACED = 256 };

typedef struct send_t {
    struct send_t *next;
    place_t *place;
    keel_digest_t key;
} send_t;

typedef struct bad_t {
    const place_t *place;
    keel_digest_t key;
} bad_t;

typedef struct sends_t {
    courier_t *courier;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    send_t *first, **last;
    send_t *under_way[SENDERS];
    size_t queued, active;
    bool ends;
    bad_t bad[REPLACED]; // a ring: the latest
    size_t bad_count;
    unsigned unstored;
    char why[512];
    pthread_t threads[SENDERS];
    size_t thread_count;
} sends_t;

// ---- one entry ---------------------------------------------------------------------------------

static keel_status_t seal(keel_bytes_t header, keel_bytes_t stored, const keel_signing_key_t *key,
                          keel_buffer_t *out) {
    uint8_t signature[KEEL_SEAL_SIGNATURE];
    keel_digest_t message, payload = keel_digest(stored);
    KEEL_TRY(keel_seal_begin(header, key->open.bytes, &payload, out, &message));
    keel_sign_make(key, keel_bytes(message.bytes, KEEL_DIGEST_SIZE), signature);
    keel_seal_finish(out, signature);
    return NULL;
}

// Without a key of one's own, only a remote that is trusted without signatures takes it.
static keel_status_t sign(const courier_t *courier, bool trusted, keel_bytes_t header,
                          keel_bytes_t stored, keel_buffer_t *out) {
    keel_seal_t other;
    keel_signing_key_t key;
    if (keel_seal_find(header, &other)) { // by who compiled it
        keel_buffer_append(out, header.data, header.size);
        return keel_buffer_status(out);
    }
    keel_status_t status = keel_sign_load(courier->keys_dir, &key);
    if (!status) status = seal(header, stored, &key, out);
    keel_sign_forget(&key);
    if (keel_status_code(status) != KEEL_NOT_FOUND) return status;
    keel_status_ignore(status);
    if (!trusted)
        return keel_status_make(KEEL_REFUSED,
                                "there is no key to sign with, and nobody would load what is not "
                                "signed; make one with `keel cache keygen`");
    keel_buffer_append(out, header.data, header.size);
    return keel_buffer_status(out);
}

static keel_status_t split(const courier_t *courier, bool trusted, const keel_digest_t *key,
                           outgoing_t *out) {
    keel_entry_t entry;
    size_t needed;
    KEEL_TRY(keel_entry_decode_header(out->file, out->file.size, &entry, &needed));
    bool is_ours = keel_digest_equal(&entry.key, key);
    keel_entry_deinitialize(&entry);
    if (needed || !is_ours) return keel_status_make(KEEL_CORRUPT, "the entry is damaged");
    size_t size = (size_t)keel_load_u64(out->file.data + 16); // of the header (entry.h)
    out->rest = keel_bytes(out->file.data + size, out->file.size - size);
    return sign(courier, trusted, keel_bytes(out->file.data, size), out->rest, &out->head);
}

keel_status_t outgoing_open(const courier_t *courier, bool trusted, const keel_digest_t *key,
                            outgoing_t *out) {
    char *path;
    *out = (outgoing_t){.rest = {NULL, 0}};
    KEEL_TRY(keel_store_entry_path(courier->cache_dir, key, &path));
    keel_status_t status = keel_file_map(path, &out->file);
    keel_free(path);
    KEEL_TRY(status);
    keel_buffer_initialize(&out->head, 0);
    status = split(courier, trusted, key, out);
    if (status) outgoing_close(out);
    return status;
}

keel_status_t outgoing_make(const courier_t *courier, bool trusted, const keel_entry_t *entry,
                            outgoing_t *out) {
    uint8_t *bytes;
    size_t size;
    *out = (outgoing_t){.rest = {NULL, 0}};
    KEEL_TRY(keel_entry_encode(entry, &bytes, &size));
    out->file = keel_bytes(bytes, size);
    out->owned = bytes;
    keel_buffer_initialize(&out->head, 0);
    keel_status_t status = split(courier, trusted, &entry->key, out);
    if (status) outgoing_close(out);
    return status;
}

void outgoing_close(outgoing_t *outgoing) {
    keel_buffer_deinitialize(&outgoing->head);
    if (!outgoing->owned) keel_file_unmap(outgoing->file);
    keel_free(outgoing->owned);
}

void sends_replace(sends_t *sends, const place_t *place, const keel_digest_t *key) {
    pthread_mutex_lock(&sends->lock);
    sends->bad[sends->bad_count++ % REPLACED] = (bad_t){place, *key};
    pthread_mutex_unlock(&sends->lock);
}

// Once.
static bool is_bad_there(sends_t *sends, const place_t *place, const keel_digest_t *key) {
    bool found = false;
    pthread_mutex_lock(&sends->lock);
    for (size_t i = 0; i < REPLACED; ++i) {
        bad_t *bad = &sends->bad[i];
        if (bad->place != place || !keel_digest_equal(&bad->key, key)) continue;
        bad->place = NULL;
        found = true;
    }
    pthread_mutex_unlock(&sends->lock);
    return found;
}

static keel_status_t transmit(place_t *place, const char *name, const outgoing_t *out,
                              bool replaces) {
    const backend_t *backend = &place->backend;
    facts_t facts;
    keel_status_t status = replaces ? keel_status_make(KEEL_NOT_FOUND, "it is no good")
                                    : backend->kind->head(backend->context, name, &facts);
    if (!status) atomic_fetch_add(&place->figures.there, 1);
    if (keel_status_code(status) != KEEL_NOT_FOUND) return status;
    keel_status_ignore(status);
    KEEL_TRY(backend->kind->put(backend->context, name, PUT_REPLACE, keel_buffer_bytes(&out->head),
                                out->rest));
    atomic_fetch_add(&place->figures.stored, 1);
    atomic_fetch_add(&place->figures.sent_bytes, out->head.size + out->rest.size);
    return NULL;
}

static keel_status_t send_one(courier_t *courier, place_t *place, const keel_digest_t *key) {
    outgoing_t outgoing;
    char *name;
    if (place_is_down(place)) return keel_status_make(KEEL_IO, "it failed a short while ago");
    KEEL_TRY(outgoing_open(courier, place->remote->trusted, key, &outgoing));
    keel_status_t status = courier_name(place->remote, key, &name);
    if (!status) {
        status = transmit(place, name, &outgoing, is_bad_there(courier->sends, place, key));
        if (keel_status_code(status) == KEEL_IO) place_failed(place);
        keel_free(name);
    }
    outgoing_close(&outgoing);
    return status;
}

// ---- the queue ---------------------------------------------------------------------------------

// Under the lock.
static send_t *take(sends_t *sends) {
    send_t *one = sends->first;
    sends->first = one->next;
    if (!sends->first) sends->last = &sends->first;
    --sends->queued;
    return one;
}

static void put_under_way(sends_t *sends, send_t *one) {
    size_t i = 0;
    while (sends->under_way[i])
        ++i;
    sends->under_way[i] = one;
    ++sends->active;
}

static void put_away(sends_t *sends, const send_t *one) {
    size_t i = 0;
    while (sends->under_way[i] != one)
        ++i;
    sends->under_way[i] = NULL;
    --sends->active;
}

static void note(sends_t *sends, const send_t *one, keel_status_t status) {
    if (!status) return;
    atomic_fetch_add(&one->place->figures.unstored, 1);
    ++sends->unstored;
    snprintf(sends->why, sizeof sends->why, "%.200s: %.300s", one->place->remote->url,
             keel_status_message(status));
    keel_status_ignore(status);
}

static void *work(void *context) {
    sends_t *sends = context;
    pthread_mutex_lock(&sends->lock);
    for (;;) {
        while (!sends->first && !sends->ends)
            pthread_cond_wait(&sends->changed, &sends->lock);
        if (sends->ends) break;
        send_t *one = take(sends);
        put_under_way(sends, one);
        pthread_mutex_unlock(&sends->lock);
        keel_status_t status = send_one(sends->courier, one->place, &one->key);
        pthread_mutex_lock(&sends->lock);
        put_away(sends, one);
        note(sends, one, status);
        keel_free(one);
        pthread_cond_broadcast(&sends->changed);
    }
    pthread_mutex_unlock(&sends->lock);
    return NULL;
}

keel_status_t sends_create(courier_t *courier, sends_t **out) {
    void *memory;
    KEEL_TRY(keel_calloc(1, sizeof(sends_t), &memory));
    sends_t *sends = memory;
    sends->courier = courier;
    sends->last = &sends->first;
    pthread_mutex_init(&sends->lock, NULL);
    keel_wait_initialize(&sends->changed);
    *out = sends;
    while (sends->thread_count < SENDERS &&
           !pthread_create(&sends->threads[sends->thread_count], NULL, work, sends))
        ++sends->thread_count;
    if (sends->thread_count) return NULL;
    sends_destroy(sends);
    *out = NULL;
    return keel_status_make(KEEL_IO, "no thread can be started");
}

void sends_destroy(sends_t *sends) {
    if (!sends) return;
    pthread_mutex_lock(&sends->lock);
    sends->ends = true;
    pthread_cond_broadcast(&sends->changed);
    pthread_mutex_unlock(&sends->lock);
    while (sends->thread_count)
        pthread_join(sends->threads[--sends->thread_count], NULL);
    while (sends->first) {
        send_t *one = take(sends);
        keel_free(one);
    }
    pthread_cond_destroy(&sends->changed);
    pthread_mutex_destroy(&sends->lock);
    keel_free(sends);
}

keel_status_t sends_add(sends_t *sends, place_t *place, const keel_digest_t *key) {
    void *memory;
    KEEL_TRY(keel_calloc(1, sizeof(send_t), &memory));
    send_t *one = memory;
    *one = (send_t){.place = place, .key = *key};
    pthread_mutex_lock(&sends->lock);
    bool is_full = sends->queued >= QUEUED;
    if (!is_full) {
        *sends->last = one;
        sends->last = &one->next;
        ++sends->queued;
        pthread_cond_broadcast(&sends->changed);
    }
    pthread_mutex_unlock(&sends->lock);
    if (!is_full) return NULL;
    keel_free(one);
    return keel_status_make(KEEL_IO, "too much waits to be sent");
}

unsigned sends_finish(sends_t *sends, char why[512]) {
    pthread_mutex_lock(&sends->lock);
    while (sends->queued || sends->active)
        pthread_cond_wait(&sends->changed, &sends->lock);
    unsigned unstored = sends->unstored;
    sends->unstored = 0;
    memcpy(why, sends->why, sizeof sends->why);
    pthread_mutex_unlock(&sends->lock);
    return unstored;
}

static bool is_that(const send_t *one, const place_t *place, const keel_digest_t *key) {
    return one && one->place == place && keel_digest_equal(&one->key, key);
}

static bool is_to_send(const sends_t *sends, const place_t *place, const keel_digest_t *key) {
    for (const send_t *one = sends->first; one; one = one->next)
        if (is_that(one, place, key)) return true;
    for (size_t i = 0; i < SENDERS; ++i)
        if (is_that(sends->under_way[i], place, key)) return true;
    return false;
}

bool sends_await(sends_t *sends, const place_t *place, const keel_digest_t *key, uint64_t until) {
    pthread_mutex_lock(&sends->lock);
    while (is_to_send(sends, place, key) && keel_clock_monotonic() < until)
        keel_wait_until(&sends->changed, &sends->lock, until);
    bool is_sent = !is_to_send(sends, place, key);
    pthread_mutex_unlock(&sends->lock);
    return is_sent;
}

bool sends_are_idle(sends_t *sends) {
    pthread_mutex_lock(&sends->lock);
    bool is_idle = !sends->queued && !sends->active;
    pthread_mutex_unlock(&sends->lock);
    return is_idle;
}
