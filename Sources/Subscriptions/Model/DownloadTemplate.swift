public import Catalog
public import DownloadCore
public import HTTPCore

/// The properties that downloads of one request or subscription have in common, apart from their sources.
public struct DownloadTemplate: Sendable {
    private let new: NewDownload
    private let choosesFolder: Bool
    private let naming: NamingTemplate?

    /// Creates a template.
    ///
    /// - Parameters:
    ///   - new: A download with the common properties. Its URL does not matter.
    ///   - choosesFolder: Whether the folder of `new` is a choice, even if it is empty. Otherwise the source suggests it.
    ///   - naming: Names that precede that folder and the suggestions of the source; `nil` for none.
    public init(_ new: NewDownload, choosesFolder: Bool, naming: NamingTemplate? = nil) {
        self.new = new
        self.choosesFolder = choosesFolder
        self.naming = naming
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
        if let authorization = item.authorization { try? new.headers.authorize(authorization) }
        new.bytesTotal = item.bytes
        if new.checksum == nil { new.checksum = item.checksum.flatMap { try? Checksum(parsing: $0) } }
        let suggestion = item.suggestion
        if let folder = naming?.folder(of: item) {
            new.folder = folder
        } else if !choosesFolder, let suggestion {
            new.folder = FileNaming.folder(of: suggestion.folder)
        }
        if new.filename == nil {
            if let name = naming?.filename(of: item) {
                new.filename = name
                new.lacksExtension = suggestion?.suffix == nil
            } else if let suggestion {
                new.filename = FileNaming.name(
                    prefix: suggestion.prefix, title: suggestion.title, suffix: suggestion.suffix ?? "")
                new.lacksExtension = suggestion.suffix == nil
            }
        }
        if new.segments == nil { new.segments = suggestion?.connections }
        return new
    }
}
