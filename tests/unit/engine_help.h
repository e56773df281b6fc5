// An engine without a door, for what no door uses. For use in a child process.
#ifndef KEEL_TESTS_ENGINE_HELP_H_
#define KEEL_TESTS_ENGINE_HELP_H_

#include "door_help.h"
#include "engine/core.h"

typedef struct bare_t {
    keel_plugin_t plugin;
    keel_engine_t *engine;
    PJRT_Client *client;
} bare_t;

// With the settings of the environment. The plugin stays loaded, as it does under the door.
static inline void bare_engine(bare_t *bare, const char *plugin) {
    static char *paths[8]; // where LeakSanitizer finds them
    static size_t count;
    keel_settings_t settings = {0};
    *bare = (bare_t){0};
    CHECK(!keel_settings_load(NULL, &settings));
    CHECK(!keel_plugin_load(plugin, &bare->plugin));
    CHECK(count < sizeof paths / sizeof *paths);
    paths[count++] = bare->plugin.path;
    CHECK(!keel_engine_create(&settings, &bare->plugin, true, &bare->engine));
}

static inline void bare_client(bare_t *bare) {
    bare->client = door_client(bare->plugin.api);
    keel_engine_client_created(bare->engine, bare->client, NULL, 0);
}

static inline PJRT_Error *bare_try(const bare_t *bare, const char *text,
                                   PJRT_LoadedExecutable **out) {
    PJRT_Program program = {.struct_size = PJRT_Program_STRUCT_SIZE,
                            .code = (char *)(uintptr_t)text,
                            .code_size = strlen(text),
                            .format = "text",
                            .format_size = 4};
    static const char options[] = "\x1a\x04\x20\x01\x28\x01";
    PJRT_Client_Compile_Args args = {.struct_size = PJRT_Client_Compile_Args_STRUCT_SIZE,
                                     .client = bare->client,
                                     .program = &program,
                                     .compile_options = options,
                                     .compile_options_size = sizeof options - 1};
    PJRT_Error *error = keel_engine_compile(bare->engine, &args);
    *out = error ? NULL : args.executable;
    return error;
}

static inline PJRT_LoadedExecutable *bare_compile(const bare_t *bare, const char *text) {
    PJRT_LoadedExecutable *loaded;
    NO_ERROR(bare->plugin.api, bare_try(bare, text, &loaded));
    CHECK(door_is(bare->plugin.api, loaded, keel_str_bytes(keel_str(text))));
    return loaded;
}

// Compiles it and destroys it again.
static inline void bare_live(const bare_t *bare, const char *text) {
    PJRT_LoadedExecutable *loaded = bare_compile(bare, text);
    CHECK(keel_engine_loaded_closing(bare->engine, loaded));
    door_destroy(bare->plugin.api, loaded);
}

// Waits until all that was compiled is stored.
static inline void bare_close(bare_t *bare) {
    keel_engine_client_closing(bare->engine, bare->client);
    door_close(bare->plugin.api, bare->client);
    bare->client = NULL;
}

#endif // KEEL_TESTS_ENGINE_HELP_H_
