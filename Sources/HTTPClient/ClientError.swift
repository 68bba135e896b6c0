/// Why a transfer failed.
public enum ClientError: Error, Sendable, Equatable {
    /// It was cancelled, or the client was shut down.
    case cancelled
    /// The sink said stop.
    case stopped
    /// The destination guard refused a host or all addresses of it, or a redirect would have weakened protection; the text says which.
    /// `status` is that of the redirect that led there, if one did.
    case destinationForbidden(String, status: Int? = nil)
    /// A redirect leads to something other than http or https; the text is the target, `status` the redirect's.
    case unsupportedScheme(status: Int, String)
    /// A redirect leads to nothing that can be asked: its Location is no URL, or its head cannot be read. `status` is the redirect's.
    case invalidRedirect(status: Int, String)
    /// More redirects than the request allows; `status` is that of the last one.
    case tooManyRedirects(status: Int)
    /// The certificate could not be verified, or TLS is set up wrongly here.
    case tls(String)
    /// The name could not be resolved, no address could be connected to, or the TLS handshake broke.
    case connectionFailed(String)
    /// The proxy does not accept its user or password: 407 (RFC 9110 §15.5.8), or what SOCKS 5 says. The text names the proxy.
    case proxyRefused(String)
    /// Connecting, the head, or the whole took longer than allowed.
    case timedOut(String)
    /// The body came in more slowly than the low-speed limit.
    case stalled
    /// The connection broke: the response is missing or shorter than its framing says.
    case transferBroken(String)
    /// The content has a coding that cannot be decoded, or is damaged in it.
    case unsupportedEncoding(String)
    /// The body is larger than this many bytes, which the caller of ``HTTPClient/fetch(_:bodyLimit:)`` allowed.
    case bodyTooLarge(Int)
    /// What came is not a response that can be understood.
    case invalidResponse(String)
    /// The request cannot be sent as it is.
    case invalidRequest(String)

    /// One line for people. Holds no field values of the request, since they may be secret.
    public var message: String {
        switch self {
        case .cancelled: "the transfer was cancelled"
        case .stopped: "the transfer was stopped by its receiver"
        case .destinationForbidden(let destination, _): "the destination is not allowed: \(destination)"
        case .unsupportedScheme(_, let target): "only http and https are supported, not \(target)"
        case .invalidRedirect(let status, let detail): "the redirect \(status) is not valid: \(detail)"
        case .tooManyRedirects: "too many redirects"
        case .tls(let detail): "TLS failed: \(detail)"
        case .connectionFailed(let detail): "no connection: \(detail)"
        case .proxyRefused(let proxy): "the proxy \(proxy) wants another user or password; see --proxy"
        case .timedOut(let detail): "timed out: \(detail)"
        case .stalled: "the origin stopped sending"
        case .transferBroken(let detail): "the transfer broke: \(detail)"
        case .unsupportedEncoding(let detail): "the content coding is not supported: \(detail)"
        case .bodyTooLarge(let limit): "the response is larger than \(limit) bytes"
        case .invalidResponse(let detail): "the response is not valid: \(detail)"
        case .invalidRequest(let detail): "the request is not valid: \(detail)"
        }
    }
}

extension ClientError: CustomStringConvertible {
    /// The same as ``message``.
    public var description: String { message }
}
