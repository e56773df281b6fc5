// Meeting in Redis: jobs that share a server, passwords, and connections that break at each
// command.
#define _GNU_SOURCE
#include "meet_help.h"

static redis_server_t shared; // for all tests

static keel_meet_t *enter(uint16_t port, const char *job, const char *process) {
    keel_redis_address_t address = address_of(port, job);
    keel_meet_t *meet;
    assert_ok(keel_meet_in_redis(&address, process, &meet));
    return meet;
}

static keel_code_t code_of_get(keel_meet_t *meet, const char *key) {
    uint8_t *data;
    size_t size;
    keel_status_t status = keel_meet_get(meet, key, in_seconds(0.1), &data, &size);
    keel_code_t code = keel_status_code(status);
    if (!status) keel_free(data);
    keel_status_ignore(status);
    return code;
}

static void test_two_jobs_do_not_mix(void **state) {
    (void)state;
    need_redis(&shared);
    keel_meet_t *a = enter(shared.port, "a", "p"), *b = enter(shared.port, "b", "q");
    assert_ok(keel_meet_put(a, "k", keel_bytes("x", 1)));
    assert_int_equal(code_of_get(a, "k"), KEEL_OK);
    assert_int_equal(code_of_get(b, "k"), KEEL_NOT_FOUND);
    keel_meet_destroy(a);
    keel_meet_destroy(b);
}

// On another machine, so that its name says nothing here.
static void test_a_process_that_leaves_is_gone(void **state) {
    (void)state;
    need_redis(&shared);
    keel_meet_t *a = enter(shared.port, "left", "elsewhere 1"),
                *b = enter(shared.port, "left", "2");
    assert_false(keel_meet_is_gone(b, "elsewhere 1"));
    keel_meet_destroy(a);
    uint64_t until = in_seconds(20);
    while (!keel_meet_is_gone(b, "elsewhere 1") && keel_clock_monotonic() < until)
        usleep(1000);
    assert_true(keel_meet_is_gone(b, "elsewhere 1"));
    assert_true(keel_meet_is_gone(b, "never there"));
    keel_meet_destroy(b);
}

static void test_passwords_come_from_the_environment(void **state) {
    (void)state;
    need_redis(&shared);
    redis_server_t guarded;
    keel_meet_t *meet;
    server_start(&guarded, "secret");
    keel_redis_address_t address = address_of(guarded.port, "p");
    assert_code(keel_meet_in_redis(&address, "p", &meet), KEEL_IO);
    setenv("REDISCLI_AUTH", "wrong", 1);
    keel_status_t status = keel_meet_in_redis(&address, "p", &meet);
    assert_non_null(strstr(keel_status_message(status), "WRONGPASS"));
    keel_status_ignore(status);
    setenv("REDISCLI_AUTH", "secret", 1);
    assert_ok(keel_meet_in_redis(&address, "p", &meet));
    keel_meet_destroy(meet);
    snprintf(address.user, sizeof address.user, "default");
    address.database = 3;
    assert_ok(keel_meet_in_redis(&address, "p", &meet));
    keel_meet_destroy(meet);
    unsetenv("REDISCLI_AUTH");
    server_stop(&guarded);
}

static void test_without_a_server_the_message_names_it(void **state) {
    (void)state;
    need_redis(&shared);
    keel_redis_address_t address = address_of(find_port(), "p");
    keel_meet_t *meet;
    char wanted[100];
    snprintf(wanted, sizeof wanted, "Redis at 127.0.0.1:%u: Connection refused", address.port);
    keel_status_t status = keel_meet_in_redis(&address, "p", &meet);
    assert_string_equal(keel_status_message(status), wanted);
    keel_status_ignore(status);
}

static void test_what_ends_with_the_server_fails_and_does_not_hang(void **state) {
    (void)state;
    need_redis(&shared);
    redis_server_t own;
    uint8_t *data;
    size_t size;
    server_start(&own, NULL);
    keel_meet_t *meet = enter(own.port, "p", "p");
    server_stop(&own);
    assert_code(keel_meet_put(meet, "k", keel_bytes("x", 1)), KEEL_IO);
    assert_code(keel_meet_get(meet, "k", in_seconds(60), &data, &size), KEEL_IO);
    assert_false(keel_meet_is_gone(meet, "q")); // nobody knows
    keel_meet_destroy(meet);
}

// ---- servers that are none ---------------------------------------------------------------------

// Answers whatever comes with `first`, and then with `more` again and again.
typedef struct impostor_t {
    const char *first, *more;
    size_t first_size, more_size;
    useconds_t pause;  // between them
    bool answers_each; // `first` to each message
    int listener;
    uint16_t port;
    atomic_bool ends;
} impostor_t;

static void *impostor_run(void *context) {
    impostor_t *impostor = context;
    int clients[8];
    size_t count = 0;
    bool is_asked[8] = {false};
    char bytes[4096];
    while (!atomic_load(&impostor->ends)) {
        int client = accept(impostor->listener, NULL, NULL);
        if (client >= 0 && count < 8) clients[count++] = client;
        for (size_t i = 0; i < count; ++i) {
            ssize_t got = recv(clients[i], bytes, sizeof bytes, MSG_DONTWAIT);
            bool is_first = got > 0 && (!is_asked[i] || impostor->answers_each);
            const char *what = is_first ? impostor->first : impostor->more;
            size_t size = is_first ? impostor->first_size : impostor->more_size;
            is_asked[i] = is_asked[i] || got > 0;
            if (is_asked[i] && size) {
                ssize_t sent = send(clients[i], what, size, MSG_NOSIGNAL | MSG_DONTWAIT);
                (void)sent;
            }
        }
        usleep(impostor->pause);
    }
    for (size_t i = 0; i < count; ++i)
        close(clients[i]);
    close(impostor->listener);
    return NULL;
}

static int listen_here(uint16_t *out_port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    assert_int_equal(bind(listener, (struct sockaddr *)&address, size), 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &size), 0);
    assert_int_equal(listen(listener, 16), 0);
    *out_port = ntohs(address.sin_port);
    return listener;
}

// One line, which names the place and ends as wanted.
static void assert_refuses(impostor_t impostor, const char *why) {
    pthread_t thread;
    keel_meet_t *meet = NULL;
    uint8_t *data;
    size_t size;
    char wanted[200];
    if (!impostor.pause) impostor.pause = 1000;
    impostor.listener = listen_here(&impostor.port);
    pthread_create(&thread, NULL, impostor_run, &impostor);
    keel_redis_address_t address = address_of(impostor.port, "p");
    keel_status_t status = keel_meet_in_redis(&address, "p", &meet);
    if (!status) status = keel_meet_get(meet, "k", in_seconds(0.1), &data, &size);
    keel_meet_destroy(meet);
    atomic_store(&impostor.ends, true);
    pthread_join(thread, NULL);
    snprintf(wanted, sizeof wanted, "Redis at 127.0.0.1:%u: %s", impostor.port, why);
    assert_int_equal(keel_status_code(status), KEEL_IO);
    if (strncmp(keel_status_message(status), wanted, strlen(wanted)) != 0)
        fail_msg("'%s' is not '%s'", keel_status_message(status), wanted);
    assert_null(strchr(keel_status_message(status), '\n'));
    keel_status_ignore(status);
}

#define SAYS(text) .first = (text), .first_size = sizeof(text) - 1

static void test_an_answer_that_never_ends_ends_in_time(void **state) {
    (void)state;
    need_redis(&shared);
    uint64_t usual = keel_limit(KEEL_LIMIT_REDIS_ANSWER);
    keel_limit_set(KEEL_LIMIT_REDIS_ANSWER, 200);
    static const char late[] = "no whole answer within 0.2 s";
    assert_refuses((impostor_t){.first_size = 0}, late);
    // A byte at a time, each of them soon.
    assert_refuses((impostor_t){SAYS("$100000\r\n"), .more = "x", .more_size = 1}, late);
    assert_refuses((impostor_t){SAYS("*3\r\n$1\r\na\r\n")}, late);
    keel_limit_set(KEEL_LIMIT_REDIS_ANSWER, usual);
}

static void test_an_answer_of_any_size_takes_little_memory(void **state) {
    (void)state;
    need_redis(&shared);
    static char much[1 << 16];
    memset(much, 'x', sizeof much);
    static const char list[] = "the answer is a list that Keel did not ask for";
    assert_refuses((impostor_t){SAYS("$2000000000\r\n"), .more = much, .more_size = sizeof much},
                   "the answer is longer than any value of Keel's");
    assert_refuses((impostor_t){SAYS("*2147483647\r\n")}, list);
    assert_refuses((impostor_t){SAYS("*1073741824\r\n$-1\r\n")}, list);
    assert_refuses((impostor_t){SAYS("*1\r\n*1073741824\r\n")}, list);
    assert_refuses((impostor_t){SAYS("*3\r\n$2000\r\n"), .more = much, .more_size = 900}, list);
}

static void test_a_server_that_is_no_redis_is_named(void **state) {
    (void)state;
    need_redis(&shared);
    assert_refuses((impostor_t){SAYS("\x00\xff\x16\x03garbage\r\n")}, "Protocol error");
    assert_refuses((impostor_t){SAYS("-ERR nope\r\n"), .answers_each = true}, "ERR nope");
    assert_refuses((impostor_t){SAYS(":1\r\n"), .answers_each = true},
                   "a value that Keel did not put");
    assert_refuses((impostor_t){SAYS("+OK\r\n"), .answers_each = true},
                   "a value that Keel did not put");
}

// ---- connections that break --------------------------------------------------------------------

// Passes bytes on, and cuts all connections instead of the n-th message to the server.
typedef struct relay_t {
    int listener;
    uint16_t port;
    int pairs[16][2]; // client, server
    size_t pair_count, messages, cut_at;
    bool stays_cut;
    atomic_bool ends;
} relay_t;

static void relay_cut(relay_t *relay) {
    for (size_t i = 0; i < relay->pair_count; ++i)
        for (int j = 0; j < 2; ++j)
            close(relay->pairs[i][j]);
    relay->pair_count = 0;
}

static void relay_accept(relay_t *relay) {
    int client = accept(relay->listener, NULL, NULL);
    bool refuses = relay->stays_cut && relay->messages >= relay->cut_at;
    if (client < 0) return;
    if (refuses || relay->pair_count == 16) {
        close(client);
        return;
    }
    relay->pairs[relay->pair_count][0] = client;
    relay->pairs[relay->pair_count++][1] = connect_to(shared.port);
}

static void relay_pass(relay_t *relay, size_t pair, int from) {
    char bytes[4096];
    ssize_t size = recv(relay->pairs[pair][from], bytes, sizeof bytes, MSG_DONTWAIT);
    if (size < 0) return;
    if (!size) { // one end has closed
        close(relay->pairs[pair][0]);
        close(relay->pairs[pair][1]);
        memcpy(relay->pairs[pair], relay->pairs[--relay->pair_count], sizeof *relay->pairs);
        return;
    }
    if (from == 0 && ++relay->messages == relay->cut_at)
        relay_cut(relay);
    else
        assert_int_equal(send(relay->pairs[pair][!from], bytes, (size_t)size, MSG_NOSIGNAL), size);
}

static void *relay_run(void *context) {
    relay_t *relay = context;
    while (!atomic_load(&relay->ends)) {
        usleep(200);
        relay_accept(relay);
        for (size_t i = 0; i < relay->pair_count; ++i)
            for (int from = 0; from < 2 && i < relay->pair_count; ++from)
                relay_pass(relay, i, from);
    }
    relay_cut(relay);
    close(relay->listener);
    return NULL;
}

static void relay_start(relay_t *relay, pthread_t *thread) {
    relay->listener = listen_here(&relay->port);
    pthread_create(thread, NULL, relay_run, relay);
}

// All that one does in a meeting place; the first failure.
static keel_status_t use_all(uint16_t port, bool *out_connected) {
    keel_redis_address_t address = address_of(port, "relay");
    keel_meet_t *meet;
    uint8_t *data;
    size_t size;
    *out_connected = false;
    KEEL_TRY(keel_meet_in_redis(&address, "p", &meet));
    *out_connected = true;
    keel_status_t status = keel_meet_put(meet, "k", keel_bytes("x", 1));
    if (!status) status = keel_meet_get(meet, "k", in_seconds(5), &data, &size);
    if (!status) keel_free(data);
    keel_meet_is_gone(meet, "q");
    if (!status) status = keel_meet_put(meet, "l", keel_bytes("x", 1));
    keel_meet_destroy(meet);
    return status;
}

// How often a cut was noticed until one came too late to be.
static size_t cut_at_each_message(bool stays_cut, bool must_survive) {
    for (size_t i = 1;; ++i) {
        relay_t relay = {.cut_at = i, .stays_cut = stays_cut};
        pthread_t thread;
        bool is_connected;
        relay_start(&relay, &thread);
        keel_status_t status = use_all(relay.port, &is_connected);
        atomic_store(&relay.ends, true);
        pthread_join(thread, NULL);
        bool is_last = relay.messages < i;
        if (status && (is_last || (must_survive && is_connected)))
            fail_msg("cut at %zu: %s", i, keel_status_message(status));
        assert_true(!status || keel_status_code(status) == KEEL_IO);
        keel_status_ignore(status);
        if (is_last) return i;
    }
}

static void test_a_connection_that_breaks_is_made_again(void **state) {
    (void)state;
    need_redis(&shared);
    assert_true(cut_at_each_message(false, true) > 4);
}

static void test_a_server_that_goes_away_at_any_command_is_an_error(void **state) {
    (void)state;
    need_redis(&shared);
    assert_true(cut_at_each_message(true, false) > 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_jobs_do_not_mix),
        cmocka_unit_test(test_a_process_that_leaves_is_gone),
        cmocka_unit_test(test_passwords_come_from_the_environment),
        cmocka_unit_test(test_without_a_server_the_message_names_it),
        cmocka_unit_test(test_what_ends_with_the_server_fails_and_does_not_hang),
        cmocka_unit_test(test_an_answer_that_never_ends_ends_in_time),
        cmocka_unit_test(test_an_answer_of_any_size_takes_little_memory),
        cmocka_unit_test(test_a_server_that_is_no_redis_is_named),
        cmocka_unit_test(test_a_connection_that_breaks_is_made_again),
        cmocka_unit_test(test_a_server_that_goes_away_at_any_command_is_an_error),
    };
    server_start(&shared, NULL);
    int failed = cmocka_run_group_tests_name("meet redis", tests, NULL, NULL);
    server_stop(&shared);
    return failed;
}
