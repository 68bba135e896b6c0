import Foundation
import Glibc
import TestSupport
import Testing

/// The destination guard in its own network namespace, where the machine has public addresses. Setting up the namespace
/// needs root.
@Suite("Own addresses", .timeLimit(.minutes(3)))
@OffPool
struct OwnAddressTests {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    /// A link with public addresses, a further network routed to it, and two that are routed to the machine itself.
    private nonisolated static let setUp = """
        ip link set lo up &&
        ip link add near type veth peer name far && ip link set far up && ip link set near up &&
        ip addr add 93.184.215.7/24 dev near && ip -6 addr add 2606:2800:21f::7/64 dev near nodad &&
        ip route add 45.55.1.0/24 dev near &&
        ip route add local 48.0.0.0/24 dev lo && ip -6 route add local 2600:1f18::/64 dev lo
        """

    /// Runs a program to its end; nil if it cannot be run.
    private nonisolated static func run(_ arguments: [String]) -> (status: Int32, error: String)? {
        let process = TestProcess()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = arguments
        let error = Pipe()
        process.standardError = error
        process.standardOutput = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return nil }
        let text = String(decoding: error.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return (process.terminationStatus, text)
    }

    nonisolated static let isPossible = geteuid() == 0 && run(["unshare", "--net", "sh", "-c", setUp])?.status == 0

    private func start(_ flags: [String] = []) throws -> PawlProcess {
        try PawlProcess(
            ["serve", "--port", "0", "--data-dir", directory.path + "/data"] + flags, in: directory,
            launcher: ["unshare", "--net", "sh", "-c", Self.setUp + " && exec \"$@\"", "sh"])
    }

    /// Runs a program in the namespace of the service.
    private func inside(_ pawl: PawlProcess, _ arguments: [String]) throws -> (status: Int32, error: String) {
        try #require(Self.run(["nsenter", "--net", "--target", String(pawl.identifier)] + arguments))
    }

    /// Whether the service refuses to download from the address; nil for another failure.
    private func isRefused(_ pawl: PawlProcess, _ host: String) throws -> Bool? {
        let (status, error) = try inside(
            pawl, [PawlProcess.executable.path, "add", "--server", "http://127.0.0.1:\(pawl.port)", "http://\(host)/"])
        if status == 0 { return false }
        return error.contains("the destination guard refuses") ? true : nil
    }

    @Test(
        "Refuses the machine's own public addresses and neighbours; notices changes within 30 s",
        .enabled(if: isPossible, "needs root, and a kernel that lets it make network namespaces with a veth link"))
    func ownAddressesAreRefused() throws {
        let pawl = try start()
        for host in [
            "93.184.215.7", "93.184.215.1", "1572394759", "[::ffff:93.184.215.7]", "[64:ff9b::93.184.215.7]",
            "[2606:2800:21f::7]",
            "[2606:2800:21f::1234]", "45.55.1.200", "168.63.129.16", "48.0.0.5", "[::ffff:48.0.0.5]", "[2600:1f18::5]",
        ] {
            #expect(try isRefused(pawl, host) == true, "\(host)")
        }
        #expect(try isRefused(pawl, "93.184.216.34") == false)
        #expect(try isRefused(pawl, "151.101.1.9") == false)
        #expect(try isRefused(pawl, "48.0.1.5") == false)

        let started = ContinuousClock.now
        #expect(try inside(pawl, ["ip", "addr", "add", "151.101.1.7/24", "dev", "near"]).status == 0)
        while try isRefused(pawl, "151.101.1.7") != true, ContinuousClock.now - started < .seconds(30) {}
        #expect(try isRefused(pawl, "151.101.1.7") == true)
        #expect(try isRefused(pawl, "151.101.1.10") == true)
    }

    @Test(
        "--allow-private reaches the machine's own addresses, except denied ones",
        .enabled(if: isPossible, "needs root, and a kernel that lets it make network namespaces with a veth link"))
    func ownAddressesCanBeAllowed() throws {
        let pawl = try start(["--allow-destination", "93.184.215.0/24", "--deny-destination", "93.184.215.9"])
        #expect(try isRefused(pawl, "93.184.215.7") == false)
        #expect(try isRefused(pawl, "93.184.215.9") == true)
        #expect(try isRefused(pawl, "[64:ff9b::93.184.215.9]") == true)
        #expect(try isRefused(pawl, "45.55.1.200") == true)
    }
}
