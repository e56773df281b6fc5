#include "analysis/analysis.h"
#include "cli/cli.h"

void cli_analyze(const char *run_dir, const char *id) {
    cli_progress_begin("explaining the run's programs");
    keel_status_t status = keel_analysis_ensure(run_dir, id);
    cli_progress_end();
    if (!status) return;
    cli_say("run %s is not explained: %s; explanations are missing below", id,
            keel_status_message(status));
    keel_status_ignore(status);
}
