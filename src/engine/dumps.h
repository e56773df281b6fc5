// dumps: whether XLA is asked to write dumps of what it compiles.
#ifndef KEEL_ENGINE_DUMPS_H_
#define KEEL_ENGINE_DUMPS_H_

#include "base/base.h"

// The flag that asks, of XLA_FLAGS and LIBTPU_INIT_ARGS as they were when they were first looked
// at: XLA reads them once too. NULL where none does. Any thread.
const char *dumps_of_process(void);
// The same for one program, compiled with these options. Says so once on stderr.
const char *dumps_of_program(keel_bytes_t options);

#endif // KEEL_ENGINE_DUMPS_H_
