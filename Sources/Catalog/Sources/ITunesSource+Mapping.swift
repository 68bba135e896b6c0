import HTTPCore
import JSON

extension ITunesSource {
    /// What a result is about. A track's result also names its collection and artist, which are not what was found.
    private enum Subject {
        case track, collection, artist
    }

    /// A result as an item. Every member of it is optional, and one of an unexpected type counts as absent.
    static func item(_ result: JSONValue, raw: [UInt8]) -> SearchItem {
        let subject = subject(of: result)
        var item = SearchItem(raw: raw)
        item.artist = result["artistName"]?.string
        item.collection = result["collectionName"]?.string
        item.genre = result["primaryGenreName"]?.string
        item.releaseDate = result["releaseDate"]?.string
        item.durationMs = result["trackTimeMillis"]?.integer.flatMap { $0 < 0 ? nil : $0 }
        item.artworkUrl = largestArtwork(of: result)
        item.downloadUrl = url(result, "previewUrl")
        switch subject {
        case .track:
            item.id = id(result, "trackId", prefix: "itunes:")
            item.kind = result["kind"]?.string ?? result["wrapperType"]?.string
            item.name = result["trackName"]?.string ?? result["trackCensoredName"]?.string
            item.explicit = isExplicit(result["trackExplicitness"])
            item.pageUrl = url(result, "trackViewUrl")
            // An episode is there to be downloaded whole.
            if item.kind == "podcast-episode" { item.downloadUrl = url(result, "episodeUrl") ?? item.downloadUrl }
        case .collection:
            item.id = id(result, "collectionId", prefix: "itunes:collection:")
            item.kind = collectionKind(result)
            item.name = result["collectionName"]?.string ?? result["collectionCensoredName"]?.string
            item.explicit = isExplicit(result["collectionExplicitness"])
            item.pageUrl = url(result, "collectionViewUrl")
        case .artist:
            item.id = id(result, "artistId", prefix: "itunes:artist:")
            item.kind = "artist"
            item.name = result["artistName"]?.string
            item.pageUrl = url(result, "artistViewUrl") ?? url(result, "artistLinkUrl")
        }
        return item
    }

    /// By `wrapperType`; results of some media lack it, then by the id there is.
    private static func subject(of result: JSONValue) -> Subject {
        switch result["wrapperType"]?.string {
        case "artist": return .artist
        case "collection": return .collection
        default: break
        }
        if result["trackId"]?.integer != nil { return .track }
        // Audiobooks are collections by all but their wrapperType.
        if result["collectionId"]?.integer != nil { return .collection }
        return result["artistId"]?.integer != nil && result["trackName"] == nil ? .artist : .track
    }

    private static func id(_ result: JSONValue, _ name: String, prefix: String) -> String? {
        result[name]?.integer.flatMap { $0 < 0 ? nil : "\(prefix)\($0)" }
    }

    /// `Album` → `album`, `TV Season` → `tv-season`, as the kinds of tracks are spelled.
    private static func collectionKind(_ result: JSONValue) -> String {
        if let type = result["collectionType"]?.string, !type.isEmpty {
            return String(type.lowercased().map { $0 == " " ? "-" : $0 })
        }
        if let wrapper = result["wrapperType"]?.string, wrapper != "collection", wrapper != "track" { return wrapper }
        return "album"
    }

    /// `cleaned` is what became of something explicit: not explicit any more.
    private static func isExplicit(_ value: JSONValue?) -> Bool? {
        switch value?.string {
        case "explicit": true
        case "notExplicit", "cleaned": false
        default: nil
        }
    }

    /// The URL under that name, normalised, if it is one of http or https: `javascript:` and the like end here.
    private static func url(_ result: JSONValue, _ name: String) -> String? {
        result[name]?.string.flatMap { HTTPURL($0)?.string }
    }

    /// Of `artworkUrl30`, `artworkUrl60`, `artworkUrl100`… the largest that is a URL.
    private static func largestArtwork(of result: JSONValue) -> String? {
        let prefix = "artworkUrl"
        var best: (size: Int, url: String)?
        for member in result.members ?? [] where member.name.hasPrefix(prefix) {
            guard let size = Int(member.name.dropFirst(prefix.count)), size > best?.size ?? -1,
                let url = member.value.string.flatMap({ HTTPURL($0)?.string })
            else { continue }
            best = (size, url)
        }
        return best?.url
    }
}
