// toolkit: the parts of the CUDA toolkit that a plugin links with, by their content. Which tools
// compile a program is in its options (key/toolkit.h).
//
// XLA compiles and links with libnvJitLink if the loader finds it: the one that is loaded, else one
// where the plugin's own search path, LD_LIBRARY_PATH or the system says. Otherwise it links with
// nvlink, which it looks for like its other tools.
//
// Threads: any.
#ifndef KEEL_PJRT_TOOLKIT_H_
#define KEEL_PJRT_TOOLKIT_H_

#include "base/base.h"

// A line for each: "toolkit.nvJitLink=<hex>". `plugin` is the path of its file. KEEL_UNSUPPORTED if
// one cannot be read.
keel_status_t keel_toolkit_of_plugin(const char *plugin, keel_buffer_t *out) KEEL_MUST_CHECK;

#endif // KEEL_PJRT_TOOLKIT_H_
