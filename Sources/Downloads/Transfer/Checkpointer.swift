internal import System

/// Syncs part files away from everything that must not wait for a disk. One thread, one file at a time.
final class Checkpointer: Sendable {
    /// Gives back, before whatever is asked of it next, the room of a part file that has been reserved for bytes which have not come.
    func reduce(_ part: PartFile, to written: Coverage) {
        BlockingExecutor.checkpoints.submit { part.release(allBut: written) }
    }

    /// Waits until the bytes written to a part file so far are on the disk.
    func synchronize(_ part: PartFile) async -> FileError? {
        await withCheckedContinuation { reply in
            BlockingExecutor.checkpoints.submit {
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
