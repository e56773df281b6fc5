#ifndef KEEL_VERSION_H_
#define KEEL_VERSION_H_

#include <stdint.h>

#include "keel/status.h"

#ifdef __cplusplus
extern "C" {
#endif

// Of this header: major * 10000 + minor * 100 + patch.
#define KEEL_VERSION_NUMBER 100

// "0.1.0": the version of the library in use.
KEEL_API const char *keel_version(void);
// The same as a number.
KEEL_API uint32_t keel_version_number(void);

// Whether the library fits the header that the caller was compiled with: until 1.0 their minor
// versions are equal. KEEL_INVALID: they are not; the message has both.
#define keel_version_check() keel_version_check_of(KEEL_VERSION_NUMBER)
KEEL_API keel_status_t keel_version_check_of(uint32_t header) KEEL_MUST_CHECK;

#ifdef __cplusplus
}
#endif

#endif // KEEL_VERSION_H_
