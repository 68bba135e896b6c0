extension DownloadService {
    /// How many files may wait to be verified and published without holding a slot. A disk that does not keep up with more holds
    /// up new transfers.
    private static let mostWithoutSlot = 256

    /// Has a complete part file verified and published. Its slot is free for another: no bytes come any more.
    func finish(_ id: DownloadID) {
        guard let job = jobs[id] else { return }
        let length = job.written.prefix
        let part: PartFile
        if let open = job.part {
            part = open
        } else {
            // All bytes were there before this run, or the origin confirmed that there are no more.
            do throws(FileError) {
                part = try PartFile(path: directory.part(id), truncating: false)
            } catch {
                fail(id, DownloadFailure(error), retryAfter: nil)
                return
            }
        }
        let name =
            job.record.download.filename
            ?? reserve(FileNaming.name(requested: job.record.requestedFilename, contentDisposition: nil, url: job.url), for: id)
        jobs[id]?.activity = .finishing
        finishing += 1
        if finishing <= Self.mostWithoutSlot { queue.remove(id) }
        let order = Finisher.Order(
            id: id, part: part, hasher: job.hasher, length: length, name: name,
            expected: job.expectedDigests)
        Task {
            let outcome = await finisher.finish(order)
            await self.finished(id, order, outcome)
        }
    }

    private func finished(
        _ id: DownloadID, _ order: Finisher.Order, _ outcome: Result<Finisher.Published, Finisher.Failure>
    ) async {
        finishing -= 1
        guard let job = jobs[id] else { return }
        switch outcome {
        case .success(let published):
            var record = job.record
            var download = record.download
            download.state = .completed
            download.filename = published.name
            download.sha256 = published.sha256
            download.bytesReceived = order.length
            download.bytesTotal = order.length
            download.bytesPerSecond = 0
            download.stalled = false
            download.error = nil
            download.completedAt = .now()
            download.updatedAt = .now()
            download.revision += 1
            download.stamp = publisher.reserve()
            record.download = download
            record.forgetTransfer()
            do throws(StoreError) {
                try await submit([.save(record)], telling: delivery(of: record)).wait()
                if let error = await finisher.forget(id) {
                    log(.warning("cannot remove the part file of \(id): \(error.message)"))
                }
            } catch {
                // The file is there, whole; only the record is behind. The next start finds it under both its names, and
                // completes the record.
                log(.warning("cannot record that \(id) is complete: \(error.description)"))
            }
            queue.remove(id)
            releaseName(of: id)
            publish(download, counters: nil)
            log(.transition(download))
            cameToRest(id)
            jobs[id] = nil
            schedule()
        case .failure(.checksum(let expected, let actual)) where job.hasMixedSources && !job.distrustsMirrors:
            log(.mirrorDropped(id, "the file is \(actual) and should be \(expected)"))
            jobs[id]?.distrustsMirrors = true
            if let ticket = job.ticket { queue.seize(id, host: job.host, ticket: ticket) }
            startOver(id)
        case .failure(.checksum(let expected, let actual)):
            // Bytes that are known to be wrong are of no use to a later attempt.
            jobs[id]?.forgetBytes()
            removeFiles("remove the part file of \(id)", [directory.part(id)]).freeLater()
            fail(id, DownloadFailure(.checksumMismatch, "the file is \(actual), and should be \(expected)"), retryAfter: nil)
        case .failure(.file) where isShuttingDown:
            settle(id)
        case .failure(.file(let error)):
            if error.losesBytes { trustOnlySynced(id) }
            fail(id, DownloadFailure(error), retryAfter: nil)
        }
    }

    /// Fetches a file anew from its own URL alone.
    private func startOver(_ id: DownloadID) {
        jobs[id]?.forgetBytes()
        jobs[id]?.hasMixedSources = false
        // The store does not know yet that they are given up.
        jobs[id]?.mayBeCountedOn = true
        var resume = ResumeDecision()
        guard case .ask(let ask) = resume.begin(entity: nil, offset: 0) else { return }
        jobs[id]?.resume = resume
        askAgain(id, ask)
    }
}
