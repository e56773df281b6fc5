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

#endif // KEEL_CLI_BUNDLE_H_
