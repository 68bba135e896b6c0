import Testing

@testable import Terminal

/// Random bytes, equal in each run.
@Suite("Untrusted bytes on a terminal")
struct AnyBytesTests {
    /// Xorshift: a sequence that depends on its seed only.
    struct Sequence {
        var state: UInt64

        mutating func next(below limit: Int) -> Int {
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return Int(state >> 33) % max(1, limit)
        }
    }

    /// Scalars with known problems, among all others.
    private static let trouble: [UInt32] = [
        0x1B, 0x9B, 0x07, 0x0D, 0x0A, 0x7F, 0x200D, 0x202E, 0x2066, 0xFE0F, 0x301, 0x1F469, 0x1F1E9, 0x65E5, 0xAC00, 0x1160,
        0xE0041, 0x61,
    ]

    private static func text(_ sequence: inout Sequence) -> String {
        var scalars = String.UnicodeScalarView()
        for _ in 0..<sequence.next(below: 40) {
            let value =
                sequence.next(below: 3) == 0
                ? UInt32(sequence.next(below: 0x110000)) : trouble[sequence.next(below: trouble.count)]
            if let scalar = Unicode.Scalar(value) { scalars.append(scalar) }
        }
        return String(scalars)
    }

    @Test("No text commands a terminal or exceeds its width", arguments: 1...50)
    func text(seed: UInt64) {
        var sequence = Sequence(state: seed &* 0x9E37_79B9_7F4A_7C15)
        for _ in 0..<40 {
            let text = TerminalText(Self.text(&sequence))
            let columns = sequence.next(below: 30)
            let appearance = Appearance(isUnicode: sequence.next(below: 2) == 0)
            let forms = [
                text, text.truncated(to: columns, appearance), text.shortened(to: columns, appearance), text.padded(to: columns),
            ]
            for form in forms {
                for scalar in form.string.unicodeScalars {
                    #expect(scalar.value >= 0x20 && !(0x7F...0x9F).contains(scalar.value))
                    #expect(scalar.properties.generalCategory != .format || scalar.value == 0x200C || scalar.value == 0x200D)
                }
                #expect(form.width == DisplayWidth.of(form.string))
            }
            #expect(forms[1].width <= columns && forms[2].width <= columns && forms[3].width >= columns)
            // Harmless text is unchanged.
            #expect(TerminalText(text.string) == text)
        }
    }

    @Test("Decodes the same keys in every division, with a limit on the wait for a sequence", arguments: 1...50)
    func keys(seed: UInt64) {
        var sequence = Sequence(state: seed &* 0x9E37_79B9_7F4A_7C15)
        let bytes = (0..<300).map { _ in
            sequence.next(below: 2) == 0
                ? UInt8(sequence.next(below: 256)) : [0x1B, 0x5B, 0x4F, 0x41, 0x7E, 0x35][sequence.next(below: 6)]
        }
        var whole = KeyDecoder()
        var cut = KeyDecoder()
        let expected = whole.decode(bytes)
        #expect(bytes.flatMap { cut.decode([$0]) } == expected)
        _ = whole.flush()
        #expect(!whole.isWaiting)
        #expect(whole.decode(Array("q".utf8)) == [.character("q")])
    }
}
