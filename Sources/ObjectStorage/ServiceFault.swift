internal import HTTPClient
internal import HTTPCore
internal import XML

/// An error response of the service (<https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html>).
struct ServiceFault: Sendable, Equatable {
    var status: Int
    /// The error code; empty if there is none, as in responses to HEAD, which have no content.
    var code = ""
    var message = ""
    /// The region that the service expects; `nil` if it named none.
    var region: String?

    private static let regionField = FieldName(constant: "x-amz-bucket-region")
    /// The maximum number of characters copied from a text of the service.
    private static let textLimit = 300

    /// The fault of a response; `root` is its content if that is a document, otherwise `nil`.
    init(_ response: ClientResponse, _ root: XMLElement?) {
        status = response.head.status.code
        region = response.head.fields[Self.regionField]
        guard let root, root.name == "Error" else { return }
        code = Self.line(root["Code"]?.text ?? "")
        message = Self.line(root["Message"]?.text ?? "")
        region = region ?? root["Region"]?.text
    }

    /// Whether the same request may succeed later: the codes that AWS lists, and the codes of other services when they are
    /// busy.
    var isTransient: Bool {
        switch code {
        case "SlowDown", "InternalError", "ServiceUnavailable", "RequestTimeout", "OperationAborted", "Busy": true
        case "NotImplemented": false
        default: status == 429 || status == 408 || (500...599).contains(status) && status != 501
        }
    }

    /// The error for the caller.
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

    /// A text of the service, shortened and without control characters.
    private static func line(_ text: String) -> String {
        String(
            String.UnicodeScalarView(text.unicodeScalars.prefix(textLimit).map { $0.value < 0x20 || $0.value == 0x7F ? " " : $0 })
        )
    }
}
