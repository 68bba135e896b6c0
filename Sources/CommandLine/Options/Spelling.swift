/// Guesses what a mistyped word was meant to be.
enum Spelling {
    /// The candidate that the fewest edits turn the word into, if they are few for its length.
    static func nearest(to word: String, among candidates: [String]) -> String? {
        let bytes = Array(word.utf8.prefix(64))
        let limit = max(1, bytes.count / 3)
        let scored = candidates.map { (candidate: $0, distance: distance(bytes, Array($0.utf8))) }
        guard let best = scored.min(by: { $0.distance < $1.distance }), best.distance <= limit else {
            return candidates.first { !word.isEmpty && word.utf8.count > 4 && $0.hasPrefix(word) }
        }
        return best.candidate
    }

    /// Insertions, deletions and replacements that lead from one word to the other (Levenshtein's distance).
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
