// mlir_older: versions of operations that only add something to the version before. A client writes
// the newest one that the plugin can read. So that a program is the same for every plugin, an
// operation that says nothing with the addition becomes one of the older version, without it. What
// VHLO 1.13 or an earlier one added stays: plugins that need less are not in use.
#ifndef KEEL_READ_MLIR_OLDER_H_
#define KEEL_READ_MLIR_OLDER_H_

#include "read/mlir_merge.h"

// Adds the older versions of the file's operations to the program's names.
keel_status_t keel_mlir_name_older(keel_mlir_t *m) KEEL_MUST_CHECK;

// `number` is the operation's name in the file; its results, attributes and regions are known.
keel_status_t keel_mlir_make_older(keel_mlir_merger_t *merger, uint32_t number,
                                   keel_operation_t *operation) KEEL_MUST_CHECK;

#endif // KEEL_READ_MLIR_OLDER_H_
