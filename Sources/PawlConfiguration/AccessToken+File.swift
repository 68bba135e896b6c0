internal import System

extension Configuration {
    /// Reads the token's file, if there is one.
    /// - Throws: one line that says why there is no token in it.
    public mutating func resolveToken() throws(StartError) {
        if let tokenFile { token = try AccessToken(readFrom: tokenFile) }
    }

    /// Refuses a token that is too short for the address that the service binds.
    /// - Throws: one line that says how to make a longer one.
    public func checkToken() throws(StartError) {
        let least = AccessToken.shortestBeyondLoopback
        guard let token, servesOtherMachines, token.count < least else { return }
        throw StartError(
            "the token has \(token.count) characters, and other machines could guess it: --host \(host) takes one of \(least) or"
                + " more, such as `openssl rand -hex 32` makes")
    }
}

extension AccessToken {
    /// Reads a token from the first line of a file.
    public init(readFrom path: String) throws(StartError) {
        let bytes: [UInt8]
        do throws(SmallFile.Failure) {
            bytes = try SmallFile.read(path, limit: 8192)
        } catch {
            throw StartError("token file: \(error)")
        }
        let line = bytes.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
        guard let token = AccessToken(String(decoding: line, as: UTF8.self)) else {
            throw StartError(
                "token file \(path): its first line must be 1 to 4096 visible ASCII characters without spaces")
        }
        self = token
    }
}
