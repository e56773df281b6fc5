// Kernels of the client, registered with a plugin that has PJRT's FFI extension and nothing else.
#define _GNU_SOURCE
#include "place.h"

#include <dlfcn.h>
#include <unistd.h>

#include "key/key.h"
#include "pjrt/kernels.h"

// As a kernel that was built with XLA's headers of FFI 0.5 sees them.
typedef struct version_t {
    size_t size;
    void *extensions;
    int major, minor;
} version_t;

typedef struct metadata_t {
    size_t size;
    version_t version;
    uint32_t traits;
    int64_t state_type; // a plugin of FFI 0.2 has no such member
} metadata_t;

typedef struct request_t {
    size_t size;
    int type;
    void *next;
    metadata_t *metadata;
} request_t;

typedef struct ffi_t {
    size_t size;
    void *extensions;
    version_t version;
} ffi_t;

typedef struct frame_t {
    size_t size;
    void *extensions;
    const ffi_t *ffi;
} frame_t;

typedef void *function_t(frame_t *frame);

typedef struct register_args_t {
    size_t size;
    const char *name;
    size_t name_size;
    function_t *function;
    const char *platform;
    size_t platform_size;
    int traits;
} register_args_t;

// ---- the plugin --------------------------------------------------------------------------------

static struct {
    char name[32];
    function_t *function;
} taken[8];
static int taken_count;
static const char *platform = "cpu";

static PJRT_Error *take(register_args_t *args) {
    assert_true(args->platform_size == 4 && memcmp(args->platform, "Host", 4) == 0);
    assert_true(taken_count < 8 && args->name_size < sizeof taken->name);
    memcpy(taken[taken_count].name, args->name, args->name_size);
    taken[taken_count++].function = args->function;
    return NULL;
}

static PJRT_Error *name_platform(PJRT_Client_PlatformName_Args *args) {
    args->platform_name = platform;
    args->platform_name_size = strlen(platform);
    return NULL;
}

static struct {
    PJRT_Extension_Base base;
    void *others[2];
    PJRT_Error *(*take)(register_args_t *args);
} extension = {.base = {.struct_size = sizeof extension, .type = (PJRT_Extension_Type)5},
               .take = take};

static PJRT_Api api = {.struct_size = PJRT_Api_STRUCT_SIZE,
                       .extension_start = &extension.base,
                       .PJRT_Client_PlatformName = name_platform};

static const ffi_t ffi = {sizeof ffi, NULL, {sizeof(version_t), NULL, 0, 2}};

// What the plugin of FFI 0.2 reads of the metadata.
static version_t ask(function_t *function) {
    struct {
        metadata_t metadata;
        uint64_t behind;
    } asked = {.metadata = {.size = offsetof(metadata_t, state_type),
                            .version = {.size = sizeof(version_t)}}};
    asked.metadata.state_type = 77;
    request_t request = {sizeof request, 1, NULL, &asked.metadata};
    frame_t frame = {sizeof frame, &request, &ffi};
    assert_null(function(&frame));
    assert_ptr_equal(frame.extensions, &request);
    assert_int_equal(asked.metadata.traits, 3);
    assert_int_equal(asked.metadata.state_type, 77); // not written: the plugin has no such member
    return asked.metadata.version;
}

// ---- the client's kernels ----------------------------------------------------------------------

static void *library;

static void *of_jaxlib(const char *name) {
    if (!library) library = dlopen(KEEL_TEST_KERNELS, RTLD_NOW);
    assert_non_null(library);
    void *function = dlsym(library, name);
    assert_non_null(function);
    return function;
}

static void *users_kernel(frame_t *frame) {
    request_t *request = frame->extensions;
    if (!request) return (void *)frame;
    request->metadata->version = (version_t){sizeof(version_t), NULL, 0, 5};
    request->metadata->traits = 3;
    return NULL;
}

// What the function's question says on stderr.
static int ask_heard(function_t *function, char out[1024]) {
    int pipes[2], errors = dup(STDERR_FILENO);
    assert_int_equal(pipe(pipes), 0);
    fflush(stderr);
    assert_true(dup2(pipes[1], STDERR_FILENO) >= 0);
    int minor = ask(function).minor;
    fflush(stderr);
    assert_true(dup2(errors, STDERR_FILENO) >= 0);
    close(errors);
    close(pipes[1]);
    ssize_t size = read(pipes[0], out, 1023);
    close(pipes[0]);
    out[size > 0 ? size : 0] = 0;
    return minor;
}

static void kernels_reach_a_plugin_on_cpu(void **state) {
    (void)state;
    assert_ok(keel_kernel_add("lapack_first_ffi", of_jaxlib("keel_test_kernel")));
    function_t *users = users_kernel;
    void *address;
    memcpy(&address, &users, sizeof address);
    assert_ok(keel_kernel_add("users", address));
    platform = "cuda";
    keel_kernels_register(&api, NULL);
    assert_int_equal(taken_count, 0);
    platform = "cpu";
    keel_kernels_register(&api, NULL);
    keel_kernels_register(&api, NULL); // the plugin's second client
    assert_int_equal(taken_count, 2);
    assert_ok(keel_kernel_add("late", of_jaxlib("keel_test_kernel")));
    assert_int_equal(taken_count, 3);
    assert_string_equal(taken[2].name, "late");
    assert_ok(keel_kernel_add("late", address)); // the first of a name counts
    assert_int_equal(taken_count, 3);

    char heard[1024];
    assert_int_equal(ask_heard(taken[0].function, heard), 2); // the plugin's own
    assert_string_equal(heard, "");
    assert_int_equal(ask_heard(taken[1].function, heard), 5); // what the user built may need it
    assert_non_null(strstr(heard, "does not take the kernel 'users'"));
    assert_non_null(strstr(heard, "built for FFI 0.5, and the plugin has 0.2"));
    frame_t frame = {sizeof frame, NULL, &ffi};
    assert_ptr_equal(taken[0].function(&frame), &frame);
    assert_ptr_equal(taken[1].function(&frame), &frame);
}

static void a_kernel_has_the_build_of_its_library(void **state) {
    (void)state;
    bool known;
    keel_digest_t jaxlibs, users, file;
    assert_ok(keel_key_plugin_build(KEEL_TEST_KERNELS, NULL, &file));
    assert_ok(keel_kernel_build(KEEL_STR("lapack_first_ffi"), &known, &jaxlibs));
    assert_true(known && keel_digest_equal(&jaxlibs, &file));
    assert_ok(keel_kernel_build(KEEL_STR("users"), &known, &users));
    assert_true(known && !keel_digest_equal(&jaxlibs, &users));
    assert_ok(keel_kernel_build(KEEL_STR("lapack_other_ffi"), &known, &users));
    assert_false(known);
}

static void more_kernels_than_there_is_room_for_are_refused(void **state) {
    (void)state;
    char name[32];
    void *function = of_jaxlib("keel_test_kernel");
    api.extension_start = NULL; // a plugin without the extension gets none
    for (int i = 3; i < KEEL_KERNEL_LIMIT; ++i) {
        snprintf(name, sizeof name, "kernel_%d", i);
        assert_ok(keel_kernel_add(name, function));
    }
    keel_status_t status = keel_kernel_add("one more", function);
    assert_int_equal(keel_status_code(status), KEEL_UNSUPPORTED);
    assert_non_null(strstr(keel_status_message(status), "one more"));
    keel_status_ignore(status);
    assert_int_equal(taken_count, 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_reach_a_plugin_on_cpu),
        cmocka_unit_test(a_kernel_has_the_build_of_its_library),
        cmocka_unit_test(more_kernels_than_there_is_room_for_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
