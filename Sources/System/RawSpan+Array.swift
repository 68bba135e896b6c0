extension [UInt8] {
    /// Copies the bytes of a span.
    public init(copying bytes: RawSpan) {
        self = unsafe bytes.withUnsafeBytes { unsafe [UInt8]($0) }
    }
}
