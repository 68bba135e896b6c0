internal import DownloadCore
internal import DownloadIndex
internal import HTTPCore
internal import JSON
internal import Subscriptions

/// Versions of downloads and of subscriptions as JSON: caches of about 2,000 versions in at most 2 MiB each. Responses,
/// lists, long polls and event streams share them.
final class RenderedResources: Sendable {
    /// A version of a resource without its position: an object, so that a copy costs one reference.
    final class Text: VersionValue {
        let version: DownloadVersion
        /// The JSON object with `null` as its position.
        let bytes: [UInt8]
        /// The offset of the value of `position`.
        private let positionOffset: Int
        let etag: EntityTag
        /// The fields of a response with this resource.
        let fields: Fields

        fileprivate init(_ bytes: [UInt8], positionOffset: Int, _ version: DownloadVersion) {
            self.version = version
            self.bytes = bytes
            self.positionOffset = positionOffset
            etag = ContentTag.of(bytes)
            var fields = Fields()
            fields.append(.cacheControl, "private, no-cache")
            fields.append(.contentType, "application/json")
            fields.append(.etag, etag)
            self.fields = fields
        }

        var cost: Int { bytes.count + Self.overhead }

        /// The approximate size in bytes of a value without its text.
        fileprivate static var overhead: Int { 256 }
        /// The length of `null`, the value of an absent position.
        private static var nowhere: Int { 4 }

        /// Appends the JSON object.
        /// - Parameter position: The number of downloads that precede this one in the queue; `nil` if it is not in the queue.
        func append(to output: inout [UInt8], at position: Int?) {
            guard let position else {
                output.append(contentsOf: bytes)
                return
            }
            output.append(contentsOf: bytes[..<positionOffset])
            JSONWriter.appendDigits(of: Int64(position), to: &output)
            output.append(contentsOf: bytes[(positionOffset + Self.nowhere)...])
        }
    }

    /// A resource and its validator.
    struct Rendering: Sendable {
        let text: Text
        /// The number of downloads that precede this one in the queue; `nil` if it is not in the queue.
        fileprivate let position: Int?

        /// The validator of the resource without its position, which changes when other downloads move.
        var etag: EntityTag { text.etag }

        /// Appends the JSON object.
        func append(to bytes: inout [UInt8]) { text.append(to: &bytes, at: position) }
    }

    /// A version of a subscription.
    private final class SubscriptionText: VersionValue {
        let version: UInt64
        let bytes: [UInt8]
        var cost: Int { bytes.count + Text.overhead }

        init(_ version: UInt64, _ bytes: [UInt8]) { (self.version, self.bytes) = (version, bytes) }
    }

    /// The prefix of the links.
    let linkPrefix: PathPrefix
    private let cache = VersionCache<Text>(capacity: 2 << 20)
    private let subscriptions = VersionCache<SubscriptionText>(capacity: 2 << 20)
    /// The lists of polling clients.
    let lists = KeptLists()
    /// Whether possible secrets in URLs are left out, for callers without scope `full`. The bytes differ, and so do the
    /// validators.
    private let hidesSecrets: Bool
    /// Whether the addresses of subscriptions' feeds have their keys, which are of no use without tokens.
    private let showsKeys: Bool

    /// Creates empty caches.
    init(linkPrefix: PathPrefix = .none, hidesSecrets: Bool = false, needsToken: Bool = false) {
        self.linkPrefix = linkPrefix
        self.hidesSecrets = hidesSecrets
        showsKeys = needsToken && !hidesSecrets
    }

    /// Appends the JSON object of a subscription.
    func append(_ version: SubscriptionIndex.Version, to bytes: inout [UInt8]) {
        if let text = subscriptions.find(version.number) { return bytes.append(contentsOf: text.bytes) }
        let text = SubscriptionText(version.number, text(of: version.subscription))
        subscriptions.keep(text)
        bytes.append(contentsOf: text.bytes)
    }

    /// Returns the JSON object of a subscription.
    func text(of subscription: Subscription) -> [UInt8] {
        var writer = JSONWriter()
        subscription.encode(into: &writer, linkPrefix, hidesSecrets: hidesSecrets, showsKey: showsKeys)
        return writer.bytes
    }

    /// The current rendering of a download; `nil` if there is no download with this id.
    func rendering(of id: RecordID, in index: SnapshotIndex) -> Rendering? {
        if let (version, position) = index.versionAndPosition(of: id), let text = cached(version) {
            return Rendering(text: text, position: position)
        }
        return index.download(id).map(rendering(of:))
    }

    /// The cached text of a version; `nil` if it is not cached.
    func cached(_ version: DownloadVersion) -> Text? {
        cache.find(version)
    }

    /// The number of versions up to which a stream's snapshot is cached for others.
    static let keptSnapshot = 1_000

    /// Appends the JSON object of a download, from the cache or newly written. The cache does not keep it.
    func append(_ download: Download, to bytes: inout [UInt8]) {
        if let text = download.version.flatMap(cached) { return text.append(to: &bytes, at: download.position) }
        var writer = JSONWriter()
        swap(&writer.bytes, &bytes)
        (hidesSecrets ? download.withoutSecrets : download).encode(into: &writer, linkPrefix)
        swap(&writer.bytes, &bytes)
    }

    /// The rendering of a download, from the cache or newly written.
    func rendering(of download: Download) -> Rendering {
        let version = download.version
        if let version, let text = cached(version) { return Rendering(text: text, position: download.position) }
        var visible = hidesSecrets ? download.withoutSecrets : download
        visible.position = nil
        var writer = JSONWriter()
        let offset = visible.encode(into: &writer, linkPrefix)
        let text = Text(writer.bytes, positionOffset: offset, version ?? .none)
        if version != nil { cache.keep(text) }
        return Rendering(text: text, position: download.position)
    }
}

extension DownloadVersion {
    /// The version of a value that did not come from the index.
    static let none = DownloadVersion(
        publication: 0, bytesReceived: 0, bytesPerSecond: 0, stalled: false, segments: 0, waitingFor: nil)
}
