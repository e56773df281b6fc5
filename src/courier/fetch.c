// One download for all who ask for a key: the others wait for it and get the same answer.
#include "courier/courier.h"

#include <stdio.h>

#include "courier/arrival.h"

typedef struct fetch_t {
    struct fetch_t *next;
    const place_t *place;
    keel_digest_t key;
    unsigned waiting;
    bool done;
    char answer[512];
} fetch_t;

typedef struct fetches_t {
    pthread_mutex_t lock;
    pthread_cond_t done;
    fetch_t *list; // those that go on, and those whose waiters have not all read the answer
} fetches_t;

keel_status_t fetches_create(fetches_t **out) {
    void *memory;
    KEEL_TRY(keel_calloc(1, sizeof(fetches_t), &memory));
    *out = memory;
    pthread_mutex_init(&(*out)->lock, NULL);
    pthread_cond_init(&(*out)->done, NULL);
    return NULL;
}

void fetches_destroy(fetches_t *fetches) {
    if (!fetches) return;
    pthread_cond_destroy(&fetches->done);
    pthread_mutex_destroy(&fetches->lock);
    keel_free(fetches);
}

// ---- one fetch ---------------------------------------------------------------------------------

typedef struct answer_t {
    char *text;
    size_t size;
} answer_t;

static void say(answer_t answer, const char *verdict, const char *why) {
    snprintf(answer.text, answer.size, "%s %s", verdict, why);
}

// A remote that failed; or this machine's disk, which is no fault of the remote's.
static void fail(place_t *place, const arrival_t *arrival, keel_status_t status, answer_t answer) {
    figures_t *figures = &place->figures;
    const char *why = keel_status_message(status);
    switch (keel_status_code(status)) {
        case KEEL_NOT_FOUND:
            atomic_fetch_add(&figures->none, 1);
            snprintf(answer.text, answer.size, "none");
            break;
        case KEEL_CORRUPT:
            atomic_fetch_add(&figures->refused, 1);
            say(answer, "refused", why);
            break;
        default:
            if (!arrival->disk_failed) place_failed(place);
            atomic_fetch_add(&figures->failed, 1);
            say(answer, "failed", why);
    }
    keel_status_ignore(status);
}

static void judge(courier_t *courier, place_t *place, const keel_digest_t *key, arrival_t *arrival,
                  answer_t answer) {
    figures_t *figures = &place->figures;
    arrival_verdict_t verdict =
        arrival_check(arrival, key, courier->keys_dir, place->remote->trusted);
    bool is_untrusted = verdict == ARRIVAL_UNTRUSTED;
    if (verdict != ARRIVAL_GOOD) {
        atomic_fetch_add(is_untrusted ? &figures->untrusted : &figures->refused, 1);
        say(answer, is_untrusted ? "untrusted" : "refused", arrival->why);
        arrival_discard(arrival);
        return;
    }
    keel_status_t status = keel_store_disk_adopt(&courier->disk, key, &arrival->draft);
    if (status) {
        arrival->disk_failed = true;
        fail(place, arrival, status, answer);
        return;
    }
    atomic_fetch_add(&figures->found, 1);
    snprintf(answer.text, answer.size, "found %llu", (unsigned long long)arrival->have);
}

// What is no good there is replaced once it was compiled here.
static bool is_bad(const char *text) {
    return strncmp(text, "refused", 7) == 0 || strncmp(text, "untrusted", 9) == 0;
}

static keel_status_t get(place_t *place, const keel_digest_t *key, arrival_t *arrival) {
    char *name;
    KEEL_TRY(courier_name(place->remote, key, &name));
    const backend_t *backend = &place->backend;
    const sink_t sink = arrival_sink(arrival);
    keel_status_t status = backend->kind->get(backend->context, name, &sink);
    keel_free(name);
    if (!status || !arrival->disk_failed) return status;
    keel_status_ignore(status);
    return keel_status_make(KEEL_IO, "%s", arrival->why);
}

static void fetch(courier_t *courier, place_t *place, const keel_digest_t *key, answer_t answer) {
    arrival_t arrival;
    uint64_t start = keel_clock_monotonic();
    keel_status_t status =
        arrival_begin(&courier->disk, courier->settings.cache_limit, key, &arrival);
    if (status) {
        arrival = (arrival_t){.draft = {.descriptor = -1}, .disk_failed = true};
        fail(place, &arrival, status, answer);
        return;
    }
    status = get(place, key, &arrival);
    atomic_fetch_add(&place->figures.fetched_bytes, arrival.have);
    if (status) {
        arrival_discard(&arrival);
        fail(place, &arrival, status, answer);
    } else {
        judge(courier, place, key, &arrival, answer);
    }
    if (is_bad(answer.text)) sends_replace(courier->sends, place, key);
    atomic_fetch_add(&place->figures.fetch_nanoseconds, keel_clock_monotonic() - start);
}

// ---- for several -------------------------------------------------------------------------------

static fetch_t *find(const fetches_t *fetches, const place_t *place, const keel_digest_t *key) {
    fetch_t *one = fetches->list;
    while (one && (one->done || one->place != place || !keel_digest_equal(&one->key, key)))
        one = one->next;
    return one;
}

// Under the lock.
static void leave(fetches_t *fetches, fetch_t *one) {
    if (--one->waiting) return;
    fetch_t **at = &fetches->list;
    while (*at != one)
        at = &(*at)->next;
    *at = one->next;
    keel_free(one);
}

static void run(courier_t *courier, place_t *place, fetch_t *one) {
    fetches_t *fetches = courier->fetches;
    const answer_t answer = {one->answer, sizeof one->answer};
    pthread_mutex_unlock(&fetches->lock);
    fetch(courier, place, &one->key, answer);
    pthread_mutex_lock(&fetches->lock);
    one->done = true;
    pthread_cond_broadcast(&fetches->done);
}

void courier_fetch(courier_t *courier, place_t *place, const keel_digest_t *key,
                   keel_buffer_t *answer) {
    fetches_t *fetches = courier->fetches;
    void *memory;
    pthread_mutex_lock(&fetches->lock);
    fetch_t *one = find(fetches, place, key);
    if (one) {
        ++one->waiting;
        while (!one->done)
            pthread_cond_wait(&fetches->done, &fetches->lock);
    } else {
        keel_status_t status = keel_calloc(1, sizeof *one, &memory);
        if (status) {
            pthread_mutex_unlock(&fetches->lock);
            keel_buffer_format(answer, "failed %s", keel_status_message(status));
            keel_status_ignore(status);
            return;
        }
        one = memory;
        *one = (fetch_t){.next = fetches->list, .place = place, .key = *key, .waiting = 1};
        fetches->list = one;
        run(courier, place, one);
    }
    keel_buffer_text(answer, one->answer);
    leave(fetches, one);
    pthread_mutex_unlock(&fetches->lock);
}
