public import HTTPCore
internal import JSON
internal import System

/// Changes to a download. `nil` leaves a value as it is. Its options are members of it as well.
///
/// Mirrors, header fields of a new URL and time limits replace all former ones, and count from the next attempt on.
///
/// ``DownloadService/change(_:_:if:)`` refuses values beyond ``DownloadLimits``, bad names, and forbidden destinations.
@dynamicMemberLookup
public struct DownloadChange: Sendable {
    /// Another URL of the same content. The header fields are for it, and replace fields of the same names.
    public var url: HTTPURL?
    /// The changed values.
    public var options = DownloadOptions()
    /// A label to add to the present ones.
    package var addedLabel: String?
    /// A label to remove from the present ones.
    package var removedLabel: String?

    /// Creates a change that leaves everything as it is.
    public init() {}

    /// A changed value.
    @inlinable public subscript<Value>(dynamicMember option: WritableKeyPath<DownloadOptions, Value>) -> Value {
        get { options[keyPath: option] }
        set { options[keyPath: option] = newValue }
    }

    /// The API's name of a value that cannot be changed once the file is complete; `nil` if there is none.
    var partBeforeCompletion: String? {
        if url != nil { return "url" }
        let others: Set = ["checksum", "priority", "labels", "speedLimit", "fromStart", "fromCurrent", "fromEnd"]
        return options.members.first { !others.contains($0.name) }?.name
    }

    /// Whether the finished file is to get another path.
    var movesFile: Bool { options.filename != nil || options.folder != nil }

    /// Applies the values that need no further work.
    /// - Parameter usual: The policy for values that the choice of retries leaves to the service.
    package func apply(to download: inout Download, usual: RetryPolicy) {
        var options = options
        options.retry = options.retry?.completed(by: usual)
        download.apply(options)
        if let removedLabel { download.labels.removeAll { $0.isExactly(removedLabel) } }
        if let addedLabel, !download.labels.containsExactly(addedLabel) { download.labels.append(addedLabel) }
    }
}
