/// The application that responds to requests. One value serves all connections, from all event loops at once.
public protocol Application: Sendable {
    /// Decides whether a request's body is read, when its head is complete. `request` is the later argument of
    /// `respond`, without the body. Not called for a request without a body.
    ///
    /// Called on an event loop's thread; must not block. `response` is empty. The application fills it in if it refuses
    /// the request. For a body that is read, ``Response/permit`` is the permit of its arrival.
    func decide(onBodyOf request: borrowing Request, with response: inout Response) -> BodyDecision

    /// Responds to one request, whose body is complete and within ``ServerLimits/body``.
    ///
    /// Called on an event loop's thread, so it must not block: work that waits belongs into ``Handling/later(_:)``.
    /// `response` is empty (200, no fields, no body), but has the storage of earlier responses. So filling it in
    /// usually allocates nothing.
    func respond(to request: borrowing Request, with response: inout Response) -> Handling

    /// Whether a request without a body gets its response even on a surplus connection. This is for probes of
    /// monitoring, whose responses are small and immediate. By default no request does. Called on an event loop's
    /// thread; must not block.
    func respondsToSurplus(_ request: borrowing Request) -> Bool

    /// Fills in the response to a request that the server itself refuses. `response.status` is set; the application
    /// adds a body and its Content-Type. `request` has the fields of the head as far as they were parsed; its other
    /// parts are arbitrary. Called on an event loop's thread; must not block.
    func refuse(_ refusal: Refusal, of request: borrowing Request, with response: inout Response)
}

extension Application {
    /// Returns false for every request.
    public func respondsToSurplus(_ request: borrowing Request) -> Bool { false }

    /// Accepts every body.
    public func decide(onBodyOf request: borrowing Request, with response: inout Response) -> BodyDecision { .read }
}
