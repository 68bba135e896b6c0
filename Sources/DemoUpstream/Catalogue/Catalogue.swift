internal import JSON

/// The contents of the catalogue: artists with albums, and albums with tracks.
///
/// Ids exceed 32 bits like some of the real ones, and never change. A track's is the sum of its album's and its number.
/// The works and their movements are facts about music in the public domain. There are no recordings: the sound is
/// synthesised.
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
        let trackCount: Int
        let isExplicit: Bool
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

    static let shared = Catalogue()

    init() {
        for entry in JSONValue.entries(of: PackageResources.catalogue_json) {
            let artist = Artist(
                id: entry.integer(of: "id"), name: entry.text("name"), genre: entry.text("genre"),
                timbre: Timbre(rawValue: entry.text("timbre")))
            artists.append(artist)
            for entry in entry.entries("albums") { read(album: entry, of: artist) }
        }
    }

    private mutating func read(album entry: JSONValue, of artist: Artist) {
        let entries = entry.entries("tracks")
        let album = Album(
            id: entry.integer(of: "id"), artist: artist, name: entry.text("name"), releaseDate: entry.text("releaseDate"),
            price: entry["price"]?.number ?? 0, trackCount: entries.count,
            isExplicit: entries.contains { $0["explicit"] != nil })
        albums.append(album)
        for (number, entry) in zip(1..., entries) {
            let name = entry.text("name")
            tracks.append(
                Track(
                    id: album.id + Int64(number), album: album, number: number, name: name,
                    milliseconds: entry.integer(of: "milliseconds"), isExplicit: entry["explicit"] != nil,
                    words: TrackWords([
                        .track: name, .artist: album.artist.name, .album: album.name, .genre: album.artist.genre,
                    ])))
        }
    }

    func track(_ id: Int64) -> Track? { tracks.first { $0.id == id } }
    func album(_ id: Int64) -> Album? { albums.first { $0.id == id } }
    func artist(_ id: Int64) -> Artist? { artists.first { $0.id == id } }
    func tracks(of album: Album) -> [Track] { tracks.filter { $0.album.id == album.id } }
    func albums(of artist: Artist) -> [Album] { albums.filter { $0.artist.id == artist.id } }
}

extension JSONValue {
    /// The entries of an embedded document. Tests check that each has its members.
    static func entries(of document: [UInt8]) -> [JSONValue] { (try? JSONValue(parsing: document))?.array ?? [] }

    func entries(_ name: String) -> [JSONValue] { self[name]?.array ?? [] }
    func text(_ name: String) -> String { self[name]?.string ?? "" }
    func integer(of name: String) -> Int64 { self[name]?.integer ?? 0 }
}
