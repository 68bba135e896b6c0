// Finding bytes in bytes.
#ifndef PAWL_SEARCH_H
#define PAWL_SEARCH_H

#include <stddef.h>
#include <stdint.h>

// Where `needle`, of 1 byte or more, begins in `text` for the first time at or after `from`; -1: nowhere.
ptrdiff_t pawl_find(const uint8_t *text, size_t length, size_t from, const uint8_t *needle, size_t needle_length);

#endif
