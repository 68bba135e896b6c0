/// The names the product uses or must know, from the IANA HTTP Field Name Registry, and the usual `X-` ones.
extension FieldName {
    /// `Accept`.
    public static let accept = FieldName(constant: "Accept")
    /// `Accept-Encoding`.
    public static let acceptEncoding = FieldName(constant: "Accept-Encoding")
    /// `Accept-Language`.
    public static let acceptLanguage = FieldName(constant: "Accept-Language")
    /// `Accept-Ranges`.
    public static let acceptRanges = FieldName(constant: "Accept-Ranges")
    /// `Access-Control-Allow-Credentials`.
    public static let accessControlAllowCredentials = FieldName(constant: "Access-Control-Allow-Credentials")
    /// `Access-Control-Allow-Headers`.
    public static let accessControlAllowHeaders = FieldName(constant: "Access-Control-Allow-Headers")
    /// `Access-Control-Allow-Methods`.
    public static let accessControlAllowMethods = FieldName(constant: "Access-Control-Allow-Methods")
    /// `Access-Control-Allow-Origin`.
    public static let accessControlAllowOrigin = FieldName(constant: "Access-Control-Allow-Origin")
    /// `Access-Control-Expose-Headers`.
    public static let accessControlExposeHeaders = FieldName(constant: "Access-Control-Expose-Headers")
    /// `Access-Control-Max-Age`.
    public static let accessControlMaxAge = FieldName(constant: "Access-Control-Max-Age")
    /// `Access-Control-Request-Headers`.
    public static let accessControlRequestHeaders = FieldName(constant: "Access-Control-Request-Headers")
    /// `Access-Control-Request-Method`.
    public static let accessControlRequestMethod = FieldName(constant: "Access-Control-Request-Method")
    /// `Access-Control-Request-Private-Network`.
    public static let accessControlRequestPrivateNetwork = FieldName(constant: "Access-Control-Request-Private-Network")
    /// `Access-Control-Allow-Private-Network`.
    public static let accessControlAllowPrivateNetwork = FieldName(constant: "Access-Control-Allow-Private-Network")
    /// `Age`.
    public static let age = FieldName(constant: "Age")
    /// `Allow`.
    public static let allow = FieldName(constant: "Allow")
    /// `Authorization`.
    public static let authorization = FieldName(constant: "Authorization")
    /// `Cache-Control`.
    public static let cacheControl = FieldName(constant: "Cache-Control")
    /// `Connection`.
    public static let connection = FieldName(constant: "Connection")
    /// `Content-Disposition`.
    public static let contentDisposition = FieldName(constant: "Content-Disposition")
    /// `Content-Encoding`.
    public static let contentEncoding = FieldName(constant: "Content-Encoding")
    /// `Content-Language`.
    public static let contentLanguage = FieldName(constant: "Content-Language")
    /// `Content-Length`.
    public static let contentLength = FieldName(constant: "Content-Length")
    /// `Content-Location`.
    public static let contentLocation = FieldName(constant: "Content-Location")
    /// `Content-Range`.
    public static let contentRange = FieldName(constant: "Content-Range")
    /// `Content-Security-Policy`.
    public static let contentSecurityPolicy = FieldName(constant: "Content-Security-Policy")
    /// `Content-Type`.
    public static let contentType = FieldName(constant: "Content-Type")
    /// `Cookie`.
    public static let cookie = FieldName(constant: "Cookie")
    /// `Cross-Origin-Resource-Policy`.
    public static let crossOriginResourcePolicy = FieldName(constant: "Cross-Origin-Resource-Policy")
    /// `Date`.
    public static let date = FieldName(constant: "Date")
    /// `ETag`.
    public static let etag = FieldName(constant: "ETag")
    /// `Expect`.
    public static let expect = FieldName(constant: "Expect")
    /// `Expires`.
    public static let expires = FieldName(constant: "Expires")
    /// `Forwarded`.
    public static let forwarded = FieldName(constant: "Forwarded")
    /// `From`.
    public static let from = FieldName(constant: "From")
    /// `Host`.
    public static let host = FieldName(constant: "Host")
    /// `Idempotency-Key`.
    public static let idempotencyKey = FieldName(constant: "Idempotency-Key")
    /// `If-Match`.
    public static let ifMatch = FieldName(constant: "If-Match")
    /// `If-Modified-Since`.
    public static let ifModifiedSince = FieldName(constant: "If-Modified-Since")
    /// `If-None-Match`.
    public static let ifNoneMatch = FieldName(constant: "If-None-Match")
    /// `If-Range`.
    public static let ifRange = FieldName(constant: "If-Range")
    /// `If-Unmodified-Since`.
    public static let ifUnmodifiedSince = FieldName(constant: "If-Unmodified-Since")
    /// `Keep-Alive`.
    public static let keepAlive = FieldName(constant: "Keep-Alive")
    /// `Last-Event-ID`.
    public static let lastEventID = FieldName(constant: "Last-Event-ID")
    /// `Last-Modified`.
    public static let lastModified = FieldName(constant: "Last-Modified")
    /// `Link`.
    public static let link = FieldName(constant: "Link")
    /// `Location`.
    public static let location = FieldName(constant: "Location")
    /// `Max-Forwards`.
    public static let maxForwards = FieldName(constant: "Max-Forwards")
    /// `Origin`.
    public static let origin = FieldName(constant: "Origin")
    /// `Permissions-Policy`.
    public static let permissionsPolicy = FieldName(constant: "Permissions-Policy")
    /// `Pragma`.
    public static let pragma = FieldName(constant: "Pragma")
    /// `Proxy-Authorization`.
    public static let proxyAuthorization = FieldName(constant: "Proxy-Authorization")
    /// `Range`.
    public static let range = FieldName(constant: "Range")
    /// `Referer`.
    public static let referer = FieldName(constant: "Referer")
    /// `Referrer-Policy`.
    public static let referrerPolicy = FieldName(constant: "Referrer-Policy")
    /// `Retry-After`.
    public static let retryAfter = FieldName(constant: "Retry-After")
    /// `Sec-Fetch-Dest`.
    public static let secFetchDest = FieldName(constant: "Sec-Fetch-Dest")
    /// `Sec-Fetch-Mode`.
    public static let secFetchMode = FieldName(constant: "Sec-Fetch-Mode")
    /// `Sec-Fetch-Site`.
    public static let secFetchSite = FieldName(constant: "Sec-Fetch-Site")
    /// `Server`.
    public static let server = FieldName(constant: "Server")
    /// `Set-Cookie`.
    public static let setCookie = FieldName(constant: "Set-Cookie")
    /// `Strict-Transport-Security`.
    public static let strictTransportSecurity = FieldName(constant: "Strict-Transport-Security")
    /// `TE`.
    public static let te = FieldName(constant: "TE")
    /// `Trailer`.
    public static let trailer = FieldName(constant: "Trailer")
    /// `Transfer-Encoding`.
    public static let transferEncoding = FieldName(constant: "Transfer-Encoding")
    /// `Upgrade`.
    public static let upgrade = FieldName(constant: "Upgrade")
    /// `User-Agent`.
    public static let userAgent = FieldName(constant: "User-Agent")
    /// `Vary`.
    public static let vary = FieldName(constant: "Vary")
    /// `Via`.
    public static let via = FieldName(constant: "Via")
    /// `Want-Digest`.
    public static let wantDigest = FieldName(constant: "Want-Digest")
    /// `WWW-Authenticate`.
    public static let wwwAuthenticate = FieldName(constant: "WWW-Authenticate")
    /// `X-Accel-Buffering`.
    public static let xAccelBuffering = FieldName(constant: "X-Accel-Buffering")
    /// `X-Content-Type-Options`.
    public static let xContentTypeOptions = FieldName(constant: "X-Content-Type-Options")
    /// `X-Forwarded-For`.
    public static let xForwardedFor = FieldName(constant: "X-Forwarded-For")
    /// `X-Forwarded-Host`.
    public static let xForwardedHost = FieldName(constant: "X-Forwarded-Host")
    /// `X-Forwarded-Proto`.
    public static let xForwardedProto = FieldName(constant: "X-Forwarded-Proto")
    /// `X-Frame-Options`.
    public static let xFrameOptions = FieldName(constant: "X-Frame-Options")
    /// `X-Request-Id`.
    public static let xRequestId = FieldName(constant: "X-Request-Id")
}
