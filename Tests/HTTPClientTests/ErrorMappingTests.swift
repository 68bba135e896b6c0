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

    @Test(
        "A refused handshake is a TLS failure in words, and one that broke off is not",
        arguments: [
            ("OpenSSL/3.0.19: error:0A00042E:SSL routines::tlsv1 alert protocol version", "out of date"),
            ("error:1409442E:SSL routines:ssl3_read_bytes:tlsv1 alert protocol version", "out of date"),
            ("TLS connect error: error:0A000102:SSL routines::unsupported protocol", "out of date"),
            (
                "OpenSSL SSL_read: OpenSSL/3.0.19: error:0A00045C:SSL routines::tlsv13 alert certificate required, errno 0",
                "certificate"
            ),
            ("error:0A000418:SSL routines::tlsv1 alert unknown ca", "refused the handshake"),
            ("error:0A000410:SSL routines::sslv3 alert handshake failure", "cipher"),
            ("error:0A00018A:SSL routines::dh key too small", "cipher"),
            ("error:0A000458:SSL routines::tlsv1 unrecognized name", "site of this name"),
            ("error:0A000460:SSL routines::tlsv1 alert no application protocol", "HTTP/2"),
            ("error:0A000438:SSL routines::tlsv1 alert internal error", nil),
            ("error:0A0003FC:SSL routines::sslv3 alert bad record mac", nil),
            ("error:0A00010B:SSL routines::wrong version number", nil),
            ("error:0A000126:SSL routines::unexpected eof while reading", nil),
            ("OpenSSL SSL_connect: Connection reset by peer in connection to a.example:443", nil),
            ("Recv failure: Connection reset by peer", nil),
        ] as [(String, String?)])
    func refusedHandshakeIsTLSFailure(detail: String, words: String?) {
        for code in [CURLE_SSL_CONNECT_ERROR, CURLE_RECV_ERROR] {
            let error = ClientError(code: code, detail: detail)
            let broken = code == CURLE_SSL_CONNECT_ERROR ? "connectionFailed" : "transferBroken"
            #expect(error.kind == (words == nil ? broken : "tls"))
            #expect(error.message.contains(words ?? detail))
        }
    }

    @Test("Distinguishes a libcurl without TLS from a response that is not HTTP")
    func missingTLSIsDistinguished() {
        let missing = ClientError(
            code: CURLE_UNSUPPORTED_PROTOCOL, detail: "Protocol \"https\" not supported or disabled in libcurl")
        #expect(missing.kind == "tls")
        let response = ClientError(code: CURLE_UNSUPPORTED_PROTOCOL, detail: "Unsupported HTTP version in response")
        #expect(response.kind == "invalidResponse")
    }
}
