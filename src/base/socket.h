// Unix sockets in a folder, and lines that are sent over them within a time. The folder's path may
// be longer than a socket's address.
//
// Threads: any.
#ifndef KEEL_BASE_SOCKET_H_
#define KEEL_BASE_SOCKET_H_

#include "base/buffer.h"

// The caller closes the descriptor. KEEL_NOT_FOUND: nobody listens there.
keel_status_t keel_socket_connect(const char *folder, const char *name, int *out) KEEL_MUST_CHECK;
// What has that name is replaced: the caller knows that nobody listens there.
keel_status_t keel_socket_listen(const char *folder, const char *name, int *out) KEEL_MUST_CHECK;
// Until that time of keel_clock_monotonic. False if the other end is gone, or too late.
bool keel_socket_send(int socket, keel_bytes_t bytes, uint64_t until);
// A whole line, without its newline, into `out`, which is as long as a line may be. False if it
// does not come until then.
bool keel_socket_line(int socket, uint64_t until, keel_buffer_t *out);

#endif // KEEL_BASE_SOCKET_H_
