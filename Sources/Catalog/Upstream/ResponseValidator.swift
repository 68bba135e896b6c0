import HTTPClient
import HTTPCore

/// Validates the response of a source. Everything but a proper listing is an error of its own kind, and never taken for an empty
/// result.
enum ResponseValidator {
    /// The listing of a response. Throws ``CatalogError/upstreamRateLimited(retryAfter:)`` with zero, or with what the source
    /// said, where it throttles us.
    static func listing(
        of response: ClientResponse, to request: SourceRequest, from source: any SearchSource
    ) throws(CatalogError) -> Listing {
        let description = type(of: source).description
        if source.isThrottling(response) {
            throw .upstreamRateLimited(retryAfter: retryAfter(response.head.fields) ?? .zero)
        }
        let status = response.head.status.code
        guard (200..<300).contains(status) else {
            let reason = source.refusal(in: response.body).map { ": \(SearchParameter.cut($0, to: 500))" } ?? ""
            throw .upstreamRejected("\(description.name) answered with status \(status)\(reason).")
        }
        guard let field = response.head.fields[.contentType] else {
            throw .upstreamRejected("\(description.name) answered without a media type.")
        }
        guard let mediaType = MediaType(parsing: field), description.mediaTypes.contains(mediaType.essence) else {
            throw .upstreamRejected(
                "\(description.name) answered with the media type \(SearchParameter.quoted(field)); expected is "
                    + description.mediaTypes.joined(separator: " or ") + ".")
        }
        return try source.decode(response.body, of: request)
    }

    /// RFC 9110 §10.2.3, the form in seconds: the one that needs no agreement about the time.
    private static func retryAfter(_ fields: Fields) -> Duration? {
        guard let field = fields[.retryAfter], let seconds = UInt32(field) else { return nil }
        return .seconds(Int64(seconds))
    }
}

extension CatalogError {
    /// What a failed transfer means for those who wait for its response.
    init(_ error: ClientError, source: SourceDescription) {
        let text = "\(source.name): \(error.message)."
        switch error {
        case .timedOut, .stalled: self = .upstreamTimeout(text)
        case .bodyTooLarge, .unsupportedEncoding, .invalidResponse, .invalidRedirect, .tooManyRedirects,
            .unsupportedScheme:
            self = .upstreamRejected(text)
        // Cancelled by none of those who wait: the client is being shut down.
        case .cancelled, .stopped, .connectionFailed, .proxyRefused, .tls, .transferBroken, .destinationForbidden,
            .invalidRequest:
            self = .upstreamUnreachable(text)
        }
    }
}
