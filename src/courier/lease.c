#define _GNU_SOURCE
#include "courier/lease.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/random.h>

// Bytes of an object; holders that ended one after the other; how often one that comes and goes is
// looked for.
enum { OBJECT = 1024, CHAIN = 64, AGAIN = 8 };

static const uint64_t longest = 600000000000u; // that another's lease is waited for

// ---- objects -----------------------------------------------------------------------------------

typedef struct object_t {
    uint8_t bytes[OBJECT];
    size_t size;
    char why[40];
} object_t;

static bool take(void *context, const void *data, size_t size) {
    object_t *object = context;
    if (size > OBJECT - object->size) {
        snprintf(object->why, sizeof object->why, "it is no lease");
        return false;
    }
    if (size) memcpy(object->bytes + object->size, data, size);
    object->size += size;
    return true;
}

static bool is_whole(void *context) {
    (void)context;
    return true;
}

static keel_status_t read_object(const leasing_t *leasing, const char *at, object_t *out) {
    const backend_t *backend = leasing->backend;
    const sink_t sink = {out, take, is_whole, out->why};
    *out = (object_t){.size = 0};
    return backend->kind->get(backend->context, at, &sink);
}

static bool read_milliseconds(keel_str_t text, uint64_t *out) {
    *out = 0;
    for (size_t i = 0; i < text.size; ++i) {
        if (i > 9 || !keel_is_digit(text.data[i])) return false;
        *out = *out * 10 + (uint64_t)(text.data[i] - '0');
    }
    return text.size;
}

// What cannot be read is held, too, by whoever put it.
static void parse(const object_t *object, const leasing_t *leasing, lease_t *out) {
    keel_str_t rest = {(const char *)object->bytes, object->size}, lines[5];
    uint8_t token[16];
    uint64_t milliseconds;
    size_t count = 0;
    while (count < 5 && keel_str_line(&rest, &lines[count]))
        ++count;
    bool is_lease = count == 5 && keel_str_is(lines[0], "keel lease 1") &&
                    keel_unhex(lines[1], token, sizeof token) &&
                    read_milliseconds(lines[2], &milliseconds);
    *out = (lease_t){.length = is_lease ? milliseconds * 1000000 : leasing->mine.length};
    if (out->length > longest) out->length = longest;
    const keel_digest_t digest = keel_digest(keel_bytes(object->bytes, object->size));
    keel_hex(is_lease ? token : digest.bytes, sizeof token, out->token);
    const keel_str_t holder = is_lease ? lines[4] : KEEL_STR("another");
    snprintf(out->holder, sizeof out->holder, "%.*s", (int)holder.size, holder.data);
    keel_utf8_mask(out->holder, strlen(out->holder));
}

static keel_status_t write_object(const leasing_t *leasing, const char *at, put_t how) {
    const backend_t *backend = leasing->backend;
    char text[OBJECT];
    int size = snprintf(text, sizeof text, "keel lease 1\n%s\n%" PRIu64 "\n%" PRIu64 "\n%s\n",
                        leasing->mine.token, leasing->mine.length / 1000000, leasing->count,
                        leasing->mine.holder);
    return backend->kind->put(backend->context, at, how, keel_bytes(text, (size_t)size),
                              keel_bytes("", 0));
}

static keel_status_t follow(const leasing_t *leasing, const char *token, char **at) {
    keel_free(*at);
    *at = NULL;
    return keel_path(at, "%s.%s", leasing->name, token);
}

// ---- chains ------------------------------------------------------------------------------------

// True if it has not changed for as long as it lasts.
static bool has_ended(leasing_t *leasing, const object_t *object) {
    const keel_digest_t digest = keel_digest(keel_bytes(object->bytes, object->size));
    uint64_t now = keel_clock_monotonic();
    if (!leasing->since || !keel_digest_equal(&digest, &leasing->seen)) {
        leasing->seen = digest;
        leasing->since = now;
    }
    return now - leasing->since >= leasing->other.length;
}

// Walks to the last lease of the chain, and past it if it has ended. *at is what to put then.
static keel_status_t walk(leasing_t *leasing, char **at, lease_state_t *out) {
    object_t object, next;
    KEEL_TRY(read_object(leasing, *at, &object));
    for (int i = 0; i < CHAIN; ++i) {
        char *last = *at;
        parse(&object, leasing, &leasing->other);
        *at = NULL;
        keel_status_t status = follow(leasing, leasing->other.token, at);
        if (!status) status = read_object(leasing, *at, &next);
        keel_free(last);
        if (!status) {
            object = next;
            continue;
        }
        if (keel_status_code(status) != KEEL_NOT_FOUND || !has_ended(leasing, &object)) {
            *out = LEASE_TAKEN;
            if (keel_status_code(status) != KEEL_NOT_FOUND) return status;
            keel_status_ignore(status);
            return NULL;
        }
        return status;
    }
    return keel_status_make(KEEL_REFUSED, "too many that held this compile have died");
}

// One look: KEEL_INVALID if it has to be looked at again.
static keel_status_t look(leasing_t *leasing, lease_state_t *out) {
    char *at;
    *out = LEASE_HELD;
    KEEL_TRY(keel_strdup(keel_str(leasing->name), &at));
    keel_status_t status = walk(leasing, &at, out);
    if (keel_status_code(status) == KEEL_NOT_FOUND) {
        bool is_free = strcmp(at, leasing->name) == 0;
        keel_status_ignore(status);
        *out = is_free && leasing->waited ? LEASE_LEFT : LEASE_HELD;
        status = *out == LEASE_LEFT ? NULL : write_object(leasing, at, PUT_IF_ABSENT);
        if (!status && *out == LEASE_HELD) {
            leasing->at = at;
            at = NULL;
        }
    }
    keel_free(at);
    return status;
}

static keel_status_t try_objects(leasing_t *leasing, lease_state_t *out) {
    keel_status_t status = NULL;
    for (int i = 0; i < AGAIN; ++i) {
        status = look(leasing, out);
        if (keel_status_code(status) != KEEL_INVALID) return status;
        keel_status_ignore(status);
    }
    *out = LEASE_TAKEN;
    return NULL;
}

static keel_status_t renew_object(leasing_t *leasing) {
    const backend_t *backend = leasing->backend;
    char *next = NULL;
    facts_t facts;
    KEEL_TRY(follow(leasing, leasing->mine.token, &next));
    keel_status_t status = backend->kind->head(backend->context, next, &facts);
    keel_free(next);
    if (!status) return keel_status_make(KEEL_NOT_FOUND, "another holds it by now");
    if (keel_status_code(status) != KEEL_NOT_FOUND) return status;
    keel_status_ignore(status);
    ++leasing->count;
    return write_object(leasing, leasing->at, PUT_REPLACE);
}

// Removes the chain up to `until`, the first part first: whoever comes now begins anew.
static keel_status_t remove_chain(const leasing_t *leasing, const char *until) {
    const backend_t *backend = leasing->backend;
    object_t object;
    lease_t lease;
    char *at;
    KEEL_TRY(keel_strdup(keel_str(leasing->name), &at));
    keel_status_t status = NULL;
    for (int i = 0; i < CHAIN && !status && strcmp(at, until) != 0; ++i) {
        status = read_object(leasing, at, &object);
        if (!status) status = backend->kind->remove(backend->context, at);
        if (!status) parse(&object, leasing, &lease);
        if (!status) status = follow(leasing, lease.token, &at);
    }
    keel_free(at);
    if (!status) status = backend->kind->remove(backend->context, until);
    return status;
}

static keel_status_t release_object(leasing_t *leasing) {
    char *next = NULL;
    facts_t facts;
    if (!leasing->at) return NULL;
    KEEL_TRY(follow(leasing, leasing->mine.token, &next));
    keel_status_t status = leasing->backend->kind->head(leasing->backend->context, next, &facts);
    keel_free(next);
    if (keel_status_code(status) != KEEL_NOT_FOUND) return status; // another's by now, if it is OK
    keel_status_ignore(status);
    return remove_chain(leasing, leasing->at);
}

// ---- either kind -------------------------------------------------------------------------------

keel_status_t lease_begin(const backend_t *backend, const char *name, const char *holder,
                          uint64_t length, leasing_t *out) {
    uint8_t chance[16];
    *out = (leasing_t){.backend = backend, .mine = {.length = length}};
    if (getrandom(chance, sizeof chance, 0) != sizeof chance)
        return keel_status_make(KEEL_IO, "the system gives no random numbers");
    keel_hex(chance, sizeof chance, out->mine.token);
    snprintf(out->mine.holder, sizeof out->mine.holder, "%s", holder);
    return keel_strdup(keel_str(name), &out->name);
}

keel_status_t lease_release(leasing_t *leasing) {
    const backend_t *backend = leasing->backend;
    if (!backend->kind->claim) return release_object(leasing);
    return backend->kind->release(backend->context, leasing->name, &leasing->mine);
}

// One that is gone before it could end was released.
static keel_status_t was_left(const leasing_t *leasing, bool *out) {
    const backend_t *backend = leasing->backend;
    facts_t facts;
    *out = false;
    if (!leasing->waited || keel_clock_monotonic() >= leasing->ends) return NULL;
    keel_status_t status = backend->kind->head(backend->context, leasing->name, &facts);
    *out = keel_status_code(status) == KEEL_NOT_FOUND && keel_clock_monotonic() < leasing->ends;
    if (keel_status_code(status) != KEEL_NOT_FOUND) return status;
    keel_status_ignore(status);
    return NULL;
}

static keel_status_t try_own(leasing_t *leasing, lease_state_t *out) {
    const backend_t *backend = leasing->backend;
    bool is_held = false, is_left;
    *out = LEASE_LEFT;
    KEEL_TRY(was_left(leasing, &is_left));
    if (is_left) return NULL;
    KEEL_TRY(backend->kind->claim(backend->context, leasing->name, &leasing->mine, &leasing->other,
                                  &is_held));
    *out = is_held ? LEASE_HELD : LEASE_TAKEN;
    if (!is_held) leasing->ends = keel_clock_monotonic() + leasing->other.length;
    return NULL;
}

keel_status_t lease_try(leasing_t *leasing, lease_state_t *out) {
    bool is_own = leasing->backend->kind->claim;
    KEEL_TRY(is_own ? try_own(leasing, out) : try_objects(leasing, out));
    leasing->waited = leasing->waited || *out == LEASE_TAKEN;
    return NULL;
}

keel_status_t lease_renew(leasing_t *leasing) {
    const backend_t *backend = leasing->backend;
    if (!backend->kind->claim) return renew_object(leasing);
    return backend->kind->renew(backend->context, leasing->name, &leasing->mine);
}

void lease_end(leasing_t *leasing) {
    keel_free(leasing->name);
    keel_free(leasing->at);
    *leasing = (leasing_t){.backend = NULL};
}
