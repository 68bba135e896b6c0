internal import DownloadCore
internal import HTTPCore
internal import JSON
internal import Subscriptions

extension Subscription {
    /// Writes the subscription. Header fields are never in it; without the full scope, neither are queries of addresses.
    /// - Parameter showsKey: Whether the address of its feed has the key.
    func encode(into writer: inout JSONWriter, _ linkPrefix: PathPrefix, hidesSecrets: Bool, showsKey: Bool = false) {
        writer.beginObject()
        writer.member("id", id.description)
        writer.name("source")
        writer.beginObject()
        switch source {
        case .feed, .work: writer.member("partsOf", work(hidesSecrets: hidesSecrets))
        case .search(let term):
            writer.name("search")
            writer.beginObject()
            writer.member("source", "archive")
            writer.member("term", term)
            writer.endObject()
        }
        writer.endObject()
        writer.member("name", hidesSecrets ? HTTPURL.withoutSecrets(in: name) : name)
        writer.member("state", state.rawValue)
        encodeSettings(into: &writer)
        writer.member("checkedAt", checkedAt?.description)
        writer.member("changedAt", changedAt?.description)
        writer.member("nextCheckAt", nextCheckAt?.description)
        writer.member("failures", failures)
        writer.name("error")
        if let failure {
            writer.beginObject()
            writer.member("code", failure.code)
            writer.member("message", failure.message)
            writer.member("httpStatus", failure.httpStatus)
            writer.endObject()
        } else {
            writer.null()
        }
        writer.texts(warnings, "warnings")
        writer.name("items")
        writer.beginObject()
        for state in ItemState.allCases { writer.member(state.rawValue, items[state]) }
        writer.endObject()
        writer.member("createdAt", createdAt.description)
        writer.member("updatedAt", updatedAt.description)
        writer.name("links")
        writer.beginObject()
        let path = "\(linkPrefix.text)/subscriptions/\(id)"
        writer.member("self", path)
        writer.member("items", path + "/items")
        writer.member("feed", feedPath(linkPrefix, showsKey: showsKey))
        writer.member("downloads", "\(linkPrefix.text)/downloads?label=subscription%3A\(id)")
        writer.endObject()
        writer.endObject()
    }

    /// Returns the id of the work, or the term of a search.
    func work(hidesSecrets: Bool) -> String {
        switch source {
        case .feed(let url):
            let address = url.withoutUserInfo.string
            return "feed:" + (hidesSecrets ? HTTPURL.withoutSecrets(in: address) : address)
        case .work(let id): return id
        case .search(let term): return term
        }
    }

    /// Returns the subscription for messages to webhooks, without secrets.
    func resource(_ linkPrefix: PathPrefix) -> [UInt8] {
        var writer = JSONWriter()
        encode(into: &writer, linkPrefix, hidesSecrets: true)
        return writer.bytes
    }

    /// Returns the path of the feed of finished files.
    func feedPath(_ linkPrefix: PathPrefix, showsKey: Bool) -> String {
        "\(linkPrefix.text)/subscriptions/\(id)/feed.xml\(showsKey ? "?key=\(key.text)" : "")"
    }

    private func encodeSettings(into writer: inout JSONWriter) {
        writer.member("every", settings.every)
        writer.name("take")
        switch settings.take {
        case .new: writer.value("new")
        case .all: writer.value("all")
        case .latest(let count):
            writer.beginObject()
            writer.member("latest", count)
            writer.endObject()
        }
        writer.member("keep", settings.keep)
        writer.texts(settings.filter.include.map(\.text), "include")
        writer.texts(settings.filter.exclude.map(\.text), "exclude")
        writer.member("minDurationMs", settings.filter.minDurationMs)
        writer.member("maxDurationMs", settings.filter.maxDurationMs)
        writer.name("naming")
        if let naming = settings.naming {
            writer.beginObject()
            writer.member("folder", naming.folder)
            writer.member("file", naming.file)
            writer.endObject()
        } else {
            writer.null()
        }
        writer.member("folder", settings.options.folder)
        writer.texts(settings.options.labels ?? [], "labels")
        writer.member("priority", settings.options.priority ?? 0)
        writer.member("speedLimit", settings.options.speedLimit ?? 0)
        writer.texts(settings.formats, "formats")
    }

    /// The validator: it changes with settings, state and name, not with the times of checks.
    var entityTag: EntityTag { EntityTag(opaque: "\(id)-\(revision)") }
}

extension SubscriptionItem {
    /// Writes the item.
    func encode(into writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("id", id)
        writer.member("name", name)
        writer.member("releaseDate", releaseDate)
        writer.member("state", state.rawValue)
        writer.member("reason", reason?.rawValue)
        writer.name("download")
        if let download {
            writer.beginObject()
            writer.member("id", download.id.description)
            writer.member("state", download.state.rawValue)
            writer.endObject()
        } else {
            writer.null()
        }
        writer.endObject()
    }
}

extension JSONWriter {
    mutating func texts(_ texts: [String], _ name: String) {
        self.name(name)
        beginArray()
        for text in texts { value(text) }
        endArray()
    }
}
