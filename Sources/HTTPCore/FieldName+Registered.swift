/// The names the product uses or must know, from the IANA HTTP Field Name Registry, and the usual `X-` ones.
extension FieldName {
    /// `Accept`.
    @inlinable public static var accept: FieldName { FieldName(token: "Accept") }
    /// `Accept-Encoding`.
    @inlinable public static var acceptEncoding: FieldName { FieldName(token: "Accept-Encoding") }
    /// `Accept-Ranges`.
    @inlinable public static var acceptRanges: FieldName { FieldName(token: "Accept-Ranges") }
    /// `Access-Control-Allow-Headers`.
    @inlinable public static var accessControlAllowHeaders: FieldName { FieldName(token: "Access-Control-Allow-Headers") }
    /// `Access-Control-Allow-Methods`.
    @inlinable public static var accessControlAllowMethods: FieldName { FieldName(token: "Access-Control-Allow-Methods") }
    /// `Access-Control-Allow-Origin`.
    @inlinable public static var accessControlAllowOrigin: FieldName { FieldName(token: "Access-Control-Allow-Origin") }
    /// `Access-Control-Expose-Headers`.
    @inlinable public static var accessControlExposeHeaders: FieldName { FieldName(token: "Access-Control-Expose-Headers") }
    /// `Access-Control-Max-Age`.
    @inlinable public static var accessControlMaxAge: FieldName { FieldName(token: "Access-Control-Max-Age") }
    /// `Access-Control-Request-Method`.
    @inlinable public static var accessControlRequestMethod: FieldName { FieldName(token: "Access-Control-Request-Method") }
    /// `Access-Control-Request-Private-Network`.
    @inlinable public static var accessControlRequestPrivateNetwork: FieldName {
        FieldName(token: "Access-Control-Request-Private-Network")
    }
    /// `Access-Control-Allow-Private-Network`.
    @inlinable public static var accessControlAllowPrivateNetwork: FieldName {
        FieldName(token: "Access-Control-Allow-Private-Network")
    }
    /// `Allow`.
    @inlinable public static var allow: FieldName { FieldName(token: "Allow") }
    /// `Authorization`.
    @inlinable public static var authorization: FieldName { FieldName(token: "Authorization") }
    /// `Cache-Control`.
    @inlinable public static var cacheControl: FieldName { FieldName(token: "Cache-Control") }
    /// `Connection`.
    @inlinable public static var connection: FieldName { FieldName(token: "Connection") }
    /// `Content-Disposition`.
    @inlinable public static var contentDisposition: FieldName { FieldName(token: "Content-Disposition") }
    /// `Content-Encoding`.
    @inlinable public static var contentEncoding: FieldName { FieldName(token: "Content-Encoding") }
    /// `Content-Length`.
    @inlinable public static var contentLength: FieldName { FieldName(token: "Content-Length") }
    /// `Content-Range`.
    @inlinable public static var contentRange: FieldName { FieldName(token: "Content-Range") }
    /// `Content-Security-Policy`.
    @inlinable public static var contentSecurityPolicy: FieldName { FieldName(token: "Content-Security-Policy") }
    /// `Content-Type`.
    @inlinable public static var contentType: FieldName { FieldName(token: "Content-Type") }
    /// `Cross-Origin-Resource-Policy`.
    @inlinable public static var crossOriginResourcePolicy: FieldName { FieldName(token: "Cross-Origin-Resource-Policy") }
    /// `Date`.
    @inlinable public static var date: FieldName { FieldName(token: "Date") }
    /// `ETag`.
    @inlinable public static var etag: FieldName { FieldName(token: "ETag") }
    /// `Expect`.
    @inlinable public static var expect: FieldName { FieldName(token: "Expect") }
    /// `Host`.
    @inlinable public static var host: FieldName { FieldName(token: "Host") }
    /// `Idempotency-Key`.
    @inlinable public static var idempotencyKey: FieldName { FieldName(token: "Idempotency-Key") }
    /// `If-Match`.
    @inlinable public static var ifMatch: FieldName { FieldName(token: "If-Match") }
    /// `If-Modified-Since`.
    @inlinable public static var ifModifiedSince: FieldName { FieldName(token: "If-Modified-Since") }
    /// `If-None-Match`.
    @inlinable public static var ifNoneMatch: FieldName { FieldName(token: "If-None-Match") }
    /// `If-Range`.
    @inlinable public static var ifRange: FieldName { FieldName(token: "If-Range") }
    /// `If-Unmodified-Since`.
    @inlinable public static var ifUnmodifiedSince: FieldName { FieldName(token: "If-Unmodified-Since") }
    /// `Last-Event-ID`.
    @inlinable public static var lastEventID: FieldName { FieldName(token: "Last-Event-ID") }
    /// `Last-Modified`.
    @inlinable public static var lastModified: FieldName { FieldName(token: "Last-Modified") }
    /// `Location`.
    @inlinable public static var location: FieldName { FieldName(token: "Location") }
    /// `Origin`.
    @inlinable public static var origin: FieldName { FieldName(token: "Origin") }
    /// `Range`.
    @inlinable public static var range: FieldName { FieldName(token: "Range") }
    /// `Referrer-Policy`.
    @inlinable public static var referrerPolicy: FieldName { FieldName(token: "Referrer-Policy") }
    /// `Retry-After`.
    @inlinable public static var retryAfter: FieldName { FieldName(token: "Retry-After") }
    /// `Sec-Fetch-Dest`.
    @inlinable public static var secFetchDest: FieldName { FieldName(token: "Sec-Fetch-Dest") }
    /// `Sec-Fetch-Mode`.
    @inlinable public static var secFetchMode: FieldName { FieldName(token: "Sec-Fetch-Mode") }
    /// `Sec-Fetch-Site`.
    @inlinable public static var secFetchSite: FieldName { FieldName(token: "Sec-Fetch-Site") }
    /// `Server`.
    @inlinable public static var server: FieldName { FieldName(token: "Server") }
    /// `Transfer-Encoding`.
    @inlinable public static var transferEncoding: FieldName { FieldName(token: "Transfer-Encoding") }
    /// `Vary`.
    @inlinable public static var vary: FieldName { FieldName(token: "Vary") }
    /// `WWW-Authenticate`.
    @inlinable public static var wwwAuthenticate: FieldName { FieldName(token: "WWW-Authenticate") }
    /// `X-Accel-Buffering`.
    @inlinable public static var xAccelBuffering: FieldName { FieldName(token: "X-Accel-Buffering") }
    /// `X-Content-Type-Options`.
    @inlinable public static var xContentTypeOptions: FieldName { FieldName(token: "X-Content-Type-Options") }
    /// `X-Frame-Options`.
    @inlinable public static var xFrameOptions: FieldName { FieldName(token: "X-Frame-Options") }
    /// `X-Request-Id`.
    @inlinable public static var xRequestId: FieldName { FieldName(token: "X-Request-Id") }
}
