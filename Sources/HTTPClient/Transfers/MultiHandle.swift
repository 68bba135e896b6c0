import CCurl

/// A libcurl multi handle: a set of transfers with their connections, name cache and TLS sessions.
///
/// Only one thread uses it, except for `wake`, which any thread may call before `destroy`. `TransferLoop` guarantees
/// both.
@safe struct MultiHandle: @unchecked Sendable {
    private let pointer: OpaquePointer
    private let share: OpaquePointer

    init?() {
        guard CurlLibrary.isReady, let share = unsafe pawl_share_create() else { return nil }
        guard let pointer = unsafe pawl_multi_create() else {
            unsafe pawl_share_destroy(share)
            return nil
        }
        unsafe (self.pointer, self.share) = (pointer, share)
    }

    /// Creates a handle for one request, which must be released before `destroy`. Nil if there is no memory.
    func makeEasyHandle() -> EasyHandle? { unsafe EasyHandle(share: share) }

    func configure(idleConnections: Int) {
        unsafe _ = pawl_multi_set_long(pointer, CURLMOPT_MAXCONNECTS, max(1, idleConnections))
        unsafe _ = pawl_multi_set_long(pointer, CURLMOPT_PIPELINING, Int(CURLPIPE_NOTHING))
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

/// The global state of libcurl.
enum CurlLibrary {
    /// Whether libcurl is initialised, which happens once in a process.
    static let isReady = pawl_curl_global_init() == CURLE_OK
}
