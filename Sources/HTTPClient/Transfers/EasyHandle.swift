import CCurl

/// A libcurl easy handle for one request, with the memory that its settings refer to: the error buffer and the list of
/// fields.
///
/// A handle is never reused. Before 8.1.0, libcurl corrupts its memory when the second response begins with a folded
/// line (curl issue 11101), and `curl_easy_reset` does not help. A new handle costs less than a system call, since
/// connections, names and TLS sessions belong to the ``MultiHandle``.
///
/// Belongs to one loop's thread.
@safe final class EasyHandle {
    let pointer: OpaquePointer
    private let errorBuffer: UnsafeMutablePointer<CChar>
    private var fields: OpaquePointer?

    /// Creates a handle that uses the TLS sessions of a share; nil if there is no memory.
    init?(share: OpaquePointer) {
        guard let pointer = unsafe pawl_easy_create() else { return nil }
        unsafe self.pointer = pointer
        unsafe errorBuffer = .allocate(capacity: Int(CURL_ERROR_SIZE))
        unsafe errorBuffer.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        unsafe set(CURLOPT_ERRORBUFFER, pointer: errorBuffer)
        unsafe _ = pawl_easy_set_share(pointer, share)
    }

    deinit {
        unsafe pawl_easy_destroy(pointer)
        unsafe pawl_list_destroy(fields)
        unsafe errorBuffer.deallocate()
    }

    /// libcurl's text for the last failure, or its general text for the code.
    func detail(_ code: pawl_curl_code) -> String {
        let text = unsafe String(cString: errorBuffer)
        return text.isEmpty ? unsafe String(cString: pawl_curl_message(code)) : text
    }

    /// The status of a proxy's response to CONNECT; 0 if there was none.
    var connectStatus: Int { unsafe pawl_easy_connect_status(pointer) }

    /// Continues a transfer that was held back. libcurl passes its bytes again before this returns.
    func resume() -> pawl_curl_code {
        unsafe pawl_easy_continue(pointer)
    }

    /// Sets an option; returns whether libcurl has the option and accepted the value.
    @discardableResult
    func set(_ option: pawl_curl_option, _ value: Int) -> Bool {
        unsafe pawl_easy_set_long(pointer, option, value) == CURLE_OK
    }

    @discardableResult
    func set(_ option: pawl_curl_option, offset value: Int64) -> Bool {
        unsafe pawl_easy_set_offset(pointer, option, value) == CURLE_OK
    }

    @discardableResult
    func set(_ option: pawl_curl_option, _ value: String) -> Bool {
        unsafe pawl_easy_set_string(pointer, option, value) == CURLE_OK
    }

    @discardableResult
    func set(_ option: pawl_curl_option, pointer value: UnsafeMutableRawPointer?) -> Bool {
        unsafe pawl_easy_set_pointer(pointer, option, value) == CURLE_OK
    }

    /// Sets the content of the request, which libcurl copies.
    func set(body: [UInt8]) -> Bool {
        // The size must be set first, since libcurl copies that many bytes.
        guard set(CURLOPT_POST, 1), set(CURLOPT_POSTFIELDSIZE_LARGE, offset: Int64(body.count)) else { return false }
        // An empty array may have no address, and libcurl would read the content from elsewhere for a null pointer.
        if body.isEmpty { return set(CURLOPT_COPYPOSTFIELDS, "") }
        return unsafe body.withUnsafeBytes { bytes in
            unsafe set(CURLOPT_COPYPOSTFIELDS, pointer: UnsafeMutableRawPointer(mutating: bytes.baseAddress))
        }
    }

    /// Sets the lines of the request's fields: `Name: value`, `Name;` for an empty value, or `Name:` to omit a field
    /// that libcurl would add.
    func set(fields lines: [[UInt8]]) -> Bool {
        for line in lines {
            // The line is copied as bytes, which need not be UTF-8.
            let text = line.map { CChar(bitPattern: $0) } + [0]
            guard let list = unsafe pawl_list_append(fields, text) else { return false }
            unsafe fields = list
        }
        return unsafe pawl_easy_set_list(pointer, CURLOPT_HTTPHEADER, fields) == CURLE_OK
    }
}
