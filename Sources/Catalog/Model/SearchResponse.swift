/// What a search or lookup found.
public struct SearchResponse: Sendable {
    /// The source's id.
    public let source: String
    /// What was looked for; of a lookup the id.
    public let term: String
    /// Most results asked for.
    public let limit: Int
    /// How many results were skipped.
    public let offset: Int
    /// The results in the source's order.
    public let items: [SearchItem]
    /// What must stand beside the results; nil: nothing.
    public let attribution: String?
    /// Until when the response is current; then the source is asked again.
    public let expires: ContinuousClock.Instant

    /// How long the response is still current, at least zero: what `Cache-Control: max-age` says.
    public func freshness(at now: ContinuousClock.Instant) -> Duration {
        max(.zero, now.duration(to: expires))
    }
}
