// SHA-256 (FIPS 180-4), incremental; uses the x86 SHA extensions where the processor has them.
#ifndef PAWL_DIGEST_H
#define PAWL_DIGEST_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
    uint32_t state[8];
    uint64_t length;
    uint8_t block[64];
} pawl_sha256;

void pawl_sha256_init(pawl_sha256 *digest);
void pawl_sha256_update(pawl_sha256 *digest, const void *bytes, size_t count);
// Adds the same bytes to two digests, for little more than the cost of one.
void pawl_sha256_update_both(pawl_sha256 *first, pawl_sha256 *second, const void *bytes, size_t count);
void pawl_sha256_final(pawl_sha256 *digest, uint8_t out[32]);

// Whether the accelerated path is in use, and a switch to force the portable path, so that tests can compare both.
int pawl_sha256_is_accelerated(void);
void pawl_sha256_force_portable(int portable);

// Further incremental digests by which published files are checked.
typedef enum { PAWL_SHA512, PAWL_SHA1, PAWL_MD5 } pawl_digest_kind;

typedef struct {
    uint64_t state[8];
    uint64_t length;
    uint8_t block[128];
    pawl_digest_kind kind;
} pawl_digest;

void pawl_digest_init(pawl_digest *digest, pawl_digest_kind kind);
void pawl_digest_update(pawl_digest *digest, const void *bytes, size_t count);
// Ends the digest; returns the number of bytes in `out`: 64, 20 or 16.
size_t pawl_digest_final(pawl_digest *digest, uint8_t out[64]);

// Fingerprint of bytes at an offset of a file. The fingerprint of several pieces is the sum of theirs, in any order.
uint64_t pawl_fingerprint(const void *bytes, size_t count, uint64_t offset);

// CRC-32 (ISO 3309) of bytes that follow those with the checksum `crc`, which is 0 at the beginning.
uint32_t pawl_crc32(uint32_t crc, const void *bytes, size_t count);

#endif
