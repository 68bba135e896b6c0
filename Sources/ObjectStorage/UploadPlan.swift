/// The division of a file into parts.
struct UploadPlan: Sendable, Equatable {
    /// The bytes of each part except the last.
    let partLength: Int64
    let length: Int64

    init(length: Int64, limits: ObjectStorageLimits) {
        self.length = length
        let maximumParts = max(1, limits.maximumParts)
        let needed = length / maximumParts + (length % maximumParts == 0 ? 0 : 1)
        // Whole MiB, a multiple of the block sizes of file systems and services.
        let unit: Int64 = 1 << 20
        partLength = max(1, limits.partLength, needed <= limits.partLength ? 0 : (needed + unit - 1) / unit * unit)
    }

    /// The number of parts.
    var count: Int { Int(length / partLength + (length % partLength == 0 ? 0 : 1)) }

    /// The byte range of a part, counted from 1.
    func range(ofPart number: Int) -> Range<Int64> {
        let start = Int64(number - 1) * partLength
        return start..<min(start + partLength, length)
    }
}
