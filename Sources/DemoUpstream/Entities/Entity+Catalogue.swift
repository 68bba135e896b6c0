internal import HTTPCore
internal import JSON

extension Entity {
    /// `/media/<track id>.wav`.
    static func preview(_ file: String, version: Int, extra: Int64) -> Entity? {
        guard file.hasSuffix(".wav"), let id = Int64(file.dropLast(4)), let track = Catalogue.shared.track(id),
            track.largeFile == nil
        else { return nil }
        // A changed preview is another tune; one of another length has silence after it.
        let audio = PreviewAudio(track: track, version: version)
        var entity = Entity(extra == 0 ? audio : PaddedContent(audio, extra: extra), mediaType: "audio/wav")
        entity.etag = tag("preview-\(id)", version: version)
        entity.lastModified = lastModified(version: version)
        entity.cacheControl = "public, max-age=86400"
        entity.kind = .preview
        return entity
    }

    /// `/artwork/<album id>/<side>x<side>.png`.
    static func artwork(album: String, file: String, version: Int) -> Entity? {
        guard let id = Int64(album), Catalogue.shared.album(id) != nil, file.hasSuffix(".png") else { return nil }
        let sides = file.dropLast(4).split(separator: "x").compactMap { Int($0) }
        guard sides.count == 2, sides[0] == sides[1], Artwork.sides.contains(sides[0]) else { return nil }
        var entity = Entity(HeldContent(bytes: Artwork.png(albumId: id, side: sides[0])), mediaType: "image/png")
        entity.etag = tag("artwork-\(id)-\(sides[0])", version: version)
        entity.lastModified = lastModified(version: version)
        entity.cacheControl = "public, max-age=86400"
        entity.isLogged = false
        return entity
    }

    /// `/search?term=…`.
    static func search(_ items: [QueryItem], base: String) -> Entity {
        let query: CatalogueQuery
        do {
            query = try CatalogueQuery(items: items)
        } catch {
            return refusedSearch(error)
        }
        let encoder = CatalogueEncoder(base: base, country: query.country)
        return searchAnswer(encoder.encode(Catalogue.shared.search(query)))
    }

    /// `/lookup?id=…,…`, with `entity=song` or `album` also what belongs to each. Other kinds of ids are known and find nothing.
    static func lookup(_ items: [QueryItem], base: String) -> Entity {
        let ids = items.filter { $0.name == "id" }.flatMap { $0.value.split(separator: ",") }.compactMap { Int64($0) }
        let query: CatalogueQuery
        do {
            query = try CatalogueQuery(items: items)
        } catch {
            return refusedSearch(error)
        }
        let hasEntity = items.contains { $0.name == "entity" }
        let found = Catalogue.shared.lookup(
            ids: Array(ids.prefix(200)), result: hasEntity ? query.result : nil, limit: query.limit)
        return searchAnswer(CatalogueEncoder(base: base, country: query.country).encode(found))
    }

    private static func searchAnswer(_ bytes: [UInt8]) -> Entity {
        var entity = Entity(HeldContent(bytes: bytes), mediaType: CatalogueEncoder.mediaType)
        entity.disposition = "attachment; filename=1.txt"
        entity.cacheControl = "max-age=86400"
        entity.servesRanges = false
        return entity
    }

    private static func refusedSearch(_ refusal: CatalogueQuery.Invalid) -> Entity {
        var entity = Entity(
            HeldContent(bytes: CatalogueEncoder.encode(refusal)), mediaType: CatalogueEncoder.mediaType)
        entity.status = .badRequest
        entity.servesRanges = false
        return entity
    }

    /// `/posts` and `/posts/<id>`.
    static func posts(_ id: String?, version: Int) -> Entity? {
        let bytes: [UInt8]
        if let id {
            guard let number = Int(id), let post = Posts.post(number) else { return nil }
            bytes = post
        } else {
            bytes = Posts.all
        }
        var entity = Entity(HeldContent(bytes: bytes), mediaType: "application/json; charset=utf-8")
        entity.etag = tag("posts-" + (id ?? "all"), version: version)
        entity.cacheControl = "max-age=43200"
        return entity
    }

    /// `/artist/<id>`, `/album/<id>`, `/track/<id>` and `/`.
    static func page(_ segments: [String]) -> Entity? {
        guard let html = Page.html(segments) else { return nil }
        var entity = Entity(HeldContent(bytes: Array(html.utf8)), mediaType: "text/html; charset=utf-8")
        entity.isLogged = false
        return entity
    }
}

/// A content with zeros after it.
struct PaddedContent: EntityContent {
    private let content: any EntityContent
    private let extra: Int64

    init(_ content: any EntityContent, extra: Int64) {
        self.content = content
        self.extra = max(0, extra)
    }

    var length: Int64 { content.length + extra }

    func append(_ range: Range<Int64>, to bytes: inout [UInt8]) {
        let range = range.clamped(to: 0..<length)
        let inside = range.clamped(to: 0..<content.length)
        if !inside.isEmpty { content.append(inside, to: &bytes) }
        bytes.append(contentsOf: repeatElement(0, count: range.count - inside.count))
    }
}
