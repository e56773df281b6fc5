#include <stdio.h>

#include "cli/cli.h"
#include "compiler/compiler.h"

static const struct {
    const char *name, *usage, *sentence;
    int (*run)(cli_call_t *call);
} commands[] = {
#define COMMAND(name, usage, sentence) {#name, usage, sentence, cli_##name},
    CLI_COMMANDS(COMMAND)
#undef COMMAND
};

int (*cli_command(const char *name, cli_call_t *out))(cli_call_t *call) {
    for (size_t i = 0; i < sizeof commands / sizeof *commands; ++i) {
        if (strcmp(commands[i].name, name) != 0) continue;
        *out = (cli_call_t){
            .name = commands[i].name, .usage = commands[i].usage, .sentence = commands[i].sentence};
        return commands[i].run;
    }
    return NULL;
}

void cli_list_commands(keel_buffer_t *out) {
    keel_buffer_text(out, "usage: keel CMD [ARG]...\nLoads XLA programs instead of compiling them "
                          "again, and explains recompiles.\n\ncommands:\n");
    for (size_t i = 0; i < sizeof commands / sizeof *commands; ++i)
        keel_buffer_format(out, "  %-9s %s\n", commands[i].name, commands[i].sentence);
    keel_buffer_text(out,
                     "\n`keel CMD --help` explains a command; `man keel` is the full reference.\n");
}

int main(int count, char **words) {
    const char *name = count > 1 ? words[1] : "";
    cli_call_t call;
    // What compiler/child.c starts; no command for people.
    if (strcmp(name, KEEL_COMPILER_COMMAND) == 0) return keel_compiler_work();
    if (strcmp(name, "--version") == 0) name = "version";
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) name = "help";
    int (*run)(cli_call_t *) = cli_command(name, &call);
    if (!run) {
        if (!*name)
            fprintf(stderr, "keel: no command; run `keel help` for a list\n");
        else
            fprintf(stderr, "keel: %s: unknown command; run `keel help` for a list\n", name);
        return CLI_USAGE;
    }
    call.arguments = words + 2;
    return run(&call);
}
