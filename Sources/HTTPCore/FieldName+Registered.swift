/// The names that Pawl uses, from the IANA HTTP Field Name Registry, and the common `X-` names.
extension FieldName {
    /// `Accept`.
    public static var accept: FieldName { FieldName(token: "Accept") }
    /// `Accept-Encoding`.
    public static var acceptEncoding: FieldName { FieldName(token: "Accept-Encoding") }
    /// `Accept-Language`.
    public static var acceptLanguage: FieldName { FieldName(token: "Accept-Language") }
    /// `Accept-Ranges`.
    public static var acceptRanges: FieldName { FieldName(token: "Accept-Ranges") }
    /// `Access-Control-Allow-Headers`.
    public static var accessControlAllowHeaders: FieldName { FieldName(token: "Access-Control-Allow-Headers") }
    /// `Access-Control-Allow-Methods`.
    public static var accessControlAllowMethods: FieldName { FieldName(token: "Access-Control-Allow-Methods") }
    /// `Access-Control-Allow-Origin`.
    public static var accessControlAllowOrigin: FieldName { FieldName(token: "Access-Control-Allow-Origin") }
    /// `Access-Control-Expose-Headers`.
    public static var accessControlExposeHeaders: FieldName { FieldName(token: "Access-Control-Expose-Headers") }
    /// `Access-Control-Max-Age`.
    public static var accessControlMaxAge: FieldName { FieldName(token: "Access-Control-Max-Age") }
    /// `Access-Control-Request-Method`.
    public static var accessControlRequestMethod: FieldName { FieldName(token: "Access-Control-Request-Method") }
    /// `Access-Control-Request-Headers`.
    public static var accessControlRequestHeaders: FieldName { FieldName(token: "Access-Control-Request-Headers") }
    /// `Access-Control-Request-Private-Network`.
    public static var accessControlRequestPrivateNetwork: FieldName {
        FieldName(token: "Access-Control-Request-Private-Network")
    }
    /// `Access-Control-Allow-Private-Network`.
    public static var accessControlAllowPrivateNetwork: FieldName {
        FieldName(token: "Access-Control-Allow-Private-Network")
    }
    /// `Allow`.
    public static var allow: FieldName { FieldName(token: "Allow") }
    /// `Authorization`.
    public static var authorization: FieldName { FieldName(token: "Authorization") }
    /// `Cache-Control`.
    public static var cacheControl: FieldName { FieldName(token: "Cache-Control") }
    /// `Connection`.
    public static var connection: FieldName { FieldName(token: "Connection") }
    /// `Cookie`.
    public static var cookie: FieldName { FieldName(token: "Cookie") }
    /// `Content-Disposition`.
    public static var contentDisposition: FieldName { FieldName(token: "Content-Disposition") }
    /// `Content-Encoding`.
    public static var contentEncoding: FieldName { FieldName(token: "Content-Encoding") }
    /// `Content-Length`.
    public static var contentLength: FieldName { FieldName(token: "Content-Length") }
    /// `Content-Range`.
    public static var contentRange: FieldName { FieldName(token: "Content-Range") }
    /// `Content-Security-Policy`.
    public static var contentSecurityPolicy: FieldName { FieldName(token: "Content-Security-Policy") }
    /// `Content-Type`.
    public static var contentType: FieldName { FieldName(token: "Content-Type") }
    /// `Cross-Origin-Resource-Policy`.
    public static var crossOriginResourcePolicy: FieldName { FieldName(token: "Cross-Origin-Resource-Policy") }
    /// `Date`.
    public static var date: FieldName { FieldName(token: "Date") }
    /// `ETag`.
    public static var etag: FieldName { FieldName(token: "ETag") }
    /// `Expect`.
    public static var expect: FieldName { FieldName(token: "Expect") }
    /// `Forwarded`.
    public static var forwarded: FieldName { FieldName(token: "Forwarded") }
    /// `Host`.
    public static var host: FieldName { FieldName(token: "Host") }
    /// `Idempotency-Key`.
    public static var idempotencyKey: FieldName { FieldName(token: "Idempotency-Key") }
    /// `If-Match`.
    public static var ifMatch: FieldName { FieldName(token: "If-Match") }
    /// `If-Modified-Since`.
    public static var ifModifiedSince: FieldName { FieldName(token: "If-Modified-Since") }
    /// `If-None-Match`.
    public static var ifNoneMatch: FieldName { FieldName(token: "If-None-Match") }
    /// `If-Range`.
    public static var ifRange: FieldName { FieldName(token: "If-Range") }
    /// `If-Unmodified-Since`.
    public static var ifUnmodifiedSince: FieldName { FieldName(token: "If-Unmodified-Since") }
    /// `Last-Event-ID`.
    public static var lastEventID: FieldName { FieldName(token: "Last-Event-ID") }
    /// `Last-Modified`.
    public static var lastModified: FieldName { FieldName(token: "Last-Modified") }
    /// `Link`.
    public static var link: FieldName { FieldName(token: "Link") }
    /// `Location`.
    public static var location: FieldName { FieldName(token: "Location") }
    /// `Origin`.
    public static var origin: FieldName { FieldName(token: "Origin") }
    /// `Range`.
    public static var range: FieldName { FieldName(token: "Range") }
    /// `Referrer-Policy`.
    public static var referrerPolicy: FieldName { FieldName(token: "Referrer-Policy") }
    /// `Retry-After`.
    public static var retryAfter: FieldName { FieldName(token: "Retry-After") }
    /// `Sec-Fetch-Dest`.
    public static var secFetchDest: FieldName { FieldName(token: "Sec-Fetch-Dest") }
    /// `Sec-Fetch-Mode`.
    public static var secFetchMode: FieldName { FieldName(token: "Sec-Fetch-Mode") }
    /// `Sec-Fetch-Site`.
    public static var secFetchSite: FieldName { FieldName(token: "Sec-Fetch-Site") }
    /// `Set-Cookie`.
    public static var setCookie: FieldName { FieldName(token: "Set-Cookie") }
    /// `Sec-WebSocket-Accept`.
    public static var secWebSocketAccept: FieldName { FieldName(token: "Sec-WebSocket-Accept") }
    /// `Sec-WebSocket-Key`.
    public static var secWebSocketKey: FieldName { FieldName(token: "Sec-WebSocket-Key") }
    /// `Sec-WebSocket-Version`.
    public static var secWebSocketVersion: FieldName { FieldName(token: "Sec-WebSocket-Version") }
    /// `Referer`.
    public static var referer: FieldName { FieldName(token: "Referer") }
    /// `Server`.
    public static var server: FieldName { FieldName(token: "Server") }
    /// `Transfer-Encoding`.
    public static var transferEncoding: FieldName { FieldName(token: "Transfer-Encoding") }
    /// `Upgrade`.
    public static var upgrade: FieldName { FieldName(token: "Upgrade") }
    /// `User-Agent`.
    public static var userAgent: FieldName { FieldName(token: "User-Agent") }
    /// `Vary`.
    public static var vary: FieldName { FieldName(token: "Vary") }
    /// `WWW-Authenticate`.
    public static var wwwAuthenticate: FieldName { FieldName(token: "WWW-Authenticate") }
    /// `X-Accel-Buffering`.
    public static var xAccelBuffering: FieldName { FieldName(token: "X-Accel-Buffering") }
    /// `X-Content-Type-Options`.
    public static var xContentTypeOptions: FieldName { FieldName(token: "X-Content-Type-Options") }
    /// `X-Forwarded-For`.
    public static var xForwardedFor: FieldName { FieldName(token: "X-Forwarded-For") }
    /// `X-Forwarded-Host`.
    public static var xForwardedHost: FieldName { FieldName(token: "X-Forwarded-Host") }
    /// `X-Forwarded-Prefix`.
    public static var xForwardedPrefix: FieldName { FieldName(token: "X-Forwarded-Prefix") }
    /// `X-Forwarded-Proto`.
    public static var xForwardedProto: FieldName { FieldName(token: "X-Forwarded-Proto") }
    /// `X-Frame-Options`.
    public static var xFrameOptions: FieldName { FieldName(token: "X-Frame-Options") }
    /// `X-Request-Id`.
    public static var xRequestId: FieldName { FieldName(token: "X-Request-Id") }
}

extension FieldName {
    /// Whether the field of a request opens nothing, so that it may go along to other hosts. Every other field may be a
    /// secret.
    public var isHarmless: Bool {
        self == .userAgent || self == .accept || self == .acceptLanguage || self == .referer
    }
}
