// The address of a Redis server, as the setting `agree` gives it:
//
//   redis://[USER@]HOST[:PORT][/DATABASE][?job=NAME]
//
// It has no password, because settings are shown and recorded: the variable REDISCLI_AUTH has it,
// as for redis-cli.
#ifndef KEEL_SETTINGS_ADDRESS_H_
#define KEEL_SETTINGS_ADDRESS_H_

#include "base/base.h"

#define KEEL_REDIS_SCHEME "redis://"

typedef struct keel_redis_address_t {
    char host[256]; // an IPv6 address without its brackets
    char user[128]; // ""
    char job[128];  // "": the environment names it
    uint16_t port;
    uint32_t database;
} keel_redis_address_t;

// NULL, or what is wrong with it, for a message that names the address: "has no host". A literal.
const char *keel_redis_address_parse(const char *text, keel_redis_address_t *out) KEEL_MUST_CHECK;

#endif // KEEL_SETTINGS_ADDRESS_H_
