import CCurl
import HTTPCore

/// The cookies that the hosts of one chain of redirects have set, each for its own host alone.
///
/// libcurl reads, expires and selects them by RFC 6265. A cookie with a `Domain` could go to other hosts of that domain; here it goes
/// back to the host that set it and to no other. The jar ends with its transfer.
@safe final class CookieJar {
    private var lists: [String: OpaquePointer] = unsafe [:]

    deinit {
        unsafe lists.values.forEach { unsafe pawl_list_destroy($0) }
    }

    /// Keeps all cookies that a handle holds after a hop to the host.
    func keep(_ easy: EasyHandle, for host: String) {
        let list = unsafe pawl_easy_cookies(easy.pointer)
        if let former = unsafe lists.removeValue(forKey: host) { unsafe pawl_list_destroy(former) }
        if let list = unsafe list { unsafe lists[host] = list }
    }

    /// Gives a handle the cookies of the host that it is about to ask.
    func fill(_ easy: EasyHandle, for url: HTTPURL) {
        guard let list = unsafe lists[url.host] else { return }
        unsafe pawl_easy_add_cookies(easy.pointer, list, url.scheme == "https" ? 1 : 0)
    }
}
