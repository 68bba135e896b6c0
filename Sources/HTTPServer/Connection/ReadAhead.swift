/// The progress of the kernel's read-ahead in a file that is being sent. sendfile(2) waits for the disk even if the
/// socket is non-blocking. So the kernel is asked to read at least one slice ahead, in order to delay the loop as
/// little as possible.
struct ReadAhead {
    /// The number of slices per request.
    private static let slices: Int64 = 2

    /// The end of the last request.
    private var end: Int64 = 0

    /// The range to request when `offset` of `length` bytes are sent and up to `slice` bytes are next; nil if it was
    /// already requested.
    mutating func next(offset: Int64, length: Int64, slice: Int64) -> Range<Int64>? {
        let ahead = offset + slice
        guard ahead < length, end < min(ahead + slice, length) else { return nil }
        let start = max(end, ahead)
        end = min(start + Self.slices * slice, length)
        return start..<end
    }
}
