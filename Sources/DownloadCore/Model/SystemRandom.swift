/// The system's random number generator.
///
/// `SystemRandomNumberGenerator` has no storage and so no address of its own. Passed as `inout`, it makes the thread
/// sanitizer read an arbitrary address.
package struct SystemRandom: RandomNumberGenerator, Sendable {
    /// The count of numbers drawn.
    package private(set) var drawn: UInt64 = 0

    package init(drawn: UInt64 = 0) {
        self.drawn = drawn
    }

    package mutating func next() -> UInt64 {
        drawn &+= 1
        return UInt64.random(in: .min ... .max)
    }
}
