internal import Dispatch

/// Syncs part files away from everything that must not wait for a disk. One thread, one file at a time.
final class Checkpointer: Sendable {
    private let queue = DispatchQueue(label: "pawl.checkpoints")

    /// Waits until the bytes written to a part file so far are on the disk.
    func synchronize(_ part: PartFile) async -> FileError? {
        await withCheckedContinuation { reply in
            queue.async {
                do throws(FileError) {
                    try part.synchronize()
                    reply.resume(returning: nil)
                } catch {
                    reply.resume(returning: error)
                }
            }
        }
    }
}
