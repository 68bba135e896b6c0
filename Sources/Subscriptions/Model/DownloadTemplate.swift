public import Catalog
public import DownloadCore
public import HTTPCore

/// The properties that downloads of one request or subscription have in common, apart from their sources.
public struct DownloadTemplate: Sendable {
    private let new: NewDownload
    private let choosesFolder: Bool

    /// Creates a template.
    ///
    /// - Parameters:
    ///   - new: A download with the common properties. Its URL does not matter.
    ///   - choosesFolder: Whether the folder of `new` is a choice, even if it is empty. Otherwise the source suggests it.
    public init(_ new: NewDownload, choosesFolder: Bool) {
        self.new = new
        self.choosesFolder = choosesFolder
    }

    /// Returns the download of a URL.
    public func download(of url: HTTPURL) -> NewDownload {
        var new = new
        new.url = url.withoutUserInfo
        return new
    }

    /// Returns the download of a search result at this URL, with the source's suggestions where the template has no
    /// value.
    ///
    /// - Parameters:
    ///   - item: The search result.
    ///   - url: The URL of its file.
    ///   - track: Its JSON object, which the download keeps.
    public func download(of item: SearchItem, at url: HTTPURL, track: [UInt8]) -> NewDownload {
        var new = download(of: url)
        if new.track == nil {
            new.track = track
            new.trackName = item.name
        }
        new.bytesTotal = item.bytes
        if new.checksum == nil { new.checksum = item.checksum.flatMap { try? Checksum(parsing: $0) } }
        guard let suggestion = item.suggestion else { return new }
        if !choosesFolder { new.folder = FileNaming.folder(of: suggestion.folder) }
        if new.filename == nil {
            new.filename = FileNaming.name(prefix: suggestion.prefix, title: suggestion.title, suffix: suggestion.suffix ?? "")
            new.lacksExtension = suggestion.suffix == nil
        }
        if new.segments == nil { new.segments = suggestion.connections }
        return new
    }
}
