// keel rehearse: `keel run` against a device that is not there.
#include "rehearse/rehearse.h"
#include "cli/cli.h"

static const char details[] =
    "The command runs unchanged. Its client sees the target's devices, its programs go to the\n"
    "target's real compiler, which runs in processes of its own, and nothing is executed on a\n"
    "device. Values are real if the host sent them or if small programs compute them; everything\n"
    "else has a shape, and reads as zeros or as --values says.\n\n"
    "Targets: a100, h100, h200, b200 with :N devices; v2 to v6e and tpu7x with a topology, as in\n"
    "v6e:2x4; cpu:N; or a file that describes one, which may be what `keel probe --json` printed "
    "on\n"
    "the real machine.\n\n"
    "--compile: all compiles every program, new (the default) those that are not in the cache, "
    "and\n"
    "none only those whose results are sharded as the compiler decides. What was compiled is in "
    "the\n"
    "cache under the key that the device's own run will ask for.\n\n"
    "A target of several hosts (h200:16, v6e:4x4) starts the command once for each, so that\n"
    "jax.distributed.initialize() finds the others; cpu:8/2 are two with 4 devices each. What the\n"
    "first writes is unchanged, the lines of the others begin with their number, as in [1].\n"
    "--processes 1 is for a command that starts the others itself, or does without them.\n\n"
    "What the command writes to files is discarded at the end, and the summary names it. With\n"
    "--writes keep, it is written.\n\n"
    "The run is recorded: `keel why`, `stats`, `memory` and `report` show it. The exit code is "
    "the\n"
    "command's own. If that is 0, it is 1 if a program does not compile for the target, does not\n"
    "fit in its memory or cannot be rehearsed, if not all processes execute it, or if an "
    "execution,\n"
    "a transfer or a read was refused, even if the command swallowed the error; and 4 if a loop\n"
    "ended early, or may have, after the command read what no device computed.\n";

static bool is_word(const char *word, const char *const *words) {
    while (*words && word && strcmp(word, *words) != 0)
        ++words;
    return !word || *words;
}

bool cli_check_rehearsal(const cli_call_t *call, const cli_rehearsal_t *rehearsal, int *out_code) {
#define WORD(name, text, sentence) text,
    static const char *const compiles[] = {KEEL_REHEARSE_COMPILES(WORD) NULL};
    static const char *const fills[] = {KEEL_REHEARSE_FILLS(WORD) NULL};
#undef WORD
    static const char *const counts[] = {"all", "1", NULL};
    if (!is_word(rehearsal->compiles, compiles))
        *out_code = cli_misuse(call, "--compile %s: say new, all or none", rehearsal->compiles);
    else if (!is_word(rehearsal->fill, fills))
        *out_code = cli_misuse(call, "--values %s: say zeros, ones or nan", rehearsal->fill);
    else if (!is_word(rehearsal->processes, counts))
        *out_code = cli_misuse(call,
                               "--processes %s: say all, or 1; a target with another number is "
                               "named like cpu:8/2",
                               rehearsal->processes);
    else
        return true;
    return false;
}

int cli_describe_target(const char *text) {
    keel_target_t target;
    keel_buffer_t out;
    keel_buffer_initialize(&out, 0);
    keel_status_t status = keel_target_read(text, &target);
    if (!status) status = keel_target_write(&target, KEEL_JSON_SPACED, &out);
    keel_target_deinitialize(&target);
    if (!status) return cli_answer(&out);
    keel_buffer_deinitialize(&out);
    return cli_fail(status);
}

int cli_rehearse(cli_call_t *call) {
    cli_rehearsal_t rehearsal = {.on = NULL};
    call->details = details;
    cli_text(call, "--on", "TARGET", "the device: h200:8, v6e:2x4, cpu:4, or a file",
             &rehearsal.on);
    cli_text(call, "--compile", "all|new|none", "which programs to compile", &rehearsal.compiles);
    cli_text(call, "--values", "zeros|ones|nan", "what values read as that no device computed",
             &rehearsal.fill);
    cli_text(call, "--processes", "all|1", "how many of the target's processes to start",
             &rehearsal.processes);
    cli_text(call, "--describe", "TARGET", "only print this target as JSON, as a file has it",
             &rehearsal.describe);
    int code = cli_run_command(call, &rehearsal);
    keel_target_deinitialize(&rehearsal.target);
    return code;
}
