// The digest of large bytes. The expected values are BLAKE3's: its own library gave them for the
// bytes 0 to 250, again and again, as its published test vectors do.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/base.h"

typedef struct vector_t {
    size_t size;
    const char *digest;
} vector_t;

// Around blocks, chunks, what is hashed at once, and the pieces of the tree.
static const vector_t vectors[] = {
    {0, "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262"},
    {1, "2d3adedff11b61f14c886e35afa036736dcd87a74d27b5c1510225d0f592e213"},
    {64, "4eed7141ea4a5cd4b788606bd23f46e212af9cacebacdc7d1f4c6dc7f2511b98"},
    {65, "de1e5fa0be70df6d2be8fffd0e99ceaa8eb6e8c93a63f2d8d1c30ecb6b263dee"},
    {1023, "10108970eeda3eb932baac1428c7a2163b0e924c9a9e25b35bba72b28f70bd11"},
    {1024, "42214739f095a406f3fc83deb889744ac00df831c10daa55189b5d121c855af7"},
    {1025, "d00278ae47eb27b34faecf67b4fe263f82d5412916c1ffd97c8cb7fb814b8444"},
    {2048, "e776b6028c7cd22a4d0ba182a8bf62205d2ef576467e838ed6f2529b85fba24a"},
    {3073, "7124b49501012f81cc7f11ca069ec9226cecb8a2c850cfe644e327d22d3e1cd3"},
    {8192, "aae792484c8efe4f19e2ca7d371d8c467ffb10748d8a5a1ae579948f718a2a63"},
    {8193, "bab6c09cb8ce8cf459261398d2e7aef35700bf488116ceb94a36d0f5f1b7bc3b"},
    {31744, "62b6960e1a44bcc1eb1a611a8d6235b6b4b78f32e7abc4fb4c6cdcce94895c47"},
    {262143, "4fbb10c248894f1b56ec8298555b96e597147150a061b1cf1af19f16dbc0557b"},
    {262144, "d57dc906e20d3fd326ffaa85535500486f46a0979f5a323f028dcabfd381fd4a"},
    {262145, "531c319935cf78f34869faebd865e5748266b1799039103bfb851a680d9ed30c"},
    {524289, "7978ac1ee80f7f7c115d25551f9c54cb3a2974cfcb8f5ab93de706350d143286"},
    {786433, "5599c118148036c9342db6d8be1d586d21948df6ace7479efb33c6ff37c47ef5"},
    {1048577, "2f053cd7472cf0cd2f9adaf45c1180255b91b9a865404a63671a0ee5f792ed33"},
};

static void the_digest_of_large_bytes_is_that_of_blake3_by_whatever_code(void **state) {
    (void)state;
    size_t most = 0, count = sizeof vectors / sizeof *vectors;
    for (size_t i = 0; i < count; ++i)
        if (vectors[i].size > most) most = vectors[i].size;
    uint8_t *bytes = malloc(most);
    assert_non_null(bytes);
    for (size_t i = 0; i < most; ++i)
        bytes[i] = (uint8_t)(i % 251);
    for (int code = KEEL_BULK_FASTEST; code <= KEEL_BULK_ANYWHERE; ++code) {
        for (size_t i = 0; i < count; ++i) {
            char hex[KEEL_DIGEST_HEX];
            // At the end, so that the address sanitizer sees what is read behind it.
            const uint8_t *at = bytes + most - vectors[i].size;
            memmove(bytes + most - vectors[i].size, bytes, vectors[i].size);
            keel_digest_t digest =
                keel_bulk_digest_by((keel_bulk_code_t)code, keel_bytes(at, vectors[i].size));
            keel_digest_hex(&digest, hex);
            assert_string_equal(hex, vectors[i].digest);
            for (size_t j = 0; j < most; ++j)
                bytes[j] = (uint8_t)(j % 251);
        }
    }
    free(bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_digest_of_large_bytes_is_that_of_blake3_by_whatever_code),
    };
    return cmocka_run_group_tests_name("base_bulk", tests, NULL, NULL);
}
