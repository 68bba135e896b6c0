/// What can be found: artists with their albums, albums with their tracks, each with an id that stays the same from release to release.
///
/// Ids are made of the numbers in ``CatalogueText``: an artist's is 5,000,000,000 plus 10,000 times its number (so that they exceed
/// 32 bits, as some of the real ones do), an album adds 100 times its own, a track adds its place on the album.
struct Catalogue: Sendable {
    struct Artist: Sendable {
        let id: Int64
        let name: String
        let genre: String
        let instrument: Instrument
        var albums: [Album] = []
    }

    struct Album: Sendable {
        let id: Int64
        let artistId: Int64
        let artistName: String
        let name: String
        let genre: String
        /// `yyyy-mm-dd`.
        let releaseDate: String
        let price: Double
        var tracks: [Track] = []
        var isExplicit: Bool { tracks.contains(where: \.isExplicit) }
        var previewTarget: String? { tracks.first?.mediaTarget }
    }

    struct Track: Sendable {
        let id: Int64
        let albumId: Int64
        let artistId: Int64
        let number: Int
        let name: String
        let artistName: String
        let albumName: String
        let milliseconds: Int64
        let instrument: Instrument
        let isExplicit: Bool
        /// The name of the large file that is this track's media, or nil where it is a synthesised preview.
        let largeFile: String?
        let words: TrackWords

        /// The path of what a client downloads for this track.
        var mediaTarget: String {
            if let largeFile { return "/large/" + largeFile }
            return "/media/\(id).wav"
        }
    }

    private(set) var artists: [Artist] = []
    /// Lines of the text that say nothing known; a test keeps this empty.
    private(set) var unreadableLines: [String] = []
    /// Every track in catalogue order.
    private(set) var tracks: [Track] = []
    private var trackIndex: [Int64: Int] = [:]
    private var albumIndex: [Int64: (artist: Int, album: Int)] = [:]
    private var artistIndex: [Int64: Int] = [:]

    static let shared = Catalogue(texts: CatalogueText.all)

    init(texts: [String]) {
        for text in texts {
            for line in text.split(separator: "\n") { read(line: String(line)) }
        }
        for (artistPlace, artist) in artists.enumerated() {
            artistIndex[artist.id] = artistPlace
            for (albumPlace, album) in artist.albums.enumerated() {
                albumIndex[album.id] = (artistPlace, albumPlace)
                for track in album.tracks {
                    trackIndex[track.id] = tracks.count
                    tracks.append(track)
                }
            }
        }
    }

    var albums: [Album] { artists.flatMap(\.albums) }

    func track(_ id: Int64) -> Track? {
        guard let place = trackIndex[id] else { return nil }
        return tracks[place]
    }

    func album(_ id: Int64) -> Album? {
        guard let place = albumIndex[id] else { return nil }
        return artists[place.artist].albums[place.album]
    }

    func artist(_ id: Int64) -> Artist? {
        guard let place = artistIndex[id] else { return nil }
        return artists[place]
    }
}

// MARK: - Reading the text

extension Catalogue {
    private mutating func read(line: String) {
        let parts = line.split(separator: "|", omittingEmptySubsequences: false).map(trimmed)
        guard let first = parts.first, !first.isEmpty else { return }
        if first.hasPrefix("@ "), parts.count == 4, let number = Int64(first.dropFirst(2)),
            let instrument = Instrument(rawValue: parts[3])
        {
            let id = 5_000_000_000 + number * 10_000
            artists.append(Artist(id: id, name: parts[1], genre: parts[2], instrument: instrument))
        } else if first.hasPrefix("# "), parts.count == 4, let number = Int64(first.dropFirst(2)),
            let price = Double(parts[3]), let artist = artists.last
        {
            artists[artists.count - 1].albums.append(
                Album(
                    id: artist.id + number * 100, artistId: artist.id, artistName: artist.name, name: parts[1],
                    genre: artist.genre, releaseDate: parts[2], price: price))
        } else if let track = makeTrack(parts), let album = artists.last?.albums.indices.last {
            artists[artists.count - 1].albums[album].tracks.append(track)
        } else {
            unreadableLines.append(line)
        }
    }

    private func makeTrack(_ parts: [String]) -> Track? {
        guard let artist = artists.last, let album = artist.albums.last, (2...3).contains(parts.count) else { return nil }
        let time = parts[1].split(separator: ":").compactMap { Int64($0) }
        guard time.count == 2 else { return nil }
        let mark = parts.count == 3 ? parts[2] : ""
        guard mark.isEmpty || mark == "explicit" || mark.hasPrefix("large=") else { return nil }
        let number = album.tracks.count + 1
        let id = album.id + Int64(number)
        // Real durations are in milliseconds; the fraction is made up, but always the same.
        let milliseconds = (time[0] * 60 + time[1]) * 1000 + Int64(Mix.scramble(UInt64(id)) % 1000)
        return Track(
            id: id, albumId: album.id, artistId: artist.id, number: number, name: parts[0], artistName: artist.name,
            albumName: album.name, milliseconds: milliseconds, instrument: artist.instrument,
            isExplicit: mark == "explicit", largeFile: mark.hasPrefix("large=") ? String(mark.dropFirst(6)) : nil,
            words: TrackWords(track: parts[0], artist: artist.name, album: album.name, genre: artist.genre))
    }

    private func trimmed(_ text: Substring) -> String {
        var text = text
        while text.first == " " { text.removeFirst() }
        while text.last == " " { text.removeLast() }
        return String(text)
    }
}
