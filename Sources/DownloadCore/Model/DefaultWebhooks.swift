package import HTTPCore

/// The webhooks of all downloads, subscriptions and conditions of the service. The webhook of a request is called besides.
public struct DefaultWebhooks: Sendable, Equatable {
    /// The maximum number of URLs.
    public static let limit = 8

    /// The URLs.
    package var urls: [HTTPURL]
    /// The types of messages that they receive.
    package var types: Set<WebhookMessageType>

    package init(urls: [HTTPURL] = [], types: Set<WebhookMessageType> = Set(WebhookMessageType.selectable)) {
        self.urls = urls
        self.types = types
    }

    /// Returns the URLs that receive a message, each once.
    /// - Parameter own: The webhook of the download's request, which receives every end; `nil`: there is none.
    package func receivers(of type: WebhookMessageType, besides own: String? = nil) -> [String] {
        var receivers = own.map { [$0] } ?? []
        guard types.contains(type) else { return receivers }
        for url in urls where !receivers.contains(url.string) { receivers.append(url.string) }
        return receivers
    }
}
