#include <stdio.h>

#include "cli/cli.h"
#include "journal/journal.h"
#include "report/report.h"

static keel_status_t read_stats(const char *run_dir, const char *run, keel_stats_t *out) {
    char *id;
    KEEL_TRY(keel_journal_find_run(run_dir, run, &id));
    keel_status_t status = keel_stats_read(run_dir, id, out);
    keel_free(id);
    return status;
}

static const char details[] =
    "RUN is a run's id or the beginning of it; without one, the newest run. A step is an "
    "execution\n"
    "of the programs whose module name does the most work; a run is flat from the step on after\n"
    "which no program was new.\n";

int cli_stats(cli_call_t *call) {
    bool json = false;
    int code;
    call->details = details;
    cli_switch(call, "--json", "print JSON", &json);
    cli_setting(call, KEEL_SETTING_RUN_DIR);
    if (!cli_parse(call, 0, 1, &code)) return code;
    keel_settings_t settings;
    keel_status_t status = keel_settings_load(call->flags, &settings);
    if (status) return cli_fail(status);
    keel_stats_t stats;
    status = cli_check_folder(&settings, KEEL_SETTING_RUN_DIR);
    if (!status)
        status =
            read_stats(keel_settings_text(&settings, KEEL_SETTING_RUN_DIR), call->rest[0], &stats);
    keel_settings_deinitialize(&settings);
    if (status) return cli_fail(status);
    keel_buffer_t out, damage;
    keel_buffer_initialize(&out, 0);
    keel_buffer_initialize(&damage, 0);
    if (json)
        keel_report_json(&stats, true, &out);
    else
        keel_report_text(&stats, &out);
    keel_report_damage(&stats, &damage);
    keel_stats_deinitialize(&stats);
    code = cli_answer(&out);
    if (damage.size) {
        fprintf(stderr, "keel: %s\n", keel_buffer_cstr(&damage));
        code = CLI_USAGE;
    }
    keel_buffer_deinitialize(&damage);
    return code;
}
