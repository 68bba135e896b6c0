public import System

/// Why a finished file can't be given to a client.
public enum FinishedFileError: Error, Sendable, Equatable {
    /// It is not in the files directory any more, or another file bears its name.
    case gone
    /// The disk or the system refuses at the moment; why, for people.
    case unavailable(String)
}

extension DownloadService {
    /// Opens a finished file if that needs no disk, so that an event loop may do it; `nil` if it does, or fails in any way.
    public nonisolated func openCachedFile(_ name: String, as identity: FileIdentity) -> FileDescriptor? {
        depot.openCached(name, as: identity)
    }

    /// Opens the finished file of a download, if it is still the one that was published. The record says afterwards whether it is.
    public func openFile(of id: DownloadID) async throws(FinishedFileError) -> (FileDescriptor, FileIdentity) {
        guard let identity = try await currentFile(of: id), let name = board.download(id)?.filename else { throw .gone }
        do throws(FileError) {
            return (
                try await BlockingExecutor.disk.run { [depot] () throws(FileError) in try depot.open(name, as: identity) },
                identity
            )
        } catch {
            throw error.meansNoBytes ? .gone : .unavailable(error.message)
        }
    }

    /// Which file the finished one of a download is by now; `nil` if it is gone. The record says so afterwards.
    func currentFile(of id: DownloadID) async throws(FinishedFileError) -> FileIdentity? {
        guard let download = board.download(id), let published = download.published,
            finishedNames.owner(of: published.name) == id
        else { return nil }
        let recognition: FileRecognition
        do throws(FileError) {
            recognition = try await depot.recognise(published)
        } catch {
            throw .unavailable(error.message)
        }
        let found: FileIdentity? =
            switch recognition {
            case .identical: download.file
            case .adopted(let identity): identity
            case .different, .missing: nil
            }
        // It may have lost its name to another download meanwhile.
        guard finishedNames.owner(of: published.name) == id else { return nil }
        await noteFile(of: id, found ?? download.file, isMissing: found == nil)
        return found
    }
}
