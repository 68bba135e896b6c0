internal import HTTPClient

extension DownloadFailure {
    /// What a client is told when a part file cannot be written.
    init(_ error: FileError) {
        if error.kind == .full {
            self.init(.insufficientStorage, "no space left for this file (\(error.message)); resume it once there is room")
        } else {
            self.init(.ioError, error.message, retryable: error.kind == .transient)
        }
    }

    /// What a client is told when a transfer fails without an answer that could be judged.
    init(_ error: ClientError) {
        let code: FailureCode =
            switch error {
            case .destinationForbidden, .unsupportedScheme: .destinationForbidden
            case .tooManyRedirects: .tooManyRedirects
            case .tls: .tlsFailure
            case .connectionFailed: .connectionFailed
            case .timedOut, .stalled: .timedOut
            case .unsupportedEncoding: .unsupportedEncoding
            case .cancelled, .stopped, .transferBroken, .bodyTooLarge, .invalidResponse, .invalidRequest: .transferBroken
            }
        self.init(code, error.message)
    }
}
