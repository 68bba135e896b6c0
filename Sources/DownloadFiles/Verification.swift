package import DownloadCore
internal import System

/// A part file to verify.
package final class Verification: Sendable {
    package let part: PartFile
    /// The hasher that is bound to the part file. Bytes that it lacks are read back.
    package let hasher: StreamingHasher
    /// The length of the whole file in bytes.
    package let length: Int64
    /// The checksums of the client and of the origin that the file must match.
    package let expected: [Checksum]
    package let outcome = AbandonableOutcome<VerifiedFile>()

    package init(part: PartFile, hasher: StreamingHasher, length: Int64, expected: [Checksum]) {
        self.part = part
        self.hasher = hasher
        self.length = length
        self.expected = expected
    }

    /// Abandons the verification. Its outcome follows at once, even if the disk hangs. May be called on any thread at
    /// any time.
    package func abandon() {
        hasher.stop()
        outcome.abandon()
    }

    /// Begins to hash the part file, to compare it with the expected checksums, and to flush it.
    func begin() {
        // Small files were hashed as they arrived.
        if length <= PublishedFile.smallLength, let digest = hasher.digest(of: length),
            expected.allSatisfy({ digest.checksum($0.algorithm) != nil })
        {
            for checksum in expected where digest.checksum(checksum.algorithm) != checksum {
                return outcome.resolve(.failure(Self.mismatch(checksum, digest.checksum(checksum.algorithm))))
            }
            let file = VerifiedFile(part: part, length: length, sha256: digest.sha256, parts: nil, isFlushed: false)
            return outcome.resolve(.success(file))
        }
        Task { outcome.resolve(await check()) }
    }

    private func check() async -> Result<VerifiedFile, FinishingFailure> {
        // Large files are flushed here while they are hashed, so that the files behind them do not wait.
        let isLarge = length > PublishedFile.smallLength
        async let flushing = isLarge ? flush() : nil
        do throws(FileError) {
            let digest = try await hasher.complete(upTo: length)
            for checksum in expected {
                var actual = digest.checksum(checksum.algorithm)
                if actual == nil { actual = try await compute(checksum.algorithm) }
                guard actual == checksum else { return .failure(Self.mismatch(checksum, actual)) }
            }
            if let failure = await flushing { return .failure(.file(failure)) }
            return .success(
                VerifiedFile(part: part, length: length, sha256: digest.sha256, parts: digest.parts, isFlushed: isLarge))
        } catch {
            return .failure(.file(error))
        }
    }

    private static func mismatch(_ expected: Checksum, _ actual: Checksum?) -> FinishingFailure {
        .checksum(expected: "\(expected)", actual: actual?.description ?? "unknown")
    }

    private func flush() async -> FileError? {
        await BlockingExecutor.disk.run { [part, length] in
            do throws(FileError) {
                try part.cut(to: length)
                try part.synchronizeBytes()
                return nil
            } catch {
                return error
            }
        }
    }

    /// Computes a digest that was not computed as the bytes arrived.
    private func compute(_ algorithm: Checksum.Algorithm) async throws(FileError) -> Checksum? {
        let hasher = StreamingHasher([algorithm])
        hasher.bind(to: part, holding: length)
        return try await hasher.complete(upTo: length).checksum(algorithm)
    }
}
