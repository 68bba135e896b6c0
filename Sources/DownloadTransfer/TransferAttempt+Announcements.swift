internal import DownloadCore
package import HTTPClient
internal import HTTPCore
internal import System

/// The treatment of mirrors that origins announce.
package enum Announcements: Sendable {
    /// Announcements have no effect.
    case ignored
    /// Only their digests count, since bytes of a mirror were wrong.
    case verified
    /// The mirrors are used.
    case used
}

/// Mirrors that the origin announces. The digest of the same response proves their bytes.
extension TransferAttempt {
    /// Notes the announcement of a redirect on the way to the file.
    package func redirected(by head: ClientResponseHead, on connection: SegmentConnection) {
        guard connection.range == nil, let found = announcement(in: head), !found.contradicts(parameters.checksum) else { return }
        state.withLock { if !$0.announced.contains(connection.source) { $0.announcement = found } }
    }

    /// Reads the announcement of a response or redirect; `nil` if there is none, or it has no effect.
    private func announcement(in head: ClientResponseHead) -> AnnouncedMirrors? {
        // Most responses have no link, and need no URL parsed.
        guard parameters.announcements != .ignored, head.fields.contains(.link), let own = HTTPURL(parameters.url) else {
            return nil
        }
        return AnnouncedMirrors(head.fields, of: head.url, for: own)
    }

    /// Adds the digest that an announcement requires to the first response.
    ///
    /// A mirror that was announced must have the file of that digest. Any other source may send a digest of its own,
    /// which takes precedence.
    /// - Returns: The failure of a mirror with another file; `nil` if there is none.
    func prove(_ response: inout OriginResponse, _ head: ClientResponseHead, _ state: inout State) -> DownloadFailure? {
        guard state.announced.contains(state.sources.first) else {
            if let found = announcement(in: head) { state.announcement = found }
            response.digest = response.digest ?? state.announcement?.digest
            return nil
        }
        guard let proof = state.announcedDigest else {
            return DownloadFailure(.transferBroken, "no digest proves the bytes of this mirror")
        }
        if let digest = response.digest, digest.algorithm == proof.algorithm, digest != proof {
            return DownloadFailure(.checksumMismatch, "its file is \(digest)")
        }
        response.digest = proof
        return nil
    }

    /// Adds the announced mirrors to the sources, unless their digest contradicts a known one.
    /// - Parameter known: The digest of the file that the first source has described; `nil` if there is none.
    func adopt(_ announcement: AnnouncedMirrors?, known: Checksum?, _ state: inout State) {
        guard parameters.announcements == .used, let announcement, !announcement.contradicts(known),
            !announcement.contradicts(parameters.checksum), let template = parameters.sources.first
        else { return }
        state.announcedDigest = known ?? announcement.digest
        for url in announcement.urls where state.announced.count < DownloadLimits.mirrors {
            guard !state.requests.contains(where: { $0.url == url }) else { continue }
            if case .forbidden(let reason) = template.guarding?.evaluate(host: url.host, port: url.port) {
                report(.mirrorDropped("\(url.host):\(url.port): \(reason)"))
                continue
            }
            var request = template
            request.url = url
            // The mirror is the origin's choice.
            request.trust.hasLeftOrigin = true
            state.requests.append(request)
            state.announced.insert(state.sources.add())
        }
    }

    /// Returns the URLs of the announced mirrors, for the record. Without a digest, nothing proves their bytes.
    func announcedURLs(_ entity: SavedEntity, _ state: State) -> [String] {
        entity.digest == nil ? [] : state.announced.sorted().map { state.requests[$0].url.string }
    }
}
