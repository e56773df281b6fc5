// Execute contexts live until the executions that use them have ended. A client owns its context
// and must keep it until then, but jaxlib destroys it as soon as PJRT_LoadedExecutable_Execute
// returns, while XLA's CPU plugins still run the program on threads of their own: a host callback
// that asks the context for its functions then reads freed memory.
//
// JAX passes a context to every execution. Only programs with host callbacks read it, so nothing is
// kept before the process has one.
//
// Such a program has run when its call returns, as on JAX's own client: what its callbacks print or
// change comes before what the caller does next.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "pjrt/error.h"
#include "shim/shim.h"

typedef struct context_t context_t;
struct context_t {
    context_t *next;
    PJRT_ExecuteContext *handle;
    size_t running;    // executions on devices
    bool is_destroyed; // by the client
};

typedef PJRT_Error *execute_t(PJRT_LoadedExecutable_Execute_Args *args);

static const PJRT_Api *plugin;
static execute_t *execute_inside; // the table's own, before this file's
static PJRT_Error *(*compile_inside)(PJRT_Client_Compile_Args *args);
static PJRT_Error *(*loaded_destroy_inside)(PJRT_LoadedExecutable_Destroy_Args *args);
static PJRT_Error *(*load_inside)(PJRT_Executable_DeserializeAndLoad_Args *args);
static atomic_bool has_callbacks;
static atomic_bool keeps_all; // without memory to know which are in use
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
KEEL_FORK_GUARD(lock);
static context_t *contexts; // under the lock

// Executables with callbacks. Pointers only; under the lock.
static struct {
    const PJRT_LoadedExecutable **list;
    size_t count, capacity;
} callers;

// Under the lock. Without memory for it, the program runs on while its call returns.
static void add_caller(const PJRT_LoadedExecutable *executable) {
    void *grown = callers.list;
    keel_status_t status =
        keel_grow_array(callers.count, sizeof *callers.list, &callers.capacity, &grown);
    if (!status) {
        callers.list = grown;
        callers.list[callers.count++] = executable;
    }
    keel_status_ignore(status);
}

static size_t find_caller(const PJRT_LoadedExecutable *executable) {
    size_t at = 0;
    while (at < callers.count && callers.list[at] != executable)
        ++at;
    return at;
}

static bool calls_back(const PJRT_LoadedExecutable *executable) {
    pthread_mutex_lock(&lock);
    bool is_caller = find_caller(executable) < callers.count;
    pthread_mutex_unlock(&lock);
    return is_caller;
}

// ---- the contexts that are in use --------------------------------------------------------------

// Under the lock.
static context_t **find_context(const PJRT_ExecuteContext *handle) {
    context_t **at = &contexts;
    while (*at && (*at)->handle != handle)
        at = &(*at)->next;
    return at;
}

static keel_status_t hold(PJRT_ExecuteContext *handle, size_t executions, context_t **out) {
    void *memory;
    KEEL_TRY(keel_calloc(1, sizeof(context_t), &memory));
    context_t *made = memory;
    pthread_mutex_lock(&lock);
    context_t **at = find_context(handle);
    bool is_new = !*at;
    if (is_new) {
        made->handle = handle;
        *at = made;
    }
    (*at)->running += executions;
    *out = *at;
    pthread_mutex_unlock(&lock);
    if (!is_new) keel_free(made);
    return NULL;
}

static PJRT_Error *destroy(PJRT_ExecuteContext *handle) {
    PJRT_ExecuteContext_Destroy_Args args = {KEEL_PJRT_SIZE(PJRT_ExecuteContext_Destroy),
                                             .context = handle};
    return plugin->PJRT_ExecuteContext_Destroy(&args);
}

static void release(context_t *context, size_t executions) {
    pthread_mutex_lock(&lock);
    context->running -= executions;
    bool is_last = !context->running;
    if (is_last) *find_context(context->handle) = context->next;
    pthread_mutex_unlock(&lock);
    if (!is_last) return;
    if (context->is_destroyed)
        keel_status_ignore(
            keel_pjrt_status(plugin, destroy(context->handle), "PJRT_ExecuteContext_Destroy"));
    keel_free(context);
}

static PJRT_Error *context_destroy(PJRT_ExecuteContext_Destroy_Args *args) {
    pthread_mutex_lock(&lock);
    context_t *context = *find_context(args->context);
    if (context) context->is_destroyed = true;
    pthread_mutex_unlock(&lock);
    bool stays = context || atomic_load(&keeps_all);
    return stays ? NULL : plugin->PJRT_ExecuteContext_Destroy(args);
}

// ---- executions --------------------------------------------------------------------------------

static void execution_ended(PJRT_Error *error, void *context) {
    keel_status_ignore(keel_pjrt_status(plugin, error, "PJRT_Event_OnReady"));
    release(context, 1);
}

// If the plugin does not say when an execution ends, its context stays for good.
static void release_at_end(PJRT_Event *event, context_t *context) {
    PJRT_Event_OnReady_Args args = {KEEL_PJRT_SIZE(PJRT_Event_OnReady), .event = event,
                                    .callback = execution_ended, .user_arg = context};
    if (event) keel_status_ignore(KEEL_PJRT_CALL(plugin, PJRT_Event_OnReady, args));
}

static void destroy_event(PJRT_Event *event) {
    PJRT_Event_Destroy_Args args = {KEEL_PJRT_SIZE(PJRT_Event_Destroy), .event = event};
    if (event) keel_status_ignore(KEEL_PJRT_CALL(plugin, PJRT_Event_Destroy, args));
}

// The client asks for the outcome itself.
static void await(PJRT_Event *event) {
    PJRT_Event_Await_Args args = {KEEL_PJRT_SIZE(PJRT_Event_Await), .event = event};
    if (event) keel_status_ignore(KEEL_PJRT_CALL(plugin, PJRT_Event_Await, args));
}

static PJRT_Error *execute_holding(PJRT_LoadedExecutable_Execute_Args *args, PJRT_Event **own,
                                   context_t *context) {
    bool asks = args->device_complete_events;
    PJRT_Event **events = asks ? args->device_complete_events : own;
    args->device_complete_events = events;
    PJRT_Error *error = execute_inside(args);
    if (!asks) args->device_complete_events = NULL;
    if (error) {
        release(context, args->num_devices);
        return error;
    }
    bool waits = calls_back(args->executable);
    for (size_t i = 0; i < args->num_devices; ++i) {
        release_at_end(events[i], context);
        if (waits) await(events[i]);
        if (!asks) destroy_event(events[i]);
    }
    return NULL;
}

static PJRT_ExecuteContext *context_of(const PJRT_LoadedExecutable_Execute_Args *args) {
    const PJRT_ExecuteOptions *options = args->options;
    size_t needed = offsetof(PJRT_ExecuteOptions, context) + sizeof options->context;
    return options && options->struct_size >= needed ? options->context : NULL;
}

static PJRT_Error *execute(PJRT_LoadedExecutable_Execute_Args *args) {
    PJRT_ExecuteContext *handle = atomic_load(&has_callbacks) ? context_of(args) : NULL;
    if (!handle || !args->num_devices) return execute_inside(args);
    void *events;
    context_t *context = NULL;
    keel_status_t status = keel_calloc(args->num_devices, sizeof(PJRT_Event *), &events);
    bool has_events = !status;
    if (has_events) status = hold(handle, args->num_devices, &context);
    if (status) atomic_store(&keeps_all, true);
    keel_status_ignore(status);
    PJRT_Error *error = context ? execute_holding(args, events, context) : execute_inside(args);
    if (has_events) keel_free(events);
    return error;
}

// ---- which processes have callbacks ------------------------------------------------------------

// The kernels' names stand in the program as they are, in every format.
static bool has_mark(const void *bytes, size_t size) {
    static const char mark[] = "_python_cpu_callback";
    return memmem(bytes, size, mark, sizeof mark - 1);
}

static void note_caller(const PJRT_LoadedExecutable *executable) {
    pthread_mutex_lock(&lock);
    if (find_caller(executable) == callers.count) add_caller(executable);
    pthread_mutex_unlock(&lock);
}

static PJRT_Error *compile(PJRT_Client_Compile_Args *args) {
    const PJRT_Program *program = args->program;
    bool is_caller = program && has_mark(program->code, program->code_size);
    if (is_caller) atomic_store(&has_callbacks, true);
    PJRT_Error *error = compile_inside(args);
    if (is_caller && !error) note_caller(args->executable);
    return error;
}

static PJRT_Error *load(PJRT_Executable_DeserializeAndLoad_Args *args) {
    bool is_caller = has_mark(args->serialized_executable, args->serialized_executable_size);
    atomic_store(&has_callbacks, true); // nobody knows
    PJRT_Error *error = load_inside(args);
    if (is_caller && !error) note_caller(args->loaded_executable);
    return error;
}

// Another executable may get its address.
static PJRT_Error *loaded_destroy(PJRT_LoadedExecutable_Destroy_Args *args) {
    if (atomic_load(&has_callbacks)) {
        pthread_mutex_lock(&lock);
        size_t at = find_caller(args->executable);
        if (at < callers.count) callers.list[at] = callers.list[--callers.count];
        pthread_mutex_unlock(&lock);
    }
    return loaded_destroy_inside(args);
}

void keel_shim_take_contexts(PJRT_Api *table, const PJRT_Api *real) {
    if (!keel_pjrt_has(real, PJRT_ExecuteContext_Destroy)) return;
    plugin = real;
    execute_inside = table->PJRT_LoadedExecutable_Execute;
    compile_inside = table->PJRT_Client_Compile;
    load_inside = table->PJRT_Executable_DeserializeAndLoad;
    loaded_destroy_inside = table->PJRT_LoadedExecutable_Destroy;
    table->PJRT_LoadedExecutable_Destroy = loaded_destroy;
    table->PJRT_LoadedExecutable_Execute = execute;
    table->PJRT_Client_Compile = compile;
    table->PJRT_ExecuteContext_Destroy = context_destroy;
    table->PJRT_Executable_DeserializeAndLoad = load;
}
