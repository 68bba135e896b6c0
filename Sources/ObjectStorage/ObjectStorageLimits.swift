/// The limits of what is done in object storage, each with its reason.
public struct ObjectStorageLimits: Sendable {
    /// The most bytes that are sent as one request; larger files go in parts. Up to here, one round trip costs less than the three of an
    /// upload in parts; what breaks off begins anew.
    public var singleUpload: Int64 = 64 << 20
    /// The bytes of a part; S3 wants 5 MiB at least. It grows as far as ``maximumParts`` asks for.
    public var partLength: Int64 = 16 << 20
    /// The most parts of an upload: S3's own limit.
    public var maximumParts: Int64 = 10_000
    /// How many parts of one file are sent at once: services are slower on one connection than the network.
    public var parallelParts = 4
    /// How often one request is tried.
    public var tries = 4
    /// About how long is waited before the second try; each further one doubles it.
    public var firstPause: Duration = .milliseconds(300)
    /// The most time to connect.
    public var connectTimeout: Duration = .seconds(10)
    /// The most time without a byte that moves.
    public var idleTimeout: Duration = .seconds(30)
    /// The most time for the answer once everything is sent. Services check and copy what they were given before they answer.
    public var answerTimeout: Duration = .seconds(120)
    /// The most time for all of a request without content, each try by itself, and for the answer to one with little.
    public var smallRequestTimeout: Duration = .seconds(30)
    /// How many bytes are little: nobody checks or copies them for long.
    public var smallLength: Int64 = 1 << 20
    /// The most time that giving up an upload in parts may take; a sweep removes what it leaves behind.
    public var abortTimeout: Duration = .seconds(15)
    /// The most bytes of an answer: a page of 1,000 keys of 1,024 bytes, each byte as an escape, is 3 MiB.
    public var answerBytes = 6 << 20

    /// The defaults.
    public init() {}
}
