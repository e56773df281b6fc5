// keel rehearse: `keel run` against a device that is not there.
#include "cli/cli.h"

static const char details[] =
    "The command runs unchanged. Its client sees the target's devices, its programs go to the\n"
    "target's real compiler, which runs in processes of its own, and nothing is executed on a\n"
    "device. Values are real if the host sent them or if small programs compute them; everything\n"
    "else has a shape and reads as zeros.\n\n"
    "Targets: a100, h100, h200, b200 with :N devices; v2 to v6e and tpu7x with a topology, as in\n"
    "v6e:2x4; cpu:N; or a file that describes one, which may be what `keel probe --json` printed "
    "on\n"
    "the real machine.\n\n"
    "--compile: all compiles every program, new (the default) those that are not in the cache, "
    "and\n"
    "none only those whose results are sharded as the compiler decides. What was compiled is in "
    "the\n"
    "cache under the key that the device's own run will ask for.\n\n"
    "The run is recorded: `keel why`, `stats`, `memory` and `report` show it. The exit code is "
    "the\n"
    "command's own, or 1 if a program does not compile for the target.\n";

int cli_rehearse(cli_call_t *call) {
    cli_rehearsal_t rehearsal = {.on = NULL};
    call->details = details;
    cli_text(call, "--on", "TARGET", "the device: h200:8, v6e:2x4, cpu:4, or a file",
             &rehearsal.on);
    cli_text(call, "--compile", "all|new|none", "which programs to compile", &rehearsal.compiles);
    int code = cli_run_command(call, &rehearsal);
    keel_target_deinitialize(&rehearsal.target);
    return code;
}
