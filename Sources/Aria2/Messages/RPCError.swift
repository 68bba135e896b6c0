internal import DownloadCore
internal import HTTPCore

/// The error of a call as aria2 reports it: JSON-RPC 2.0 §5.1, and code 1 for all errors of methods.
struct RPCError: Error, Sendable, Equatable {
    let code: Int
    /// A sentence for people. Clients compare the message of ``unauthorized``.
    let message: String
    /// Whether the download is unknown here: in a fleet, another replica may have just added it.
    let meansUnknown: Bool
    /// Whether the store did not answer in time.
    let meansUnanswered: Bool

    /// An error of a method.
    init(_ message: String) {
        self.init(code: 1, message)
    }

    private init(code: Int, _ message: String, meansUnknown: Bool = false, meansUnanswered: Bool = false) {
        self.code = code
        self.message = message
        self.meansUnknown = meansUnknown
        self.meansUnanswered = meansUnanswered
    }

    /// No download has this gid.
    static func isUnknown(_ gid: String) -> RPCError { RPCError(code: 1, "GID \(gid) is not found", meansUnknown: true) }

    /// The secret is missing or wrong.
    static let unauthorized = RPCError("Unauthorized")
    /// The call has no `id` or no `method`, or is not an object.
    static let invalidRequest = RPCError(code: -32600, "Invalid Request.")
    /// The message has too many calls.
    static let tooManyCalls = RPCError(code: -32600, "A message has at most \(RPCMessage.maximumCalls) calls.")
    /// An `id` is too long.
    static let longID = RPCError(code: -32600, "An id has at most \(RPCMessage.Entry.maximumIDLength) bytes.")
    /// `params` is not a list.
    static let invalidParameters = RPCError(code: -32602, "Invalid params.")
    /// The text is not JSON.
    static let parse = RPCError(code: -32700, "Parse error.")
    /// The response to the message has reached its limit (``Answer/maximumBytes``).
    static let tooLarge = RPCError("The response would be too large.")
    /// Too many other messages are being answered.
    static let busy = RPCError("The service is busy with other large messages; try again in a moment.")

    /// The HTTP status of a response with only this error.
    var status: HTTPStatus {
        if self == .busy { return .serviceUnavailable }
        return code == Self.parse.code || code == Self.invalidParameters.code ? .internalServerError : .badRequest
    }
}

/// Maps errors of the download service to aria2's. No other place decides how they appear to clients.
extension RPCError {
    /// Calls the download service, and rethrows its errors.
    /// - Parameters:
    ///   - gid: The gid in the call, for a download that no longer exists.
    ///   - refusal: aria2's error for a download whose state does not allow the call.
    static func rethrowing<Value>(
        gid: String? = nil, refusal: RPCError? = nil, _ work: @autoclosure () async throws(DownloadError) -> Value
    ) async throws(RPCError) -> Value {
        do throws(DownloadError) {
            return try await work()
        } catch {
            throw RPCError(error, gid: gid, refusal: refusal)
        }
    }

    private init(_ error: DownloadError, gid: String?, refusal: RPCError?) {
        switch (error, gid, refusal) {
        case (.notFound, let gid?, _): self = .isUnknown(gid)
        // The state may also have changed since the call was checked.
        case (.illegalTransition, _, let refusal?), (.preconditionFailed, _, let refusal?): self = refusal
        default: self.init(code: 1, error.description, meansUnanswered: error == .overloaded || error == .unconfirmed)
        }
    }
}

extension RPCError {
    static func isMissing(_ parameter: Int) -> RPCError { RPCError("The parameter at \(parameter) is required but missing.") }

    static func hasWrongType(_ parameter: Int) -> RPCError { RPCError("The parameter at \(parameter) has wrong type.") }

    static func isLess(_ parameter: Int, than least: Int) -> RPCError {
        RPCError("The integer parameter at \(parameter) has invalid value: the value must be greater than or equal to \(least).")
    }

    /// - Parameter reason: The accepted values, as a sentence; `nil` if they are the same as in aria2.
    static func badOption(_ name: String, _ reason: String? = nil) -> RPCError {
        let text = "We encountered a problem while processing the option '--\(name)'."
        return RPCError(reason.map { "\(text) \($0)" } ?? text)
    }
}
