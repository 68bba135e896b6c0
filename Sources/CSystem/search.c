#define _GNU_SOURCE
#include "search.h"

#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

ptrdiff_t pawl_find(const uint8_t *text, size_t length, size_t from, const uint8_t *needle, size_t needle_length) {
    size_t at = from;
    if (needle_length == 0 || at > length || length - at < needle_length) return -1;
#if defined(__SSE2__)
    // Sixteen places at a time are looked at for the first and the last byte: memmem does one after another.
    const __m128i first = _mm_set1_epi8((char)needle[0]);
    const __m128i last = _mm_set1_epi8((char)needle[needle_length - 1]);
    for (; length - at >= needle_length + 15; at += 16) {
        const __m128i begins = _mm_cmpeq_epi8(_mm_loadu_si128((const __m128i *)(text + at)), first);
        const __m128i ends = _mm_cmpeq_epi8(_mm_loadu_si128((const __m128i *)(text + at + needle_length - 1)), last);
        unsigned hits = (unsigned)_mm_movemask_epi8(_mm_and_si128(begins, ends));
        for (; hits != 0; hits &= hits - 1) {
            const size_t place = at + (unsigned)__builtin_ctz(hits);
            if (memcmp(text + place, needle, needle_length) == 0) return (ptrdiff_t)place;
        }
    }
#endif
    const uint8_t *found = memmem(text + at, length - at, needle, needle_length);
    return found == NULL ? -1 : found - text;
}
