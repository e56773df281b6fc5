// dumps: whether XLA should write dumps of what it compiles.
#ifndef KEEL_ENGINE_DUMPS_H_
#define KEEL_ENGINE_DUMPS_H_

#include "base/base.h"

// The flag that asks for dumps in XLA_FLAGS or LIBTPU_INIT_ARGS, read once: XLA reads them only
// once too. NULL if there is none. Any thread.
const char *dumps_of_process(void);
// The same for one program, compiled with these options. Says so once on stderr.
const char *dumps_of_program(keel_bytes_t options);

#endif // KEEL_ENGINE_DUMPS_H_
