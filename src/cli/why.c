#include <stdio.h>

#include "cli/cli.h"
#include "text/text.h"

static keel_status_t read_why(const char *run_dir, const char *run, unsigned parts,
                              keel_why_t *out) {
    char *id;
    KEEL_TRY(keel_journal_find_run(run_dir, run, &id));
    cli_analyze(run_dir, id);
    keel_status_t status = keel_why_read(run_dir, id, parts, out);
    keel_free(id);
    return status;
}

static const char details[] =
    "RUN is a run's id, the beginning of one, latest, or a file of `keel pack`; the default is\n"
    "the newest run. Each item says what changed, where, what it cost and what to do, the most\n"
    "expensive first. `keel explain` has a page for each cause.\n";

int cli_why(cli_call_t *call) {
    bool json = false, all = false, first = false;
    const char *program = NULL;
    int code;
    call->details = details;
    cli_switch(call, "--json", "print JSON: a list of recompiles, oldest first", &json);
    cli_switch(call, "--all", "shorten nothing; show first compiles and loads too", &all);
    cli_switch(call, "--first", "where the time of the start went, and what makes programs large",
               &first);
    cli_text(call, "--program", "DIGEST", "print the item of this program alone", &program);
    cli_setting(call, KEEL_SETTING_RUN_DIR);
    if (!cli_parse(call, 0, 1, &code)) return code;
    if (!cli_take_packed_runs(call, NULL, &code)) return code;
    if (program && json)
        return cli_fail(keel_status_make(KEEL_INVALID, "--program and --json: use one of them"));
    if (program && first)
        return cli_fail(keel_status_make(KEEL_INVALID, "--program and --first: use one of them"));
    keel_settings_t settings;
    keel_status_t status = keel_settings_load(call->flags, &settings);
    if (status) return cli_fail(status);
    keel_why_t why;
    status = cli_check_folder(&settings, KEEL_SETTING_RUN_DIR);
    if (!status && first) {
        code = cli_why_first(keel_settings_text(&settings, KEEL_SETTING_RUN_DIR), call->rest[0],
                             json, all);
        keel_settings_deinitialize(&settings);
        return code;
    }
    if (!status)
        status = read_why(keel_settings_text(&settings, KEEL_SETTING_RUN_DIR), call->rest[0],
                          json || all || program ? KEEL_RUN_DETAILS : 0, &why);
    keel_settings_deinitialize(&settings);
    if (status) return cli_fail(status);
    keel_buffer_t out, damage;
    keel_buffer_initialize(&out, 0);
    keel_buffer_initialize(&damage, 0);
    const keel_text_style_t style = {
        .all = all, .color = cli_is_colored(stdout), .width = all ? 0 : cli_width(stdout)};
    if (json)
        keel_text_why_json(&why, all, &out);
    else if (program)
        keel_text_why_program(&why, program, &style, &out);
    else
        keel_text_why(&why, &style, &out);
    keel_text_damage(&why.run, &damage);
    keel_why_deinitialize(&why);
    code = cli_answer(&out);
    if (damage.size) {
        fprintf(stderr, "keel: %s\n", keel_buffer_cstr(&damage));
        code = CLI_USAGE;
    }
    keel_buffer_deinitialize(&damage);
    return code;
}
