/// The system's random numbers.
///
/// `SystemRandomNumberGenerator` itself has no storage, and so no address of its own: passed on as `inout`, it leads the thread
/// sanitizer to read wherever that happens to point.
struct SystemRandom: RandomNumberGenerator, Sendable {
    /// How many numbers have been drawn.
    private(set) var drawn: UInt64 = 0

    mutating func next() -> UInt64 {
        drawn &+= 1
        return UInt64.random(in: .min ... .max)
    }
}
