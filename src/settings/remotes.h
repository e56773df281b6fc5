// Where compiled programs are shared beyond this machine, as the setting `remotes` says it: one or
// more, separated by blanks and asked in their order,
//
//   SCHEME://PLACE[|WORD]...
//
//   file:///mnt/keel                   a folder, mounted or not
//   http://HOST/PATH, https://...      a server that takes GET, HEAD and PUT, as WebDAV servers do
//   redis://HOST[:PORT][/DATABASE]     a Redis server; rediss:// is the same over TLS
//   s3://BUCKET[/PREFIX]               a bucket of S3, or of what speaks its language
//
//   read-write    what is compiled here is stored there too; otherwise it is only read
//   trusted       what it has is loaded without a trusted signature
//   timeout=TIME  how long a program may wait for it: 500ms, 2s; 5s without it
//   namespace=X   entries are below X there
//   ca=FILE       the certificates of authorities that vouch for an https or a rediss server
//   endpoint=URL  of S3: the server, if it is not Amazon's
//   region=NAME   of S3; AWS_REGION's or us-east-1 without it
//
// It has no user and no password, because settings are shown and recorded: ~/.netrc (or the file
// that NETRC names) has them, as for curl. (Redis: also a user in the address, and REDISCLI_AUTH.)
#ifndef KEEL_SETTINGS_REMOTES_H_
#define KEEL_SETTINGS_REMOTES_H_

#include "settings/address.h"

enum { KEEL_REMOTES_MOST = 6 };

typedef enum keel_remote_scheme {
    KEEL_REMOTE_FILE,
    KEEL_REMOTE_HTTP, // and https
    KEEL_REMOTE_REDIS,
    KEEL_REMOTE_S3,
} keel_remote_scheme_t;

typedef struct keel_remote_t {
    keel_remote_scheme_t scheme;
    char url[1024]; // without what follows "|", and without a slash at its end
    char space[128];
    char ca[512];
    char endpoint[512]; // of S3; without a slash at its end
    char region[64];    // of S3
    keel_redis_address_t redis;
    bool writes, trusted;
    bool is_secure;   // TLS
    uint64_t timeout; // nanoseconds
} keel_remote_t;

typedef struct keel_remotes_t {
    size_t count;
    keel_remote_t list[KEEL_REMOTES_MOST];
} keel_remotes_t;

// "" and "none": no remotes. KEEL_INVALID: the message says what is wrong, and of which remote.
keel_status_t keel_remotes_parse(const char *text, keel_remotes_t *out) KEEL_MUST_CHECK;

#endif // KEEL_SETTINGS_REMOTES_H_
