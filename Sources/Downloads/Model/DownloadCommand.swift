/// What a user can ask of a download.
public enum DownloadCommand: String, Sendable, CaseIterable {
    /// Stop and keep the bytes.
    case pause
    /// Go on from the bytes there are.
    case resume
    /// Stop and delete the partial bytes.
    case cancel
    /// Start again from zero.
    case retry
}
