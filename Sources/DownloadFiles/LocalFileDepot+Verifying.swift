internal import DownloadCore
internal import System

/// Compares whole part files with their expected checksums.
extension LocalFileDepot {
    package func begin(_ verification: Verification) {
        let (length, outcome) = (verification.length, verification.outcome)
        // Small files were hashed as they arrived.
        if length <= PublishedFile.smallLength, let digest = verification.hasher.digest(of: length),
            verification.expected.allSatisfy({ digest.checksum($0.algorithm) != nil })
        {
            for expected in verification.expected where digest.checksum(expected.algorithm) != expected {
                return outcome.resolve(.failure(Self.mismatch(expected, digest.checksum(expected.algorithm))))
            }
            let file = VerifiedFile(part: verification.part, length: length, sha256: digest.sha256, isFlushed: false)
            return outcome.resolve(.success(file))
        }
        Task { outcome.resolve(await check(verification)) }
    }

    private func check(_ verification: Verification) async -> Result<VerifiedFile, FinishingFailure> {
        let (part, length) = (verification.part, verification.length)
        // Large files are flushed here while they are hashed, so that the files behind them do not wait.
        let isLarge = length > PublishedFile.smallLength
        async let flushing = isLarge ? Self.flush(part, length) : nil
        do throws(FileError) {
            let digest = try await verification.hasher.complete(upTo: length)
            for expected in verification.expected {
                var actual = digest.checksum(expected.algorithm)
                if actual == nil { actual = try await Self.checksum(expected.algorithm, of: part, length) }
                guard actual == expected else { return .failure(Self.mismatch(expected, actual)) }
            }
            if let failure = await flushing { return .failure(.file(failure)) }
            return .success(VerifiedFile(part: part, length: length, sha256: digest.sha256, isFlushed: isLarge))
        } catch {
            return .failure(.file(error))
        }
    }

    private static func mismatch(_ expected: Checksum, _ actual: Checksum?) -> FinishingFailure {
        .checksum(expected: "\(expected)", actual: actual?.description ?? "unknown")
    }

    private static func flush(_ part: PartFile, _ length: Int64) async -> FileError? {
        await BlockingExecutor.disk.run {
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
    private static func checksum(
        _ algorithm: Checksum.Algorithm, of part: PartFile, _ length: Int64
    ) async throws(FileError) -> Checksum? {
        let hasher = StreamingHasher([algorithm])
        hasher.bind(to: part, holding: length)
        return try await hasher.complete(upTo: length).checksum(algorithm)
    }
}
