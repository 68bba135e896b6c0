internal import System

/// The name of a finished file in object storage: the download's, and a number that is drawn for each upload, so that nobody ever
/// overwrites what a record names.
///
/// A record keeps the number as a file's identity on device 0, which no file on a disk has.
struct ObjectKey: Sendable, Hashable, LosslessStringConvertible {
    let id: DownloadID
    /// 63 random bits.
    let upload: Int64

    init(id: DownloadID, upload: Int64) {
        self.id = id
        self.upload = upload
    }

    /// That of a download's file; `nil`: it is no object.
    init?(_ id: DownloadID, _ identity: FileIdentity) {
        guard identity.device == 0, let upload = Int64(exactly: identity.inode) else { return nil }
        self.init(id: id, upload: upload)
    }

    /// Reads what ``description`` writes; `nil` for anything else, which is somebody else's.
    init?(_ description: String) {
        let parts = description.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let id = DownloadID(String(parts[0])), let upload = Int64(parts[1]), upload >= 0 else {
            return nil
        }
        self.init(id: id, upload: upload)
        guard self.description == description else { return nil }
    }

    /// The key, behind the prefix of the fleet.
    var description: String { "\(id)/\(upload)" }

    /// What a record tells of the object.
    /// - Parameters:
    ///   - size: its bytes.
    ///   - modified: when it was stored, in nanoseconds since 1970.
    func identity(size: Int64, modified: Int64) -> FileIdentity {
        FileIdentity(device: 0, inode: UInt64(upload), size: size, modified: modified)
    }
}
