// Meeting places of every kind: a folder, a key-value service as a client has it, and a Redis
// server of the test's own.
#ifndef KEEL_TESTS_MEET_HELP_H_
#define KEEL_TESTS_MEET_HELP_H_

#include "place.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "meet/meet.h"

static inline uint64_t in_seconds(double seconds) {
    return keel_clock_monotonic() + (uint64_t)(seconds * 1e9);
}

// ---- a client's service ------------------------------------------------------------------------

enum { SERVICE_VALUES = 4096 };

typedef struct service_value_t {
    char *key, *value;
    size_t size;
} service_value_t;

// As JAX's: a get waits, and a key cannot be put twice.
typedef struct client_service_t {
    pthread_mutex_t lock;
    pthread_cond_t has_changed;
    service_value_t values[SERVICE_VALUES];
    size_t count;
    atomic_size_t calls;
    size_t fails_from; // calls from this one on fail; 0: none
} client_service_t;

static inline void service_make(client_service_t *service) {
    memset(service, 0, sizeof *service);
    pthread_mutex_init(&service->lock, NULL);
    keel_wait_initialize(&service->has_changed);
}

static inline void service_remove(client_service_t *service) {
    for (size_t i = 0; i < service->count; ++i) {
        free(service->values[i].key);
        free(service->values[i].value);
    }
    pthread_cond_destroy(&service->has_changed);
    pthread_mutex_destroy(&service->lock);
}

static inline bool service_fails(client_service_t *service) {
    size_t call = atomic_fetch_add(&service->calls, 1) + 1;
    return service->fails_from && call >= service->fails_from;
}

// Under the lock.
static inline service_value_t *service_find(client_service_t *service, const char *key,
                                            size_t size) {
    for (size_t i = 0; i < service->count; ++i)
        if (strlen(service->values[i].key) == size && !memcmp(service->values[i].key, key, size))
            return &service->values[i];
    return NULL;
}

UNUSED static PJRT_Error *service_error(PJRT_CallbackError *make, PJRT_Error_Code code,
                                        const char *text) {
    return (*make)(code, text, strlen(text));
}

UNUSED static PJRT_Error *service_put(PJRT_KeyValuePutCallback_Args *args) {
    client_service_t *service = args->user_arg;
    if (service_fails(service))
        return service_error(args->callback_error, PJRT_Error_Code_UNAVAILABLE, "the test's wish");
    PJRT_Error *error = NULL;
    pthread_mutex_lock(&service->lock);
    if (service->count == SERVICE_VALUES || service_find(service, args->key, args->key_size)) {
        error = service_error(args->callback_error, PJRT_Error_Code_ALREADY_EXISTS, args->key);
    } else {
        service_value_t *value = &service->values[service->count++];
        value->key = strndup(args->key, args->key_size);
        value->value = malloc(args->value_size + 1);
        memcpy(value->value, args->value, args->value_size);
        value->size = args->value_size;
    }
    pthread_cond_broadcast(&service->has_changed);
    pthread_mutex_unlock(&service->lock);
    return error;
}

UNUSED static void service_delete(char *value) {
    free(value);
}

UNUSED static PJRT_Error *service_get(PJRT_KeyValueGetCallback_Args *args) {
    client_service_t *service = args->user_arg;
    uint64_t until = in_seconds(args->timeout_in_ms / 1000.0);
    bool is_in_time = true;
    if (service_fails(service))
        return service_error(args->callback_error, PJRT_Error_Code_UNAVAILABLE, "the test's wish");
    pthread_mutex_lock(&service->lock);
    service_value_t *value;
    while (!(value = service_find(service, args->key, args->key_size)) && is_in_time)
        is_in_time = keel_wait_until(&service->has_changed, &service->lock, until);
    if (value) {
        args->value = malloc(value->size + 1);
        memcpy(args->value, value->value, value->size);
        args->value_size = value->size;
        args->value_deleter_callback = service_delete;
    }
    pthread_mutex_unlock(&service->lock);
    return value ? NULL
                 : service_error(args->callback_error, PJRT_Error_Code_DEADLINE_EXCEEDED, "late");
}

UNUSED static PJRT_Error *service_try_get(PJRT_KeyValueTryGetCallback_Args *args) {
    PJRT_KeyValueGetCallback_Args same = {.key = args->key,
                                          .key_size = args->key_size,
                                          .callback_error = args->callback_error,
                                          .user_arg = args->user_arg};
    PJRT_Error *error = service_get(&same);
    args->value = same.value;
    args->value_size = same.value_size;
    args->value_deleter_callback = same.value_deleter_callback;
    return error;
}

static inline PJRT_Client_Create_Args service_args(client_service_t *service) {
    static const PJRT_NamedValue process = {.struct_size = PJRT_NamedValue_STRUCT_SIZE,
                                            .name = "node_id",
                                            .name_size = 7,
                                            .type = PJRT_NamedValue_kInt64,
                                            .value_size = 1};
    return (PJRT_Client_Create_Args){.struct_size = PJRT_Client_Create_Args_STRUCT_SIZE,
                                     .client = (PJRT_Client *)service,
                                     .create_options = &process,
                                     .num_options = 1,
                                     .kv_get_callback = service_get,
                                     .kv_get_user_arg = service,
                                     .kv_put_callback = service_put,
                                     .kv_put_user_arg = service,
                                     .kv_try_get_callback = service_try_get,
                                     .kv_try_get_user_arg = service};
}

// ---- a server ----------------------------------------------------------------------------------

typedef struct redis_server_t {
    pid_t pid; // 0: redis-server is not installed, or Keel was built without Redis
    uint16_t port;
} redis_server_t;

static inline uint16_t find_port(void) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof address;
    int held = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(held, (struct sockaddr *)&address, size), 0);
    assert_int_equal(getsockname(held, (struct sockaddr *)&address, &size), 0);
    close(held);
    return ntohs(address.sin_port);
}

static inline int connect_to(uint16_t port) {
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}, .sin_port = htons(port)};
    int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(descriptor, (struct sockaddr *)&address, sizeof address) == 0) return descriptor;
    close(descriptor);
    return -1;
}

static inline keel_redis_address_t address_of(uint16_t port, const char *job) {
    keel_redis_address_t address = {.host = "127.0.0.1", .port = port};
    snprintf(address.job, sizeof address.job, "%s", job);
    return address;
}

static inline void server_stop(redis_server_t *server) {
    if (!server->pid) return;
    kill(server->pid, SIGKILL);
    waitpid(server->pid, NULL, 0);
    server->pid = 0;
}

// With a password if it is not NULL.
static inline void server_start(redis_server_t *server, const char *password) {
    char port[16];
    *server = (redis_server_t){.port = find_port()};
    snprintf(port, sizeof port, "%u", server->port);
    pid_t pid = fork();
    if (!pid) {
        int nowhere = open("/dev/null", O_RDWR);
        dup2(nowhere, 1);
        dup2(nowhere, 2);
        execlp("redis-server", "redis-server", "--port", port, "--bind", "127.0.0.1", "--save", "",
               "--requirepass", password ? password : "", (char *)NULL);
        _exit(127);
    }
    server->pid = pid;
    for (int i = 0; i < 3000; ++i) {
        int status, descriptor = connect_to(server->port);
        if (descriptor >= 0) {
            close(descriptor);
            return;
        }
        if (waitpid(pid, &status, WNOHANG) == pid) {
            server->pid = 0;
            return;
        }
        usleep(10000);
    }
    fail_msg("redis-server does not answer");
}

// Set-up brings Redis, so its tests fail without it.
static inline void need_redis(const redis_server_t *server) {
    keel_meet_t *meet;
    if (!server->pid) fail_msg("redis-server is missing; tools/setup --tests installs it");
    keel_redis_address_t address = address_of(server->port, "probe");
    keel_status_t status = keel_meet_in_redis(&address, "probe", &meet);
    if (keel_status_code(status) == KEEL_UNSUPPORTED)
        fail_msg("this build has no Redis; tools/setup --tests installs libhiredis-dev");
    if (!status) keel_meet_destroy(meet);
    keel_status_ignore(status);
}

#endif // KEEL_TESTS_MEET_HELP_H_
