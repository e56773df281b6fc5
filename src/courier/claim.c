// One compile among all machines that use a remote: who asks for a claim has it for as long as its
// connection stays, and until what it compiled is sent. Then it is released, and those who wait
// load what came, or compile, all of them. If the asker died, it ends by itself, and one of those
// who wait takes over.
#define _GNU_SOURCE
#include "courier/courier.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <time.h>

#include "courier/lease.h"
#include "sign/sign.h"

// Nanoseconds between two looks, at first and at last.
static const uint64_t first_pause = 50000000u, last_pause = 1000000000u;

typedef struct claiming_t {
    courier_t *courier;
    place_t *place;
    const keel_digest_t *key;
    int socket;
    leasing_t leasing;
    char said[256]; // who holds it
} claiming_t;

// ---- the asker ---------------------------------------------------------------------------------

typedef enum asker {
    ASKER_WAITS,
    ASKER_DONE, // with what it claimed
    ASKER_GONE,
} asker_t;

// What it says until then: nothing, or that it is done.
static asker_t listen_until(int socket, uint64_t until) {
    struct pollfd ready = {.fd = socket, .events = POLLIN};
    uint64_t now = keel_clock_monotonic();
    int wait = until > now ? (int)((until - now) / 1000000) + 1 : 0;
    if (poll(&ready, 1, wait) <= 0) return ASKER_WAITS;
    char word[8];
    ssize_t got = recv(socket, word, sizeof word, MSG_DONTWAIT);
    return got >= 4 && memcmp(word, "done", 4) == 0 ? ASKER_DONE : ASKER_GONE;
}

// A child that was forked keeps the connection of a process that has ended.
static bool has_ended(int socket) {
    struct ucred peer;
    socklen_t size = sizeof peer;
    bool is_known = !getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) && peer.pid > 0;
    return is_known && kill(peer.pid, 0) && errno == ESRCH;
}

static bool say(const claiming_t *claiming, const char *verb, const char *why) {
    char line[512];
    int size = snprintf(line, sizeof line, "%s%s%.400s", verb, *why ? " " : "", why);
    for (int i = 0; i < size; ++i)
        if ((unsigned char)line[i] < 0x20 || line[i] == 0x7f) line[i] = '?';
    line[size++] = '\n';
    uint64_t until = keel_clock_monotonic() + 1000000000u;
    return keel_socket_send(claiming->socket, keel_bytes(line, (size_t)size), until);
}

// ---- waiting -----------------------------------------------------------------------------------

static bool say_holder(claiming_t *claiming) {
    const char *holder = claiming->leasing.other.holder;
    if (strcmp(claiming->said, holder) == 0) return true;
    snprintf(claiming->said, sizeof claiming->said, "%s", holder);
    return say(claiming, "waits", holder);
}

// False if the asker waits no longer: it has been told why, or is gone.
static bool wait_for(claiming_t *claiming, uint64_t until, lease_state_t *out) {
    uint64_t pause = first_pause;
    for (;;) {
        keel_status_t status = lease_try(&claiming->leasing, out);
        keel_code_t code = keel_status_code(status);
        if (code == KEEL_IO) place_failed(claiming->place);
        if (code == KEEL_UNSUPPORTED) atomic_store(&claiming->place->has_no_leases, true);
        if (status) say(claiming, "failed", keel_status_message(status));
        keel_status_ignore(status);
        if (code) return false;
        if (*out != LEASE_TAKEN) return true;
        uint64_t now = keel_clock_monotonic();
        if (now >= until) say(claiming, "late", claiming->leasing.other.holder);
        if (now >= until || !say_holder(claiming)) return false;
        if (listen_until(claiming->socket, now + pause) != ASKER_WAITS) return false;
        pause = pause * 2 < last_pause ? pause * 2 : last_pause;
    }
}

// ---- holding -----------------------------------------------------------------------------------

static void release(claiming_t *claiming) {
    keel_status_ignore(lease_release(&claiming->leasing)); // it ends by itself
}

static void nap_until(uint64_t until) {
    uint64_t now = keel_clock_monotonic(), left = until > now ? until - now : 0;
    const struct timespec nap = {(time_t)(left / 1000000000u), (long)(left % 1000000000u)};
    nanosleep(&nap, NULL);
}

// Renews it until what was compiled is sent. One that was lost is not renewed any more. Of one
// whose asker died, nothing stays behind once another had the time to take over.
static void hold(claiming_t *claiming) {
    struct sends_t *sends = claiming->courier->sends;
    uint64_t third = claiming->leasing.mine.length / 3, due = keel_clock_monotonic() + third;
    asker_t asker = ASKER_WAITS;
    bool is_lost = false, is_sent = false;
    while (!is_sent) {
        if (asker == ASKER_WAITS)
            asker = listen_until(claiming->socket, due);
        else
            is_sent = sends_await(sends, claiming->place, claiming->key, due);
        if (asker == ASKER_WAITS && has_ended(claiming->socket)) asker = ASKER_GONE;
        if (is_sent || keel_clock_monotonic() < due) continue;
        keel_status_t status = is_lost ? NULL : lease_renew(&claiming->leasing);
        is_lost = is_lost || keel_status_code(status) == KEEL_NOT_FOUND;
        keel_status_ignore(status);
        due = keel_clock_monotonic() + third;
    }
    if (is_lost) return;
    if (asker == ASKER_GONE) nap_until(due + claiming->leasing.mine.length * 3 / 2);
    release(claiming);
}

// Whoever cannot store would make others wait for nothing.
static bool can_store(const claiming_t *claiming) {
    keel_signing_key_t key;
    if (claiming->place->remote->trusted) return true;
    keel_status_t status = keel_sign_load(claiming->courier->keys_dir, &key);
    keel_sign_forget(&key);
    keel_status_ignore(status);
    return !status;
}

static void claim(claiming_t *claiming, uint64_t until) {
    lease_state_t state;
    if (!wait_for(claiming, until, &state)) return;
    bool is_held = state == LEASE_HELD;
    bool is_told = say(claiming, is_held ? "held" : "left", "");
    if (is_held && is_told) hold(claiming);
    if (is_held && !is_told) release(claiming);
}

static keel_status_t begin(claiming_t *claiming, const char *holder) {
    char *name;
    const place_t *place = claiming->place;
    KEEL_TRY(courier_claim_name(place->remote, claiming->key, &name));
    keel_status_t status =
        lease_begin(&place->backend, name, holder, keel_limit_time(KEEL_LIMIT_REMOTE_LEASE),
                    &claiming->leasing);
    keel_free(name);
    return status;
}

void courier_claim(courier_t *courier, place_t *place, const keel_digest_t *key,
                   const claim_t *wanted, int socket) {
    claiming_t claiming = {courier, place, key, socket, .leasing = {.backend = NULL}};
    if (place_is_down(place)) {
        say(&claiming, "failed", "it failed a short while ago");
        return;
    }
    if (!place->remote->writes || atomic_load(&place->has_no_leases) || !can_store(&claiming)) {
        say(&claiming, "none", "");
        return;
    }
    keel_status_t status = begin(&claiming, wanted->holder);
    if (!status)
        claim(&claiming, keel_clock_monotonic() + wanted->patience);
    else
        say(&claiming, "failed", keel_status_message(status));
    keel_status_ignore(status);
    lease_end(&claiming.leasing);
}
