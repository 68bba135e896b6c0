import HTTPCore

/// The contents of the catalogue: artists with albums, and albums with tracks, with ids that never change.
///
/// Ids are derived from the numbers in ``text``. An artist's id is 5,000,000,000 plus 10,000 times its number, so that
/// it exceeds 32 bits like some of the real ones. An album adds 100 times its number, and a track its number on the
/// album.
struct Catalogue: Sendable {
    struct Artist: Sendable {
        let id: Int64
        let name: String
        let genre: String
        /// The sound of its previews; `nil` for the artist of the large files.
        let timbre: Timbre?
    }

    struct Album: Sendable {
        let id: Int64
        let artist: Artist
        let name: String
        /// `yyyy-mm-dd`.
        let releaseDate: String
        let price: Double
        var trackCount = 0
        var isExplicit = false
    }

    struct Track: Sendable {
        let id: Int64
        let album: Album
        /// The number on the album, from 1.
        let number: Int
        let name: String
        let milliseconds: Int64
        let isExplicit: Bool
        let words: TrackWords

        /// The path of the file that clients download for this track.
        var mediaTarget: String {
            album.artist.timbre == nil ? "/large/field-recording-\(number).bin" : "/media/\(id).wav"
        }
    }

    private(set) var artists: [Artist] = []
    private(set) var albums: [Album] = []
    /// All tracks in the order of the catalogue.
    private(set) var tracks: [Track] = []
    /// Lines of the text that cannot be parsed; a test checks that there are none.
    private(set) var unreadableLines: [String] = []
    private var trackIndex: [Int64: Int] = [:]

    static let shared = Catalogue(text: text)

    init(text: String) {
        for line in text.split(separator: "\n") where !read(line: String(line)) { unreadableLines.append(String(line)) }
        for (index, track) in tracks.enumerated() { trackIndex[track.id] = index }
    }

    func track(_ id: Int64) -> Track? { trackIndex[id].map { tracks[$0] } }
    func album(_ id: Int64) -> Album? { albums.first { $0.id == id } }
    func artist(_ id: Int64) -> Artist? { artists.first { $0.id == id } }
    func tracks(of album: Album) -> [Track] { tracks.filter { $0.album.id == album.id } }
    func albums(of artist: Artist) -> [Album] { albums.filter { $0.artist.id == artist.id } }

    /// Parses a line of ``text``; returns whether it is valid.
    private mutating func read(line: String) -> Bool {
        let parts = line.dropFirst(2).texts(between: " | ").map(String.init)
        if line.hasPrefix("@ "), parts.count == 4, let number = Int64(parts[0]) {
            let id = 5_000_000_000 + number * 10_000
            artists.append(Artist(id: id, name: parts[1], genre: parts[2], timbre: Timbre(rawValue: parts[3])))
            return artists.last?.timbre != nil || parts[3] == "recording"
        }
        if line.hasPrefix("# "), parts.count == 4, let number = Int64(parts[0]), let price = Double(parts[3]),
            let artist = artists.last
        {
            albums.append(
                Album(id: artist.id + number * 100, artist: artist, name: parts[1], releaseDate: parts[2], price: price))
            return true
        }
        guard var album = albums.popLast(), album.trackCount == 0 else { return false }
        let entries = line.texts(between: "; ")
        album.trackCount = entries.count
        album.isExplicit = entries.contains { $0.hasSuffix("E") }
        albums.append(album)
        for (index, entry) in entries.enumerated() {
            guard let space = entry.lastIndex(of: " ") else { return false }
            let time = entry[space...].split(whereSeparator: { " :E".contains($0) }).compactMap { Int64($0) }
            guard time.count == 2 else { return false }
            let name = String(entry[..<space])
            let id = album.id + Int64(index) + 1
            // Real durations have milliseconds, so a fraction is derived from the id.
            let milliseconds = (time[0] * 60 + time[1]) * 1000 + Int64(Mix.scramble(UInt64(id)) % 1000)
            tracks.append(
                Track(
                    id: id, album: album, number: index + 1, name: name, milliseconds: milliseconds,
                    isExplicit: entry.hasSuffix("E"), words: TrackWords(track: name, album: album)))
        }
        return true
    }
}
