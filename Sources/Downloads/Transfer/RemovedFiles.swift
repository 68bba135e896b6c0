internal import CSystem
internal import Glibc
internal import System

/// Files whose names are gone, and whose room is still to be given back.
///
/// A file system takes seconds for that with a file of some GiB, and whoever lets go of it last waits: never those on whom everybody waits.
struct RemovedFiles: Sendable {
    /// A file with less room than this is let go of where one is, in bytes.
    private static let small: Int64 = 16 << 20

    private var descriptors: [Int32] = []

    /// Removes a file's name; one that is not there is fine.
    mutating func remove(_ path: String) throws(FileError) {
        let descriptor = unsafe pawl_open_name(path)
        do throws(FileError) {
            try FileSystem.remove(path)
        } catch {
            if descriptor >= 0 { close(descriptor) }
            throw error
        }
        guard descriptor >= 0 else { return }
        if Self.isLastOfMuch(descriptor) { descriptors.append(descriptor) } else { close(descriptor) }
    }

    /// Gives the room back; it is there when this returns.
    func free() async {
        if descriptors.isEmpty { return }
        await withCheckedContinuation { reply in
            BlockingExecutor.freeing.submit {
                for descriptor in descriptors { close(descriptor) }
                reply.resume()
            }
        }
    }

    /// Gives the room back before long.
    func freeLater() {
        for descriptor in descriptors { BlockingExecutor.freeing.submit { close(descriptor) } }
    }

    /// Closes a file that may have lost its name meanwhile.
    static func letGo(_ descriptor: Int32) {
        if isLastOfMuch(descriptor) { BlockingExecutor.freeing.submit { close(descriptor) } } else { close(descriptor) }
    }

    /// Whether nothing but open files leads to much room.
    private static func isLastOfMuch(_ descriptor: Int32) -> Bool {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { return false }
        return status.st_nlink == 0 && Int64(status.st_blocks) * 512 >= small
    }
}
