extension HTTPStatus {
    /// 100 Continue.
    public static var `continue`: HTTPStatus { HTTPStatus(100) }
    /// 101 Switching Protocols.
    public static var switchingProtocols: HTTPStatus { HTTPStatus(101) }
    /// 200 OK.
    public static var ok: HTTPStatus { HTTPStatus(200) }
    /// 201 Created.
    public static var created: HTTPStatus { HTTPStatus(201) }
    /// 204 No Content.
    public static var noContent: HTTPStatus { HTTPStatus(204) }
    /// 206 Partial Content.
    public static var partialContent: HTTPStatus { HTTPStatus(206) }
    /// 302 Found.
    public static var found: HTTPStatus { HTTPStatus(302) }
    /// 304 Not Modified.
    public static var notModified: HTTPStatus { HTTPStatus(304) }
    /// 400 Bad Request.
    public static var badRequest: HTTPStatus { HTTPStatus(400) }
    /// 401 Unauthorized.
    public static var unauthorized: HTTPStatus { HTTPStatus(401) }
    /// 403 Forbidden.
    public static var forbidden: HTTPStatus { HTTPStatus(403) }
    /// 404 Not Found.
    public static var notFound: HTTPStatus { HTTPStatus(404) }
    /// 405 Method Not Allowed.
    public static var methodNotAllowed: HTTPStatus { HTTPStatus(405) }
    /// 408 Request Timeout.
    public static var requestTimeout: HTTPStatus { HTTPStatus(408) }
    /// 412 Precondition Failed.
    public static var preconditionFailed: HTTPStatus { HTTPStatus(412) }
    /// 413 Content Too Large.
    public static var contentTooLarge: HTTPStatus { HTTPStatus(413) }
    /// 414 URI Too Long.
    public static var uriTooLong: HTTPStatus { HTTPStatus(414) }
    /// 416 Range Not Satisfiable.
    public static var rangeNotSatisfiable: HTTPStatus { HTTPStatus(416) }
    /// 417 Expectation Failed.
    public static var expectationFailed: HTTPStatus { HTTPStatus(417) }
    /// 421 Misdirected Request.
    public static var misdirectedRequest: HTTPStatus { HTTPStatus(421) }
    /// 426 Upgrade Required.
    public static var upgradeRequired: HTTPStatus { HTTPStatus(426) }
    /// 429 Too Many Requests.
    public static var tooManyRequests: HTTPStatus { HTTPStatus(429) }
    /// 431 Request Header Fields Too Large.
    public static var requestHeaderFieldsTooLarge: HTTPStatus { HTTPStatus(431) }
    /// 500 Internal Server Error.
    public static var internalServerError: HTTPStatus { HTTPStatus(500) }
    /// 501 Not Implemented.
    public static var notImplemented: HTTPStatus { HTTPStatus(501) }
    /// 503 Service Unavailable.
    public static var serviceUnavailable: HTTPStatus { HTTPStatus(503) }
    /// 505 HTTP Version Not Supported.
    public static var httpVersionNotSupported: HTTPStatus { HTTPStatus(505) }

    /// The registered reason phrase (IANA HTTP Status Code Registry); empty if the code has none.
    public var reason: String {
        switch code {
        case 100: "Continue"
        case 101: "Switching Protocols"
        case 103: "Early Hints"
        case 200: "OK"
        case 201: "Created"
        case 202: "Accepted"
        case 203: "Non-Authoritative Information"
        case 204: "No Content"
        case 205: "Reset Content"
        case 206: "Partial Content"
        case 300: "Multiple Choices"
        case 301: "Moved Permanently"
        case 302: "Found"
        case 303: "See Other"
        case 304: "Not Modified"
        case 307: "Temporary Redirect"
        case 308: "Permanent Redirect"
        case 400: "Bad Request"
        case 401: "Unauthorized"
        case 402: "Payment Required"
        case 403: "Forbidden"
        case 404: "Not Found"
        case 405: "Method Not Allowed"
        case 406: "Not Acceptable"
        case 407: "Proxy Authentication Required"
        case 408: "Request Timeout"
        case 409: "Conflict"
        case 410: "Gone"
        case 411: "Length Required"
        case 412: "Precondition Failed"
        case 413: "Content Too Large"
        case 414: "URI Too Long"
        case 415: "Unsupported Media Type"
        case 416: "Range Not Satisfiable"
        case 417: "Expectation Failed"
        case 421: "Misdirected Request"
        case 422: "Unprocessable Content"
        case 425: "Too Early"
        case 426: "Upgrade Required"
        case 428: "Precondition Required"
        case 429: "Too Many Requests"
        case 431: "Request Header Fields Too Large"
        case 500: "Internal Server Error"
        case 501: "Not Implemented"
        case 502: "Bad Gateway"
        case 503: "Service Unavailable"
        case 504: "Gateway Timeout"
        case 505: "HTTP Version Not Supported"
        case 507: "Insufficient Storage"
        default: ""
        }
    }
}
