import HTTPCore

@testable import PawlService

extension Endpoint {
    /// The methods, besides HEAD and OPTIONS.
    var methods: [HTTPMethod] { operations.map(\.method) }
}
