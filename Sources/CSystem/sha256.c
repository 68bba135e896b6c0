// SHA-256 as in FIPS 180-4 §6.2, and with the x86 SHA extensions.
#include "digest.h"

#include <stdatomic.h>
#include <string.h>

static const uint32_t K[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be,
    0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa,
    0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85,
    0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3,
    0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f,
    0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static inline uint32_t rotate(uint32_t x, int n) { return (x >> n) | (x << (32 - n)); }

static inline uint32_t load_big_endian(const uint8_t *p) {
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static void compress_portable(uint32_t state[8], const uint8_t *bytes, size_t blocks) {
    while (blocks--) {
        uint32_t w[64];
        for (int i = 0; i < 16; i++) w[i] = load_big_endian(bytes + 4 * i);
        for (int i = 16; i < 64; i++) {
            uint32_t s0 = rotate(w[i - 15], 7) ^ rotate(w[i - 15], 18) ^ (w[i - 15] >> 3);
            uint32_t s1 = rotate(w[i - 2], 17) ^ rotate(w[i - 2], 19) ^ (w[i - 2] >> 10);
            w[i] = w[i - 16] + s0 + w[i - 7] + s1;
        }
        uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
        uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
        for (int i = 0; i < 64; i++) {
            uint32_t s1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
            uint32_t t1 = h + s1 + ((e & f) ^ (~e & g)) + K[i] + w[i];
            uint32_t s0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
            uint32_t t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
            h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
        }
        state[0] += a, state[1] += b, state[2] += c, state[3] += d;
        state[4] += e, state[5] += f, state[6] += g, state[7] += h;
        bytes += 64;
    }
}

#if defined(__x86_64__)
#include <immintrin.h>

#define ACCELERATED __attribute__((target("sha,sse4.1,ssse3")))

// Each instruction does two rounds. The message schedule runs four words ahead, and serves all states that take the
// same bytes. Instructions on one state wait for each other, so a second state costs little.
ACCELERATED __attribute__((always_inline)) static inline void compress_states(
    uint32_t *const *states, const int count, const uint8_t *bytes, size_t blocks) {
    const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0bLL, 0x0405060700010203LL);
    __m128i abef[2], cdgh[2];
#pragma GCC unroll 2
    for (int s = 0; s < count; s++) {
        // The instructions require the state as ABEF and CDGH.
        __m128i dcba = _mm_loadu_si128((const __m128i *)&states[s][0]);
        __m128i hgfe = _mm_loadu_si128((const __m128i *)&states[s][4]);
        __m128i cdab = _mm_shuffle_epi32(dcba, 0xB1);
        __m128i efgh = _mm_shuffle_epi32(hgfe, 0x1B);
        abef[s] = _mm_alignr_epi8(cdab, efgh, 8);
        cdgh[s] = _mm_blend_epi16(efgh, cdab, 0xF0);
    }

    while (blocks--) {
        __m128i abef_before[2], cdgh_before[2];
#pragma GCC unroll 2
        for (int s = 0; s < count; s++) abef_before[s] = abef[s], cdgh_before[s] = cdgh[s];
        __m128i m[4];
        for (int i = 0; i < 4; i++) m[i] = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(bytes + 16 * i)), swap);
#pragma GCC unroll 16
        for (int i = 0; i < 16; i++) {
            __m128i words = _mm_add_epi32(m[i & 3], _mm_loadu_si128((const __m128i *)&K[4 * i]));
            __m128i upper = _mm_shuffle_epi32(words, 0x0E);
#pragma GCC unroll 2
            for (int s = 0; s < count; s++) cdgh[s] = _mm_sha256rnds2_epu32(cdgh[s], abef[s], words);
#pragma GCC unroll 2
            for (int s = 0; s < count; s++) abef[s] = _mm_sha256rnds2_epu32(abef[s], cdgh[s], upper);
            if (i < 12) {
                __m128i next = _mm_sha256msg1_epu32(m[i & 3], m[(i + 1) & 3]);
                next = _mm_add_epi32(next, _mm_alignr_epi8(m[(i + 3) & 3], m[(i + 2) & 3], 4));
                m[i & 3] = _mm_sha256msg2_epu32(next, m[(i + 3) & 3]);
            }
        }
#pragma GCC unroll 2
        for (int s = 0; s < count; s++) {
            abef[s] = _mm_add_epi32(abef[s], abef_before[s]);
            cdgh[s] = _mm_add_epi32(cdgh[s], cdgh_before[s]);
        }
        bytes += 64;
    }

#pragma GCC unroll 2
    for (int s = 0; s < count; s++) {
        __m128i feba = _mm_shuffle_epi32(abef[s], 0x1B);
        __m128i dchg = _mm_shuffle_epi32(cdgh[s], 0xB1);
        _mm_storeu_si128((__m128i *)&states[s][0], _mm_blend_epi16(feba, dchg, 0xF0));
        _mm_storeu_si128((__m128i *)&states[s][4], _mm_alignr_epi8(dchg, feba, 8));
    }
}

ACCELERATED static void compress_accelerated(uint32_t state[8], const uint8_t *bytes, size_t blocks) {
    compress_states((uint32_t *const[]){state}, 1, bytes, blocks);
}

ACCELERATED static void compress_pair_accelerated(uint32_t first[8], uint32_t second[8], const uint8_t *bytes, size_t blocks) {
    compress_states((uint32_t *const[]){first, second}, 2, bytes, blocks);
}

static int processor_has_sha(void) {
    return __builtin_cpu_supports("sha") && __builtin_cpu_supports("sse4.1");
}
#else
static void compress_accelerated(uint32_t state[8], const uint8_t *bytes, size_t blocks) { compress_portable(state, bytes, blocks); }
static void compress_pair_accelerated(uint32_t first[8], uint32_t second[8], const uint8_t *bytes, size_t blocks) {
    compress_portable(first, bytes, blocks);
    compress_portable(second, bytes, blocks);
}
static int processor_has_sha(void) { return 0; }
#endif

static _Atomic int forced_portable;

int pawl_sha256_is_accelerated(void) {
    return !atomic_load_explicit(&forced_portable, memory_order_relaxed) && processor_has_sha();
}

void pawl_sha256_force_portable(int portable) { atomic_store(&forced_portable, portable); }

static void compress(uint32_t state[8], const uint8_t *bytes, size_t blocks) {
    if (pawl_sha256_is_accelerated())
        compress_accelerated(state, bytes, blocks);
    else
        compress_portable(state, bytes, blocks);
}

void pawl_sha256_init(pawl_sha256 *digest) {
    static const uint32_t initial[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    memcpy(digest->state, initial, sizeof initial);
    digest->length = 0;
}

void pawl_sha256_update(pawl_sha256 *digest, const void *input, size_t count) {
    const uint8_t *bytes = input;
    size_t held = digest->length % 64;
    digest->length += count;
    if (held) {
        size_t room = 64 - held;
        size_t taken = count < room ? count : room;
        memcpy(digest->block + held, bytes, taken);
        bytes += taken, count -= taken;
        if (taken < room) return;
        compress(digest->state, digest->block, 1);
    }
    if (count >= 64) {
        compress(digest->state, bytes, count / 64);
        bytes += count / 64 * 64;
    }
    if (count % 64) memcpy(digest->block, bytes, count % 64);
}

void pawl_sha256_update_both(pawl_sha256 *first, pawl_sha256 *second, const void *input, size_t count) {
    if (pawl_sha256_is_accelerated() && first->length % 64 == 0 && second->length % 64 == 0) {
        size_t whole = count / 64 * 64;
        compress_pair_accelerated(first->state, second->state, input, whole / 64);
        first->length += whole, second->length += whole;
        input = (const uint8_t *)input + whole, count -= whole;
    }
    pawl_sha256_update(first, input, count);
    pawl_sha256_update(second, input, count);
}

void pawl_sha256_final(pawl_sha256 *digest, uint8_t out[32]) {
    uint64_t bits = digest->length * 8;
    size_t padding = 64 - (digest->length + 8) % 64;
    uint8_t tail[72] = {0x80};
    for (int i = 0; i < 8; i++) tail[padding + i] = (uint8_t)(bits >> (56 - 8 * i));
    pawl_sha256_update(digest, tail, padding + 8);
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 4; j++) out[4 * i + j] = (uint8_t)(digest->state[i] >> (24 - 8 * j));
}
