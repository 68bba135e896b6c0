import HTTPCore
import JSON

extension ITunesSource {
    /// The subject of a result. The result of a track also names its collection and artist.
    private enum Subject {
        case track, collection, artist
    }

    /// A result as an item. Every member is optional; a member of an unexpected type counts as absent.
    /// - Parameter prefix: The prefix of ids in the result's store.
    static func item(_ result: JSONValue, raw: [UInt8], prefix: String) -> SearchItem {
        let subject = subject(of: result)
        var item = SearchItem(raw: raw)
        item.artist = text(result, "artistName")
        item.collection = text(result, "collectionName")
        item.genre = text(result, "primaryGenreName") ?? firstGenre(of: result)
        item.releaseDate = text(result, "releaseDate")
        item.durationMs = result["trackTimeMillis"]?.integer.flatMap { (0...longestTrack).contains($0) ? $0 : nil }
        item.artworkUrl = largestArtwork(of: result)
        item.downloadUrl = url(result, "previewUrl")
        switch subject {
        case .track:
            item.id = id(result, "trackId", prefix: prefix)
            item.kind = text(result, "kind") ?? text(result, "wrapperType")
            item.name = text(result, "trackName") ?? text(result, "trackCensoredName")
            item.explicit = isExplicit(result["trackExplicitness"]) ?? isAdvised(result["contentAdvisoryRating"])
            item.pageUrl = url(result, "trackViewUrl")
            complete(&item, track: result, prefix: prefix)
        case .collection:
            item.id = id(result, "collectionId", prefix: prefix + "collection:")
            item.kind = collectionKind(result)
            item.name = text(result, "collectionName") ?? text(result, "collectionCensoredName")
            item.explicit = isExplicit(result["collectionExplicitness"])
            item.pageUrl = url(result, "collectionViewUrl")
            item.partCount = count(result)
            item.hasParts = item.kind.map { ["album", "compilation", WorkKind.season.rawValue].contains($0) } ?? false
        case .artist:
            item.id = id(result, "artistId", prefix: prefix + "artist:")
            item.kind = "artist"
            item.name = text(result, "artistName")
            item.pageUrl = url(result, "artistViewUrl") ?? url(result, "artistLinkUrl")
        }
        return item
    }

    /// The maximum length of a text, in characters. The parts of a work repeat its texts, so long ones are expensive.
    private static let longestText = 500
    /// The maximum playing time, in milliseconds: a year.
    private static let longestTrack: Int64 = 366 * 24 * 3_600_000

    /// The text of a member, cut to the maximum length.
    private static func text(_ result: JSONValue, _ name: String) -> String? {
        result[name]?.string.map { SearchParameter.cut($0, to: longestText) }
    }

    /// Completes the members that depend on the kind of track.
    private static func complete(_ item: inout SearchItem, track result: JSONValue, prefix: String) {
        var date: String?
        switch item.kind {
        case WorkKind.podcast.rawValue:
            // In seconds, despite its name, and not useful for a whole podcast.
            item.durationMs = nil
            item.partCount = count(result)
            item.hasParts = true
            item.feedID = result["feedUrl"]?.string.flatMap(FeedSource.address).map(FeedSource.id)
            return
        case "podcast-episode":
            // An episode can be downloaded as a whole.
            item.downloadUrl = url(result, "episodeUrl") ?? item.downloadUrl
            item.partOf = id(result, "collectionId", prefix: prefix)
            // An episode can only be looked up through its podcast.
            item.id = item.partOf.flatMap { id(result, "trackId", prefix: "\(prefix)episode:\($0.dropFirst(prefix.count)):") }
            date = item.releaseDate.flatMap(day)
        case "song", "music-video", "tv-episode":
            item.partOf = id(result, "collectionId", prefix: prefix + "collection:")
            // On the second of two discs, track 1 is not the first part.
            if item.partOf != nil, result["discCount"]?.integer ?? 1 <= 1, result["discNumber"]?.integer ?? 1 <= 1,
                let number = result["trackNumber"]?.integer, (1...9999).contains(number)
            {
                item.number = Int(number)
            }
        default: break
        }
        guard let title = item.name, let downloadURL = item.downloadUrl else { return }
        item.suggestion = SuggestedDownload(title: title)
        item.suggestion?.prefix = date
        item.suggestion?.suffix = suffix(of: downloadURL) ?? suffix(result["episodeFileExtension"]?.string)
        if item.partOf != nil { item.suggestion?.folder = item.collection.map { [$0] } ?? [] }
    }

    /// The date of an RFC 3339 time; `nil` for other texts.
    private static func day(of time: String) -> String? {
        let day = time.utf8.prefix(10)
        guard day.count == 10 else { return nil }
        for (index, byte) in day.enumerated() {
            let isRight =
                index == 4 || index == 7
                ? byte == UInt8(ascii: "-") : (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            if !isRight { return nil }
        }
        return String(Substring(day))
    }

    /// The extension at the end of a URL with its dot: `.m4a` for `mzaf_1.plus.aac.p.m4a`.
    private static func suffix(of url: String) -> String? {
        guard let name = HTTPURL(url)?.lastPathComponent, let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")) else { return nil }
        return suffix(String(name[dot...].dropFirst()))
    }

    /// An extension with its dot; `nil` if the text is not one, has digits only, or belongs to a server's script.
    private static func suffix(_ name: String?) -> String? {
        guard let name = name.map({ $0.hasPrefix(".") ? $0.dropFirst() : $0[...] }), (1...8).contains(name.utf8.count) else {
            return nil
        }
        let isLetter = { (byte: UInt8) in (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) }
        let isDigit = { (byte: UInt8) in (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
        guard name.utf8.allSatisfy({ isLetter($0) || isDigit($0) }), name.utf8.contains(where: isLetter),
            !ScriptExtensions.contains(name)
        else { return nil }
        return ".\(name)"
    }

    /// The first genre. Episodes have a list of objects, podcasts a list of names.
    private static func firstGenre(of result: JSONValue) -> String? {
        result["genres"]?.array?.first.flatMap { $0.string ?? $0["name"]?.string }.map {
            SearchParameter.cut($0, to: longestText)
        }
    }

    /// The number of parts that Apple states.
    private static func count(_ result: JSONValue) -> Int64? {
        result["trackCount"]?.integer.flatMap { $0 < 0 ? nil : $0 }
    }

    /// Whether an episode is explicit. Films have an age rating in this member.
    private static func isAdvised(_ value: JSONValue?) -> Bool? {
        switch value?.string {
        case "Explicit": true
        case "Clean": false
        default: nil
        }
    }

    /// The subject from `wrapperType`; without it, as for some media, from the id that is present.
    private static func subject(of result: JSONValue) -> Subject {
        switch result["wrapperType"]?.string {
        case "artist": return .artist
        case "collection": return .collection
        default: break
        }
        if result["trackId"]?.integer != nil { return .track }
        // Audiobooks have the members of collections, but another `wrapperType`.
        if result["collectionId"]?.integer != nil { return .collection }
        return result["artistId"]?.integer != nil && result["trackName"] == nil ? .artist : .track
    }

    private static func id(_ result: JSONValue, _ name: String, prefix: String) -> String? {
        result[name]?.integer.flatMap { $0 < 0 ? nil : "\(prefix)\($0)" }
    }

    /// The kind in the spelling of tracks: `Album` becomes `album`, `TV Season` becomes `tv-season`.
    private static func collectionKind(_ result: JSONValue) -> String {
        if let type = text(result, "collectionType"), !type.isEmpty {
            return String(type.lowercased().map { $0 == " " ? "-" : $0 })
        }
        if let wrapper = text(result, "wrapperType"), wrapper != "collection", wrapper != "track" { return wrapper }
        return "album"
    }

    /// Whether a track is explicit. `cleaned` marks the edited version of an explicit track.
    private static func isExplicit(_ value: JSONValue?) -> Bool? {
        switch value?.string {
        case "explicit": true
        case "notExplicit", "cleaned": false
        default: nil
        }
    }

    /// The URL of a member, normalised; `nil` if it is not http or https, such as `javascript:`.
    private static func url(_ result: JSONValue, _ name: String) -> String? {
        result[name]?.string.flatMap { HTTPURL($0)?.string }
    }

    /// The largest of `artworkUrl30`, `artworkUrl60`, `artworkUrl100`… that is a URL.
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
