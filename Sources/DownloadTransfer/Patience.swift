package import DownloadCore

/// The time limits of a download's requests, and the decision how long a wait beyond a limit is borne. Pure.
///
/// An attempt that is abandoned costs nothing if the next one continues its bytes. An origin that cannot resume has to
/// begin anew, and may need as long again for its first byte. So waits for it are borne for ``minimum``, unless the
/// client has chosen the limit.
package struct Patience: Sendable, Equatable {
    /// Time limits; `nil`: none.
    package struct Limits: Sendable, Equatable {
        /// The longest wait for a connection.
        package var connect: Duration?
        /// The longest wait for the head of a response, once the connection is there.
        package var response: Duration?
        /// The longest time without a byte of a body.
        package var stall: Duration?

        package init(connect: Duration?, response: Duration?, stall: Duration?) {
            self.connect = connect
            self.response = response
            self.stall = stall
        }
    }

    /// A wait that has exceeded its limit.
    package struct Wait: Sendable, Equatable {
        /// Whether the head has arrived, so that bytes of the body are awaited.
        package var hasHead: Bool
        /// Whether another request can continue the present bytes; `nil` if no head has shown that yet.
        package var isResumable: Bool?
        /// Whether bytes of the file are present, which another request could continue.
        package var hasBytes: Bool
        /// Whether another source can take over without costing present bytes.
        package var hasSubstitute: Bool

        package init(hasHead: Bool, isResumable: Bool?, hasBytes: Bool = true, hasSubstitute: Bool = false) {
            self.hasHead = hasHead
            self.isResumable = isResumable
            self.hasBytes = hasBytes
            self.hasSubstitute = hasSubstitute
        }
    }

    /// The limits of each request.
    package let limits: Limits
    /// The limits that the client has chosen.
    private let chosen: Timeouts
    /// The length of a wait that is borne.
    private let minimum: Duration

    /// The default of the length of a wait that is borne.
    package static let minimum: Duration = .seconds(300)

    /// - Parameters:
    ///   - options: The service's limits.
    ///   - chosen: The client's limits, which take precedence.
    ///   - minimum: The length of a wait that is borne.
    package init(_ options: Limits, chosen: Timeouts = Timeouts(), minimum: Duration = minimum) {
        func limit(_ seconds: Int?, _ option: Duration?) -> Duration? {
            guard let seconds else { return option }
            return seconds > 0 ? .seconds(seconds) : nil
        }
        limits = Limits(
            connect: limit(chosen.connect, options.connect), response: limit(chosen.response, options.response),
            stall: limit(chosen.stall, options.stall))
        self.chosen = chosen
        self.minimum = minimum
    }

    /// Returns the length that a wait may have although it has exceeded its limit; `nil`: its attempt ends.
    package func extendedLimit(of wait: Wait) -> Duration? {
        let isChosen = (wait.hasHead ? chosen.stall : chosen.response) != nil
        // For the first byte of the file, the next response may need as long again.
        let losesNothing = wait.isResumable == true && (wait.hasBytes || !wait.hasHead)
        return isChosen || losesNothing || wait.hasSubstitute ? nil : minimum
    }
}
