// The processes of a job: what a plugin learns about them, and the key-value service that it finds
// the others by, in a folder or in Redis.
#include "meet/meet.h"
#include "pjrt/error.h"
#include "tensor/device.h"

struct peers_t {
    keel_meet_t *meet;
    PJRT_NamedValue options[2];
};

// ---- keys and values ---------------------------------------------------------------------------

// A plugin's keys may have any bytes; the place takes letters, digits, - and dots.
static keel_status_t name_of(const char *key, size_t size, char out[KEEL_MEET_KEY]) {
    static const char digits[] = "0123456789abcdef";
    size_t at = 0;
    for (size_t i = 0; i < size; ++i) {
        unsigned char c = (unsigned char)key[i];
        bool is_plain = c == '-' || (c < 0x80 && c != '_' && keel_is_of_name((char)c));
        if (at + 4 > KEEL_MEET_KEY)
            return keel_status_make(KEEL_UNSUPPORTED, "a key of %zu bytes is too long", size);
        if (is_plain) {
            out[at++] = (char)c;
            continue;
        }
        out[at++] = '.';
        out[at++] = digits[c >> 4];
        out[at++] = digits[c & 15];
    }
    out[at] = 0;
    return NULL;
}

static keel_status_t fetch(const peers_t *peers, const char *key, size_t size, uint64_t patience,
                           char **out, size_t *out_size) {
    char name[KEEL_MEET_KEY];
    uint8_t *value;
    KEEL_TRY(name_of(key, size, name));
    KEEL_TRY(keel_meet_get(peers->meet, name, keel_clock_monotonic() + patience, &value, out_size));
    *out = (char *)value;
    return NULL;
}

static void free_value(char *value) {
    keel_free(value);
}

// ---- what the plugin calls, from any thread ----------------------------------------------------

static PJRT_Error *answer(keel_status_t status, PJRT_Error_Code if_absent,
                          PJRT_CallbackError *make) {
    if (!status) return NULL;
    bool is_absent = keel_status_code(status) == KEEL_NOT_FOUND;
    const char *message = keel_status_message(status);
    PJRT_Error *error =
        (*make)(is_absent ? if_absent : PJRT_Error_Code_INTERNAL, message, strlen(message));
    keel_status_ignore(status);
    return error;
}

static PJRT_Error *get(PJRT_KeyValueGetCallback_Args *args) {
    uint64_t patience = args->timeout_in_ms > 0 ? (uint64_t)args->timeout_in_ms * 1000000 : 0;
    args->value_deleter_callback = free_value;
    return answer(
        fetch(args->user_arg, args->key, args->key_size, patience, &args->value, &args->value_size),
        PJRT_Error_Code_DEADLINE_EXCEEDED, args->callback_error);
}

static PJRT_Error *try_get(PJRT_KeyValueTryGetCallback_Args *args) {
    args->value_deleter_callback = free_value;
    return answer(
        fetch(args->user_arg, args->key, args->key_size, 0, &args->value, &args->value_size),
        PJRT_Error_Code_NOT_FOUND, args->callback_error);
}

static PJRT_Error *put(PJRT_KeyValuePutCallback_Args *args) {
    const peers_t *peers = args->user_arg;
    char name[KEEL_MEET_KEY];
    keel_status_t status = name_of(args->key, args->key_size, name);
    if (!status)
        status = keel_meet_put(peers->meet, name, keel_bytes(args->value, args->value_size));
    return answer(status, PJRT_Error_Code_NOT_FOUND, args->callback_error);
}

// ---- life --------------------------------------------------------------------------------------

static keel_status_t check(const job_t *job) {
    if (job->processes < 0 || job->process < 0 ||
        job->process >= (job->processes ? job->processes : 1))
        return keel_status_make(KEEL_INVALID, "process %d of %d", job->process, job->processes);
    if (job->processes > 1 && !job->meet)
        return keel_status_make(KEEL_INVALID,
                                "%d processes need a place to meet: a folder, or redis://HOST:PORT",
                                job->processes);
    return NULL;
}

static keel_status_t open_place(const job_t *job, keel_meet_t **out) {
    keel_redis_address_t address;
    char name[32];
    if (strncmp(job->meet, KEEL_REDIS_SCHEME, strlen(KEEL_REDIS_SCHEME)) != 0)
        return keel_meet_in_folder(job->meet, out);
    const char *wrong = keel_redis_address_parse(job->meet, &address);
    if (wrong) return keel_status_make(KEEL_INVALID, "%s %s", job->meet, wrong);
    snprintf(name, sizeof name, "process-%d", job->process);
    return keel_meet_in_redis(&address, name, out);
}

static PJRT_NamedValue number(const char *name, int64_t value) {
    return (PJRT_NamedValue){.struct_size = PJRT_NamedValue_STRUCT_SIZE,
                             .name = name,
                             .name_size = strlen(name),
                             .type = PJRT_NamedValue_kInt64,
                             .int64_value = value,
                             .value_size = 1};
}

keel_status_t peers_open(const job_t *job, peers_t **out) {
    void *memory;
    *out = NULL;
    KEEL_TRY(check(job));
    if (job->processes < 2) return NULL;
    KEEL_TRY(keel_calloc(1, sizeof(peers_t), &memory));
    peers_t *peers = memory;
    keel_status_t status = open_place(job, &peers->meet);
    if (status) {
        keel_free(peers);
        return status;
    }
    peers->options[0] = number("node_id", job->process);
    peers->options[1] = number("num_nodes", job->processes);
    *out = peers;
    return NULL;
}

void peers_tell(peers_t *peers, PJRT_Client_Create_Args *args) {
    if (!peers) return;
    args->create_options = peers->options;
    args->num_options = sizeof peers->options / sizeof *peers->options;
    args->kv_get_callback = get;
    args->kv_put_callback = put;
    args->kv_try_get_callback = try_get;
    args->kv_get_user_arg = args->kv_put_user_arg = args->kv_try_get_user_arg = peers;
}

void peers_close(peers_t *peers) {
    if (!peers) return;
    keel_meet_destroy(peers->meet);
    keel_free(peers);
}
