/// Suggests the intended word for a misspelt one.
enum Spelling {
    /// The candidate with the smallest edit distance, if that is small for the word's length; `nil` otherwise.
    static func nearest(to word: String, among candidates: [String]) -> String? {
        let bytes = Array(word.utf8.prefix(64))
        let limit = max(1, bytes.count / 3)
        let scored = candidates.map { (candidate: $0, distance: distance(bytes, Array($0.utf8))) }
        guard let best = scored.min(by: { $0.distance < $1.distance }), best.distance <= limit else {
            return candidates.first { !word.isEmpty && word.utf8.count > 4 && $0.hasPrefix(word) }
        }
        return best.candidate
    }

    /// The edit distance between two words (Levenshtein): the number of insertions, deletions and replacements.
    static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
        var row = Array(0...right.count)
        for (leftIndex, leftByte) in left.enumerated() {
            var diagonal = row[0]
            row[0] = leftIndex + 1
            for (rightIndex, rightByte) in right.enumerated() {
                let above = row[rightIndex + 1]
                row[rightIndex + 1] = min(above + 1, row[rightIndex] + 1, diagonal + (leftByte == rightByte ? 0 : 1))
                diagonal = above
            }
        }
        return row[right.count]
    }
}
