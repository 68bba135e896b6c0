/// The part of ``ServerLimits`` that a connection looks at, with lengths of time as plain numbers.
struct ConnectionLimits: Sendable {
    let body: Int
    let bodyRate: Int
    let outputBuffer: Int
    let fileSlice: Int
    let unlimitedSockets: Int
    let unsentBytes: Int
    let fastBytes: Int64
    let lingerBytes: Int64
    let bodyStorage: Int
    let headTimeout: Moment.Span
    let idleTimeout: Moment.Span
    let bodyRateWindow: Moment.Span
    let writeTimeout: Moment.Span
    let lingerTimeout: Moment.Span
    let halfCloseGrace: Moment.Span
    let stopGrace: Moment.Span
    let fastTime: Moment.Span

    init(_ limits: ServerLimits) {
        body = limits.body
        bodyRate = limits.bodyRate
        outputBuffer = limits.outputBuffer
        fileSlice = limits.fileSlice
        unlimitedSockets = limits.unlimitedSockets
        unsentBytes = limits.unsentBytes
        fastBytes = limits.fastBytes
        lingerBytes = limits.lingerBytes
        bodyStorage = limits.bodyStorage
        headTimeout = Moment.Span(limits.headTimeout)
        idleTimeout = Moment.Span(limits.idleTimeout)
        bodyRateWindow = Moment.Span(limits.bodyRateWindow)
        writeTimeout = Moment.Span(limits.writeTimeout)
        lingerTimeout = Moment.Span(limits.lingerTimeout)
        halfCloseGrace = Moment.Span(limits.halfCloseGrace)
        stopGrace = Moment.Span(limits.stopGrace)
        fastTime = Moment.Span(limits.fastTime)
    }
}
