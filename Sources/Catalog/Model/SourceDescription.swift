import HTTPCore

/// The description of a source for its users.
struct SourceDescription: Sendable {
    /// The value of `source`, and the prefix of ids.
    let id: String
    let name: String
    /// The default base URL. No request of a source that asks any host begins with it.
    let base: HTTPURL
    /// A text that must be shown with its results; `nil` if there is none.
    let attribution: String?
    /// The accepted media types of a response, in lower case; `*/*` for any.
    let mediaTypes: [String]
    /// The forms of ids, for people.
    let ids: [String]
    /// Whether its items may have parts.
    var hasParts = false
    /// Whether parts have formats.
    var hasFormats = false
    /// The hosts of its requests.
    var hosts = Hosts.own
    /// The maximum rate of requests; `nil` for the rate in the configuration.
    var pace: Pace?
    /// All parameters except `source`.
    let parameters: [SearchParameter]

    /// The value of Accept in requests. A server that can choose sends one of the named types.
    var accept: String { mediaTypes.map { $0 == "*/*" ? "*/*;q=0.1" : $0 }.joined(separator: ", ") }

    /// The hosts of a source's requests.
    enum Hosts: Sendable {
        /// The host of the base URL, which a rate budget spares.
        case own
        /// The host that the caller names, which the destination guard examines.
        case any
    }

    /// A maximum rate of requests.
    struct Pace: Sendable {
        let requests: Int
        /// The period to which the number of requests refers.
        let period: Duration
    }
}
