// Requests: a thread for each connection, which is one request.
#define _GNU_SOURCE
#include "courier/courier.h"

#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "remote/remote.h"

enum { READ_WITHIN = 5, MOST = 1024 }; // seconds; requests at a time

typedef struct serving_t {
    courier_t *courier;
    pthread_mutex_t lock;
    unsigned active;
    uint64_t last; // when a request ended
} serving_t;

typedef struct request_t {
    serving_t *serving;
    int socket;
} request_t;

// ---- answers -----------------------------------------------------------------------------------

static place_t *place_at(courier_t *courier, keel_str_t number) {
    if (number.size != 1 || !keel_is_digit(*number.data)) return NULL;
    size_t place = (size_t)(*number.data - '0');
    return place < courier->count ? &courier->places[place] : NULL;
}

static void answer_get(courier_t *courier, place_t *place, const keel_digest_t *key,
                       keel_buffer_t *out) {
    if (place_is_down(place))
        keel_buffer_text(out, "failed it failed a short while ago");
    else
        courier_fetch(courier, place, key, out);
}

static void answer_put(courier_t *courier, place_t *place, const keel_digest_t *key,
                       keel_buffer_t *out) {
    keel_status_t status =
        place->remote->writes
            ? sends_add(courier->sends, place, key)
            : keel_status_make(KEEL_REFUSED, "it is only read; add |read-write to store there");
    if (status)
        keel_buffer_format(out, "failed %s", keel_status_message(status));
    else
        keel_buffer_text(out, "queued");
    keel_status_ignore(status);
}

static void answer_try(place_t *place, keel_buffer_t *out) {
    const keel_digest_t nothing = {{0}};
    char *name;
    facts_t facts;
    keel_status_t status = courier_name(place->remote, &nothing, &name);
    if (!status) {
        status = place->backend.kind->head(place->backend.context, name, &facts);
        keel_free(name);
        if (!status) status = keel_status_make(KEEL_CORRUPT, "it has what nobody stored");
    }
    if (keel_status_code(status) == KEEL_NOT_FOUND)
        keel_buffer_text(out, "works");
    else
        keel_buffer_format(out, "failed %s", keel_status_message(status));
    keel_status_ignore(status);
}

static void figures_of(place_t *place, keel_json_t *json) {
    figures_t *figures = &place->figures;
    const struct {
        const char *name;
        atomic_ullong *value;
    } list[] = {{"found", &figures->found},         {"none", &figures->none},
                {"untrusted", &figures->untrusted}, {"refused", &figures->refused},
                {"failed", &figures->failed},       {"fetched_bytes", &figures->fetched_bytes},
                {"stored", &figures->stored},       {"already_there", &figures->there},
                {"not_stored", &figures->unstored}, {"sent_bytes", &figures->sent_bytes}};
    keel_json_object(json, NULL);
    keel_json_string(json, "remote", place->remote->url);
    for (size_t i = 0; i < sizeof list / sizeof *list; ++i)
        keel_json_unsigned(json, list[i].name, atomic_load(list[i].value));
    keel_json_double(json, "fetch_seconds", keel_seconds(atomic_load(&figures->fetch_nanoseconds)),
                     6);
    keel_json_end_object(json);
}

static void answer_figures(courier_t *courier, keel_buffer_t *out) {
    keel_json_t json = keel_json(out, KEEL_JSON_SPACED);
    keel_json_object(&json, NULL);
    keel_json_unsigned(&json, "pid", (uint64_t)getpid());
    keel_json_array(&json, "remotes");
    for (size_t i = 0; i < courier->count; ++i)
        figures_of(&courier->places[i], &json);
    keel_json_end_array(&json);
    keel_json_end_object(&json);
}

static void answer_finish(courier_t *courier, keel_buffer_t *out) {
    char why[512];
    unsigned unstored = sends_finish(courier->sends, why);
    plans_finish(courier->plans);
    if (unstored)
        keel_buffer_format(out, "failed %u %s", unstored, why);
    else
        keel_buffer_text(out, "done");
}

// The next word of the line.
static keel_str_t word(keel_str_t *rest) {
    const char *blank = rest->size ? memchr(rest->data, ' ', rest->size) : NULL;
    keel_str_t out = {rest->data, blank ? (size_t)(blank - rest->data) : rest->size};
    size_t taken = out.size + (blank ? 1 : 0);
    *rest = (keel_str_t){rest->data + taken, rest->size - taken};
    return out;
}

// KEY MILLISECONDS HOLDER
static bool read_claim(keel_str_t line, keel_digest_t *key, char holder[256], uint64_t *patience) {
    enum { LONGEST = 100000000 }; // milliseconds
    if (!keel_digest_unhex(word(&line), key)) return false;
    const keel_str_t number = word(&line);
    *patience = 0;
    for (size_t i = 0; i < number.size; ++i) {
        if (!keel_is_digit(number.data[i]) || *patience > LONGEST) return false;
        *patience = *patience * 10 + (uint64_t)(number.data[i] - '0');
    }
    *patience *= 1000000;
    snprintf(holder, 256, "%.*s", (int)line.size, line.data);
    return true;
}

// True if it was one, and has been answered.
static bool answer_claim(courier_t *courier, keel_str_t line, int socket) {
    keel_digest_t key;
    char holder[256];
    claim_t wanted = {.holder = holder};
    if (!keel_str_is(word(&line), "claim")) return false;
    place_t *place = place_at(courier, word(&line));
    if (!place || !place->is_open || !read_claim(line, &key, holder, &wanted.patience))
        return false;
    courier_claim(courier, place, &key, &wanted, socket);
    return true;
}

// False: that is no request.
static bool answer_plans(courier_t *courier, place_t *place, keel_str_t verb, keel_str_t script) {
    if (keel_str_is(verb, "ahead")) return plans_ahead(courier->plans, place, script);
    if (!keel_str_is(verb, "keep") || !place->remote->writes) return false;
    return plans_keep(courier->plans, place, script);
}

static void answer(courier_t *courier, keel_str_t line, keel_buffer_t *out) {
    keel_digest_t key;
    const keel_str_t verb = word(&line);
    if (keel_str_is(verb, "figures")) {
        answer_figures(courier, out);
        return;
    }
    if (keel_str_is(verb, "finish")) {
        answer_finish(courier, out);
        return;
    }
    place_t *place = place_at(courier, word(&line));
    bool is_try = keel_str_is(verb, "try"), has_key = keel_digest_unhex(line, &key);
    if (place && !place->is_open)
        keel_buffer_format(out, "failed %s", place->why ? place->why : "it cannot be used");
    else if (place && is_try)
        answer_try(place, out);
    else if (place && has_key && keel_str_is(verb, "get"))
        answer_get(courier, place, &key, out);
    else if (place && has_key && keel_str_is(verb, "put"))
        answer_put(courier, place, &key, out);
    else if (place && keel_str_is(verb, "plan"))
        plans_follow(courier->plans, place, line, out);
    else
        keel_buffer_text(out, place && answer_plans(courier, place, verb, line)
                                  ? "queued"
                                  : "failed this is no request");
}

// ---- connections -------------------------------------------------------------------------------

// Answers are one line, whatever a remote's message has in it.
static void send_answer(int socket, keel_buffer_t *out) {
    for (size_t i = 0; i < out->size; ++i)
        if (out->data[i] < 0x20 || out->data[i] == 0x7f) out->data[i] = '?';
    keel_buffer_byte(out, '\n');
    uint64_t until = keel_clock_monotonic() + READ_WITHIN * 1000000000ull;
    (void)keel_socket_send(socket, keel_buffer_bytes(out), until); // who asked may be gone
}

static void *serve_one(void *context) {
    request_t request = *(request_t *)context;
    serving_t *serving = request.serving;
    keel_buffer_t line, out;
    keel_free(context);
    keel_buffer_initialize(&line, KEEL_REMOTE_LINE);
    keel_buffer_initialize(&out, 0);
    uint64_t until = keel_clock_monotonic() + READ_WITHIN * 1000000000ull;
    const keel_str_t text = keel_socket_line(request.socket, until, &line)
                                ? keel_bytes_str(keel_buffer_bytes(&line))
                                : KEEL_STR("");
    if (text.size && !answer_claim(serving->courier, text, request.socket)) {
        answer(serving->courier, text, &out);
        send_answer(request.socket, &out);
    }
    close(request.socket);
    keel_buffer_deinitialize(&line);
    keel_buffer_deinitialize(&out);
    pthread_mutex_lock(&serving->lock);
    --serving->active;
    serving->last = keel_clock_monotonic();
    pthread_mutex_unlock(&serving->lock);
    return NULL;
}

// Takes over the socket.
static void begin(serving_t *serving, int socket) {
    void *memory;
    pthread_t thread;
    keel_status_t status = keel_calloc(1, sizeof(request_t), &memory);
    if (status) {
        keel_status_ignore(status);
        close(socket);
        return;
    }
    request_t *request = memory;
    *request = (request_t){serving, socket};
    pthread_mutex_lock(&serving->lock);
    bool starts = serving->active < MOST && !pthread_create(&thread, NULL, serve_one, request);
    if (starts) ++serving->active;
    pthread_mutex_unlock(&serving->lock);
    if (starts) {
        pthread_detach(thread);
        return;
    }
    close(socket);
    keel_free(request);
}

static bool is_over(serving_t *serving) {
    pthread_mutex_lock(&serving->lock);
    bool is_idle =
        !serving->active && keel_clock_monotonic() - serving->last >= serving->courier->idle;
    pthread_mutex_unlock(&serving->lock);
    return is_idle && sends_are_idle(serving->courier->sends) &&
           plans_are_idle(serving->courier->plans);
}

void courier_serve(courier_t *courier, int listening) {
    serving_t serving = {.courier = courier, .last = keel_clock_monotonic()};
    pthread_mutex_init(&serving.lock, NULL);
    int pause = courier->idle < 1000000000u ? (int)(courier->idle / 1000000) + 1 : 1000;
    while (!is_over(&serving)) {
        struct pollfd ready = {.fd = listening, .events = POLLIN};
        if (poll(&ready, 1, pause) <= 0) continue;
        int socket = accept4(listening, NULL, NULL, SOCK_CLOEXEC);
        if (socket >= 0) begin(&serving, socket);
    }
    pthread_mutex_destroy(&serving.lock);
}
