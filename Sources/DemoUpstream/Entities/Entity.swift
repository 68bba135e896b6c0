internal import HTTPCore

/// A resource of the upstream: bytes, and the fields that describe them.
struct Entity: Sendable {
    /// The kind, which decides the default pace.
    enum Kind: Sendable { case large, medium, small }

    var content: any EntityContent
    var mediaType: String
    var etag: EntityTag?
    var lastModified: HTTPDate?
    var disposition: String?
    var cacheControl: String?
    /// Whether range requests are supported.
    var servesRanges = true
    var kind = Kind.small
    /// The status; other than 200 only for refusals, such as that of a search.
    var status = HTTPStatus.ok
    /// Whether requests are redirected to a node of the archive.
    var isOnNode = false
    /// Whether requests are logged.
    var isLogged = true

    init(_ content: any EntityContent, mediaType: String) {
        self.content = content
        self.mediaType = mediaType
    }

    init(_ bytes: [UInt8], mediaType: String) { self.init(HeldContent(bytes: bytes), mediaType: mediaType) }

    /// The entity of a target; `nil` if there is none.
    static func find(_ target: Target, version: Int, base: String, now: Int64) throws(Target.Invalid) -> Entity? {
        let segments = target.segments
        switch (segments.first, segments.count) {
        case ("search", 1): return .search(target.items, base: base)
        case ("lookup", 1): return .lookup(target.items, base: base)
        case ("posts", 1): return .posts(Posts.all, name: "posts-all")
        case ("posts", 2): return Int(segments[1]).flatMap(Posts.post).map { .posts($0, name: "posts-" + segments[1]) }
        case ("media", 2): return .preview(segments[1])
        case ("large", 2): return .large(segments[1], target, version: version)
        case ("artwork", 3): return .artwork(album: segments[1], file: segments[2])
        case ("entity", 1): return try .synthetic(target, version: version, now: now)
        case ("episodes", 3): return .episode(segments[1], file: segments[2])
        case ("podcast", 3): return PodcastFeed.segments == segments ? .feed(PodcastFeed(at: now), base: base) : nil
        case ("advancedsearch.php", 1): return .archive(ArchiveEncoder.search(ArchiveSearch(items: target.items), in: .shared))
        case ("metadata", 2): return .archive(ArchiveEncoder.metadata(Archive.shared.item(segments[1])))
        case ("services", 3) where segments[1] == "img": return .tile(segments[2])
        case ("download", 3...): return .archived(segments[1], path: segments[2...], isOnNode: true)
        case (let node?, 4...) where node.hasPrefix("node-") && segments[1] == "items":
            return .archived(segments[2], path: segments[3...], isOnNode: false)
        default: return .page(segments)
        }
    }

    /// Sets the validators of a version: a strong tag and a date. The first version is of 2025-11-01T08:00:00Z; each
    /// version that a fault creates is an hour younger.
    private mutating func setValidators(_ name: String, version: Int = 1) {
        etag = EntityTag(opaque: version == 1 ? name : "\(name)-v\(version)")
        lastModified = HTTPDate(secondsSinceEpoch: 1_761_984_000 + Int64(version - 1) * 3600)
    }
}

// MARK: - Large and synthetic files

extension Entity {
    /// The large files with their lengths in bytes.
    private static let largeFiles: [String: Int64] = [
        "field-recording-1.bin": 256 << 20, "field-recording-2.bin": 512 << 20, "field-recording-3.bin": 1 << 30,
    ]

    /// `/large/<name>`: a file that takes long enough to be paused and resumed.
    private static func large(_ name: String, _ target: Target, version: Int) -> Entity? {
        guard let length = largeFiles[name] else { return nil }
        var entity = Entity(noise(name, length: length, target, version: version), mediaType: "application/octet-stream")
        entity.setValidators(name, version: version)
        entity.kind = .large
        return entity
    }

    private static func noise(_ seed: String, length: Int64, _ target: Target, version: Int) -> NoiseContent {
        let grows = target.faults.contains { $0.kind == .changeLength }
        return NoiseContent(
            length: length + (grows ? Int64(version - 1) * 4099 : 0), seed: Mix.scramble(seed) &+ UInt64(version - 1))
    }

    /// `/entity?size=…`: an entity with bytes and fields for a test.
    ///
    /// | parameter | meaning |
    /// | --- | --- |
    /// | `size` | length in bytes, required |
    /// | `seed` | any text; another seed gives other bytes |
    /// | `etag` | a text that becomes a strong tag; `none` leaves it out |
    /// | `lastmodified` | `recent` is the moment of the response, which makes it a weak validator; `none` leaves it out |
    /// | `type` | Content-Type; `none` leaves it out |
    /// | `disposition` | Content-Disposition |
    /// | `ranges` | `none`: not served, and not announced |
    private static func synthetic(_ target: Target, version: Int, now: Int64) throws(Target.Invalid) -> Entity {
        guard let size = target.value("size").flatMap(Int64.init), (0...(1 << 50)).contains(size) else {
            throw Target.Invalid(message: "size is a number of bytes from 0 to 2^50.")
        }
        let seed = target.value("seed") ?? "0"
        let type = target.value("type") ?? "application/octet-stream"
        var entity = Entity(noise(seed, length: size, target, version: version), mediaType: type == "none" ? "" : type)
        let tag = target.value("etag").map { $0.filter { $0 != "\"" && $0.isASCII && $0 > " " } }
        entity.setValidators(tag ?? "\(size)-" + String(Mix.scramble(seed), radix: 36), version: version)
        if tag == "none" { entity.etag = nil }
        switch target.value("lastmodified") {
        case nil: break
        case "none"?: entity.lastModified = nil
        case "recent"?: entity.lastModified = HTTPDate(secondsSinceEpoch: now)
        case let text?: throw Target.Invalid(message: "lastmodified is recent or none, not \"\(text)\".")
        }
        entity.disposition = target.value("disposition")
        entity.servesRanges = target.value("ranges") != "none"
        return entity
    }

    mutating func makeTagWeak() { etag = etag.map { EntityTag(opaque: $0.opaque, isWeak: true) } }
}

// MARK: - The catalogue

extension Entity {
    /// `/media/<track id>.wav`.
    private static func preview(_ file: String) -> Entity? {
        guard file.hasSuffix(".wav"), let id = Int64(file.dropLast(4)), let track = Catalogue.shared.track(id),
            let timbre = track.album.artist.timbre
        else { return nil }
        var entity = Entity(Preview(seed: id, timbre: timbre), mediaType: "audio/wav")
        entity.setValidators("preview-\(id)")
        entity.cacheControl = "public, max-age=86400"
        entity.kind = .medium
        return entity
    }

    /// `/artwork/<album or podcast id>/<side>x<side>.png`.
    private static func artwork(album: String, file: String) -> Entity? {
        guard let id = Int64(album), Catalogue.shared.album(id) != nil || id == Podcast.id, file.hasSuffix(".png")
        else { return nil }
        let sides = file.dropLast(4).split(separator: "x").compactMap { Int($0) }
        guard sides.count == 2, sides[0] == sides[1], Artwork.sides.contains(sides[0]) else { return nil }
        var entity = Entity(Artwork.png(seed: id, side: sides[0]), mediaType: "image/png")
        entity.setValidators("artwork-\(id)-\(sides[0])")
        entity.cacheControl = "public, max-age=86400"
        entity.isLogged = false
        return entity
    }

    /// `/episodes/<id>/audio.mp3`: all have the same file name, like most real ones. Episodes of the feed have
    /// `audio.wav`. The contents are a preview.
    private static func episode(_ id: String, file: String) -> Entity? {
        guard let id = Int64(id) else { return nil }
        let isListed = Podcast.shared.episodes.contains { $0.id == id }
        guard file == "audio.mp3" && isListed || file == "audio.wav" && PodcastFeed.minutes.contains(id) else { return nil }
        var entity = Entity(Preview(seed: id, timbre: .bell), mediaType: "audio/wav")
        entity.setValidators("episode-\(id)")
        entity.kind = .medium
        return entity
    }

    /// `/podcast/<id>/feed.xml`.
    private static func feed(_ feed: PodcastFeed, base: String) -> Entity {
        var entity = Entity(feed.xml(base: base), mediaType: "application/rss+xml; charset=utf-8")
        entity.etag = EntityTag(opaque: "feed-\(feed.minute)")
        entity.lastModified = HTTPDate(secondsSinceEpoch: feed.minute * 60)
        entity.servesRanges = false
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
        var entity = Entity(bytes, mediaType: CatalogueEncoder.mediaType)
        entity.status = status
        entity.disposition = "attachment; filename=1.txt"
        entity.cacheControl = "max-age=86400"
        entity.servesRanges = false
        return entity
    }

    private static func posts(_ bytes: [UInt8], name: String) -> Entity {
        var entity = Entity(bytes, mediaType: "application/json; charset=utf-8")
        entity.setValidators(name)
        entity.cacheControl = "max-age=43200"
        return entity
    }

    private static func page(_ segments: [String]) -> Entity? {
        guard let html = Page.html(segments) else { return nil }
        var entity = Entity(Array(html.utf8), mediaType: "text/html; charset=utf-8")
        entity.isLogged = false
        return entity
    }
}

// MARK: - The archive

extension Entity {
    private static func archive(_ bytes: [UInt8]) -> Entity {
        var entity = Entity(bytes, mediaType: ArchiveEncoder.mediaType)
        entity.servesRanges = false
        return entity
    }

    /// `/services/img/<identifier>`.
    private static func tile(_ identifier: String) -> Entity? {
        guard let item = Archive.shared.item(identifier), !item.isDark else { return nil }
        let seed = Int64(bitPattern: Mix.scramble(item.identifier))
        var entity = Entity(Artwork.png(seed: seed, side: 180), mediaType: "image/png")
        entity.setValidators("tile-" + item.identifier)
        entity.isLogged = false
        return entity
    }

    /// `/download/<identifier>/<path>`, and the path on a node that it redirects to: a file of an item.
    private static func archived(_ identifier: String, path: ArraySlice<String>, isOnNode: Bool) -> Entity? {
        guard let file = Archive.shared.item(identifier)?.file(path.joined(separator: "/")) else { return nil }
        if file.isPrivate {
            let page = Page.page("403", "<p>This file is not for everybody.</p>")
            var entity = Entity(Array(page.utf8), mediaType: "text/html; charset=utf-8")
            entity.status = .forbidden
            entity.servesRanges = false
            return entity
        }
        let suffix = file.name.split(separator: ".").last.map(String.init) ?? ""
        var entity = Entity(file.content, mediaType: mediaTypes[suffix] ?? "application/octet-stream")
        // Names may be too long or have characters that a tag cannot contain.
        entity.setValidators(String(Mix.scramble("\(identifier)/\(file.name)"), radix: 36))
        entity.kind = .medium
        entity.isOnNode = isOnNode
        return entity
    }

    /// Media types by extension.
    private static let mediaTypes = [
        "epub": "application/epub+zip", "flac": "audio/flac", "jpg": "image/jpeg", "mp3": "audio/mpeg", "pdf": "application/pdf",
        "png": "image/png", "tar": "application/x-tar", "tif": "image/tiff", "txt": "text/plain", "xml": "text/xml",
        "zip": "application/zip",
    ]
}
