/// How a file is cut into parts.
struct UploadPlan: Sendable, Equatable {
    /// The bytes of each part but the last.
    let partLength: Int64
    let length: Int64

    init(length: Int64, limits: ObjectStorageLimits) {
        self.length = length
        let maximumParts = max(1, limits.maximumParts)
        let needed = length / maximumParts + (length % maximumParts == 0 ? 0 : 1)
        // Whole MiB, which the blocks of files and of services divide.
        let unit: Int64 = 1 << 20
        partLength = max(1, limits.partLength, needed <= limits.partLength ? 0 : (needed + unit - 1) / unit * unit)
    }

    /// How many parts there are.
    var count: Int { Int(length / partLength + (length % partLength == 0 ? 0 : 1)) }

    /// The bytes of a part, counted from 1.
    func range(ofPart number: Int) -> Range<Int64> {
        let start = Int64(number - 1) * partLength
        return start..<min(start + partLength, length)
    }
}
