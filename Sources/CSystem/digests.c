// SHA-512 (FIPS 180-4 §6.4), SHA-1 (§6.1), MD5 (RFC 1321) and CRC-32 (ISO 3309), written as in their specifications,
// and the fingerprints of part files.
// SHA-1 and MD5 detect damage, not attacks. MD5 is unrolled, since object storage gets the MD5 of each part; the others only
// check files against published digests, and need not be fast.
#include "digest.h"

#include <string.h>

static const uint64_t K512[80] = {
    0x428a2f98d728ae22ULL, 0x7137449123ef65cdULL, 0xb5c0fbcfec4d3b2fULL, 0xe9b5dba58189dbbcULL, 0x3956c25bf348b538ULL, 0x59f111f1b605d019ULL,
    0x923f82a4af194f9bULL, 0xab1c5ed5da6d8118ULL, 0xd807aa98a3030242ULL, 0x12835b0145706fbeULL, 0x243185be4ee4b28cULL, 0x550c7dc3d5ffb4e2ULL,
    0x72be5d74f27b896fULL, 0x80deb1fe3b1696b1ULL, 0x9bdc06a725c71235ULL, 0xc19bf174cf692694ULL, 0xe49b69c19ef14ad2ULL, 0xefbe4786384f25e3ULL,
    0x0fc19dc68b8cd5b5ULL, 0x240ca1cc77ac9c65ULL, 0x2de92c6f592b0275ULL, 0x4a7484aa6ea6e483ULL, 0x5cb0a9dcbd41fbd4ULL, 0x76f988da831153b5ULL,
    0x983e5152ee66dfabULL, 0xa831c66d2db43210ULL, 0xb00327c898fb213fULL, 0xbf597fc7beef0ee4ULL, 0xc6e00bf33da88fc2ULL, 0xd5a79147930aa725ULL,
    0x06ca6351e003826fULL, 0x142929670a0e6e70ULL, 0x27b70a8546d22ffcULL, 0x2e1b21385c26c926ULL, 0x4d2c6dfc5ac42aedULL, 0x53380d139d95b3dfULL,
    0x650a73548baf63deULL, 0x766a0abb3c77b2a8ULL, 0x81c2c92e47edaee6ULL, 0x92722c851482353bULL, 0xa2bfe8a14cf10364ULL, 0xa81a664bbc423001ULL,
    0xc24b8b70d0f89791ULL, 0xc76c51a30654be30ULL, 0xd192e819d6ef5218ULL, 0xd69906245565a910ULL, 0xf40e35855771202aULL, 0x106aa07032bbd1b8ULL,
    0x19a4c116b8d2d0c8ULL, 0x1e376c085141ab53ULL, 0x2748774cdf8eeb99ULL, 0x34b0bcb5e19b48a8ULL, 0x391c0cb3c5c95a63ULL, 0x4ed8aa4ae3418acbULL,
    0x5b9cca4f7763e373ULL, 0x682e6ff3d6b2b8a3ULL, 0x748f82ee5defb2fcULL, 0x78a5636f43172f60ULL, 0x84c87814a1f0ab72ULL, 0x8cc702081a6439ecULL,
    0x90befffa23631e28ULL, 0xa4506cebde82bde9ULL, 0xbef9a3f7b2c67915ULL, 0xc67178f2e372532bULL, 0xca273eceea26619cULL, 0xd186b8c721c0c207ULL,
    0xeada7dd6cde0eb1eULL, 0xf57d4f7fee6ed178ULL, 0x06f067aa72176fbaULL, 0x0a637dc5a2c898a6ULL, 0x113f9804bef90daeULL, 0x1b710b35131c471bULL,
    0x28db77f523047d84ULL, 0x32caab7b40c72493ULL, 0x3c9ebe0a15c9bebcULL, 0x431d67c49c100d4cULL, 0x4cc5d4becb3e42b6ULL, 0x597f299cfc657e2aULL,
    0x5fcb6fab3ad6faecULL, 0x6c44198c4a475817ULL};

static inline uint64_t rotate_right_64(uint64_t x, int n) { return (x >> n) | (x << (64 - n)); }
static inline uint32_t rotate_left(uint32_t x, int n) { return (x << n) | (x >> (32 - n)); }

static inline uint64_t load_big_endian_64(const uint8_t *p) {
    uint64_t value = 0;
    for (int i = 0; i < 8; i++) value = value << 8 | p[i];
    return value;
}

static inline uint32_t load_big_endian_32(const uint8_t *p) {
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static inline uint32_t load_little_endian_32(const uint8_t *p) {
    return (uint32_t)p[3] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[1] << 8 | p[0];
}

static void compress_sha512(uint64_t *state, const uint8_t *bytes) {
    uint64_t w[80];
    for (int i = 0; i < 16; i++) w[i] = load_big_endian_64(bytes + 8 * i);
    for (int i = 16; i < 80; i++) {
        uint64_t s0 = rotate_right_64(w[i - 15], 1) ^ rotate_right_64(w[i - 15], 8) ^ (w[i - 15] >> 7);
        uint64_t s1 = rotate_right_64(w[i - 2], 19) ^ rotate_right_64(w[i - 2], 61) ^ (w[i - 2] >> 6);
        w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
    uint64_t v[8];
    memcpy(v, state, sizeof v);
    for (int i = 0; i < 80; i++) {
        uint64_t s1 = rotate_right_64(v[4], 14) ^ rotate_right_64(v[4], 18) ^ rotate_right_64(v[4], 41);
        uint64_t t1 = v[7] + s1 + ((v[4] & v[5]) ^ (~v[4] & v[6])) + K512[i] + w[i];
        uint64_t s0 = rotate_right_64(v[0], 28) ^ rotate_right_64(v[0], 34) ^ rotate_right_64(v[0], 39);
        uint64_t t2 = s0 + ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
        memmove(v + 1, v, 7 * sizeof v[0]);
        v[4] += t1;
        v[0] = t1 + t2;
    }
    for (int i = 0; i < 8; i++) state[i] += v[i];
}

static void compress_sha1(uint64_t *state, const uint8_t *bytes) {
    uint32_t w[80];
    for (int i = 0; i < 16; i++) w[i] = load_big_endian_32(bytes + 4 * i);
    for (int i = 16; i < 80; i++) w[i] = rotate_left(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
    uint32_t a = (uint32_t)state[0], b = (uint32_t)state[1], c = (uint32_t)state[2], d = (uint32_t)state[3], e = (uint32_t)state[4];
    for (int i = 0; i < 80; i++) {
        uint32_t f, k;
        if (i < 20)
            f = (b & c) | (~b & d), k = 0x5a827999;
        else if (i < 40)
            f = b ^ c ^ d, k = 0x6ed9eba1;
        else if (i < 60)
            f = (b & c) | (b & d) | (c & d), k = 0x8f1bbcdc;
        else
            f = b ^ c ^ d, k = 0xca62c1d6;
        uint32_t t = rotate_left(a, 5) + f + e + k + w[i];
        e = d, d = c, c = rotate_left(b, 30), b = a, a = t;
    }
    state[0] = (uint32_t)(state[0] + a), state[1] = (uint32_t)(state[1] + b), state[2] = (uint32_t)(state[2] + c);
    state[3] = (uint32_t)(state[3] + d), state[4] = (uint32_t)(state[4] + e);
}

static const uint32_t T[64] = {
    0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501, 0x698098d8, 0x8b44f7af, 0xffff5bb1,
    0x895cd7be, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821, 0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453,
    0xd8a1e681, 0xe7d3fbc8, 0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a, 0xfffa3942,
    0x8771f681, 0x6d9d6122, 0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70, 0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05,
    0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665, 0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d,
    0x85845dd1, 0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391};

// Four steps of a round, which begin with step I. The words are W, and F is the function of the round.
#define MD5_STEP(a, b, c, d, F, index, shift, I) a = b + rotate_left(a + T[I] + w[(index) % 16] + F(b, c, d), shift)
#define MD5_STEPS(F, first, step, s0, s1, s2, s3, I) \
    MD5_STEP(a, b, c, d, F, (first) + (step) * (I), s0, I), MD5_STEP(d, a, b, c, F, (first) + (step) * ((I) + 1), s1, (I) + 1), \
        MD5_STEP(c, d, a, b, F, (first) + (step) * ((I) + 2), s2, (I) + 2), \
        MD5_STEP(b, c, d, a, F, (first) + (step) * ((I) + 3), s3, (I) + 3)
#define MD5_F(b, c, d) ((d) ^ ((b) & ((c) ^ (d))))
// Both halves have no bit in common: a sum is computed sooner than an OR, since one half does not depend on the last step.
#define MD5_G(b, c, d) (((d) & (b)) + (~(d) & (c)))
#define MD5_H(b, c, d) ((b) ^ ((c) ^ (d)))
#define MD5_I(b, c, d) ((c) ^ ((b) | ~(d)))

static void compress_md5(uint64_t *state, const uint8_t *bytes) {
    uint32_t w[16];
    for (int i = 0; i < 16; i++) w[i] = load_little_endian_32(bytes + 4 * i);
    uint32_t a = (uint32_t)state[0], b = (uint32_t)state[1], c = (uint32_t)state[2], d = (uint32_t)state[3];
    for (int i = 0; i < 16; i += 4) MD5_STEPS(MD5_F, 0, 1, 7, 12, 17, 22, i);
    for (int i = 16; i < 32; i += 4) MD5_STEPS(MD5_G, 1, 5, 5, 9, 14, 20, i);
    for (int i = 32; i < 48; i += 4) MD5_STEPS(MD5_H, 5, 3, 4, 11, 16, 23, i);
    for (int i = 48; i < 64; i += 4) MD5_STEPS(MD5_I, 0, 7, 6, 10, 15, 21, i);
    state[0] = (uint32_t)(state[0] + a), state[1] = (uint32_t)(state[1] + b);
    state[2] = (uint32_t)(state[2] + c), state[3] = (uint32_t)(state[3] + d);
}

static void compress(pawl_digest *digest, const uint8_t *bytes) {
    switch (digest->kind) {
    case PAWL_SHA512: compress_sha512(digest->state, bytes); break;
    case PAWL_SHA1: compress_sha1(digest->state, bytes); break;
    case PAWL_MD5: compress_md5(digest->state, bytes); break;
    }
}

static size_t block_size(const pawl_digest *digest) { return digest->kind == PAWL_SHA512 ? 128 : 64; }

void pawl_digest_init(pawl_digest *digest, pawl_digest_kind kind) {
    static const uint64_t sha512[8] = {
        0x6a09e667f3bcc908ULL, 0xbb67ae8584caa73bULL, 0x3c6ef372fe94f82bULL, 0xa54ff53a5f1d36f1ULL,
        0x510e527fade682d1ULL, 0x9b05688c2b3e6c1fULL, 0x1f83d9abfb41bd6bULL, 0x5be0cd19137e2179ULL};
    static const uint64_t others[8] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
    memset(digest, 0, sizeof *digest);
    digest->kind = kind;
    memcpy(digest->state, kind == PAWL_SHA512 ? sha512 : others, sizeof sha512);
}

void pawl_digest_update(pawl_digest *digest, const void *input, size_t count) {
    const uint8_t *bytes = input;
    size_t size = block_size(digest);
    size_t held = digest->length % size;
    digest->length += count;
    while (count) {
        if (!held && count >= size) {
            compress(digest, bytes);
            bytes += size, count -= size;
            continue;
        }
        size_t taken = count < size - held ? count : size - held;
        memcpy(digest->block + held, bytes, taken);
        held += taken, bytes += taken, count -= taken;
        if (held == size) {
            compress(digest, digest->block);
            held = 0;
        }
    }
}

size_t pawl_digest_final(pawl_digest *digest, uint8_t out[64]) {
    size_t size = block_size(digest), width = size / 8;
    uint64_t bits = digest->length * 8;
    // A one bit, then zeros up to the length, which has two words. No file is long enough to need the upper word.
    uint8_t tail[256] = {0x80};
    size_t padding = size - (digest->length + width) % size;
    if (padding < 1) padding += size;
    size_t end = padding + width;
    for (int i = 0; i < 8; i++) tail[digest->kind == PAWL_MD5 ? end - 8 + i : end - 1 - i] = (uint8_t)(bits >> (8 * i));
    pawl_digest_update(digest, tail, end);
    size_t count = digest->kind == PAWL_SHA512 ? 64 : digest->kind == PAWL_SHA1 ? 20 : 16;
    size_t word = digest->kind == PAWL_SHA512 ? 8 : 4;
    for (size_t i = 0; i < count; i++) {
        size_t place = i % word;
        size_t shift = 8 * (digest->kind == PAWL_MD5 ? place : word - 1 - place);
        out[i] = (uint8_t)(digest->state[i / word] >> shift);
    }
    return count;
}

uint32_t pawl_crc32(uint32_t crc, const void *input, size_t count) {
    // The CRC of each four-bit value. Half a byte at a time needs only a small table.
    static const uint32_t nibbles[16] = {0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c,
                                         0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c, 0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c};
    const uint8_t *bytes = input;
    crc = ~crc;
    for (size_t i = 0; i < count; i++) {
        crc = nibbles[(crc ^ bytes[i]) & 15] ^ (crc >> 4);
        crc = nibbles[(crc ^ (bytes[i] >> 4)) & 15] ^ (crc >> 4);
    }
    return ~crc;
}

// Each half of a 64-bit word is multiplied by a key that depends on the word's position (multilinear hashing: Lemire and
// Kaser, "Strongly universal string hashing is fast", 2014). A word with some bytes missing has zeros in their
// place, so pieces need not begin or end at a word.
static inline uint64_t fingerprint_of_word(uint64_t word, uint64_t index) {
    uint64_t key = (index + 1) * 0x9e3779b97f4a7c15ULL;
    uint64_t other = (key >> 32 | key << 32) ^ 0x94d049bb133111ebULL;
    return (word & 0xffffffffULL) * (key | 1) + (word >> 32) * (other | 1);
}

static inline uint64_t load_little_endian_64(const uint8_t *p) {
    return (uint64_t)load_little_endian_32(p) | (uint64_t)load_little_endian_32(p + 4) << 32;
}

uint64_t pawl_fingerprint(const void *bytes, size_t count, uint64_t offset) {
    const uint8_t *p = bytes;
    uint64_t sum = 0;
    for (; count > 0 && offset % 8 != 0; count--, offset++) {
        sum += fingerprint_of_word((uint64_t)*p++ << offset % 8 * 8, offset / 8);
    }
    for (; count >= 8; count -= 8, offset += 8, p += 8) sum += fingerprint_of_word(load_little_endian_64(p), offset / 8);
    for (; count > 0; count--, offset++) sum += fingerprint_of_word((uint64_t)*p++ << offset % 8 * 8, offset / 8);
    return sum;
}
