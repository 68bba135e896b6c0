public import HTTPClient

/// Sends requests to sources over the network.
public protocol UpstreamClient: Sendable {
    /// Fetches the response with its whole body of at most `bodyLimit` bytes. Cancelling the task cancels the transfer.
    func fetch(_ request: ClientRequest, bodyLimit: Int) async throws(ClientError) -> ClientResponse
}

extension HTTPClient: UpstreamClient {}
