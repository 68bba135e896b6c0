#ifndef CRESOURCES_H
#define CRESOURCES_H

#include <stddef.h>

/// A file that the executable contains.
struct pawl_resource {
    /// Its path, by which the service finds it.
    const char *path;
    /// Its bytes, without a zero byte at the end.
    const unsigned char *bytes;
    /// The number of bytes.
    size_t count;
};

/// Returns the file at a position, or NULL beyond the last one.
const struct pawl_resource *pawl_resource_at(size_t position);

#endif
