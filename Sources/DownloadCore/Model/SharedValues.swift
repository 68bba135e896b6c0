/// Values that are equal in many ended downloads: media types, and the same failure, labels and folder. Downloads that share
/// them take less memory.
package struct SharedValues: Sendable {
    /// The number of media types to keep. Origins may send any number of different ones.
    private static let maximumTypes = 1_000
    /// The number of rare values to keep, which are compared one by one.
    private static let maximumSamples = 16

    private var mediaTypes: [String: String] = [:]
    private var samples: [Download.RareValues] = []
    /// The index of the sample that is replaced next.
    private var oldest = 0

    package init() {}

    /// Replaces values of an ended download by equal ones of an earlier download.
    package mutating func share(_ download: inout Download) {
        guard !download.state.isLive else { return }
        if let type = download.mediaType {
            if let known = mediaTypes[type] {
                download.mediaType = known
            } else if mediaTypes.count < Self.maximumTypes {
                mediaTypes[type] = type
            }
        }
        guard let values = download.rareValues else { return }
        if let equal = samples.first(where: { $0 == values }) {
            download.rareValues = equal
        } else if samples.count < Self.maximumSamples {
            samples.append(values)
        } else {
            samples[oldest] = values
            oldest = (oldest + 1) % Self.maximumSamples
        }
    }
}
