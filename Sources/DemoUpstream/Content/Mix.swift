/// Hash functions for integers: the same input gives the same, well distributed output on every machine.
enum Mix {
    /// A bijection of 64 bits in which every input bit reaches every output bit (the finaliser of SplitMix64; Steele, Lea and Flood,
    /// "Fast splittable pseudorandom number generators", 2014).
    static func scramble(_ value: UInt64) -> UInt64 {
        var mixed = value &+ 0x9E37_79B9_7F4A_7C15
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// A number derived from the bytes of a text (FNV-1a, then scrambled).
    static func scramble(_ text: String) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
        return scramble(hash)
    }
}

/// Pseudorandom numbers that are the same for the same seed.
struct SeededNumbers: Sendable {
    private var state: UInt64

    init(seed: UInt64) { state = Mix.scramble(seed) }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        return Mix.scramble(state)
    }

    /// A number from 0 to `bound` - 1.
    mutating func next(below bound: Int) -> Int { Int(next() % UInt64(bound)) }

    /// One of the choices, which must not be empty.
    mutating func pick<Element>(_ choices: [Element]) -> Element { choices[next(below: choices.count)] }
}
