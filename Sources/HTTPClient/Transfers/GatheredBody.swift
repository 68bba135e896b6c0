/// Bytes of a body that have arrived but not been passed to the sink.
///
/// libcurl passes a body in pieces of at most 16 KiB, however much it has read. A sink that writes each piece to a file
/// would spend most of its time in system calls. So pieces are gathered until the buffer is full, another transfer has
/// bytes, or libcurl has no more for now. All transfers of a loop share one buffer, and it is emptied in each loop
/// pass.
struct GatheredBody {
    /// The transfer that the bytes belong to; nil: there are none.
    private(set) var owner: ActiveTransfer?
    private var storage: [UInt8] = []
    private let capacity: Int

    /// Creates a buffer.
    /// - Parameter capacity: The number of bytes at which the buffer is full.
    init(capacity: Int) {
        self.capacity = capacity
    }

    /// Passes the bytes to their transfer's sink; returns whether that transfer continues.
    func handOver() -> Bool { unsafe owner?.handOver(storage.span.bytes) ?? true }

    /// Whether a transfer's bytes can be added to those in the buffer.
    func hasRoom(for count: Int, of transfer: ActiveTransfer) -> Bool {
        owner == nil || owner === transfer && storage.count + count <= capacity
    }

    /// Appends bytes of a transfer.
    mutating func append(_ bytes: RawSpan, of transfer: ActiveTransfer) {
        owner = transfer
        // The capacity is reserved late, since idle loops need none.
        if storage.capacity < capacity { storage.reserveCapacity(capacity) }
        unsafe bytes.withUnsafeBytes { unsafe storage.append(contentsOf: $0) }
    }

    /// Removes the bytes, but keeps the memory.
    mutating func removeAll() {
        owner = nil
        storage.removeAll(keepingCapacity: true)
    }
}
