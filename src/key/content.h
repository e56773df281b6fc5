// The content of a file or folder that a flag or a compile option names: a path alone says too
// little.
#ifndef KEEL_KEY_CONTENT_H_
#define KEEL_KEY_CONTENT_H_

#include "base/base.h"

// If `value` is the path of a file, absolute or relative to the current folder, as the compiler
// resolves it: '#' and the digest of its content in hex. For a folder whose path has a slash: '#'
// and a digest of all names in it and below, with their files' sizes and contents, or beyond 64 MiB
// of content, their times. Nothing if it does not exist or is neither. KEEL_UNSUPPORTED, so that
// nothing is cached, if it cannot be read, or a file is larger than 4 GiB or a folder has more than
// 100,000 names.
keel_status_t keel_key_content(keel_str_t value, keel_buffer_t *out) KEEL_MUST_CHECK;

#endif // KEEL_KEY_CONTENT_H_
