extension [UInt8] {
    /// Copies the bytes of a span.
    public init(_ bytes: RawSpan) {
        self = unsafe bytes.withUnsafeBytes { unsafe [UInt8]($0) }
    }
}
