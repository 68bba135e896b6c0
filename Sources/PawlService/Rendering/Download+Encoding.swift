internal import DownloadCore
internal import HTTPCore
internal import JSON

/// The JSON of a download as the contract defines it: members in its order, absent values as `null`.
extension Download {
    /// The resource as JSON, with links that begin with the prefix.
    func encoded(_ linkPrefix: PathPrefix) -> [UInt8] {
        var writer = JSONWriter()
        encode(into: &writer, linkPrefix)
        return writer.bytes
    }

    /// Writes the resource.
    /// - Returns: The offset of the value of `position`, the only member that does not depend on the version.
    @discardableResult
    func encode(into writer: inout JSONWriter, _ linkPrefix: PathPrefix) -> Int {
        var link = Array(linkPrefix.text.utf8)
        link.append(contentsOf: "/downloads/".utf8)
        id.encode(into: &link)
        writer.beginObject()
        writer.name("id")
        writer.plain { $0.append(contentsOf: link.suffix(RecordID.length)) }
        writer.member("url", url)
        writer.member("state", state.rawValue)
        if hasOnlyURL { writer.raw(Self.absentMembers) } else { encodeDetails(into: &writer) }
        writer.member("createdAt", createdAt)
        writer.member("startedAt", startedAt)
        writer.member("updatedAt", updatedAt)
        writer.member("completedAt", completedAt)
        writer.member("fileMissing", fileMissing)
        writer.name("receivedRanges")
        writer.beginArray()
        for range in receivedRanges {
            writer.beginObject()
            writer.member("start", range.lowerBound)
            writer.member("end", range.upperBound)
            writer.endObject()
        }
        writer.endArray()
        writer.member("waitingFor", waitingFor?.rawValue)
        writer.name("position")
        let offset = writer.bytes.count
        if let position { writer.value(Int64(position)) } else { writer.null() }
        writer.member("expiresAt", expiresAt)
        writer.name("links")
        writer.beginObject()
        for (name, ending) in Self.links {
            writer.name(name)
            writer.plain { bytes in
                bytes.append(contentsOf: link)
                bytes.append(contentsOf: ending.utf8)
                if name == "file", let filename {
                    bytes.append(UInt8(ascii: "/"))
                    bytes.append(contentsOf: PercentEncoding.encodeComponent(filename).utf8)
                }
            }
        }
        writer.endObject()
        writer.endObject()
        return offset
    }

    /// The members of a download that consists of its URL.
    private static let absentMembers: [UInt8] = {
        var writer = JSONWriter()
        Download(id: RecordID(value: 0), url: "", createdAt: Timestamp(millisecondsSinceEpoch: 0)).encodeDetails(into: &writer)
        return writer.bytes
    }()

    /// Writes the members that a download does not have before its transfer, unless the request had them.
    private func encodeDetails(into writer: inout JSONWriter) {
        writer.member("filename", filename)
        writer.member("folder", folder)
        writer.member("mediaType", mediaType)
        writer.member("bytesReceived", bytesReceived)
        writer.member("bytesTotal", bytesTotal)
        writer.member("progress", progress.map { Self.rounded($0, factor: 10_000) })
        writer.member("bytesPerSecond", bytesPerSecond)
        writer.member("etaSeconds", etaSeconds.map { Self.rounded($0, factor: 10) })
        writer.member("resumable", resumable)
        writer.member("stalled", stalled)
        writer.member("segments", segments)
        writer.member("attempts", attempts)
        writer.name("error")
        if let error { error.encode(into: &writer) } else { writer.null() }
        writer.member("checksum", checksum?.description)
        writer.member("sha256", sha256)
        writer.member("priority", priority)
        writer.name("labels")
        writer.beginArray()
        for label in labels { writer.value(label) }
        writer.endArray()
        writer.member("speedLimit", speedLimit)
        writer.name("timeouts")
        if timeouts.isEmpty {
            writer.null()
        } else {
            writer.beginObject()
            for (name, seconds) in timeouts.members { writer.member(name, seconds) }
            writer.endObject()
        }
        writer.member("remoteTime", remoteTime)
        writer.name("retry")
        if retry.isEmpty { writer.null() } else { writer.raw(retry.json.serialized()) }
        writer.name("track")
        if let track { writer.raw(track) } else { writer.null() }
    }

    private static let links: [(name: String, ending: String)] = [("self", ""), ("file", "/file"), ("events", "/events")]

    /// Rounds down to as many digits as clients need. Never rounds up to 1, which means complete.
    private static func rounded(_ value: Double, factor: Double) -> Double {
        guard value < 1e15 else { return value }
        return (value * factor).rounded(.down) / factor
    }
}

extension JSONWriter {
    /// Writes a member: its name, and a time or `null`.
    fileprivate mutating func member(_ name: String, _ time: Timestamp?) {
        self.name(name)
        if let time { plain { time.encode(into: &$0) } } else { null() }
    }
}

extension DownloadFailure {
    func encode(into writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("code", code.rawValue)
        writer.member("message", message)
        writer.member("retryable", retryable)
        writer.member("httpStatus", httpStatus.map(Int64.init))
        writer.endObject()
    }
}
