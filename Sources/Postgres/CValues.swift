/// Values in the form that C takes: pointers to bytes that end with NUL, in one reusable block of memory.
struct CValues {
    private var memory: [UInt8] = []
    /// The offset of each value; −1 for a null pointer.
    private var offsets: [Int] = []
    /// The length of each value in bytes; libpq reads only the lengths of binary values.
    private(set) var lengths: [Int32] = []
    /// The format of each value: 0 for text, 1 for binary.
    private(set) var formats: [Int32] = []

    var count: Int { offsets.count }

    mutating func removeAll() {
        memory.removeAll(keepingCapacity: true)
        offsets.removeAll(keepingCapacity: true)
        lengths.removeAll(keepingCapacity: true)
        formats.removeAll(keepingCapacity: true)
    }

    mutating func append(_ text: String) {
        append(text.utf8, format: 0)
    }

    mutating func append(_ value: PostgresValue) {
        switch value {
        case .null: append(offset: -1, length: 0, format: 0)
        case .boolean(let value): append(value ? "t" : "f")
        case .integer(let value): append(String(value))
        case .text(let text): append(text)
        case .bytes(let bytes): append(bytes, format: 1)
        }
    }

    /// Appends a null pointer, which ends a list in C.
    mutating func appendEnd() {
        append(offset: -1, length: 0, format: 0)
    }

    private mutating func append(_ bytes: some Collection<UInt8>, format: Int32) {
        append(offset: memory.count, length: Int32(clamping: bytes.count), format: format)
        memory.append(contentsOf: bytes)
        memory.append(0)
    }

    private mutating func append(offset: Int, length: Int32, format: Int32) {
        offsets.append(offset)
        lengths.append(length)
        formats.append(format)
    }

    /// Calls the body with the pointers, which are valid until it returns.
    func withPointers<Result>(_ body: (UnsafePointer<UnsafePointer<CChar>?>?) -> Result) -> Result {
        unsafe memory.withUnsafeBytes { memory in
            var pointers: [UnsafePointer<CChar>?] = unsafe []
            for offset in offsets {
                let base = offset < 0 ? nil : memory.baseAddress
                unsafe pointers.append(base?.advanced(by: offset).assumingMemoryBound(to: CChar.self))
            }
            return unsafe pointers.withUnsafeBufferPointer { unsafe body($0.baseAddress) }
        }
    }
}
