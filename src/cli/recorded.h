// recorded: how a recorded run set its client up, for a client that is to have the same keys.
#ifndef KEEL_CLI_RECORDED_H_
#define KEEL_CLI_RECORDED_H_

#include "cli/cli.h"
#include "compiler/handlers.h"

typedef struct cli_handler_t {
    keel_handler_t handler;
    keel_digest_t builds[KEEL_HANDLER_PLACES]; // that the run had of their libraries
} cli_handler_t;

typedef struct cli_recorded_t {
    // Of a pack, which may have come from anywhere: the files that it names are not used, which are
    // the plugin, the Python, the libraries of functions and what flags name. Set it before the
    // first event.
    bool is_foreign;
    bool is_known;            // a run of the platform was found
    const char *plugin;       // that it used; NULL: unknown. Lives as long as this, like all below
    PJRT_NamedValue *options; // that the client was made with
    size_t count;
    const char *python; // of the first client, if its command was one; NULL: unknown
    // Functions of the clients of the platform that programs call by name.
    cli_handler_t *handlers;
    size_t handler_count, handler_room;
    keel_arena_t arena;
} cli_recorded_t;

void cli_recorded_initialize(cli_recorded_t *recorded);
void cli_recorded_deinitialize(cli_recorded_t *recorded);

struct json_t;
// Of a run's events (read with KEEL_RUN_KEYS), takes the platform's handlers, and the first start
// of a client of it: its plugin, its options, and into this process's environment XLA's flags,
// unless it has some. No other thread may use the environment. KEEL_UNSUPPORTED for options that
// cannot be made again. Kernels whose libraries are here are part of keys from then on.
keel_status_t cli_recorded_add(cli_recorded_t *recorded, const struct json_t *event,
                               const char *platform) KEEL_MUST_CHECK;
// recorded_handlers.c: an event `handler`. One that cannot be read, or is of another platform, is
// not taken.
keel_status_t cli_recorded_take_handler(cli_recorded_t *recorded, const struct json_t *event,
                                        const char *platform) KEEL_MUST_CHECK;
// Compilers' children register those whose libraries are what the run had: in another build,
// something else may be at that place. Each library that is another one, or gone, is named.
keel_status_t cli_recorded_add_handlers(cli_recorded_t *recorded,
                                        const keel_settings_t *settings) KEEL_MUST_CHECK;
// KEEL_REFUSED for options of a pack's program with which XLA would write files.
keel_status_t cli_recorded_check_options(const cli_recorded_t *recorded,
                                         keel_bytes_t options) KEEL_MUST_CHECK;
// Sets a whole number among the options; `name` stays.
keel_status_t cli_recorded_set_number(cli_recorded_t *recorded, const char *name,
                                      int64_t value) KEEL_MUST_CHECK;

#endif // KEEL_CLI_RECORDED_H_
