/// The limits of requests to object storage, each with its reason.
public struct ObjectStorageLimits: Sendable {
    /// The maximum bytes of an upload in one request; larger files are uploaded in parts. Up to here, one round trip
    /// costs less than the three of an upload in parts. An interrupted upload begins again.
    public var singleUpload: Int64 = 64 << 20
    /// The bytes of a part. S3 requires at least 5 MiB. It grows as ``maximumParts`` requires.
    public var partLength: Int64 = 16 << 20
    /// The maximum number of parts of an upload: S3's own limit.
    public var maximumParts: Int64 = 10_000
    /// The number of parts of one file that are sent at once: one connection is slower than the network.
    public var parallelParts = 4
    /// The maximum number of tries of a request.
    public var tries = 4
    /// The approximate pause before the second try; it doubles each further time.
    public var firstPause: Duration = .milliseconds(300)
    /// The time limit for a connection.
    public var connectTimeout: Duration = .seconds(10)
    /// The maximum time without a transferred byte.
    public var idleTimeout: Duration = .seconds(30)
    /// The time limit for the response once everything is sent. Services check and copy the contents before they
    /// respond.
    public var answerTimeout: Duration = .seconds(120)
    /// The time limit for each try of a request without content, and for the response to one with little content.
    public var smallRequestTimeout: Duration = .seconds(30)
    /// The maximum bytes of little content, which services check and copy quickly.
    public var smallLength: Int64 = 1 << 20
    /// The time limit for aborting an upload in parts; a sweep removes parts that remain.
    public var abortTimeout: Duration = .seconds(15)
    /// The maximum bytes of a response: a page of 1,000 keys of 1,024 bytes, each byte as an escape, has 3 MiB.
    public var answerBytes = 6 << 20

    /// Creates the default limits.
    public init() {}
}
