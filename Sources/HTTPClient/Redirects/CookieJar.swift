import CCurl
import HTTPCore

/// The cookies of one chain of redirects, each for the host that set it.
///
/// libcurl parses, expires and selects them by RFC 6265. A cookie with a `Domain` could go to other hosts of that
/// domain; here it goes back only to its own host. The jar ends with its transfer.
@safe final class CookieJar {
    /// The cookies of each host after its last hop, and after its last encrypted hop. A hop without encryption has no
    /// secure cookies.
    private var last: [String: OpaquePointer] = unsafe [:]
    private var lastEncrypted: [String: OpaquePointer] = unsafe [:]

    deinit {
        unsafe last.values.forEach { unsafe pawl_list_destroy($0) }
        unsafe lastEncrypted.values.forEach { unsafe pawl_list_destroy($0) }
    }

    /// Stores all cookies of a handle after a hop.
    func keep(_ easy: EasyHandle, for url: HTTPURL) {
        unsafe replace(&last, url.host, pawl_easy_cookies(easy.pointer))
        if url.scheme == "https" { unsafe replace(&lastEncrypted, url.host, pawl_easy_cookies(easy.pointer)) }
    }

    private func replace(_ lists: inout [String: OpaquePointer], _ host: String, _ list: OpaquePointer?) {
        if let former = unsafe lists.removeValue(forKey: host) { unsafe pawl_list_destroy(former) }
        if let list = unsafe list { unsafe lists[host] = list }
    }

    /// Adds the stored cookies of a URL's host to a handle before its request.
    func fill(_ easy: EasyHandle, for url: HTTPURL) {
        if let list = unsafe last[url.host] { unsafe pawl_easy_add_cookies(easy.pointer, list, 0) }
        guard url.scheme == "https", let list = unsafe lastEncrypted[url.host] else { return }
        unsafe pawl_easy_add_cookies(easy.pointer, list, 1)
    }
}
