#include <stdio.h>

#include "cli/cli.h"
#include "journal/journal.h"
#include "text/text.h"

static keel_status_t read_stats(const char *run_dir, const char *run, keel_why_t *out) {
    char *id;
    KEEL_TRY(keel_journal_find_run(run_dir, run, &id));
    cli_analyze(run_dir, id);
    keel_status_t status = keel_why_read(run_dir, id, 0, out);
    keel_free(id);
    return status;
}

// ---- under other names -------------------------------------------------------------------------

typedef void write_t(const keel_metrics_t *metrics, const char *run, keel_buffer_t *out);

static void write_report(const keel_metrics_t *metrics, const char *run, keel_buffer_t *out) {
    (void)run;
    keel_metrics_report(metrics, out);
}

static keel_status_t write_metrics(const char *run_dir, const char *run, write_t *write,
                                   keel_buffer_t *out, keel_buffer_t *damaged) {
    char *id;
    keel_run_t read;
    KEEL_TRY(keel_journal_find_run(run_dir, run, &id));
    cli_analyze(run_dir, id);
    keel_status_t status = keel_run_read(run_dir, id, KEEL_RUN_MEMORY | KEEL_RUN_METRICS, &read);
    if (!status) {
        write(&read.metrics, id, out);
        keel_text_damage(&read, damaged);
        keel_run_deinitialize(&read);
    }
    keel_free(id);
    return status;
}

static keel_status_t write_stats(const char *run_dir, const char *run, bool json,
                                 keel_buffer_t *out, keel_buffer_t *damaged) {
    keel_why_t why;
    KEEL_TRY(read_stats(run_dir, run, &why));
    if (json)
        keel_text_stats_json(&why, true, out);
    else
        keel_text_stats(&why, cli_width(stdout), out);
    keel_text_damage(&why.run, damaged);
    keel_why_deinitialize(&why);
    return NULL;
}

// ---- the command -------------------------------------------------------------------------------

static const char details[] =
    "RUN is a run's id, the beginning of one, latest, or a file of `keel pack`; the default is\n"
    "the newest run. A step ends where the script marks it, or else is an execution of the\n"
    "programs whose module name does the most work. A run is flat from the step after which no\n"
    "program was new. During a run the figures of --metrics and --prometheus are also in its\n"
    "folder, in metrics.<pid>.json and .prom; docs/metrics.md lists their names.\n";

int cli_stats(cli_call_t *call) {
    bool json = false, metrics = false, prometheus = false;
    int code;
    call->details = details;
    cli_switch(call, "--json", "print JSON", &json);
    cli_switch(call, "--metrics", "use PyTorch/XLA's names", &metrics);
    cli_switch(call, "--prometheus", "use the Prometheus text format", &prometheus);
    cli_setting(call, KEEL_SETTING_RUN_DIR);
    if (!cli_parse(call, 0, 1, &code)) return code;
    if (!cli_take_packed_runs(call, NULL, &code)) return code;
    if (metrics && prometheus) return cli_misuse(call, "--metrics and --prometheus: choose one");
    if (prometheus && json) return cli_misuse(call, "--prometheus and --json: choose one");
    keel_settings_t settings;
    keel_status_t status = keel_settings_load(call->flags, &settings);
    if (status) return cli_fail(status);
    const char *run_dir = keel_settings_text(&settings, KEEL_SETTING_RUN_DIR);
    write_t *write = prometheus ? keel_metrics_prometheus : json ? keel_metrics_json : write_report;
    keel_buffer_t out, damaged;
    keel_buffer_initialize(&out, 0);
    keel_buffer_initialize(&damaged, 0);
    status = cli_check_folder(&settings, KEEL_SETTING_RUN_DIR);
    if (!status && (metrics || prometheus))
        status = write_metrics(run_dir, call->rest[0], write, &out, &damaged);
    else if (!status)
        status = write_stats(run_dir, call->rest[0], json, &out, &damaged);
    keel_settings_deinitialize(&settings);
    if (status) {
        keel_buffer_deinitialize(&out);
        code = cli_fail(status);
    } else {
        code = cli_answer(&out);
    }
    if (damaged.size) {
        fprintf(stderr, "keel: %s\n", keel_buffer_cstr(&damaged));
        code = CLI_USAGE;
    }
    keel_buffer_deinitialize(&damaged);
    return code;
}
