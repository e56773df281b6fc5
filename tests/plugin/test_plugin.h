// What the tests know about the plugin in test_plugin.c beyond PJRT itself.
#ifndef KEEL_TESTS_PLUGIN_TEST_PLUGIN_H_
#define KEEL_TESTS_PLUGIN_TEST_PLUGIN_H_

#include <pjrt_c_api.h>

// As PJRT 0.106 has it.
typedef struct test_plugin_payload_args_t {
    size_t struct_size;
    PJRT_Extension_Base *extension_start;
    const PJRT_Error *error;
    void (*visitor)(const char *key, size_t key_size, const char *value, size_t value_size,
                    void *user_arg);
    void *user_arg;
} test_plugin_payload_args_t;

// Begins like the arguments of all functions.
typedef struct test_plugin_answer_t {
    size_t struct_size;
    PJRT_Extension_Base *extension_start;
    int number;
} test_plugin_answer_t;

// The table of a later PJRT (TEST_PLUGIN=table=newer): functions more than this header has.
typedef struct test_plugin_table_t {
    PJRT_Api api;
    PJRT_Error *(*answer)(test_plugin_answer_t *args); // 42
    void *more[(1096 - sizeof(PJRT_Api)) / sizeof(void *) - 1];
    PJRT_Error *(*for_each_payload)(test_plugin_payload_args_t *args);
    void *last;
} test_plugin_table_t;

#endif // KEEL_TESTS_PLUGIN_TEST_PLUGIN_H_
