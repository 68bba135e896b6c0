import CCurl

extension ClientError {
    /// Whether a result of libcurl means that the proxy rejects its user or password. Only the text identifies that.
    static func meansWrongProxyCredentials(_ code: pawl_curl_code, _ detail: String) -> Bool {
        switch code {
        case CURLE_RECV_ERROR:
            detail.hasPrefix("CONNECT tunnel failed, response 407") || detail.hasPrefix("Received HTTP code 407 from proxy")
        case CURLE_PROXY:
            detail.hasPrefix("User was rejected by the SOCKS5 server")
                || detail.hasPrefix("No authentication method was acceptable")
        default: false
        }
    }

    /// Creates the error for a result of libcurl. `detail` is libcurl's own text.
    init(code: pawl_curl_code, detail: String) {
        switch code {
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY, CURLE_COULDNT_CONNECT, CURLE_INTERFACE_FAILED,
            CURLE_NO_CONNECTION_AVAILABLE, CURLE_FAILED_INIT, CURLE_OUT_OF_MEMORY, CURLE_UNRECOVERABLE_POLL, CURLE_PROXY,
            CURLE_QUIC_CONNECT_ERROR:
            self = .connectionFailed(detail)
        // The handshake failed by an alert, a reset or bytes that are not TLS. Failed verification has other codes. In
        // TLS 1.3 the alert about a certificate comes after the client's handshake.
        case CURLE_SSL_CONNECT_ERROR, CURLE_RECV_ERROR, CURLE_SEND_ERROR:
            if let refusal = TLSRefusal(detail) {
                self = .tls("\(refusal) (\(detail))")
            } else {
                self = code == CURLE_SSL_CONNECT_ERROR ? .connectionFailed(detail) : .transferBroken(detail)
            }
        // The response of an HTTP proxy that refuses CONNECT.
        case CURLE_RECV_ERROR where detail.hasPrefix("CONNECT tunnel failed"):
            self = .connectionFailed(detail)
        case CURLE_OPERATION_TIMEDOUT:
            self = .timedOut(detail)
        // Failed verification or a wrong configuration here: neither is temporary.
        case CURLE_SSL_ENGINE_NOTFOUND, CURLE_SSL_ENGINE_SETFAILED, CURLE_SSL_ENGINE_INITFAILED,
            CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER, CURLE_PEER_FAILED_VERIFICATION, CURLE_USE_SSL_FAILED,
            CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CRL_BADFILE, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_PINNEDPUBKEYNOTMATCH,
            CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_CLIENTCERT:
            self = .tls(detail)
        // The connection ended or failed before or during a response: another attempt may succeed.
        case CURLE_PARTIAL_FILE, CURLE_GOT_NOTHING, CURLE_AGAIN, CURLE_HTTP2,
            CURLE_HTTP2_STREAM, CURLE_HTTP3, CURLE_SSL_SHUTDOWN_FAILED, CURLE_SEND_FAIL_REWIND, CURLE_READ_ERROR:
            self = .transferBroken(detail)
        case CURLE_BAD_CONTENT_ENCODING:
            self = .unsupportedEncoding(detail)
        case CURLE_WRITE_ERROR, CURLE_ABORTED_BY_CALLBACK:
            // Callbacks record their own reason. libcurl reports these codes when its own write fails, as in
            // decoding.
            self = .transferBroken(detail)
        case CURLE_UNSUPPORTED_PROTOCOL, CURLE_NOT_BUILT_IN:
            // `Protocol "https" not supported`: libcurl was built without TLS. The other texts of this code are about
            // the response: a body without a head (HTTP/0.9), or a version that does not exist.
            self = detail.hasPrefix("Protocol ") ? .tls(detail) : .invalidResponse(detail)
        case CURLE_URL_MALFORMAT, CURLE_BAD_FUNCTION_ARGUMENT, CURLE_UNKNOWN_OPTION:
            self = .invalidRequest(detail)
        default:
            // CURLE_WEIRD_SERVER_REPLY, CURLE_HTTP_RETURNED_ERROR, CURLE_RANGE_ERROR, and the codes of other protocols
            // or of redirects, which libcurl is not asked to follow.
            self = .invalidResponse(detail)
        }
    }
}
