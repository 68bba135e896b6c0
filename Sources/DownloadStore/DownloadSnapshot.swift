internal import DownloadCore
import HTTPCore
import JSON

/// The JSON form of a download as a client saw it at one moment. It is kept with an idempotency key.
///
/// Members have the names of the API's resource. Values that follow from other members are left out.
enum DownloadSnapshot {
    /// Encodes the download without members that have their default values.
    static func encode(_ download: Download) -> JSONValue {
        var members: [JSONMember] = []
        func put(_ name: String, _ value: JSONValue?) {
            if let value { members.append(JSONMember(name: name, value: value)) }
        }
        func put(_ name: String, _ text: String?) { put(name, text.map(JSONValue.string)) }
        func put(_ name: String, _ time: Timestamp?) { put(name, time?.description) }
        func put(_ name: String, _ number: Int64) { put(name, number == 0 ? nil : JSONValue.integer(number)) }
        put("id", download.id.description)
        put("url", download.url)
        put("state", download.state.rawValue)
        put("filename", download.filename)
        put("folder", download.folder.isEmpty ? nil : download.folder)
        put("mediaType", download.mediaType)
        put("bytesReceived", download.bytesReceived)
        put("bytesTotal", download.bytesTotal.map(JSONValue.integer))
        put("bytesPerSecond", download.bytesPerSecond)
        put("resumable", download.resumable.map(JSONValue.bool))
        put("stalled", download.stalled ? .bool(true) : nil)
        put("segments", Int64(download.segments))
        put("attempts", Int64(download.attempts))
        put("error", download.error.map(encode))
        put("sha256", download.sha256)
        members += download.options.members
        // As text, so that every byte is preserved.
        put("track", download.track.map { String(decoding: $0, as: UTF8.self) })
        put("createdAt", download.createdAt)
        put("startedAt", download.startedAt)
        put("updatedAt", download.updatedAt)
        put("endedAt", download.endedAt)
        put("expiresAt", download.expiresAt)
        put("waitingFor", download.waitingFor?.rawValue)
        put("gid", download.chosenGID?.description)
        put("position", download.position.map { JSONValue.integer(Int64($0)) })
        put("fileMissing", download.fileMissing ? .bool(true) : nil)
        put("receivedRanges", .array(download.receivedRanges.map(encode)))
        return .object(members)
    }

    private static func encode(_ failure: DownloadFailure) -> JSONValue {
        var members = [
            JSONMember(name: "code", value: .string(failure.code.rawValue)),
            JSONMember(name: "message", value: .string(failure.message)),
            JSONMember(name: "retryable", value: .bool(failure.retryable)),
        ]
        if let status = failure.httpStatus { members.append(JSONMember(name: "httpStatus", value: .integer(Int64(status)))) }
        return .object(members)
    }

    private static func encode(_ range: Range<Int64>) -> JSONValue {
        .object([
            JSONMember(name: "start", value: .integer(range.lowerBound)),
            JSONMember(name: "end", value: .integer(range.upperBound)),
        ])
    }

    /// Decodes a download; `nil` if the value was not written by any release.
    static func decode(_ value: JSONValue) -> Download? {
        guard let id = value["id"]?.string.flatMap(RecordID.init), let url = value["url"]?.string,
            let state = value["state"]?.string.flatMap(DownloadState.init)
        else { return nil }
        func number(_ name: String) -> Int64 { value[name]?.integer ?? 0 }
        func time(_ name: String) -> Timestamp? { value[name]?.string.flatMap(Timestamp.init(parsing:)) }
        var download = Download(id: id, url: url, state: state, createdAt: time("createdAt") ?? id.createdAt)
        download.filename = value["filename"]?.string
        if let folder = value["folder"]?.string { download.folder = folder }
        download.mediaType = value["mediaType"]?.string
        download.bytesReceived = number("bytesReceived")
        download.bytesTotal = value["bytesTotal"]?.integer
        download.bytesPerSecond = number("bytesPerSecond")
        download.resumable = value["resumable"]?.bool
        download.stalled = value["stalled"]?.bool ?? false
        download.segments = Int(clamping: number("segments"))
        download.attempts = Int(clamping: number("attempts"))
        download.error = value["error"].flatMap(failure)
        download.sha256 = value["sha256"]?.string
        download.apply(DownloadOptions(members: value))
        if let track = value["track"]?.string { download.track = Array(track.utf8) }
        download.startedAt = time("startedAt")
        download.updatedAt = time("updatedAt") ?? download.createdAt
        download.endedAt = time("endedAt")
        download.expiresAt = time("expiresAt")
        download.waitingFor = value["waitingFor"]?.string.flatMap(WaitingReason.init)
        if let gid = value["gid"]?.string { download.chosenGID = DownloadGID(gid) }
        download.position = value["position"]?.integer.map(Int.init(clamping:))
        download.fileMissing = value["fileMissing"]?.bool ?? false
        download.receivedRanges = (value["receivedRanges"]?.array ?? []).compactMap(range)
        return download
    }

    private static func failure(_ value: JSONValue) -> DownloadFailure? {
        guard let code = value["code"]?.string.flatMap(FailureCode.init), let message = value["message"]?.string else {
            return nil
        }
        return DownloadFailure(
            code, message, httpStatus: value["httpStatus"]?.integer.map(Int.init(clamping:)),
            retryable: value["retryable"]?.bool ?? false)
    }

    private static func range(_ value: JSONValue) -> Range<Int64>? {
        guard let start = value["start"]?.integer, let end = value["end"]?.integer, start <= end else { return nil }
        return start..<end
    }
}
