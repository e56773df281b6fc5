// toolkit: the tools of the CUDA toolkit that XLA compiles with, by their content.
//
// XLA takes PTX's assembler and the library of device functions from the folder that
// xla_gpu_cuda_data_dir names. If they are not there, it looks where CUDA_HOME, CUDA_PATH and
// CUDA_ROOT say, on the path, and in /usr/local/cuda and /opt/cuda; then all that are found count,
// since which of them XLA takes depends on their versions.
//
// Threads: any.
#ifndef KEEL_KEY_TOOLKIT_H_
#define KEEL_KEY_TOOLKIT_H_

#include "base/base.h"

// The assembler and the device functions, one line for each that was found: "toolkit.ptxas=<hex>".
// `folder` is what xla_gpu_cuda_data_dir names; "" if nothing does. KEEL_UNSUPPORTED if one cannot
// be read.
keel_status_t keel_toolkit_of_folder(keel_str_t folder, keel_buffer_t *out) KEEL_MUST_CHECK;

// A line for each of these files that exists, without repetitions: "NAME=<hex>".
typedef struct keel_tool_files_t {
    const char *name;
    uint32_t count;
    bool all; // all that exist; otherwise the first
    keel_digest_t found[8];
    keel_buffer_t *out;
} keel_tool_files_t;
keel_status_t keel_toolkit_add(keel_tool_files_t *files, const char *folder,
                               const char *file) KEEL_MUST_CHECK;
// The same in each folder of a list with colons; NULL is an empty one.
keel_status_t keel_toolkit_add_list(keel_tool_files_t *files, const char *folders,
                                    const char *file) KEEL_MUST_CHECK;
// In the folders of a toolkit that variables and XLA know.
keel_status_t keel_toolkit_add_known(keel_tool_files_t *files, const char *file) KEEL_MUST_CHECK;

#endif // KEEL_KEY_TOOLKIT_H_
