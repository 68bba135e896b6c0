import Testing

@testable import DownloadIndex

@Suite("The searched texts of downloads")
struct SearchTextsTests {
    @Test("Each text finds its own positions, at every length and offset")
    func positions() {
        let texts = (0..<40).map { String(repeating: "x", count: $0) + "Needle" + String(repeating: "y", count: 40 - $0) }
        var table = SearchTexts()
        for (place, text) in texts.enumerated() { table.set([text, nil, "Ä\(place)."], at: UInt32(place)) }
        for length in 1...6 {
            let rows = table.rows(containing: SearchTexts.fold(String("NEEDLE".prefix(length))))
            #expect((0..<40).allSatisfy { rows.contains(UInt32($0)) })
        }
        for place in 0..<40 {
            let rows = table.rows(containing: SearchTexts.fold("ä\(place)."))
            #expect((0..<41).allSatisfy { rows.contains(UInt32($0)) == ($0 == place) })
        }
        // Finds no text across two texts, or in an empty one.
        #expect((0..<40).allSatisfy { !table.rows(containing: SearchTexts.fold("yä")).contains(UInt32($0)) })
        #expect(!SearchTexts().rows(containing: [0x61]).contains(0))
    }

    @Test("After changes of texts, the results equal a plain search")
    func changes() {
        var random = SystemRandomNumberGenerator()
        var table = SearchTexts()
        var model: [UInt32: [String]] = [:]
        for step in 0..<20_000 {
            let place = UInt32.random(in: 0..<200, using: &random)
            if Bool.random(using: &random) {
                let length = Int.random(in: 0..<60, using: &random)
                let text = String((0..<length).compactMap { _ in "abAB é".randomElement(using: &random) })
                // The second text is often a part of the first one.
                let texts = [text, String(text.suffix(20).dropLast(Int.random(in: 0..<15, using: &random))), "a \(length)"]
                table.set(texts, at: place)
                model[place] = texts
            } else {
                table.remove(at: place)
                model[place] = nil
            }
            guard step.isMultiple(of: 500) else { continue }
            for needle in ["a", "ab", "ba é", "aab", "é é", "abab"] {
                let folded = SearchTexts.fold(needle)
                let found = table.rows(containing: folded)
                let differs = (0..<UInt32(200)).filter { place in
                    let texts = (model[place] ?? []).map(SearchTexts.fold)
                    let contains = texts.contains { text in text.indices.contains { text[$0...].starts(with: folded) } }
                    return contains != found.contains(place)
                }
                #expect(differs.isEmpty, "\(needle) after \(step) steps")
            }
        }
    }
}
