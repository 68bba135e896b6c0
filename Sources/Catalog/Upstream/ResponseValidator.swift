package import HTTPClient
import HTTPCore
import System

/// Validates the response of a source. An invalid response is an error, never an empty result.
enum ResponseValidator {
    /// The listing in a response. If the source throttles, throws ``CatalogError/upstreamRateLimited(retryAfter:httpStatus:)``
    /// with the delay that it asks for, or zero.
    static func listing(
        of response: ClientResponse, to request: SourceRequest, from source: any SearchSource
    ) throws(CatalogError) -> Listing {
        let description = type(of: source).description
        if source.isThrottling(response) {
            let now = Timestamp(millisecondsSinceEpoch: SystemTime.sinceEpoch / 1_000_000)
            throw .upstreamRateLimited(
                retryAfter: response.head.fields.retryAfter(at: now) ?? .zero, httpStatus: response.head.status.code)
        }
        let name = source.respondent(to: request)
        let status = response.head.status.code
        guard (200..<300).contains(status) else {
            let reason = source.refusal(in: response.body).map { ": \(SearchParameter.cut($0, to: 500))" } ?? ""
            throw .upstreamRejected("\(name) answered with status \(status)\(reason).", httpStatus: status)
        }
        if description.mediaTypes.contains("*/*") { return try source.decode(response, of: request) }
        guard let field = response.head.fields[.contentType] else {
            throw .upstreamRejected("\(name) answered without a media type.", httpStatus: status)
        }
        guard let mediaType = MediaType(parsing: field), description.mediaTypes.contains(mediaType.essence) else {
            throw .upstreamRejected(
                "\(name) answered with the media type \(SearchParameter.quoted(field)); expected is "
                    + description.mediaTypes.joined(separator: " or ") + ".", httpStatus: status)
        }
        return try source.decode(response, of: request)
    }
}

extension CatalogError {
    /// The error for the waiters of a failed transfer.
    /// - Parameters:
    ///   - respondent: The name of the source, or the host of the request.
    ///   - isChosen: Whether the caller has named the host.
    package init(_ error: ClientError, from respondent: String, isChosen: Bool) {
        let text = "\(respondent): \(error.message)."
        switch error {
        case .timedOut, .stalled: self = .upstreamTimeout(text)
        case .invalidRedirect(let status, _), .unsupportedScheme(let status, _):
            self = .upstreamRejected(text, httpStatus: status)
        case .bodyTooLarge, .unsupportedEncoding, .invalidResponse, .onlyHTTP2, .tooManyRedirects:
            self = .upstreamRejected(text)
        case .destinationForbidden where isChosen: self = .destinationForbidden(text)
        // The waiters have not cancelled the request, so the client is shutting down.
        case .cancelled, .stopped, .connectionFailed, .proxyRefused, .tls, .transferBroken, .destinationForbidden,
            .invalidRequest:
            self = .upstreamUnreachable(text)
        }
    }
}
