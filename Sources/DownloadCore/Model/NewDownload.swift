public import HTTPCore

/// A user's request for a download. Its options are members of it as well.
///
/// ``DownloadService/add(_:key:)`` refuses values beyond ``DownloadLimits``, bad names, and forbidden destinations.
@dynamicMemberLookup
public struct NewDownload: Sendable {
    /// The URL of the file.
    public var url: HTTPURL
    /// The choices of the client.
    public var options: DownloadOptions
    /// Whether the chosen name is to get an extension, which the origin's response determines.
    public var lacksExtension = false
    /// The expected length in bytes, shown until the origin states it; `nil` if it is unknown.
    public var bytesTotal: Int64?

    /// Creates a request for a URL.
    public init(url: HTTPURL, _ options: DownloadOptions = DownloadOptions()) {
        self.url = url
        self.options = options
    }

    /// A choice of the client.
    @inlinable public subscript<Value>(dynamicMember option: WritableKeyPath<DownloadOptions, Value>) -> Value {
        get { options[keyPath: option] }
        set { options[keyPath: option] = newValue }
    }
}
