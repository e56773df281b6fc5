// error: PJRT errors that Keel makes. Clients pass them to the error functions of a plugin's table,
// so whoever offers a table must recognize them first (shim/errors.c).
//
// Threads: any. The list of live errors is the process's: an error is known by its pointer alone,
// whichever engine made it.
#ifndef KEEL_PJRT_ERROR_H_
#define KEEL_PJRT_ERROR_H_

#include "pjrt/pjrt.h"

// Takes the status; never NULL. Without memory, it is an error that says so.
PJRT_Error *keel_pjrt_error(keel_status_t status);
// The same with a code of its own, such as that of a compiler in another process.
PJRT_Error *keel_pjrt_error_as(PJRT_Error_Code code, keel_status_t status);

// The functions below return false and do nothing if the error is not Keel's.
bool keel_pjrt_error_is_own(const PJRT_Error *error);
// The text lives as long as the error.
bool keel_pjrt_error_message(const PJRT_Error *error, keel_str_t *out);
bool keel_pjrt_error_number(const PJRT_Error *error, PJRT_Error_Code *out);
bool keel_pjrt_error_destroy(PJRT_Error *error);

#endif // KEEL_PJRT_ERROR_H_
