public import Foundation

/// An error of a request.
///
/// ```swift
/// do { try await pawl.add(url: url) } catch PawlError.http(_, let problem?) { show(problem.detail) }
/// ```
public enum PawlError: Error, LocalizedError, Sendable {
    /// There is no response, or not a whole one: no network, a refused or lost connection, TLS, a time limit.
    case noConnection(URLError)
    /// The response has another status than success. The service explains it by a problem; a proxy in front of it has none.
    case http(status: Int, problem: Problem?)
    /// The response has success, but not the media type of the service: it comes from another server, such as a login page.
    case mediaType(String?)
    /// The body is not what the service sends.
    case undecodable(any Error)

    /// The code of the service's problem, such as `not-found`.
    public var code: String? { if case .http(_, let problem) = self { problem?.code } else { nil } }

    /// A sentence for people.
    public var errorDescription: String? {
        switch self {
        case .noConnection(let error): "The service cannot be reached: \(error.localizedDescription)"
        case .http(let status, let problem): problem?.detail ?? "The server responds with status \(status)."
        case .mediaType(let type): "The server is no Pawl service: it responds with \(type ?? "no media type")."
        case .undecodable: "The response cannot be read."
        }
    }

    /// Whether the same request may succeed later. A 404 without a problem is of a proxy that misses its service.
    var isTransient: Bool {
        switch self {
        case .noConnection, .mediaType, .http(404, nil), .http(408, _), .http(425, _), .http(429, _), .http(500..., _): true
        case .http, .undecodable: false
        }
    }

    /// Decodes a value of the service, whose times are RFC 3339 with milliseconds.
    static func decode<Value: Decodable>(_ body: Data) throws -> Value {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .custom {
            let text = try $0.singleValueContainer().decode(String.self)
            return try Date.ISO8601FormatStyle(includingFractionalSeconds: true).parse(text)
        }
        do { return try decoder.decode(Value.self, from: body) } catch { throw PawlError.undecodable(error) }
    }
}

/// A problem by which the service explains an error (RFC 9457).
public struct Problem: Codable, Hashable, Sendable {
    /// The code that programs compare, such as `not-found`.
    public let code: String
    /// The kind of problem in words.
    public let title: String
    /// The reason in words.
    public let detail: String
}
