import CCurl

/// A libcurl multi handle: a set of transfers with their connections, name cache and TLS sessions.
///
/// Only one thread uses it, except for `wake`, which any thread may call before `destroy`. `TransferLoop` guarantees
/// both.
@safe struct MultiHandle: @unchecked Sendable {
    private let pointer: OpaquePointer
    private let share: OpaquePointer

    /// Creates a handle, and loads libcurl for the first one.
    /// - Throws: ``ClientError/connectionFailed(_:)`` if libcurl is missing or has no memory.
    init() throws(ClientError) {
        if let problem = CurlLibrary.problem { throw .connectionFailed(problem) }
        guard let share = unsafe pawl_share_create() else { throw Self.outOfMemory }
        guard let pointer = unsafe pawl_multi_create() else {
            unsafe pawl_share_destroy(share)
            throw Self.outOfMemory
        }
        unsafe (self.pointer, self.share) = (pointer, share)
    }

    static let outOfMemory = ClientError.connectionFailed("libcurl has no memory")

    /// Creates a handle for one request, which must be released before `destroy`. Nil if there is no memory.
    func makeEasyHandle() -> EasyHandle? { unsafe EasyHandle(share: share) }

    func configure() {
        unsafe _ = pawl_multi_set_long(pointer, CURLMOPT_PIPELINING, Int(CURLPIPE_NOTHING))
    }

    /// Sets the number of connections, busy and idle ones, beyond which the end of a response closes an idle one.
    func limit(connections: Int) {
        unsafe _ = pawl_multi_set_long(pointer, CURLMOPT_MAXCONNECTS, max(1, connections))
    }

    func destroy() {
        unsafe pawl_multi_destroy(pointer)
        unsafe pawl_share_destroy(share)
    }

    func wake() { unsafe pawl_multi_wakeup(pointer) }

    func add(_ easy: EasyHandle) -> Bool { unsafe pawl_multi_add(pointer, easy.pointer) == CURLM_OK }

    func remove(_ easy: EasyHandle) { unsafe _ = pawl_multi_remove(pointer, easy.pointer) }

    /// Does the work of the events that ended the last wait.
    func perform() -> Bool { unsafe pawl_multi_perform(pointer) == CURLM_OK }

    /// Does the work of all transfers, whether there were events or not.
    func performAll() -> Bool { unsafe pawl_multi_perform_all(pointer) == CURLM_OK }

    /// Waits for a socket, a timer of libcurl, or `wake`.
    func poll(milliseconds: Int) -> Bool {
        unsafe pawl_multi_poll(pointer, Int32(clamping: milliseconds)) != 0
    }

    /// The next transfer that has finished, and its result; nil if there is none.
    func nextDone() -> (transfer: ActiveTransfer, code: pawl_curl_code)? {
        let done = unsafe pawl_multi_next_done(pointer)
        guard let easy = unsafe done.easy, let context = unsafe pawl_easy_private(easy) else { return nil }
        return unsafe (Unmanaged<ActiveTransfer>.fromOpaque(context).takeUnretainedValue(), done.result)
    }
}

/// The library libcurl.
///
/// It is loaded for the first transfer. With the libraries that it brings, it would be a quarter of an idle service's
/// memory.
enum CurlLibrary {
    /// The reason why libcurl cannot be used; nil if it can. It is loaded by the first access, once in a process.
    static let problem: String? = unsafe pawl_curl_load("libcurl.so.4").map {
        unsafe "libcurl.so.4 cannot be loaded: \(String(cString: $0))"
    }
}
