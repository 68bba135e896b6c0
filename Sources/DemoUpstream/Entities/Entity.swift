package import HTTPCore
internal import System

/// A resource of the upstream: bytes, and the fields that describe them.
package struct Entity: Sendable {
    package var content: any EntityContent
    package let mediaType: String
    package var etag: EntityTag?
    package var lastModified: HTTPDate?
    /// The other fields.
    package var fields = Fields()
    /// The status. Only with 200 are there validators and ranges.
    package var status = HTTPStatus.ok
    /// The divisor of the default pace; 0: there is none.
    var slowness: Int64 = 0
    /// Whether requests are logged.
    var isLogged = true

    /// - Parameter name: The strong tag. An entity with a tag is of 2025-11-01T08:00:00Z.
    package init(_ content: any EntityContent, _ mediaType: String, name: String? = nil, cacheControl: String? = nil) {
        self.content = content
        self.mediaType = mediaType
        if let name {
            etag = EntityTag(opaque: name)
            lastModified = HTTPDate(secondsSinceEpoch: 1_761_984_000)
        }
        if let cacheControl { fields.append(.cacheControl, cacheControl) }
    }

    init(page html: String, isLogged: Bool = false) {
        self.init(HeldContent(bytes: Array(html.utf8)), "text/html; charset=utf-8")
        self.isLogged = isLogged
    }

    /// A line of text in the place of something else.
    init(_ status: HTTPStatus, _ line: String) {
        self.init(page: Page.page("\(status.code)", "<p>\(Page.escaped(line))</p>"), isLogged: true)
        self.status = status
    }

    /// The entity of a target; `nil` if there is none.
    /// - Parameters:
    ///   - base: The base URL of links.
    ///   - node: The number of the archive's node that a file is on.
    package static func find(_ target: Target, base: String, node: Int) -> Entity? {
        let segments = target.segments
        switch (segments.first, segments.count) {
        case ("search", 1): return .search(target.items, base: base)
        case ("lookup", 1): return .lookup(target.items, base: base)
        case ("posts", 1): return .posts(Posts.all, name: "posts-all")
        case ("posts", 2): return Int(segments[1]).flatMap(Posts.post).map { .posts($0, name: "posts-" + segments[1]) }
        case ("media", 2): return .preview(segments[1])
        case ("large", 2): return .large(segments[1])
        case ("artwork", 3): return .artwork(album: segments[1], file: segments[2])
        case ("entity", 1): return .synthetic(target)
        case ("episodes", 3): return .episode(segments[1], file: segments[2])
        case ("podcast", 3):
            return PodcastFeed.segments == segments
                ? .feed(PodcastFeed(at: SystemTime.sinceEpoch / 1_000_000_000), base: base) : nil
        case ("advancedsearch.php", 1): return .archive(ArchiveEncoder.search(ArchiveSearch(items: target.items), in: .shared))
        case ("metadata", 2): return .archive(ArchiveEncoder.metadata(Archive.shared.item(segments[1])))
        case ("services", 3) where segments[1] == "img": return .tile(segments[2])
        case ("download", 3...):
            let place = target.raw.replacing("/download/", with: "/node-\(node)/items/", maxReplacements: 1)
            return .archived(segments[1], path: segments[2...], movedTo: base + place)
        case (let node?, 4...) where node.hasPrefix("node-") && segments[1] == "items":
            return .archived(segments[2], path: segments[3...])
        default: return Page.html(segments).map { Entity(page: $0) }
        }
    }
}

// MARK: - Large and synthetic files

extension Entity {
    /// The large files with their lengths in bytes.
    private static let largeFiles: [String: Int64] = [
        "field-recording-1.bin": 256 << 20, "field-recording-2.bin": 512 << 20, "field-recording-3.bin": 1 << 30,
    ]

    /// `/large/<name>`: a file that takes long enough to be paused and resumed.
    private static func large(_ name: String) -> Entity? {
        guard let length = largeFiles[name] else { return nil }
        let content = NoiseContent(length: length, seed: Mix.scramble(name))
        var entity = Entity(content, "application/octet-stream", name: name)
        entity.slowness = 1
        return entity
    }

    /// `/entity?size=…`: a file of any size.
    ///
    /// | parameter | meaning |
    /// | --- | --- |
    /// | `size` | length in bytes, required |
    /// | `seed` | any text; another seed gives other bytes |
    /// | `type` | Content-Type |
    /// | `disposition` | Content-Disposition |
    private static func synthetic(_ target: Target) -> Entity? {
        guard let size = target.value("size").flatMap(Int64.init), (0...(1 << 50)).contains(size) else { return nil }
        let seed = Mix.scramble(target.value("seed") ?? "0")
        var entity = Entity(
            NoiseContent(length: size, seed: seed), target.value("type") ?? "application/octet-stream",
            name: "\(size)-" + String(seed, radix: 36))
        if let disposition = target.value("disposition") { entity.fields.append(.contentDisposition, disposition) }
        return entity
    }
}

// MARK: - The catalogue

extension Entity {
    /// `/media/<track id>.wav`.
    private static func preview(_ file: String) -> Entity? {
        guard file.hasSuffix(".wav"), let id = Int64(file.dropLast(4)), let track = Catalogue.shared.track(id),
            let timbre = track.album.artist.timbre
        else { return nil }
        var entity = Entity(
            Preview(seed: id, timbre: timbre), "audio/wav", name: "preview-\(id)", cacheControl: "public, max-age=86400")
        entity.slowness = 2
        return entity
    }

    /// `/artwork/<album or podcast id>/<side>x<side>.png`.
    private static func artwork(album: String, file: String) -> Entity? {
        guard let id = Int64(album), Catalogue.shared.album(id) != nil || id == Podcast.id, file.hasSuffix(".png")
        else { return nil }
        let sides = file.dropLast(4).split(separator: "x").compactMap { Int($0) }
        guard sides.count == 2, sides[0] == sides[1], Artwork.sides.contains(sides[0]) else { return nil }
        var entity = Entity(
            HeldContent(bytes: Artwork.png(seed: id, side: sides[0])), "image/png", name: "artwork-\(id)-\(sides[0])",
            cacheControl: "public, max-age=86400")
        entity.isLogged = false
        return entity
    }

    /// `/episodes/<id>/audio.mp3`: all have the same file name, like most real ones. Episodes of the feed have
    /// `audio.wav`. The contents are a preview.
    private static func episode(_ id: String, file: String) -> Entity? {
        guard let id = Int64(id) else { return nil }
        let isListed = Podcast.shared.episodes.contains { $0.id == id }
        guard file == "audio.mp3" && isListed || file == "audio.wav" && PodcastFeed.minutes.contains(id) else { return nil }
        var entity = Entity(Preview(seed: id, timbre: .bell), "audio/wav", name: "episode-\(id)")
        entity.slowness = 2
        return entity
    }

    /// `/podcast/<id>/feed.xml`.
    static func feed(_ feed: PodcastFeed, base: String) -> Entity {
        var entity = Entity(
            HeldContent(bytes: feed.xml(base: base)), "application/rss+xml; charset=utf-8", name: "feed-\(feed.minute)")
        entity.lastModified = HTTPDate(secondsSinceEpoch: feed.minute * 60)
        return entity
    }

    /// `/search?term=…`.
    private static func search(_ items: [QueryItem], base: String) -> Entity {
        catalogue(items, base: base) { Catalogue.shared.search($0) }
    }

    /// `/lookup?id=…,…`, with the parts of each item if `entity=…` is given. Other parameters with ids find nothing.
    private static func lookup(_ items: [QueryItem], base: String) -> Entity {
        let ids = items.filter { $0.name == "id" }.flatMap { $0.value.split(separator: ",") }.compactMap { Int64($0) }
        let entity = items.first { $0.name == "entity" }?.value
        return catalogue(items, base: base) { query in
            ids.prefix(200).compactMap(Catalogue.shared.item).flatMap { item in
                [item] + Catalogue.shared.parts(of: item, entity: entity).prefix(query.limit)
            }
        }
    }

    private static func catalogue(
        _ items: [QueryItem], base: String, _ find: (CatalogueQuery) -> [Catalogue.Item]
    ) -> Entity {
        let bytes: [UInt8]
        var status = HTTPStatus.ok
        do throws(CatalogueQuery.Invalid) {
            bytes = CatalogueEncoder(base: base).encode(find(try CatalogueQuery(items: items)))
        } catch {
            bytes = CatalogueEncoder.encode(error)
            status = .badRequest
        }
        var entity = Entity(HeldContent(bytes: bytes), CatalogueEncoder.mediaType, cacheControl: "max-age=86400")
        entity.status = status
        entity.fields.append(.contentDisposition, "attachment; filename=1.txt")
        return entity
    }

    private static func posts(_ bytes: [UInt8], name: String) -> Entity {
        Entity(HeldContent(bytes: bytes), "application/json; charset=utf-8", name: name, cacheControl: "max-age=43200")
    }
}

// MARK: - The archive

extension Entity {
    private static func archive(_ bytes: [UInt8]) -> Entity { Entity(HeldContent(bytes: bytes), ArchiveEncoder.mediaType) }

    /// `/services/img/<identifier>`.
    private static func tile(_ identifier: String) -> Entity? {
        guard let item = Archive.shared.item(identifier), !item.isDark else { return nil }
        let seed = Int64(bitPattern: Mix.scramble(item.identifier))
        var entity = Entity(HeldContent(bytes: Artwork.png(seed: seed, side: 180)), "image/png", name: "tile-" + item.identifier)
        entity.isLogged = false
        return entity
    }

    /// `/download/<identifier>/<path>`, and the path on a node that it redirects to: a file of an item.
    private static func archived(_ identifier: String, path: ArraySlice<String>, movedTo location: String? = nil) -> Entity? {
        guard let file = Archive.shared.item(identifier)?.file(path.joined(separator: "/")) else { return nil }
        if file.isPrivate { return Entity(.forbidden, "This file is not for everybody.") }
        if let location {
            var entity = Entity(.found, "It is elsewhere.")
            entity.fields.append(.location, location)
            entity.fields.append(.cacheControl, "no-store")
            return entity
        }
        let suffix = file.name.split(separator: ".").last.map(String.init) ?? ""
        // Names may be too long or have characters that a tag cannot contain.
        var entity = Entity(
            file.content, mediaTypes[suffix] ?? "application/octet-stream",
            name: String(Mix.scramble("\(identifier)/\(file.name)"), radix: 36))
        entity.slowness = 2
        return entity
    }

    /// Media types by extension.
    private static let mediaTypes = [
        "epub": "application/epub+zip", "flac": "audio/flac", "jpg": "image/jpeg", "mp3": "audio/mpeg", "pdf": "application/pdf",
        "png": "image/png", "tar": "application/x-tar", "tif": "image/tiff", "txt": "text/plain", "xml": "text/xml",
        "zip": "application/zip",
    ]
}
