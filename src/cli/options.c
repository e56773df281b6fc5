#include <stdio.h>
#include <stdlib.h>

#include "cli/cli.h"

static cli_option_t *add_option(cli_call_t *call, const char *name, const char *argument,
                                const char *sentence) {
    if (call->option_count == CLI_OPTIONS) abort(); // a bug in the subcommand
    cli_option_t *option = &call->options[call->option_count++];
    *option = (cli_option_t){.name = name, .argument = argument, .sentence = sentence};
    return option;
}

void cli_switch(cli_call_t *call, const char *name, const char *sentence, bool *given) {
    add_option(call, name, NULL, sentence)->given = given;
}

void cli_text(cli_call_t *call, const char *name, const char *argument, const char *sentence,
              const char **text) {
    add_option(call, name, argument, sentence)->text = text;
}

void cli_text_or(cli_call_t *call, const char *name, const char *argument, const char *alone,
                 const char *sentence, const char **text) {
    cli_option_t *option = add_option(call, name, argument, sentence);
    option->text = text;
    option->alone = alone;
}

void cli_setting(cli_call_t *call, keel_setting_t setting) {
    const keel_setting_facts_t *facts = keel_setting_facts(setting);
    cli_text(call, facts->flag, facts->argument, facts->sentence, &call->flags[setting]);
}

static const cli_option_t *find_option(const cli_call_t *call, const char *word, size_t length) {
    for (size_t i = 0; i < call->option_count; ++i) {
        const char *name = call->options[i].name;
        if (strlen(name) == length && strncmp(name, word, length) == 0) return &call->options[i];
    }
    return NULL;
}

// ---- help --------------------------------------------------------------------------------------

static void print_option(keel_buffer_t *out, const char *name, const char *argument,
                         const char *sentence) {
    char left[64];
    bool apart = argument && argument[0] != '[';
    snprintf(left, sizeof left, "%s%s%s", name, apart ? " " : "", argument ? argument : "");
    keel_buffer_format(out, "  %-22s ", left);
    if (strlen(left) > 22) keel_buffer_format(out, "\n%25s", "");
    keel_buffer_format(out, "%s\n", sentence);
}

static int print_help(const cli_call_t *call) {
    keel_buffer_t out;
    keel_buffer_initialize(&out, 0);
    keel_buffer_format(&out, "usage: keel %s %s\n", call->name, call->usage);
    keel_buffer_byte(&out, (uint8_t)(call->sentence[0] - 'a' + 'A'));
    keel_buffer_format(&out, "%s.\n\noptions:\n", call->sentence + 1);
    for (size_t i = 0; i < call->option_count; ++i)
        print_option(&out, call->options[i].name, call->options[i].argument,
                     call->options[i].sentence);
    print_option(&out, "--help", NULL, "print this");
    if (call->details) keel_buffer_format(&out, "\n%s", call->details);
    return cli_answer(&out);
}

// ---- parsing -----------------------------------------------------------------------------------

static bool stop(int *out_code, int code) {
    *out_code = code;
    return false;
}

// Takes one option and its argument; moves *word past them.
static bool take_option(cli_call_t *call, char ***word, int *out_code) {
    const char *text = **word;
    size_t length = strcspn(text, "=");
    const cli_option_t *option = find_option(call, text, length);
    if (!option) return stop(out_code, cli_misuse(call, "%.*s: unknown option", (int)length, text));
    ++*word;
    if (!option->argument) {
        if (text[length])
            return stop(out_code, cli_misuse(call, "%s: takes no argument", option->name));
        *option->given = true;
        return true;
    }
    if (option->alone && !text[length]) {
        *option->text = option->alone;
        return true;
    }
    const char *argument = text[length] ? text + length + 1 : **word;
    if (!argument || (!text[length] && strcmp(argument, "--") == 0))
        return stop(out_code,
                    cli_misuse(call, "%s: %s is missing", option->name, option->argument));
    if (!text[length]) ++*word;
    *option->text = argument;
    return true;
}

bool cli_parse(cli_call_t *call, int least, int most, int *out_code) {
    char **word = call->arguments;
    char **kept = call->arguments; // positional ones are moved to the front
    call->rest = kept;
    bool options = true;
    while (*word) {
        if (options && strcmp(*word, "--") == 0) {
            options = false;
            ++word;
        } else if (options && (strcmp(*word, "--help") == 0 || strcmp(*word, "-h") == 0)) {
            return stop(out_code, print_help(call));
        } else if (options && (*word)[0] == '-' && (*word)[1]) {
            if (!take_option(call, &word, out_code)) return false;
        } else if (most < 0) {
            break;
        } else {
            *kept++ = *word++;
        }
    }
    if (most < 0)
        call->rest = kept = word;
    else
        *kept = NULL;
    if (most < 0)
        while (*kept)
            ++kept;
    call->rest_count = (int)(kept - call->rest);
    if (call->rest_count < least)
        return stop(out_code, cli_misuse(call, "missing argument: %s", call->usage));
    if (most >= 0 && call->rest_count > most)
        return stop(out_code, cli_misuse(call, "%s: one argument too many", call->rest[most]));
    // An unset shell variable gives "", which would be the beginning of every name.
    for (int i = 0; i < call->rest_count && i < most; ++i)
        if (!*call->rest[i])
            return stop(out_code, cli_misuse(call, "argument %d is empty: %s", i + 1, call->usage));
    return true;
}
