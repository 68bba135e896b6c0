public import HTTPCore
internal import System

/// One header field of a download's requests. Its value may be a secret, so its descriptions hide it.
public struct RequestHeader: Sendable, CustomStringConvertible, CustomDebugStringConvertible {
    /// The name, as the user spelled it.
    public var name: String
    /// The value, which may be a secret.
    public var value: String

    package init(name: String, value: String) {
        self.name = name
        self.value = value
    }

    /// Whether it may be sent to other origins than the one that it was given for.
    public var isHarmless: Bool { FieldName(name)?.isHarmless == true }

    /// The name without the value.
    public var description: String { "\(name): (hidden)" }
    /// The name without the value.
    public var debugDescription: String { description }
}

extension RequestHeader: Equatable {
    /// Whether both have the same bytes.
    public static func == (left: RequestHeader, right: RequestHeader) -> Bool {
        left.name.isExactly(right.name) && left.value.isExactly(right.value)
    }
}

/// The header fields of a download's requests. It contains only fields that a user may set, and each name once.
///
/// Values may be secrets: they are never logged. Only harmless fields are sent to another origin.
public struct RequestHeaders: Sendable, Equatable {
    /// The fields in the order of their addition.
    private(set) var fields: [RequestHeader] = []

    /// A reason for which a field cannot be added.
    public enum Fault: Error, Sendable, Equatable {
        /// The field belongs to the connection, or describes the content of the request (RFC 9110 §7.6.1, §8).
        case belongsToConnection
        /// The transfer sets the field when it resumes (RFC 9110 §12.5.3, §13.1, §14.2).
        case belongsToResuming
        /// The name is longer than ``DownloadLimits/headerName``.
        case longName
        /// The value is longer than ``DownloadLimits/headerValue``, or has control characters other than tabs.
        case badValue
        /// Another field has the same name, compared without case.
        case repeated
        /// There are ``DownloadLimits/headers`` fields already.
        case tooMany
    }

    /// Creates an empty list.
    public init() {}

    /// Creates a list of accepted fields. Other ones are left out. Credentials may be longer than other values.
    public init(_ headers: some Sequence<RequestHeader>) {
        for header in headers {
            guard let name = FieldName(header.name) else { continue }
            if name == .authorization { try? authorize(header.value) } else { try? append(name, header.value) }
        }
    }

    /// Returns the reason for which no field can have this name; `nil` if one can.
    public static func fault(of name: FieldName) -> Fault? {
        guard name.canonical.utf8.count <= DownloadLimits.headerName else { return .longName }
        switch name.lowercased {
        case "host", "connection", "content-length", "transfer-encoding", "te", "trailer", "upgrade", "keep-alive", "expect",
            "proxy-connection", "proxy-authorization", "content-type", "content-encoding":
            return .belongsToConnection
        case "range", "if-range", "if-match", "if-none-match", "if-modified-since", "if-unmodified-since", "accept-encoding":
            return .belongsToResuming
        default: return nil
        }
    }

    /// Appends a field.
    /// - Parameter joinsValues: Whether a value of a name that is present is appended to the present value
    ///   (RFC 9110 §5.3; cookies by RFC 6265 §4.2.1), instead of refused as `repeated`.
    public mutating func append(_ name: FieldName, _ value: String, joiningValues joinsValues: Bool = false) throws(Fault) {
        guard Self.isValue(value) else { throw .badValue }
        if let fault = Self.fault(of: name) { throw fault }
        guard let present = index(of: name) else {
            guard fields.count < DownloadLimits.headers else { throw .tooMany }
            fields.append(RequestHeader(name: name.canonical, value: value))
            return
        }
        guard joinsValues else { throw .repeated }
        let joined = fields[present].value + (name.lowercased == "cookie" ? "; " : ", ") + value
        guard Self.isValue(joined) else { throw .badValue }
        fields[present].value = joined
    }

    /// Appends `Authorization` with the credentials of a URL. The limits of fields do not count: the URL has a limit.
    /// - Parameter credentials: The value of ``HTTPURL/basicAuthorization``.
    /// - Throws: `repeated`, `badValue`.
    public mutating func authorize(_ credentials: String) throws(Fault) {
        guard Self.isValue(credentials, limit: .max) else { throw .badValue }
        guard !contains(.authorization) else { throw .repeated }
        fields.append(RequestHeader(name: FieldName.authorization.canonical, value: credentials))
    }

    /// Whether a field has this name, compared without case.
    public func contains(_ name: FieldName) -> Bool { index(of: name) != nil }

    private func index(of name: FieldName) -> Int? {
        fields.firstIndex { FieldName($0.name) == name }
    }

    private static func isValue(_ text: String, limit: Int = DownloadLimits.headerValue) -> Bool {
        text.utf8.count <= limit && text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }
    }
}

extension RequestHeaders: RandomAccessCollection {
    /// The offset of the first field.
    public var startIndex: Int { 0 }
    /// The number of fields.
    public var endIndex: Int { fields.count }
    /// The field at an offset.
    public subscript(offset: Int) -> RequestHeader { fields[offset] }
}
