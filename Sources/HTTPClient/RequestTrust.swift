public import HTTPCore

/// The trust in the address of a request, which responses may have chosen. It has no I/O.
public struct RequestTrust: Sendable, Equatable {
    /// Whether the address is of another origin than the caller's fields are for, or such an origin has chosen it. Then only
    /// the caller's harmless fields are sent (``HTTPCore/FieldName/isHarmless``).
    public var hasLeftOrigin: Bool
    /// Whether a response has led from https to http. A listener could have forged all responses since then, so
    /// credentials of files are not sent.
    public internal(set) var hasLostEncryption = false

    /// Creates the trust in an address that no response has chosen.
    public init(hasLeftOrigin: Bool = false) {
        self.hasLeftOrigin = hasLeftOrigin
    }

    /// Returns the trust in an address to which a response from `url` leads.
    func following(_ url: HTTPURL, to next: HTTPURL) -> RequestTrust {
        var trust = self
        trust.hasLeftOrigin = hasLeftOrigin || !next.hasOrigin(of: url)
        trust.hasLostEncryption = hasLostEncryption || url.isEncrypted && !next.isEncrypted
        return trust
    }
}

extension ClientResponseHead {
    /// Returns the trust in an address that the response names.
    public func trust(in next: HTTPURL) -> RequestTrust { trust.following(url, to: next) }
}
