package import DownloadCore
package import System

/// The key of a finished file in object storage: the download's id and a random number for each upload. An upload
/// therefore never replaces an object that a record names.
///
/// A record keeps the number as a file identity on device 0, which no file on a disk has.
package struct ObjectKey: Sendable, Hashable, LosslessStringConvertible {
    package let id: RecordID
    /// 63 random bits.
    package let upload: Int64

    package init(id: RecordID, upload: Int64) {
        self.id = id
        self.upload = upload
    }

    /// Creates the key of a download's file; `nil` if the file is not an object.
    package init?(_ id: RecordID, _ identity: FileIdentity) {
        guard identity.device == 0, let upload = Int64(exactly: identity.inode) else { return nil }
        self.init(id: id, upload: upload)
    }

    /// Parses the format of ``description``; `nil` for any other key, which does not belong to a download.
    package init?(_ description: String) {
        let parts = description.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let id = RecordID(String(parts[0])), let upload = Int64(parts[1]), upload >= 0 else {
            return nil
        }
        self.init(id: id, upload: upload)
        guard self.description == description else { return nil }
    }

    /// The key, without the fleet's prefix.
    package var description: String { "\(id)/\(upload)" }

    /// Returns the identity of the object in its record.
    /// - Parameters:
    ///   - size: The size of the object in bytes.
    ///   - modified: The time at which it was stored, in nanoseconds since 1970.
    package func identity(size: Int64, modified: Int64) -> FileIdentity {
        FileIdentity(device: 0, inode: UInt64(upload), size: size, modified: modified)
    }
}
