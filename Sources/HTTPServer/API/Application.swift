/// What responds to requests. One value serves all connections, from every event loop at once.
public protocol Application: Sendable {
    /// Decides, once the head of a request is there that announces a body, whether that is read: `request` is as `respond` gets it, without
    /// the body. Not asked of a request without one.
    ///
    /// Called on an event loop's thread; must not block. `response` comes empty, and is filled in if the request is refused.
    func decide(onBodyOf request: borrowing Request, with response: inout Response) -> BodyDecision

    /// Responds to one request, whose body is whole and within ``ServerLimits/body``.
    ///
    /// Called on an event loop's thread, so it must not block: what has to wait goes into ``Handling/later(_:)``. `response`
    /// comes empty (200, no fields, no body) and keeps the storage of earlier responses, so filling it usually allocates nothing.
    func respond(to request: borrowing Request, with response: inout Response) -> Handling

    /// Whether a request without a body is answered although its connection is one too many: for the probes of whoever watches the
    /// service, which says little and at once. By default none is. Called on an event loop's thread; must not block.
    func answersSurplus(_ request: borrowing Request) -> Bool

    /// Fills in the response to a request that the server itself refuses. `response.status` is set; the application adds a body
    /// and its Content-Type. `request` has the fields of the head as far as they were read; its other parts may be anything.
    /// Called on an event loop's thread; must not block.
    func refuse(_ refusal: Refusal, of request: borrowing Request, with response: inout Response)
}

extension Application {
    /// None.
    public func answersSurplus(_ request: borrowing Request) -> Bool { false }

    /// Reads every body.
    public func decide(onBodyOf request: borrowing Request, with response: inout Response) -> BodyDecision { .read }
}
