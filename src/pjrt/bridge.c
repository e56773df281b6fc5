#include "pjrt/bridge.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "pjrt/bridge_table.h"

// No struct of PJRT is longer; a longer one is passed on unchanged.
enum { SIZE_LIMIT = 1024 };
// The head of every struct except PJRT_ProcessInfo: its size and its extensions.
enum { HEAD = sizeof(size_t) + sizeof(void *) };

// ---- the tables --------------------------------------------------------------------------------

enum {
#define STRUCT_ID(name) OF_##name,
    KEEL_BRIDGE_FUNCTIONS(STRUCT_ID) KEEL_BRIDGE_STRUCTS(STRUCT_ID)
#undef STRUCT_ID
        STRUCT_COUNT
};

static const struct {
    const char *name;
    uint32_t size;
} structs[STRUCT_COUNT] = {
#define ARGS_ROW(name) {"PJRT_" #name "_Args", PJRT_##name##_Args_STRUCT_SIZE},
    KEEL_BRIDGE_FUNCTIONS(ARGS_ROW)
#undef ARGS_ROW
#define STRUCT_ROW(name) {"PJRT_" #name, PJRT_##name##_STRUCT_SIZE},
        KEEL_BRIDGE_STRUCTS(STRUCT_ROW)
#undef STRUCT_ROW
};

typedef enum how { ONE, ARRAY, POINTERS } how_t;

typedef struct nested_t {
    uint8_t function; // OF_...; in ascending order
    uint8_t id;       // of the struct
    how_t how;
    uint32_t at, count_at;
} nested_t;

static const nested_t all_nested[] = {
#define NESTED_ROW(function, member, name, how, count)                                             \
    {OF_##function, OF_##name, how, offsetof(PJRT_##function##_Args, member),                      \
     offsetof(PJRT_##function##_Args, count)},
    KEEL_BRIDGE_NESTED(NESTED_ROW)
#undef NESTED_ROW
};

enum { NESTED_COUNT = sizeof all_nested / sizeof *all_nested, NESTED_MOST = 2 };

typedef struct function_t {
    PJRT_Error *(*real)(void *args);
    void (*bridging)(void); // the table's entry
    void (*settling)(void); // used in the table in which functions settle
    uint32_t place;         // in PJRT_Api
    uint8_t first, nested;  // in all_nested
} function_t;

// The size that clients state for some arguments, and the real one.
static const struct {
    uint8_t id;
    uint32_t said, held;
} understated[] = {
#define UNDERSTATED_ROW(function, taken, last)                                                     \
    {OF_##function, PJRT_STRUCT_SIZE(PJRT_##function##_Args, taken),                               \
     PJRT_STRUCT_SIZE(PJRT_##function##_Args, last)},
    KEEL_BRIDGE_UNDERSTATED(UNDERSTATED_ROW)
#undef UNDERSTATED_ROW
};

static const PJRT_Api *plugin;
static PJRT_Api *settled;

// ---- what the plugin wants ---------------------------------------------------------------------

// A size, 0 if unknown, and what is known about it.
enum { SIZE = 0xffff, IS_EXACT = 1 << 16, REFUSES_LONGER = 1 << 17 };
static atomic_uint wants[STRUCT_COUNT];

static unsigned want_of(unsigned id) {
    return atomic_load_explicit(&wants[id], memory_order_relaxed);
}

// The size that the plugin gets for a struct of `size`. A size below the common head is not an
// older version.
static size_t target(unsigned want, size_t size, how_t how) {
    size_t wanted = want & SIZE;
    if (size < HEAD || (size == HEAD && wanted > HEAD && how == ONE)) return size;
    bool cuts = want & REFUSES_LONGER || (how == ARRAY && want & IS_EXACT);
    return size < wanted || cuts ? wanted : size;
}

static size_t size_of(const void *args) {
    size_t size;
    memcpy(&size, args, sizeof size);
    return size;
}

// Never past the client's own arguments.
static size_t held(unsigned id, const void *args) {
    size_t size = size_of(args);
    for (unsigned i = 0; i < sizeof understated / sizeof *understated; ++i)
        if (understated[i].id == id && understated[i].said == size) return understated[i].held;
    return size;
}

// The distance between structs of that size in an array.
static size_t stride(size_t size) {
    return (size + sizeof(void *) - 1) & ~(sizeof(void *) - 1);
}

// NULL if it is absent, or beyond what the client knows of the arguments.
static void *pointer_in(const void *args, uint32_t at) {
    void *pointer = NULL;
    if (size_of(args) >= at + sizeof pointer)
        memcpy(&pointer, (const char *)args + at, sizeof pointer);
    return pointer;
}

static size_t count_in(const void *args, const nested_t *nested) {
    size_t count = 0;
    if (size_of(args) >= nested->count_at + sizeof count)
        memcpy(&count, (const char *)args + nested->count_at, sizeof count);
    return count;
}

// ---- does a call need translating? -------------------------------------------------------------

static bool fits(const void *data, unsigned id, how_t how) {
    size_t size = size_of(data);
    return target(want_of(id), size, how) == size;
}

static bool nested_fits(const void *args, const nested_t *nested) {
    void *const *data = pointer_in(args, nested->at);
    if (!data) return true;
    if (nested->how == ONE) return fits(data, nested->id, ONE);
    size_t count = count_in(args, nested);
    if (nested->how == ARRAY) return !count || fits(data, nested->id, ARRAY);
    for (size_t i = 0; i < count; ++i)
        if (data[i] && !fits(data[i], nested->id, POINTERS)) return false;
    return true;
}

static bool all_fit(const function_t *function, unsigned id, const void *args) {
    if (!fits(args, id, ONE)) return false;
    for (unsigned i = 0; i < function->nested; ++i)
        if (!nested_fits(args, &all_nested[function->first + i])) return false;
    return true;
}

// ---- copies ------------------------------------------------------------------------------------

typedef struct package_t {
    _Alignas(max_align_t) unsigned char args[SIZE_LIMIT];
    _Alignas(max_align_t) unsigned char one[SIZE_LIMIT];
    void *many[NESTED_MOST]; // from keel_alloc
} package_t;

static void copy(void *to, size_t size, const void *from) {
    size_t known = size_of(from);
    if (known > size) known = size;
    memcpy(to, from, known);
    memset((char *)to + known, 0, size - known);
    memcpy(to, &size, sizeof size);
}

// No compiler makes an array of structs of different sizes: such an array is passed on unchanged.
static bool is_even(const char *data, size_t count) {
    size_t size = size_of(data), step = stride(size);
    for (size_t i = 1; i < count; ++i)
        if (size_of(data + i * step) != size) return false;
    return true;
}

static void *copy_array(const char *data, size_t count, size_t size) {
    enum { MOST = 1 << 20 };
    void *memory;
    if (count > MOST || !is_even(data, count)) return NULL;
    keel_status_t status = keel_calloc(count, stride(size), &memory);
    keel_status_ignore(status);
    if (status) return NULL;
    for (size_t i = 0; i < count; ++i)
        copy((char *)memory + i * stride(size), size, data + i * stride(size_of(data)));
    return memory;
}

// The pointers, followed by the structs, each as long as the plugin may get it.
static void *copy_pointers(void *const *data, size_t count, unsigned want) {
    enum { MOST = 1 << 20 };
    void *memory;
    if (count > MOST) return NULL;
    keel_status_t status = keel_calloc(count, sizeof *data + SIZE_LIMIT, &memory);
    keel_status_ignore(status);
    if (status) return NULL;
    void **pointers = memory;
    char *at = (char *)(pointers + count);
    for (size_t i = 0; i < count; ++i) {
        size_t size = data[i] ? target(want, size_of(data[i]), POINTERS) : 0;
        bool is_other = size && size <= SIZE_LIMIT && size != size_of(data[i]);
        pointers[i] = data[i];
        if (!is_other) continue;
        copy(at, size, data[i]);
        pointers[i] = at;
        at += stride(size);
    }
    return memory;
}

static void *copy_nested(package_t *package, unsigned index, const void *args,
                         const nested_t *nested) {
    void *data = pointer_in(args, nested->at);
    unsigned want = want_of(nested->id);
    if (nested->how == ONE) {
        size_t size = target(want, size_of(data), ONE);
        if (size > SIZE_LIMIT) return NULL;
        copy(package->one, size, data);
        return package->one;
    }
    size_t count = count_in(args, nested);
    return package->many[index] = nested->how == ARRAY
                                      ? copy_array(data, count, target(want, size_of(data), ARRAY))
                                      : copy_pointers(data, count, want);
}

// Writes only if they differ: a client's input may be shared, or constant.
static void copy_back(void *to, const void *from, size_t size) {
    if (memcmp((char *)to + sizeof size, (const char *)from + sizeof size, size - sizeof size) != 0)
        memcpy((char *)to + sizeof size, (const char *)from + sizeof size, size - sizeof size);
}

static size_t smaller(size_t left, size_t right) {
    return left < right ? left : right;
}

// Copies what the plugin wrote into the client's structs; their pointers to each other stay the
// client's.
static void unpack(package_t *package, const function_t *function, unsigned id, void *args) {
    for (unsigned i = 0; i < function->nested; ++i) {
        const nested_t *nested = &all_nested[function->first + i];
        void *data = pointer_in(args, nested->at), *packed = pointer_in(package->args, nested->at);
        if (!data || !packed || packed == data) continue;
        if (nested->how == ONE) copy_back(data, packed, smaller(size_of(data), size_of(packed)));
        memcpy(package->args + nested->at, &data, sizeof data);
    }
    copy_back(args, package->args, smaller(held(id, args), size_of(package->args)));
}

static PJRT_Error *call_packed(const function_t *function, unsigned id, void *args) {
    package_t package;
    size_t size = target(want_of(id), size_of(args), ONE);
    if (size > SIZE_LIMIT) return function->real(args);
    package.many[0] = package.many[1] = NULL;
    copy(package.args, size, args);
    for (unsigned i = 0; i < function->nested; ++i) {
        const nested_t *nested = &all_nested[function->first + i];
        bool is_cut_off = size < nested->at + sizeof(void *);
        void *data =
            nested_fits(args, nested) || is_cut_off ? NULL : copy_nested(&package, i, args, nested);
        if (data) memcpy(package.args + nested->at, &data, sizeof data);
    }
    PJRT_Error *error = function->real(package.args);
    unpack(&package, function, id, args);
    keel_free(package.many[0]);
    keel_free(package.many[1]);
    return error;
}

// ---- refusals ----------------------------------------------------------------------------------

// "Unexpected PJRT_ExecuteOptions size: expected 112, got 80": XLA has used these words since PJRT
// began.
typedef struct refusal_t {
    char name[96];
    unsigned expected, got;
} refusal_t;

static bool read_refusal(PJRT_Error *error, refusal_t *out) {
    PJRT_Error_Message_Args args = {.struct_size = PJRT_Error_Message_Args_STRUCT_SIZE,
                                    .error = error};
    plugin->PJRT_Error_Message(&args);
    char text[192];
    size_t size = args.message_size < sizeof text - 1 ? args.message_size : sizeof text - 1;
    if (!args.message) return false;
    memcpy(text, args.message, size);
    text[size] = 0;
    return sscanf(text, "Unexpected %95s size: expected %5u, got %5u", out->name, &out->expected,
                  &out->got) == 3;
}

// The id of the struct of a call that a refusal names; STRUCT_COUNT if it names none.
static unsigned find_named(const function_t *function, unsigned id, const void *args,
                           const char *name, size_t *out_size, how_t *out_how) {
    *out_size = size_of(args);
    *out_how = ONE;
    if (strcmp(name, structs[id].name) == 0) return id;
    for (unsigned i = 0; i < function->nested; ++i) {
        const nested_t *nested = &all_nested[function->first + i];
        void *const *data = pointer_in(args, nested->at);
        size_t count = nested->how == ONE ? 1 : count_in(args, nested);
        if (!data || !count || strcmp(name, structs[nested->id].name) != 0) continue;
        const void *first = nested->how == POINTERS ? data[0] : data;
        *out_size = first ? size_of(first) : 0;
        *out_how = nested->how;
        return nested->id;
    }
    return STRUCT_COUNT;
}

// Whether repeating the call would give a different result, including when another thread has
// learned what this one needed.
static bool has_learned(const function_t *function, unsigned id, const void *args,
                        PJRT_Error *error) {
    refusal_t refusal;
    size_t size;
    how_t how;
    if (!read_refusal(error, &refusal)) return false;
    if (refusal.expected < HEAD || refusal.expected > SIZE_LIMIT) return false;
    unsigned named = find_named(function, id, args, refusal.name, &size, &how);
    if (named == STRUCT_COUNT) return false;
    unsigned known = want_of(named), want = refusal.expected | IS_EXACT;
    if (target(known, size, how) != refusal.got) return (known & SIZE) == refusal.expected;
    if (refusal.got > refusal.expected) want |= REFUSES_LONGER;
    atomic_store_explicit(&wants[named], want, memory_order_relaxed);
    return target(want, size, how) != refusal.got;
}

static void drop(PJRT_Error *error) {
    PJRT_Error_Destroy_Args args = {.struct_size = PJRT_Error_Destroy_Args_STRUCT_SIZE,
                                    .error = error};
    plugin->PJRT_Error_Destroy(&args);
}

// ---- the table ---------------------------------------------------------------------------------

static PJRT_Error *call(unsigned id, void *args);
static PJRT_Error *call_and_settle(unsigned id, void *args);

#define FUNCTION(name)                                                                             \
    static PJRT_Error *real_##name(void *args) {                                                   \
        return plugin->PJRT_##name(args);                                                          \
    }                                                                                              \
    static PJRT_Error *bridge_##name(PJRT_##name##_Args *args) {                                   \
        return call(OF_##name, args);                                                              \
    }                                                                                              \
    static PJRT_Error *settling_##name(PJRT_##name##_Args *args) {                                 \
        return call_and_settle(OF_##name, args);                                                   \
    }
KEEL_BRIDGE_FUNCTIONS(FUNCTION)
#undef FUNCTION

static function_t functions[] = {
#define FUNCTION_ROW(name)                                                                         \
    {.real = real_##name,                                                                          \
     .bridging = (void (*)(void))bridge_##name,                                                    \
     .settling = (void (*)(void))settling_##name,                                                  \
     .place = offsetof(PJRT_Api, PJRT_##name)},
    KEEL_BRIDGE_FUNCTIONS(FUNCTION_ROW)
#undef FUNCTION_ROW
};

static uintptr_t *place_in(PJRT_Api *table, const function_t *function) {
    return (uintptr_t *)(void *)((char *)table + function->place);
}

// If the table holds someone else's function, that stays. The client may be reading the entry at
// the same time: it gets one function or the other, since a pointer is written whole. Its code was
// compiled long ago and cannot declare the access atomic.
__attribute__((noinline, no_sanitize("thread"))) static void settle(const function_t *function) {
    uintptr_t *at = place_in(settled, function);
    uintptr_t own, settling = (uintptr_t)function->settling;
    memcpy(&own, (const char *)plugin + function->place, sizeof own);
    if (__atomic_load_n(at, __ATOMIC_RELAXED) == settling)
        __atomic_store_n(at, own, __ATOMIC_RELAXED);
}

// `out_fit`: the plugin got the arguments unchanged.
static PJRT_Error *call_until_known(unsigned id, void *args, bool *out_fit) {
    enum { TRIES = 8 }; // more than there is to learn
    const function_t *function = &functions[id];
    for (unsigned tries = 1;; ++tries) {
        *out_fit = all_fit(function, id, args);
        PJRT_Error *error = *out_fit ? function->real(args) : call_packed(function, id, args);
        if (!error || tries == TRIES || !has_learned(function, id, args, error)) return error;
        drop(error);
    }
}

static PJRT_Error *call(unsigned id, void *args) {
    bool fit;
    return call_until_known(id, args, &fit);
}

static PJRT_Error *call_and_settle(unsigned id, void *args) {
    bool fit;
    PJRT_Error *error = call_until_known(id, args, &fit);
    if (!error && fit) settle(&functions[id]);
    return error;
}

static void know_the_header(const PJRT_Api *api) {
    int minor = api->pjrt_api_version.minor_version;
    for (unsigned id = 0; id < STRUCT_COUNT; ++id) {
        unsigned want = structs[id].size | (minor == PJRT_API_MINOR ? IS_EXACT : 0);
        atomic_store_explicit(&wants[id], minor < PJRT_API_MINOR ? 0 : want, memory_order_relaxed);
    }
}

static void find_nested(void) {
    for (unsigned i = 0; i < sizeof functions / sizeof *functions; ++i)
        functions[i].nested = 0;
    for (unsigned i = 0; i < NESTED_COUNT; ++i) {
        function_t *function = &functions[all_nested[i].function];
        if (!function->nested++) function->first = (uint8_t)i;
    }
}

keel_status_t keel_bridge_create(const PJRT_Api *api, PJRT_Api **out) {
    size_t size = api->struct_size > sizeof *api ? api->struct_size : sizeof *api;
    void *memory;
    KEEL_TRY(keel_calloc(1, size, &memory));
    memcpy(memory, api, api->struct_size);
    PJRT_Api *table = memory;
#define PUT(name)                                                                                  \
    if (keel_pjrt_has(api, PJRT_##name)) table->PJRT_##name = bridge_##name;
    KEEL_BRIDGE_FUNCTIONS(PUT)
#undef PUT
    plugin = api;
    know_the_header(api);
    find_nested();
    *out = table;
    return NULL;
}

void keel_bridge_settle_in(PJRT_Api *table) {
    settled = table;
    for (unsigned i = 0; i < sizeof functions / sizeof *functions; ++i) {
        uintptr_t *at = place_in(table, &functions[i]);
        bool may = !functions[i].nested && *at == (uintptr_t)functions[i].bridging;
        if (may) *at = (uintptr_t)functions[i].settling;
    }
}
