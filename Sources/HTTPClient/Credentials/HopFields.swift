import HTTPCore

/// The fields of a request that depend on its hop: the caller's, the operator's for its host, and cookies. It has no
/// I/O.
struct HopFields: Sendable {
    /// The fields in order, without Authorization and Cookie.
    private(set) var fields: [(name: String, value: String)] = []
    /// The value of Authorization; nil: none.
    private(set) var authorization: String?
    /// The value of Cookie; nil: none.
    private(set) var cookie: [UInt8]?

    /// The user and password of `authorization`, with which a Digest challenge can be answered.
    var login: Login? { authorization.flatMap { Login(authorization: $0) } }

    /// Decides the fields. The caller's precede user and password of the URL. After them come the header file,
    /// the other files and the operator's user agent.
    init(of hop: Hop, in request: ClientRequest, _ credentials: OriginCredentials, _ jar: CookieJar, now: Int64) {
        fields = hop.sendsConditions ? request.conditions : []
        var own: [String] = []
        for (name, value) in request.fields {
            guard let field = FieldName(name), !hop.trust.hasLeftOrigin || field.isHarmless else { continue }
            if field == .cookie {
                own.append(value)
            } else if field == .authorization {
                authorization = authorization ?? value
            } else {
                fields.append((name, value))
            }
        }
        authorization = authorization ?? hop.authorization
        let isOwn = authorization != nil
        // A listener could have forged the redirect that gave up encryption.
        let usesFiles = request.isForOrigin && !hop.trust.hasLostEncryption
        if usesFiles {
            for (name, value) in credentials.headers.fields(for: hop.url) {
                if name == .cookie {
                    if own.isEmpty { own.append(value) }
                } else if name == .authorization {
                    authorization = authorization ?? value
                } else if !fields.contains(where: { FieldName($0.name) == name }) {
                    fields.append((name.canonical, value))
                }
            }
            if isOwn || authorization == nil {
                authorization = Self.completed(authorization, by: credentials.netrc, for: hop.url)
            }
        }
        if request.isForOrigin, let agent = credentials.userAgent,
            !fields.contains(where: { FieldName($0.name) == .userAgent })
        {
            fields.append((FieldName.userAgent.canonical, agent))
        }
        let filed = usesFiles && own.isEmpty ? credentials.cookies.cookies(for: hop.url, now: now) : []
        cookie = jar.field(for: hop.url, with: filed, own: Array(own.joined(separator: "; ").utf8), now: now)
    }

    /// Adds what netrc has: a login where there is no authorization, and the password of a user who was given without.
    private static func completed(_ authorization: String?, by netrc: NetrcFile, for url: HTTPURL) -> String? {
        guard let authorization else { return netrc.login(for: url)?.authorization }
        guard let login = Login(authorization: authorization), login.password.isEmpty else { return authorization }
        return netrc.login(for: url, user: login.user)?.authorization ?? authorization
    }
}
