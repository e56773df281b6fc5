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

// Looks at the plugin and at the packages of a command's Python (NULL: it has none). Says in a
// line, unless `quiet`, what Keel was not tried with; KEEL_UNSUPPORTED where it cannot work.
keel_status_t cli_check_versions(const char *interpreter, const char *plugin,
                                 bool quiet) KEEL_MUST_CHECK;

#endif // KEEL_CLI_BUNDLE_H_
