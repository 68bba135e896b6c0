internal import HTTPClient
internal import HTTPCore

/// What a service says is wrong (<https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html>).
struct ServiceFault: Sendable, Equatable {
    var status: Int
    /// Empty if it said none: answers to HEAD have no content.
    var code = ""
    var message = ""
    /// The region that it expects, if it named one.
    var region: String?

    private static let regionField = FieldName(constant: "x-amz-bucket-region")
    /// The most bytes that are repeated of what a service says.
    private static let textLimit = 300

    /// The fault of a response; `root` is its content, if that is a document.
    init(_ response: ClientResponse, _ root: XMLElement?) {
        status = response.head.status.code
        region = response.head.fields[Self.regionField]
        guard let root, root.name == "Error" else { return }
        code = Self.line(root["Code"]?.text ?? "")
        message = Self.line(root["Message"]?.text ?? "")
        region = region ?? root["Region"]?.text
    }

    init(status: Int, code: String = "", region: String? = nil) {
        self.status = status
        self.code = code
        self.region = region
    }

    /// Whether the same request may succeed later: AWS's list for clients, and what others answer when they are busy.
    var isTransient: Bool {
        switch code {
        case "SlowDown", "InternalError", "ServiceUnavailable", "RequestTimeout", "OperationAborted", "Busy": true
        case "NotImplemented": false
        default: status == 429 || status == 408 || (500...599).contains(status) && status != 501
        }
    }

    /// What it is to a caller.
    var error: ObjectStorageError {
        if isTransient {
            return .unavailable("\(status)" + (code.isEmpty ? "" : " \(code)") + (message.isEmpty ? "" : ": \(message)"))
        }
        if [301, 302, 307, 308].contains(status) || code == "AuthorizationHeaderMalformed" && region != nil {
            return .otherRegion(region.map(Self.line))
        }
        switch code {
        case "RequestTimeTooSkewed": return .clockSkew(message)
        case "XAmzContentSHA256Mismatch", "BadDigest": return .contentMismatch
        default: return .refused(status: status, code: code, message: message)
        }
    }

    /// Text of strangers, made fit for one line.
    private static func line(_ text: String) -> String {
        String(
            String.UnicodeScalarView(text.unicodeScalars.prefix(textLimit).map { $0.value < 0x20 || $0.value == 0x7F ? " " : $0 })
        )
    }
}
