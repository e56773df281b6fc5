// Keel: XLA programs kept steady. This header includes all public ones.
#ifndef KEEL_KEEL_H_
#define KEEL_KEEL_H_

#include "keel/arrays.h"
#include "keel/complex.h"
#include "keel/model.h"
#include "keel/module.h"
#include "keel/random.h"
#include "keel/status.h"
#include "keel/tensor.h"
#include "keel/version.h"

#endif // KEEL_KEEL_H_
