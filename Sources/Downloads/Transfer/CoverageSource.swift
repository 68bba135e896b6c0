/// Knows which bytes of a file are there. Any thread may ask, at any time: nothing is told of each piece that arrives.
protocol CoverageSource: AnyObject, Sendable {
    /// The bytes that are there now.
    var written: Coverage { get }
}
