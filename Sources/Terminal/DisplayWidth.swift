/// The widths of characters in columns of a terminal.
///
/// Terminals differ; these are the widths that most use. Marks and joiners take no column, wide East Asian characters
/// two (Unicode Standard Annex #11), emoji two (Annex #51), and all others one. A cluster has the width of its widest
/// scalar, since terminals draw it in the place of its base.
public enum DisplayWidth {
    /// The width of an extended grapheme cluster: 0, 1 or 2.
    public static func of(_ character: Character) -> Int {
        var widest = 0
        var hasNarrow = false
        for scalar in character.unicodeScalars {
            // VARIATION SELECTOR-16 requests the emoji form of the preceding scalar.
            if scalar.value == 0xFE0F, hasNarrow { return 2 }
            let width = of(scalar)
            if width == 2 { return 2 }
            if width == 1 { hasNarrow = true }
            widest = max(widest, width)
        }
        return widest
    }

    /// The width of a text.
    public static func of(_ text: some StringProtocol) -> Int {
        // Printable ASCII, the most frequent text, needs no clusters.
        if text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) { return text.utf8.count }
        return text.reduce(0) { $0 + of($1) }
    }

    /// The width of a single scalar.
    static func of(_ scalar: Unicode.Scalar) -> Int {
        let value = scalar.value
        if value < 0x300 { return value < 0x20 || (0x7F...0x9F).contains(value) || value == 0xAD ? 0 : 1 }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return 0
        default: break
        }
        // Vowels and final consonants of Hangul are drawn within the syllable's square.
        if (0x1160...0x11FF).contains(value) { return 0 }
        return scalar.properties.isEmojiPresentation || isWide(value) ? 2 : 1
    }

    private static func isWide(_ value: UInt32) -> Bool {
        guard value >= 0x1100 else { return false }
        var low = 0
        var high = wide.count
        while low < high {
            let middle = (low + high) / 2
            let range = wide[middle]
            if value < range.lowerBound {
                high = middle
            } else if value > range.upperBound {
                low = middle + 1
            } else {
                return true
            }
        }
        return false
    }

    /// Ranges with the property East_Asian_Width W or F, without emoji, in ascending order. They include unassigned
    /// code points in between.
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2329...0x232A, 0x2630...0x2637, 0x268A...0x268F, 0x2E80...0x303E, 0x3041...0x3247, 0x3250...0xA4CF,
        0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6F, 0xFF01...0xFF60, 0xFFE0...0xFFE6,
        0x16FE0...0x18DFF, 0x1AFF0...0x1B2FF, 0x1D300...0x1D376, 0x1F200...0x1F320, 0x20000...0x3FFFD,
    ]
}
