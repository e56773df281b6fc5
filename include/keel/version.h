#ifndef KEEL_VERSION_H_
#define KEEL_VERSION_H_

#include "keel/status.h"

#ifdef __cplusplus
extern "C" {
#endif

// "0.1.0": the version of the library in use.
KEEL_API const char *keel_version(void);

#ifdef __cplusplus
}
#endif

#endif // KEEL_VERSION_H_
