import HTTPClient
import HTTPCore

/// Validates the response of a source. An invalid response is an error, never an empty result.
enum ResponseValidator {
    /// The listing in a response. If the source throttles, throws ``CatalogError/upstreamRateLimited(retryAfter:)``
    /// with the delay that it asks for, or zero.
    static func listing(
        of response: ClientResponse, to request: SourceRequest, from source: any SearchSource
    ) throws(CatalogError) -> Listing {
        let description = type(of: source).description
        if source.isThrottling(response) {
            throw .upstreamRateLimited(retryAfter: retryAfter(response.head.fields) ?? .zero)
        }
        let name = source.respondent(to: request)
        let status = response.head.status.code
        guard (200..<300).contains(status) else {
            let reason = source.refusal(in: response.body).map { ": \(SearchParameter.cut($0, to: 500))" } ?? ""
            throw .upstreamRejected("\(name) answered with status \(status)\(reason).")
        }
        if description.mediaTypes.contains("*/*") { return try source.decode(response, of: request) }
        guard let field = response.head.fields[.contentType] else {
            throw .upstreamRejected("\(name) answered without a media type.")
        }
        guard let mediaType = MediaType(parsing: field), description.mediaTypes.contains(mediaType.essence) else {
            throw .upstreamRejected(
                "\(name) answered with the media type \(SearchParameter.quoted(field)); expected is "
                    + description.mediaTypes.joined(separator: " or ") + ".")
        }
        return try source.decode(response, of: request)
    }

    /// `Retry-After` in seconds (RFC 9110 §10.2.3), the form that does not depend on clocks.
    private static func retryAfter(_ fields: Fields) -> Duration? {
        guard let field = fields[.retryAfter], let seconds = UInt32(field) else { return nil }
        return .seconds(Int64(seconds))
    }
}

extension CatalogError {
    /// The error for the waiters of a failed transfer.
    init(_ error: ClientError, from source: any SearchSource, to request: SourceRequest) {
        let text = "\(source.respondent(to: request)): \(error.message)."
        switch error {
        case .timedOut, .stalled: self = .upstreamTimeout(text)
        case .bodyTooLarge, .unsupportedEncoding, .invalidResponse, .onlyHTTP2, .invalidRedirect, .tooManyRedirects,
            .unsupportedScheme:
            self = .upstreamRejected(text)
        case .destinationForbidden where type(of: source).description.hosts == .any: self = .destinationForbidden(text)
        // The waiters have not cancelled the request, so the client is shutting down.
        case .cancelled, .stopped, .connectionFailed, .proxyRefused, .tls, .transferBroken, .destinationForbidden,
            .invalidRequest:
            self = .upstreamUnreachable(text)
        }
    }
}
