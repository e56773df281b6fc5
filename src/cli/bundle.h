// The parts of `keel bundle`.
//
//   bundle.c        the command; the bundle of this machine
//   bundle_diff.c   two bundles
//   bundle_gate.c   `keel run` before it starts its command
#ifndef KEEL_CLI_BUNDLE_H_
#define KEEL_CLI_BUNDLE_H_

#include "bundle/bundle.h"
#include "cli/cli.h"

int cli_bundle_diff(cli_call_t *call);

// Checks the plugin, and the packages of a command's Python (NULL: it has none). Unless `quiet`,
// prints a line about a version that Keel was not tested with. KEEL_UNSUPPORTED if it cannot work.
keel_status_t cli_check_versions(const char *interpreter, const char *plugin,
                                 bool quiet) KEEL_MUST_CHECK;

#endif // KEEL_CLI_BUNDLE_H_
