internal import System

/// The marker in a downloads directory. It distinguishes the directory from a bare mount point, and its present state
/// from an earlier one.
package struct VolumeMarker: Sendable, Equatable {
    /// A random id that is created with the marker.
    let id: String
    /// Rises whenever records were saved that may count on bytes in the directory.
    var epoch: UInt64

    /// The largest epoch that is accepted. It leaves enough for later ones.
    private static let largestEpoch: UInt64 = 1 << 62

    /// The text of the marker's file: one line of 55 bytes.
    var text: String { "pawl \(id) \(Hexadecimal.encode(epoch))\n" }
}

extension VolumeMarker {
    /// Creates a new marker with a random id.
    init() {
        let halves = (0..<2).map { _ in Hexadecimal.encode(UInt64.random(in: .min ... .max)) }
        self.init(id: halves.joined(), epoch: 0)
    }

    /// Parses the format of ``text``; `nil` for any other text.
    init?(_ text: String) {
        let words = text.split(separator: "\n", maxSplits: 1)[...].first?.split(separator: " ").map(String.init) ?? []
        guard words.count == 3, words[0] == "pawl", words[1].utf8.count == 32, let epoch = UInt64(words[2], radix: 16),
            epoch <= Self.largestEpoch
        else { return nil }
        self.init(id: words[1], epoch: epoch)
    }
}

/// The downloads directories that the records were used with, and the last known state of each. It is a pure value.
///
/// A directory at a known path without its marker counts as missing: its volume is not mounted, or another one is. A
/// directory at another path is used, because the operator has configured it. It is refused only if it has the marker
/// and part files of another service. An older epoch than the known one means that the directory was put back to an
/// earlier state. Part files may then lack bytes which records count on.
package struct KnownVolumes: Sendable, Equatable {
    /// A downloads directory with its last known marker.
    package struct Volume: Sendable, Equatable {
        let marker: VolumeMarker
        package let path: String
    }

    /// The state of the directory at a path.
    package enum Found: Sendable, Equatable {
        /// There is no directory, or one without a marker.
        case nothing
        /// An empty marker, by which the operator approves the directory.
        case approval
        case marker(VolumeMarker)
    }

    /// The decision about a directory.
    package enum Verdict: Sendable, Equatable {
        /// It is used from now on, and receives this marker.
        case use(VolumeMarker, isRolledBack: Bool)
        /// It is not the expected directory, for this reason.
        case away(String)
    }

    /// The known directories, the last used first.
    package private(set) var volumes: [Volume] = []

    /// The maximum number of known directories.
    package static let limit = 16
    /// The setting that holds the known directories.
    package static let settingName = "downloadsDirectories"

    /// Parses the format of ``text``, and skips invalid lines.
    package init(_ text: String) {
        volumes = text.split(separator: "\n").compactMap { line in
            let parts = line.split(separator: "\t", maxSplits: 1).map(String.init)
            guard parts.count == 2, let marker = VolumeMarker(parts[0]) else { return nil }
            return Volume(marker: marker, path: parts[1])
        }
    }

    /// The known directories as text, one line for each.
    package var text: String { volumes.map { "\($0.marker.text.dropLast())\t\($0.path)" }.joined(separator: "\n") }

    /// Decides about the directory at a path.
    /// - Parameter hasParts: Whether it holds part files.
    package func verdict(_ found: Found, at path: String, hasParts: @autoclosure () -> Bool) -> Verdict {
        let isPathKnown = volumes.contains { $0.path == path }
        switch found {
        case .marker(let marker):
            if let known = volumes.first(where: { $0.marker.id == marker.id }) {
                let epoch = max(known.marker.epoch, marker.epoch) + 1
                return .use(
                    VolumeMarker(id: marker.id, epoch: epoch), isRolledBack: marker.epoch < known.marker.epoch)
            }
            if isPathKnown {
                return .away("\(path) has the marker of another directory: empty the marker (.pawl) if this one is to be used")
            }
            if hasParts() {
                return .away(
                    "\(path) has the marker and part files of another service: empty the marker (.pawl) to discard them")
            }
            return .use(VolumeMarker(id: marker.id, epoch: marker.epoch + 1), isRolledBack: false)
        case .approval: return .use(VolumeMarker(), isRolledBack: false)
        case .nothing:
            if isPathKnown { return .away("\(path) is not there, or has no marker (.pawl): its volume is not mounted") }
            return .use(VolumeMarker(), isRolledBack: false)
        }
    }

    /// Records that the directory at a path has this marker.
    package mutating func note(_ marker: VolumeMarker, at path: String) {
        volumes.removeAll { $0.marker.id == marker.id || $0.path == path }
        volumes.insert(Volume(marker: marker, path: path), at: 0)
        if volumes.count > Self.limit { volumes.removeLast() }
    }
}
