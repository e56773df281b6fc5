// keel smoke: a command runs twice, and the second time must compile nothing. Variations of it show
// what changes which program.
#include "cli/smoke.h"

bool smoke_is_named(const char *variation, const char *name) {
    size_t size = strlen(name);
    return variation && strncmp(variation, name, size) == 0 && variation[size] == '=';
}

const char *smoke_value_of(const char *variation) {
    return strchr(variation, '=') + 1;
}

static keel_status_t check_target(const char *on) {
    keel_target_t target;
    keel_status_t status = keel_target_read(on, &target);
    keel_target_deinitialize(&target);
    return status;
}

static keel_status_t check_devices(const smoke_t *smoke, const char *number) {
    const char *flags[KEEL_SETTING_COUNT];
    keel_settings_t settings;
    memcpy(flags, smoke->call->flags, sizeof flags);
    flags[KEEL_SETTING_CPU_DEVICES] = number;
    KEEL_TRY(keel_settings_load(flags, &settings));
    keel_settings_deinitialize(&settings);
    return NULL;
}

// What no run could be started with is said once, before the first.
static keel_status_t check(const smoke_t *smoke) {
    keel_status_t status = smoke->on ? check_target(smoke->on) : NULL;
    for (size_t i = 2; i < smoke->count && !status; ++i) {
        const char *variation = smoke->runs[i].variation;
        if (smoke_is_named(variation, "on")) status = check_target(smoke_value_of(variation));
        if (smoke_is_named(variation, "devices"))
            status = check_devices(smoke, smoke_value_of(variation));
        status = keel_status_annotate(status, "--vary %s", variation);
    }
    return status;
}

static int smoke_all(smoke_t *smoke) {
    int code = CLI_OK;
    keel_status_t status = check(smoke);
    if (status) return cli_fail(status);
    status = smoke_run_all(smoke, &code);
    bool is_absent = keel_status_code(status) == KEEL_NOT_FOUND; // nothing was recorded
    if (status) code = cli_fail(status);
    if (status) return is_absent ? CLI_UNSEEN : code;
    return code == CLI_OK ? smoke_answer(smoke) : code;
}

// Takes each --vary out of the words before the command; it may stand several times.
static bool take_variations(smoke_t *smoke, int *out_code) {
    char **kept = smoke->call->arguments, **word = kept;
    while (*word) {
        bool is_joined = strncmp(*word, "--vary=", 7) == 0;
        if (!is_joined && strcmp(*word, "--vary") != 0) {
            *kept++ = *word++;
            continue;
        }
        const char *spec = is_joined ? *word + 7 : word[1];
        const char *equals = spec ? strchr(spec, '=') : NULL;
        if (!equals || equals == spec || smoke->count == 2 + SMOKE_MOST_VARIATIONS) {
            *out_code = cli_misuse(smoke->call, smoke->count == 2 + SMOKE_MOST_VARIATIONS
                                                    ? "--vary: too many variations"
                                                    : "--vary: write NAME=ARGS, as in "
                                                      "--vary 'batch=-b 4'");
            return false;
        }
        smoke->runs[smoke->count++].variation = spec;
        word += is_joined ? 1 : 2;
    }
    *kept = NULL;
    return true;
}

static const char details[] =
    "If the second run compiles nothing, another process asks for the same programs. Both begin\n"
    "with an empty cache and an empty folder of runs, without XLA_FLAGS and LIBTPU_INIT_ARGS, and\n"
    "with PYTHONHASHSEED=0 and KEEL_SMOKE=1, so that a script can do less. With --on both are\n"
    "rehearsed at the same time, without a device; the second must ask for the same programs.\n\n"
    "--vary runs the command once more with ARGS after its own, and says which programs differ\n"
    "and why. NAME appears in the answer. Three names have a meaning: flags=FLAGS sets XLA_FLAGS,\n"
    "devices=N the number of CPU devices, on=TARGET the target. --vary may be repeated.\n\n"
    "The exit code is 1 if the second run compiled something, or else that of a command that "
    "failed;\n"
    "4 if there was no program, or if some were loaded from elsewhere.\n";

int cli_smoke(cli_call_t *call) {
    smoke_t smoke = {.call = call, .count = 2};
    const char *vary = NULL;
    int code;
    char **words = call->arguments;
    while (*words && strcmp(*words, "--") != 0)
        ++words;
    if (*words) *words++ = NULL;
    call->details = details;
    if (!take_variations(&smoke, &code)) return code;
    cli_text(call, "--on", "TARGET", "rehearse on this device (`keel rehearse`)", &smoke.on);
    cli_text(call, "--vary", "NAME=ARGS", "run once more with these arguments too", &vary);
    cli_switch(call, "--json", "print JSON", &smoke.json);
    cli_setting(call, KEEL_SETTING_PLUGIN);
    cli_setting(call, KEEL_SETTING_RUN_DIR);
    cli_setting(call, KEEL_SETTING_CPU_DEVICES);
    if (!cli_parse(call, 0, 0, &code)) return code;
    if (!*words || !**words)
        return cli_misuse(call, "no command; put it after --: keel smoke -- python train.py");
    smoke.command = words;
    smoke.plugin = call->flags[KEEL_SETTING_PLUGIN];
    smoke.devices = call->flags[KEEL_SETTING_CPU_DEVICES];
    code = smoke_all(&smoke);
    smoke_release(&smoke);
    return code;
}
