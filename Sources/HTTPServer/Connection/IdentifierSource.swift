/// A generator of identifiers for requests without one. They do not repeat within a loop.
struct IdentifierSource {
    private var counter = UInt64.random(in: .min ... .max)

    mutating func next() -> RequestIdentifier {
        counter &+= 0x9E37_79B9_7F4A_7C15
        // The finalisation of SplitMix64: successive values look unrelated, and no two values coincide.
        var bits = counter
        bits = (bits ^ bits >> 30) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ bits >> 27) &* 0x94D0_49BB_1331_11EB
        return .made(bits ^ bits >> 31)
    }
}
