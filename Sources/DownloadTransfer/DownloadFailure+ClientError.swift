internal import DownloadCore
package import HTTPClient

extension DownloadFailure {
    /// Creates the failure of a transfer that ended without a response to evaluate.
    package init(_ error: ClientError) {
        let code: FailureCode =
            switch error {
            case .destinationForbidden, .unsupportedScheme: .destinationForbidden
            case .invalidRedirect: .httpStatus
            case .tooManyRedirects: .tooManyRedirects
            case .tls: .tlsFailure
            case .connectionFailed, .proxyRefused: .connectionFailed
            case .timedOut, .stalled: .timedOut
            case .unsupportedEncoding: .unsupportedEncoding
            case .cancelled, .stopped, .transferBroken, .bodyTooLarge, .invalidResponse, .invalidRequest, .onlyHTTP2:
                .transferBroken
            }
        switch error {
        case .invalidRedirect(let status, _), .unsupportedScheme(let status, _), .tooManyRedirects(let status),
            .destinationForbidden(_, let status?):
            self.init(code, error.message, httpStatus: status)
        // None of these corrects itself.
        case .invalidRequest, .proxyRefused, .onlyHTTP2: self.init(code, error.message, retryable: false)
        default: self.init(code, error.message)
        }
    }
}
