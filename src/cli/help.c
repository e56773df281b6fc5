#include <stdio.h>

#include "cli/cli.h"

int cli_help(cli_call_t *call) {
    int code;
    if (!cli_parse(call, 0, 1, &code)) return code;
    if (!call->rest_count) {
        keel_buffer_t out;
        keel_buffer_initialize(&out, 0);
        cli_list_commands(&out);
        return cli_answer(&out);
    }
    cli_call_t other;
    int (*run)(cli_call_t *) = cli_command(call->rest[0], &other);
    if (!run) {
        fprintf(stderr, "keel: %s: unknown command; `keel help` lists them\n", call->rest[0]);
        return CLI_USAGE;
    }
    char option[] = "--help";
    char *arguments[] = {option, NULL};
    other.arguments = arguments;
    return run(&other);
}
