extension DownloadFailure {
    /// Whether the origin accepted the request, and asked to repeat it once the file is ready: 202 with `Retry-After`.
    var isNotReady: Bool { code == .httpStatus && httpStatus == 202 && retryable }

    /// Creates the failure of a download whose part file cannot be written.
    package init(_ error: FileError) {
        if [.full, .noRoom].contains(error.kind) {
            self.init(.insufficientStorage, "no space left for this file (\(error.message)); resume it once there is room")
        } else {
            self.init(.ioError, error.message, retryable: [.transient, .missing, .short, .altered, .away].contains(error.kind))
        }
    }

    /// Creates the failure of a download whose transfer depends on a change that the store cannot save.
    package init(_ error: StoreError) {
        self.init(error == .full ? .insufficientStorage : .ioError, error.description)
    }
}
