public import Catalog
public import DownloadCore
public import HTTPCore

extension NewDownload {
    /// Creates the request for a search result, with the source's suggestions where the client has chosen nothing.
    ///
    /// - Parameters:
    ///   - item: The search result.
    ///   - url: The URL of its file.
    ///   - track: Its JSON object, which the download keeps.
    ///   - options: The choices of the client.
    ///   - naming: Names that precede the chosen folder and the suggestions of the source; `nil` for none.
    public init(
        of item: SearchItem, at url: HTTPURL, track: [UInt8], _ options: DownloadOptions, naming: NamingTemplate? = nil
    ) {
        self.init(url: url.withoutUserInfo, options)
        if options.track == nil { (self.options.track, self.options.trackName) = (track, item.name) }
        if let authorization = item.authorization { try? self.options.headers.authorize(authorization) }
        bytesTotal = item.bytes
        self.options.checksum = options.checksum ?? item.checksum.flatMap { try? Checksum(parsing: $0) }
        let suggestion = item.suggestion
        self.options.folder =
            naming?.folder(of: item) ?? options.folder ?? suggestion.map { FileNaming.folder(of: $0.folder) }
        self.options.segments = options.segments ?? suggestion?.connections
        guard options.filename == nil else { return }
        let suggested = suggestion.flatMap {
            FileNaming.name(prefix: $0.prefix, title: $0.title, suffix: $0.suffix ?? "")
        }
        self.options.filename = naming?.filename(of: item) ?? suggested
        lacksExtension = suggestion?.suffix == nil
    }
}
