// In the key-value service that the client passes to PJRT_Client_Create, as JAX does with
// jax.distributed. It puts a name in front of every key, which no other plugin uses. A key that is
// there cannot be put again.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "meet/meet.h"
#include "pjrt/error.h"

typedef struct service_t {
    keel_meet_t meet;
    pthread_rwlock_t lock; // held while the client's functions run
    bool is_there;         // what follows
    PJRT_KeyValueGetCallback get;
    PJRT_KeyValuePutCallback put;
    PJRT_KeyValueTryGetCallback try_get; // NULL: an older client
    void *get_context, *put_context, *try_get_context;
} service_t;

static PJRT_Error *make_error(PJRT_Error_Code code, const char *message, size_t size) {
    return keel_pjrt_error_as(
        code, keel_status_make(KEEL_PLUGIN, "%.*s", KEEL_STR_ARGS(((keel_str_t){message, size}))));
}

// The address of a variable: the client calls through it.
static PJRT_CallbackError callback_error = make_error;

// Takes an error that make_error made.
static keel_status_t status_of(const service_t *service, PJRT_Error *error) {
    PJRT_Error_Code code = PJRT_Error_Code_UNKNOWN;
    keel_str_t message = KEEL_STR("");
    if (!error) return NULL;
    bool is_own = keel_pjrt_error_number(error, &code) && keel_pjrt_error_message(error, &message);
    bool is_absent = code == PJRT_Error_Code_DEADLINE_EXCEEDED || code == PJRT_Error_Code_NOT_FOUND;
    keel_status_t status = keel_status_make(is_absent ? KEEL_NOT_FOUND : KEEL_PLUGIN, "%s: %.*s",
                                            service->meet.shown, KEEL_STR_ARGS(message));
    if (is_own) keel_pjrt_error_destroy(error);
    return status;
}

// Under the lock.
static keel_status_t check(const service_t *service) {
    if (service->is_there) return NULL;
    return keel_status_make(KEEL_PLUGIN, "%s: there is no client that has one",
                            service->meet.shown);
}

static keel_status_t put(keel_meet_t *self, const char *key, keel_bytes_t value) {
    service_t *service = (service_t *)self;
    PJRT_KeyValuePutCallback_Args args = {
        .struct_size = PJRT_KeyValuePutCallback_Args_STRUCT_SIZE,
        .key = key,
        .key_size = strlen(key),
        .value = (const char *)value.data,
        .value_size = value.size,
        .callback_error = &callback_error,
    };
    pthread_rwlock_rdlock(&service->lock);
    keel_status_t status = check(service);
    args.user_arg = service->put_context;
    if (!status) status = status_of(service, service->put(&args));
    pthread_rwlock_unlock(&service->lock);
    return status;
}

static keel_status_t take(const service_t *service, PJRT_KeyValueGetCallback_Args *args,
                          uint8_t **out, size_t *out_size) {
    KEEL_TRY(status_of(service, service->get(args)));
    keel_status_t status = keel_bytes_dup(keel_bytes(args->value, args->value_size), out);
    *out_size = args->value_size;
    if (args->value_deleter_callback) args->value_deleter_callback(args->value);
    return status;
}

static keel_status_t try_take(const service_t *service, const char *key, uint8_t **out,
                              size_t *out_size) {
    PJRT_KeyValueTryGetCallback_Args args = {
        .struct_size = PJRT_KeyValueTryGetCallback_Args_STRUCT_SIZE,
        .key = key,
        .key_size = strlen(key),
        .callback_error = &callback_error,
        .user_arg = service->try_get_context,
    };
    KEEL_TRY(status_of(service, service->try_get(&args)));
    keel_status_t status = keel_bytes_dup(keel_bytes(args.value, args.value_size), out);
    *out_size = args.value_size;
    if (args.value_deleter_callback) args.value_deleter_callback(args.value);
    return status;
}

// The client's time includes that of its request, so a shorter one would find nothing.
static keel_status_t get(keel_meet_t *self, const char *key, uint64_t until, uint8_t **out,
                         size_t *out_size) {
    enum { LEAST = 50, MOST = 60000 }; // milliseconds
    service_t *service = (service_t *)self;
    uint64_t now = keel_clock_monotonic(), left = until > now ? (until - now) / 1000000 : 0;
    PJRT_KeyValueGetCallback_Args args = {
        .struct_size = PJRT_KeyValueGetCallback_Args_STRUCT_SIZE,
        .key = key,
        .key_size = strlen(key),
        .timeout_in_ms = left < LEAST  ? LEAST
                         : left > MOST ? MOST
                                       : (int)left,
        .callback_error = &callback_error,
    };
    pthread_rwlock_rdlock(&service->lock);
    keel_status_t status = check(service);
    args.user_arg = service->get_context;
    if (!status)
        status = !left && service->try_get ? try_take(service, key, out, out_size)
                                           : take(service, &args, out, out_size);
    pthread_rwlock_unlock(&service->lock);
    return status;
}

static void destroy(keel_meet_t *self) {
    pthread_rwlock_destroy(&((service_t *)self)->lock);
    keel_free(self);
}

// XLA's C++ client sets the callbacks only if it has a service, and leaves what was on the stack
// there otherwise. It has one together with this option, as the plugin needs to know which process
// it is. A TPU knows by itself; there Keel's Python package says that JAX passes one.
static bool has_service(const PJRT_Client_Create_Args *args) {
    static const char name[] = "node_id";
    const char *told = getenv("KEEL_CLIENT_SERVICE");
    if (told && *told) return true;
    for (size_t i = 0; args->create_options && i < args->num_options; ++i) {
        const keel_str_t option = {args->create_options[i].name, args->create_options[i].name_size};
        if (keel_str_is(option, name)) return true;
    }
    return false;
}

bool keel_meet_enter_client(keel_meet_t *meet, const PJRT_Client_Create_Args *args) {
    service_t *service = (service_t *)meet;
    size_t needed =
        offsetof(PJRT_Client_Create_Args, kv_put_user_arg) + sizeof args->kv_put_user_arg;
    if (args->struct_size < needed || !has_service(args)) return false;
    if (!args->kv_get_callback || !args->kv_put_callback) return false;
    bool has_try = args->struct_size >= offsetof(PJRT_Client_Create_Args, kv_try_get_user_arg) +
                                            sizeof args->kv_try_get_user_arg;
    pthread_rwlock_wrlock(&service->lock);
    bool is_taken = !service->is_there;
    if (is_taken) {
        service->is_there = true;
        service->get = args->kv_get_callback;
        service->put = args->kv_put_callback;
        service->get_context = args->kv_get_user_arg;
        service->try_get = has_try ? args->kv_try_get_callback : NULL;
        service->try_get_context = has_try ? args->kv_try_get_user_arg : NULL;
        service->put_context = args->kv_put_user_arg;
    }
    pthread_rwlock_unlock(&service->lock);
    return is_taken;
}

void keel_meet_leave_client(keel_meet_t *meet) {
    service_t *service = (service_t *)meet;
    pthread_rwlock_wrlock(&service->lock);
    service->is_there = false;
    pthread_rwlock_unlock(&service->lock);
}

keel_status_t keel_meet_in_client(keel_meet_t **out) {
    static const keel_meet_kind_t kind = {.put = put, .get = get, .destroy = destroy};
    void *memory;
    KEEL_TRY(keel_calloc(1, sizeof(service_t), &memory));
    service_t *service = memory;
    service->meet = (keel_meet_t){.kind = &kind, .is_for_all = true};
    snprintf(service->meet.shown, sizeof service->meet.shown, "the client's key-value service");
    pthread_rwlock_init(&service->lock, NULL);
    *out = &service->meet;
    return NULL;
}
