// The functions of graphs that torch.compile gives to TorchTPU, from when Dynamo has traced one
// until it is compiled. The stack of a forward graph stays known by the id of its compile: what
// computes gradients is compiled later, in a thread of torch's.
#include <pthread.h>
#include <string.h>

#include "base/fork.h"
#include "host/host.h"

enum { MOST = 4096 }; // noted in a process; later ones are not known

typedef struct traced_t {
    struct traced_t *older;
    keel_arena_t arena;
    uint64_t number;
    const char *id;
    keel_traced_graph_t graph;
    keel_stack_t stack;
    uint32_t arguments;
    char *names; // until its end
    bool is_compiled;
    pthread_t thread; // that compiles it
} traced_t;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
KEEL_FORK_GUARD(lock);
static traced_t *newest;

// ---- noting ------------------------------------------------------------------------------------

// "#0\tx\n": what the program does not take has no number.
static uint32_t count_arguments(const char *names) {
    uint32_t count = 0;
    for (const char *line = names; *line; line += *line == '\n') {
        count += *line == '#';
        line += strcspn(line, "\n");
    }
    return count;
}

// False on a thread that only torch runs on.
static bool is_of_user(const keel_stack_t *stack) {
    keel_str_t package =
        stack->count ? keel_package_name(keel_str(stack->frames[0].file)) : KEEL_STR("torch");
    return !keel_str_is(package, "torch") && !keel_str_is(package, "torch_tpu");
}

static keel_status_t copy(keel_arena_t *arena, const char *text, const char **out) {
    keel_str_t kept;
    KEEL_TRY(keel_arena_str(arena, keel_str(text ? text : ""), &kept));
    *out = kept.data;
    return NULL;
}

static keel_status_t fill(traced_t *entry, const keel_traced_t *traced, const char *application) {
    KEEL_TRY(copy(&entry->arena, traced->id, &entry->id));
    KEEL_TRY(copy(&entry->arena, traced->function, &entry->graph.function));
    KEEL_TRY(copy(&entry->arena, traced->file, &entry->graph.file));
    entry->graph.line = traced->line;
    const char *names = traced->names ? traced->names : "";
    entry->arguments = count_arguments(names);
    void *memory;
    KEEL_TRY(keel_alloc(strlen(names) + 1, &memory));
    entry->names = memory;
    memcpy(memory, names, strlen(names) + 1);
    keel_stack_read(&entry->arena, application, &entry->stack);
    return NULL;
}

static void destroy(traced_t *entry) {
    keel_arena_deinitialize(&entry->arena);
    keel_free(entry->names);
    keel_free(entry);
}

// A thread of torch's has no line of the user's; the graph's compile has one.
static void add(traced_t *entry) {
    entry->graph.stack = &entry->stack;
    for (const traced_t *of = newest; of && !is_of_user(&entry->stack); of = of->older) {
        if (!*of->id || strcmp(of->id, entry->id) != 0) continue;
        entry->graph.stack = of->graph.stack;
        break;
    }
    entry->number = newest ? newest->number + 1 : 1;
    entry->older = newest;
    newest = entry;
}

uint64_t keel_traced_note(const keel_traced_t *traced, const char *application) {
    void *memory;
    uint64_t number = 0;
    keel_status_t status = keel_calloc(1, sizeof(traced_t), &memory);
    if (status) {
        keel_status_ignore(status);
        return 0;
    }
    traced_t *entry = memory;
    keel_arena_initialize(&entry->arena, 0);
    status = fill(entry, traced, application); // takes the GIL, which a holder of the lock must not
    pthread_mutex_lock(&lock);
    bool is_noted = !status && (!newest || newest->number < MOST);
    if (is_noted) add(entry);
    if (is_noted) number = entry->number;
    pthread_mutex_unlock(&lock);
    if (!is_noted) destroy(entry);
    keel_status_ignore(status);
    return number;
}

// ---- compiling ---------------------------------------------------------------------------------

static traced_t *find_number(uint64_t number) {
    traced_t *entry = newest;
    while (entry && entry->number != number)
        entry = entry->older;
    return entry;
}

void keel_traced_begin(uint64_t number) {
    pthread_mutex_lock(&lock);
    traced_t *entry = find_number(number);
    if (entry) {
        entry->is_compiled = true;
        entry->thread = pthread_self();
    }
    pthread_mutex_unlock(&lock);
}

void keel_traced_end(uint64_t number) {
    pthread_mutex_lock(&lock);
    traced_t *entry = find_number(number);
    if (entry) {
        entry->is_compiled = false;
        keel_free(entry->names);
        entry->names = NULL;
    }
    pthread_mutex_unlock(&lock);
}

static const traced_t *find_compiled(uint32_t arguments) {
    const traced_t *only = NULL, *fits = NULL;
    uint32_t count = 0, fitting = 0;
    for (const traced_t *entry = newest; entry; entry = entry->older) {
        if (!entry->is_compiled) continue;
        if (pthread_equal(entry->thread, pthread_self())) return entry;
        only = entry;
        ++count;
        if (entry->arguments != arguments) continue;
        fits = entry;
        ++fitting;
    }
    return count == 1 ? only : fitting == 1 ? fits : NULL;
}

bool keel_traced_find(uint32_t arguments, keel_arena_t *arena, keel_traced_graph_t *out) {
    pthread_mutex_lock(&lock);
    const traced_t *entry = find_compiled(arguments);
    keel_status_t status = NULL;
    if (entry) {
        *out = entry->graph;
        status = copy(arena, entry->names, &out->names);
    }
    pthread_mutex_unlock(&lock);
    bool is_found = entry && !status;
    keel_status_ignore(status);
    return is_found;
}
