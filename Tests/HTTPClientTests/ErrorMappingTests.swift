import CCurl
import Testing

@testable import HTTPClient

@Suite
struct ErrorMappingTests {
    @Test(
        "Maps each result of libcurl to one error",
        arguments: [
            (CURLE_COULDNT_RESOLVE_HOST, "connectionFailed"), (CURLE_COULDNT_CONNECT, "connectionFailed"),
            (CURLE_FAILED_INIT, "connectionFailed"),
            (CURLE_OUT_OF_MEMORY, "connectionFailed"), (CURLE_NO_CONNECTION_AVAILABLE, "connectionFailed"),
            (CURLE_OPERATION_TIMEDOUT, "timedOut"),
            (CURLE_SSL_CONNECT_ERROR, "connectionFailed"), (CURLE_PROXY, "connectionFailed"),
            (CURLE_PEER_FAILED_VERIFICATION, "tls"),
            (CURLE_SSL_CACERT_BADFILE, "tls"),
            (CURLE_SSL_CIPHER, "tls"),
            (CURLE_SSL_ISSUER_ERROR, "tls"), (CURLE_SSL_CLIENTCERT, "tls"), (CURLE_SSL_INVALIDCERTSTATUS, "tls"),
            (CURLE_PARTIAL_FILE, "transferBroken"), (CURLE_GOT_NOTHING, "transferBroken"), (CURLE_RECV_ERROR, "transferBroken"),
            (CURLE_SEND_ERROR, "transferBroken"), (CURLE_HTTP2, "transferBroken"), (CURLE_HTTP2_STREAM, "transferBroken"),
            (CURLE_AGAIN, "transferBroken"), (CURLE_SSL_SHUTDOWN_FAILED, "transferBroken"), (CURLE_WRITE_ERROR, "transferBroken"),
            (CURLE_BAD_CONTENT_ENCODING, "unsupportedEncoding"), (CURLE_TOO_MANY_REDIRECTS, "invalidResponse"),
            (CURLE_UNSUPPORTED_PROTOCOL, "invalidResponse"), (CURLE_URL_MALFORMAT, "invalidRequest"),
            (CURLE_WEIRD_SERVER_REPLY, "invalidResponse"), (CURLE_HTTP_RETURNED_ERROR, "invalidResponse"),
            (CURLE_FILESIZE_EXCEEDED, "invalidResponse"),
            (pawl_curl_code(rawValue: 9999), "invalidResponse"),
        ])
    func eachResultIsOneError(code: pawl_curl_code, kind: String) {
        let error = ClientError(code: code, detail: "the detail")
        #expect(error.kind == kind)
        #expect(error.message.contains("the detail"))
    }

    @Test("Distinguishes a libcurl without TLS from a response that is not HTTP")
    func missingTLSIsDistinguished() {
        let missing = ClientError(
            code: CURLE_UNSUPPORTED_PROTOCOL, detail: "Protocol \"https\" not supported or disabled in libcurl")
        #expect(missing.kind == "tls")
        let response = ClientError(code: CURLE_UNSUPPORTED_PROTOCOL, detail: "Received HTTP/0.9 when not allowed")
        #expect(response.kind == "invalidResponse")
    }
}
