package import DownloadCore
package import HTTPCore

/// The mirrors that a response announces together with a digest of the whole file (RFC 6249): links of the relation
/// `duplicate`, beside `Digest` or `Repr-Digest`. Pure.
///
/// The digest is the proof of all bytes that these mirrors bring. Without one, the links are ignored.
package struct AnnouncedMirrors: Sendable, Equatable {
    /// The mirrors, in the order of their priorities. There are at most ``DownloadLimits/mirrors``.
    package let urls: [HTTPURL]
    package let digest: Checksum

    /// Reads the announcement of a response, or of a redirect to it; `nil` if there is none.
    /// - Parameters:
    ///   - url: The URL of the response.
    ///   - own: The download's own URL. If one of both is encrypted, mirrors without encryption are left out.
    package init?(_ fields: Fields, of url: HTTPURL, for own: HTTPURL) {
        guard let digest = OriginDigests.strongest(fields) else { return nil }
        let isEncrypted = [url, own].contains { $0.scheme == "https" }
        var ranked: [(url: HTTPURL, priority: Int)] = []
        var targets: Set<String> = []
        for link in Link.all(in: fields) where link.hasRelation("duplicate") && link["anchor"] == nil {
            guard let target = url.resolving(link.target), !target.hasUserInfo, target != url, target != own,
                target.string.utf8.count <= DownloadLimits.url, !isEncrypted || target.scheme == "https",
                targets.insert(target.string).inserted
            else { continue }
            ranked.append((target, Self.priority(link["pri"])))
        }
        // Equal priorities keep the order of the response. `sort` does not promise to keep it.
        let order = ranked.indices.sorted { (ranked[$0].priority, $0) < (ranked[$1].priority, $1) }
        urls = order.prefix(DownloadLimits.mirrors).map { ranked[$0].url }
        self.digest = digest
        if urls.isEmpty { return nil }
    }

    /// Whether a digest of the same algorithm is another one.
    package func contradicts(_ other: Checksum?) -> Bool {
        other.map { $0.algorithm == digest.algorithm && $0 != digest } ?? false
    }

    /// The priority of a link, from 1, the highest. A missing or invalid one is the lowest.
    private static func priority(_ text: String?) -> Int {
        let lowest = 999_999
        return text.flatMap { Int($0) }.flatMap { (1...lowest).contains($0) ? $0 : nil } ?? lowest
    }
}
