internal import DownloadCore
internal import DownloadIndex
internal import Downloads
internal import HTTPCore
internal import HTTPServer
internal import JSON
internal import PawlConfiguration

/// Requests for probes, statistics and the OpenAPI document.
extension API {
    /// `GET /healthz`: the process is alive.
    func health(_ request: borrowing Request, _ response: inout Response) throws(Problem) -> RouteResult {
        response.forbidStoring()
        response.fill { $0.raw(Self.healthBody) }
        return .ready
    }

    private static let healthBody = Array(#"{"status":"ok"}"#.utf8)

    /// `GET /readyz`: the service accepts requests. A degraded service stays ready: on a full disk, only requests can
    /// free space.
    func readiness(_ request: borrowing Request) throws(Problem) -> RouteResult {
        try checkReadiness()
        return .later { [self] () throws(Problem) in
            let store = await downloads.storeCondition()
            // During the wait, the service may have begun to stop.
            try checkReadiness()
            if let reason = store.unreadable {
                throw Problem(.unavailable, reason, retryAfter: 1)
            }
            var response = Response()
            response.forbidStoring()
            response.fill { writer in
                writer.beginObject()
                writer.member("status", "ready")
                writer.name("degraded")
                writer.beginArray()
                for degradation in store.degraded { writer.value(degradation.rawValue) }
                writer.endArray()
                writer.endObject()
            }
            return response
        }
    }

    private func checkReadiness() throws(Problem) {
        guard condition.isReady else { throw Problem(.unavailable, "the service is starting or stopping", retryAfter: 1) }
    }

    /// `GET /stats`.
    func statistics(
        _ request: borrowing Request, _ caller: Caller, _ response: inout Response
    ) throws(Problem) -> RouteResult {
        let statistics = index.statistics()
        let speedLimit = downloads.speedLimitInForce
        let uptime = condition.uptime(at: .now).components.seconds
        response.forbidStoring()
        response.fill { writer in
            writer.beginObject()
            writer.name("downloads")
            writer.beginObject()
            for state in DownloadState.allCases {
                writer.name(state.rawValue)
                writer.value(statistics.counts[state] ?? 0)
            }
            writer.endObject()
            writer.member("bytesPerSecond", statistics.bytesPerSecond)
            writer.member("speedLimit", speedLimit)
            writer.member("freeBytes", condition.freeBytes)
            writer.member("uptimeSeconds", uptime)
            writer.member("version", Program.version)
            writer.member("instanceId", condition.instanceID)
            writer.member("scope", caller.scope.rawValue)
            writer.endObject()
        }
        return .ready
    }

    private static let document = EmbeddedFile.bytes(of: "openapi.yaml")
    private static let documentTag = ContentTag.of(document)

    /// `GET /openapi.yaml`.
    func document(_ request: borrowing Request, _ response: inout Response) throws(Problem) -> RouteResult {
        response.fields.append(.contentType, "application/yaml; charset=utf-8")
        response.fields.append(.cacheControl, "no-cache")
        response.body = Self.document
        response.validate(for: request, etag: Self.documentTag)
        return .ready
    }
}
