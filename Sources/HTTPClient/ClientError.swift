/// The reason why a transfer failed.
public enum ClientError: Error, Sendable, Equatable {
    /// The transfer was cancelled, or the client was shut down.
    case cancelled
    /// The sink stopped the transfer.
    case stopped
    /// The destination guard refused a host or all its addresses, or a redirect would have dropped encryption; the text
    /// names the destination. `status` is the status of the redirect to it; nil if there was none.
    case destinationForbidden(String, status: Int? = nil)
    /// The target of a redirect, which is the text, is not http or https. `status` is the redirect's.
    case unsupportedScheme(status: Int, String)
    /// The Location of a redirect is not a URL, or the redirect's head is malformed. `status` is the redirect's.
    case invalidRedirect(status: Int, String)
    /// There were more redirects than the request allows. `status` is the last one's.
    case tooManyRedirects(status: Int)
    /// The certificate could not be verified, the server refused the handshake with an alert, or the TLS configuration here
    /// is wrong.
    case tls(String)
    /// The name could not be resolved, no address accepted a connection, or the TLS handshake failed.
    case connectionFailed(String)
    /// The proxy rejects its user or password: 407 (RFC 9110 §15.5.8), or an error of SOCKS 5. The text names the
    /// proxy.
    case proxyRefused(String)
    /// The connection, the response head or the whole transfer exceeded its time limit.
    case timedOut(String)
    /// The body arrived more slowly than the low-speed limit.
    case stalled
    /// The connection failed: the response is missing, or shorter than its framing says.
    case transferBroken(String)
    /// The content coding is unsupported, or the encoded content is damaged.
    case unsupportedEncoding(String)
    /// The body exceeds the limit of ``HTTPClient/fetch(_:bodyLimit:)``, in bytes.
    case bodyTooLarge(Int)
    /// The response is not valid HTTP.
    case invalidResponse(String)
    /// The server speaks no HTTP/1.1.
    case onlyHTTP2
    /// The request is not valid.
    case invalidRequest(String)

    /// The error in one line. It has no field values of the request, since they may be secret.
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
        case .proxyRefused(let proxy): "the proxy \(proxy) refuses the user or the password; see --proxy"
        case .timedOut(let detail): "timed out: \(detail)"
        case .stalled: "the origin stopped sending"
        case .transferBroken(let detail): "the transfer broke: \(detail)"
        case .unsupportedEncoding(let detail): "the content coding is not supported: \(detail)"
        case .bodyTooLarge(let limit): "the response is larger than \(limit) bytes"
        case .invalidResponse(let detail): "the response is not valid: \(detail)"
        case .onlyHTTP2: "the server speaks only HTTP/2, and Pawl only HTTP/1.1"
        case .invalidRequest(let detail): "the request is not valid: \(detail)"
        }
    }
}

extension ClientError: CustomStringConvertible {
    /// The same as ``message``.
    public var description: String { message }
}
