// netrc: the user and the password for a host, as ~/.netrc has them for curl and others.
//
// Threads: any. Reads the environment.
#ifndef KEEL_COURIER_NETRC_H_
#define KEEL_COURIER_NETRC_H_

#include "base/base.h"

typedef struct netrc_t {
    char login[256];
    char password[4096];
} netrc_t;

// Of ~/.netrc, or the file that NETRC names. With a login in *out, its password; otherwise the
// first that the host has. False if there is none.
bool netrc_find(const char *host, netrc_t *out);
// The same of the file's text, for tests.
bool netrc_find_in(keel_str_t text, const char *host, netrc_t *out);

#endif // KEEL_COURIER_NETRC_H_
