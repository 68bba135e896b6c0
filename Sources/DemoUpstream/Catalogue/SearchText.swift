/// Text as a search sees it: words of lower-case letters and digits, without diacritics.
enum SearchText {
    /// The words of a text: `"Préludes, Op. 28"` → `["preludes", "op", "28"]`. An apostrophe joins (`"Children's"` → `"childrens"`).
    static func words(_ text: String) -> [String] {
        var words: [String] = []
        var word = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "'", "\u{2019}", "\u{00AD}": continue
            default: break
            }
            // A base letter followed by a combining mark is the same letter as the composed one.
            if scalar.properties.generalCategory == .nonspacingMark { continue }
            if let plain = withoutDiacritic[scalar] {
                word += plain
            } else if scalar.properties.isAlphabetic || scalar.properties.numericType != nil {
                word += scalar.properties.lowercaseMapping
            } else if !word.isEmpty {
                words.append(word)
                word = ""
            }
        }
        if !word.isEmpty { words.append(word) }
        return words
    }

    /// Latin letters with a diacritic, and ligatures: what people type instead of them.
    private static let withoutDiacritic: [Unicode.Scalar: String] = {
        let groups: [(plain: String, letters: String)] = [
            ("a", "àáâãäåāăąÀÁÂÃÄÅĀĂĄ"), ("ae", "æÆ"), ("c", "çćĉċčÇĆĈĊČ"), ("d", "ďđðĎĐÐ"),
            ("e", "èéêëēĕėęěÈÉÊËĒĔĖĘĚ"), ("g", "ĝğġģĜĞĠĢ"), ("h", "ĥħĤĦ"), ("i", "ìíîïĩīĭįıÌÍÎÏĨĪĬĮİ"),
            ("j", "ĵĴ"), ("k", "ķĶ"), ("l", "ĺļľŀłĹĻĽĿŁ"), ("n", "ñńņňÑŃŅŇ"), ("o", "òóôõöøōŏőÒÓÔÕÖØŌŎŐ"),
            ("oe", "œŒ"), ("r", "ŕŗřŔŖŘ"), ("s", "śŝşšŚŜŞŠ"), ("ss", "ß"), ("t", "ţťŧŢŤŦ"),
            ("th", "þÞ"), ("u", "ùúûüũūŭůűųÙÚÛÜŨŪŬŮŰŲ"), ("w", "ŵŴ"), ("y", "ýÿŷÝŶŸ"), ("z", "źżžŹŻŽ"),
        ]
        var table: [Unicode.Scalar: String] = [:]
        for group in groups {
            for scalar in group.letters.unicodeScalars { table[scalar] = group.plain }
        }
        return table
    }()
}

/// The words by which a track is found, folded once when the catalogue is read.
struct TrackWords: Sendable {
    let track: [String]
    let artist: [String]
    let album: [String]
    let genre: [String]

    init(track: String, artist: String, album: String, genre: String) {
        self.track = SearchText.words(track)
        self.artist = SearchText.words(artist)
        self.album = SearchText.words(album)
        self.genre = SearchText.words(genre)
    }

    /// Whether each of the words begins one of the words here, in any of the fields. Beginnings are enough so that a search finds
    /// something while its last word is still being typed.
    func match(_ words: [String], in fields: SearchFields) -> Bool {
        words.allSatisfy { word in
            fields.contains(.track) && track.contains { $0.hasPrefix(word) }
                || fields.contains(.artist) && artist.contains { $0.hasPrefix(word) }
                || fields.contains(.album) && album.contains { $0.hasPrefix(word) }
                || fields.contains(.genre) && genre.contains { $0.hasPrefix(word) }
        }
    }
}

/// The fields of a track that a search looks at, which `attribute` narrows.
struct SearchFields: OptionSet, Sendable {
    let rawValue: Int
    static let track = SearchFields(rawValue: 1)
    static let artist = SearchFields(rawValue: 2)
    static let album = SearchFields(rawValue: 4)
    static let genre = SearchFields(rawValue: 8)
    /// What is looked at where no attribute is given.
    static let standard: SearchFields = [.track, .artist, .album]
}
