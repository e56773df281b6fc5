#include <stdio.h>

#include "cli/cli.h"

// Whether there is `keel COMMAND PART` with help of its own.
static bool has_part(const char *command, const char *part) {
    if (strcmp(command, "runs") == 0) return strcmp(part, "prune") == 0;
    if (strcmp(command, "bundle") == 0) return strcmp(part, "diff") == 0;
    if (strcmp(command, "contract") == 0) return cli_contract_has(part);
    return strcmp(command, "cache") == 0 && cli_cache_has(part);
}

int cli_help(cli_call_t *call) {
    int code;
    if (!cli_parse(call, 0, 2, &code)) return code;
    if (!call->rest_count) {
        keel_buffer_t out;
        keel_buffer_initialize(&out, 0);
        cli_list_commands(&out);
        return cli_answer(&out);
    }
    cli_call_t other;
    int (*run)(cli_call_t *) = cli_command(call->rest[0], &other);
    if (!run) {
        fprintf(stderr, "keel: %s: unknown command; run `keel help` for a list\n", call->rest[0]);
        return CLI_USAGE;
    }
    char *part = call->rest[1];
    if (part && !has_part(other.name, part)) {
        cli_say("%s %s: unknown command; see `keel help %s`", other.name, part, other.name);
        return CLI_USAGE;
    }
    char option[] = "--help";
    char *arguments[] = {part ? part : option, part ? option : NULL, NULL};
    other.arguments = arguments;
    return run(&other);
}
