package import HTTPCore

/// The reason why a queued download, or a download with all its bytes, waits.
public enum WaitingReason: String, Sendable, CaseIterable {
    /// A slot: all slots are in use.
    case slot = "turn"
    /// A slot: all slots of its host are in use.
    case host
    /// Disk space: less is free than has to stay free, or than the file needs. Or the file system of the folder.
    case disk
    /// The quota: the kept bytes take all of it.
    case quota
    /// The object storage, which does not accept the file.
    case storage
    /// The downloads directory, which is unavailable or cannot be written.
    case volume = "downloads-directory"
}

extension HTTPURL {
    /// The host and port, by which the queue limits downloads.
    package var hostAndPort: String { "\(host):\(port)" }
}
