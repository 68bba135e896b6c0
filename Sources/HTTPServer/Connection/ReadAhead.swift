/// Which bytes of a file the kernel is asked to read while those in front of them are sent: at least one slice, so that a file that isn't
/// in memory holds the loop up as little as can be. sendfile(2) waits for the disk, whatever the socket's mode.
struct ReadAhead {
    /// How many slices are asked for at once.
    private static let slices: Int64 = 2

    /// Up to where the kernel has been asked.
    private var end: Int64 = 0

    /// What to ask for when `offset` of `length` bytes are sent, and up to `slice` bytes follow now; nil if that is asked for already.
    mutating func next(offset: Int64, length: Int64, slice: Int64) -> Range<Int64>? {
        let ahead = offset + slice
        guard ahead < length, end < min(ahead + slice, length) else { return nil }
        let start = max(end, ahead)
        end = min(start + Self.slices * slice, length)
        return start..<end
    }
}
