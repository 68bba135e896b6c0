/// What of a body has come in and its sink has not been given yet.
///
/// libcurl hands a body over in pieces of 16 KiB at most, however much it has read. A sink that writes each of them to a file
/// spends most of its time on the way into the system. So they are gathered here until there are enough of them, until another
/// transfer has some, or until libcurl has nothing more for now: one buffer for all transfers of a loop, and nothing stays in it.
struct GatheredBody {
    /// Whose bytes they are; nil: there are none.
    private(set) var owner: ActiveTransfer?
    private var storage: [UInt8] = []
    private let capacity: Int

    /// - Parameter capacity: how many bytes are enough to be handed over.
    init(capacity: Int) {
        self.capacity = capacity
    }

    /// Gives the bytes to the sink of whose they are; returns whether that transfer goes on.
    func handOver() -> Bool { unsafe owner?.handOver(storage.span.bytes) ?? true }

    /// Whether so many bytes of a transfer can be added to those that are here.
    func hasRoom(for count: Int, of transfer: ActiveTransfer) -> Bool {
        owner == nil || owner === transfer && storage.count + count <= capacity
    }

    /// Adds bytes behind those that are here.
    mutating func append(_ bytes: RawSpan, of transfer: ActiveTransfer) {
        owner = transfer
        // Idle loops need none.
        if storage.capacity < capacity { storage.reserveCapacity(capacity) }
        unsafe bytes.withUnsafeBytes { unsafe storage.append(contentsOf: $0) }
    }

    /// Forgets the bytes; the memory is kept for the next ones.
    mutating func removeAll() {
        owner = nil
        storage.removeAll(keepingCapacity: true)
    }
}
