// kept: what of Keel's own stays when what a rehearsed command wrote is discarded.
#ifndef KEEL_CLI_KEPT_H_
#define KEEL_CLI_KEPT_H_

#include "cli/cli.h"
#include "view/view.h"

enum { CLI_KEPT = 16 };

typedef struct cli_kept_t {
    const char *folders[CLI_KEPT]; // ends with NULL
    size_t count;
} cli_kept_t;

// The folders that are the real ones in the view: those that Keel writes to, and `others`, which
// ends with NULL. KEEL_UNSUPPORTED if the user has files in one of Keel's. Release it with
// cli_kept_deinitialize, also after a failure.
keel_status_t cli_kept_find(const keel_settings_t *settings, const char *const *others,
                            cli_kept_t *out) KEEL_MUST_CHECK;
void cli_kept_deinitialize(cli_kept_t *kept);

// Moves the runs that the command recorded by a `keel run` of its own from the view to `run_dir`.
keel_status_t cli_kept_runs(const keel_view_t *view, const char *run_dir) KEEL_MUST_CHECK;

#endif // KEEL_CLI_KEPT_H_
