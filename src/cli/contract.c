// keel contract: the programs that a run may ask for.
#include <stdio.h>
#include <unistd.h>

#include "cli/contract.h"
#include "journal/journal.h"

static const struct {
    const char *name, *usage, *sentence;
    int (*run)(cli_call_t *call);
} commands[] = {
    {"contract show", "[OPTION]... FILE", "print what a contract lists", contract_show},
    {"contract diff", "[OPTION]... A B", "say what changed between two contracts", contract_diff},
    {"contract record", "-o FILE [OPTION]... (--from RUN | [--] CMD [ARG]...)",
     "write a contract that lists the programs of a run", contract_record},
    {"contract update", "--only NAME [OPTION]... FILE (--from RUN | [--] CMD [ARG]...)",
     "take the programs of one entry from a run", contract_update},
    {"contract check", "--contract FILE [OPTION]... (--from RUN | [--] CMD [ARG]...)",
     "say which programs of a run a contract does not list", contract_check},
};
enum { COMMANDS = sizeof commands / sizeof *commands };

static size_t find_command(const char *name) {
    size_t i = 0;
    while (i < COMMANDS && strcmp(commands[i].name + strlen("contract "), name) != 0)
        ++i;
    return i;
}

bool cli_contract_has(const char *name) {
    return find_command(name) < COMMANDS;
}

static const char details[] =
    "commands:\n"
    "  show FILE          print what a contract lists\n"
    "  diff A B           say what changed between two contracts\n"
    "  record -o FILE     write a contract that lists the programs of a run\n"
    "  update --only NAME FILE\n"
    "                     take the programs of one entry from a run\n"
    "  check --contract FILE\n"
    "                     say which programs of a run a contract does not list\n\n"
    "The last three take a run: --from RUN, or a command to run. `keel contract CMD --help` "
    "explains\none.\n";

int cli_contract(cli_call_t *call) {
    size_t which = call->arguments[0] ? find_command(call->arguments[0]) : COMMANDS;
    if (which < COMMANDS) {
        call->name = commands[which].name;
        call->usage = commands[which].usage;
        call->sentence = commands[which].sentence;
        ++call->arguments;
        return commands[which].run(call);
    }
    int code;
    call->details = details;
    if (!cli_parse(call, 1, -1, &code)) return code;
    return cli_misuse(call, "%s: unknown command; use show, diff, record, update or check",
                      call->rest[0]);
}
