import Glibc
import System
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(3))) struct DirectoryTests {
    private let temporary: TemporaryDirectory

    init() throws {
        temporary = try TemporaryDirectory()
    }

    private func directory() throws -> Directory { try Directory(opening: temporary.path) }

    private func make(_ name: String, _ text: String, in directory: Directory) throws {
        let file = try directory.open(name, .creating)
        unsafe try file.write(Array(text.utf8).span.bytes, at: 0)
    }

    private func text(of name: String, in directory: Directory) throws -> String {
        var buffer = [UInt8](repeating: 0, count: 64)
        let count = try directory.open(name, .reading).read(into: &buffer, count: 64, at: 0)
        return String(decoding: buffer.prefix(count), as: UTF8.self)
    }

    @Test("One process at a time locks a directory")
    func lock() throws {
        var first: Directory? = try directory()
        let second = try directory()
        #expect(try first?.lock() == true)
        #expect(try first?.lock() == true)
        #expect(try !second.lock())
        first = nil
        #expect(try second.lock())
    }

    @Test("Reads written bytes at their offset")
    func writtenIsRead() throws {
        let directory = try directory()
        let file = try directory.open("a", .creating)
        unsafe try file.write([UInt8]("world".utf8).span.bytes, at: 6)
        unsafe try file.write([UInt8]("hello ".utf8).span.bytes, at: 0)
        var buffer = [UInt8](repeating: 0, count: 8)
        #expect(try file.read(into: &buffer, count: 8, at: 6) == 5)
        #expect(String(decoding: buffer.prefix(5), as: UTF8.self) == "world")
        #expect(try file.status().identity == directory.status(of: "a")?.identity)
        #expect(try file.status().identity.size == 11)
    }

    @Test("A written file has another identity")
    func writtenFileIsAnother() throws {
        let directory = try directory()
        let file = try directory.open("a", .creating)
        let before = try file.status().identity
        unsafe try file.write([1].span.bytes, at: 0)
        #expect(try file.status().identity != before)
    }

    @Test("A path is not the name of an entry", arguments: ["", ".", "..", "a/b", "/etc/passwd", "a\0b"])
    func pathIsNoEntry(name: String) throws {
        let directory = try directory()
        let invalid = SystemError(EINVAL)
        #expect(throws: invalid) { try directory.open(name, .reading) }
        #expect(throws: invalid) { try directory.open(name, .creating) }
        #expect(throws: invalid) { try directory.remove(name) }
        #expect(throws: invalid) { try directory.status(of: name) }
        #expect(throws: invalid) { try directory.rename(name, to: "x") }
        #expect(throws: invalid) { try directory.link("x", to: directory, as: name) }
        #expect(directory.openCached(name) == nil)
    }

    @Test("Does not follow a symbolic link")
    func symbolicLinkIsNotFollowed() throws {
        let directory = try directory()
        try make("target", "secret", in: directory)
        #expect(unsafe symlink("target", temporary.path + "/link") == 0)
        #expect(directory.openCached("link") == nil)
        for access in [FileAccess.reading, .writing] {
            let error = #expect(throws: SystemError.self) { try directory.open("link", access) }
            #expect(error?.kind == .notRegular)
        }
        let error = #expect(throws: SystemError.self) { try directory.open("link", .creating) }
        #expect(error?.kind == .alreadyExists)
        #expect(try directory.status(of: "link")?.kind == .link)
        try directory.remove("link")
        #expect(try text(of: "target", in: directory) == "secret")
    }

    @Test("Opening a pipe does not wait for its other end", arguments: [FileAccess.reading, .writing])
    func openingPipeDoesNotWait(access: FileAccess) throws {
        let directory = try directory()
        #expect(unsafe mkfifo(temporary.path + "/pipe", 0o600) == 0)
        #expect(try directory.open("pipe", access).status().kind == .other)
    }

    @Test("Lists entries repeatedly")
    func entriesAreListedRepeatedly() throws {
        let directory = try directory()
        try make("a", "", in: directory)
        try directory.makeDirectory("b")
        try directory.makeDirectory("b")
        for _ in 0..<2 { #expect(try directory.entries().sorted() == ["a", "b"]) }
    }

    @Test("A second name never belongs to another file")
    func secondNameReplacesNothing() throws {
        let directory = try directory()
        try make("a", "one", in: directory)
        try make("b", "two", in: directory)
        for action in [directory.link, directory.renameExclusively] {
            let error = #expect(throws: SystemError.self) { try action("a", directory, "b") }
            #expect(error?.kind == .alreadyExists)
        }
        try directory.link("a", to: directory, as: "c")
        #expect(try directory.status(of: "c") == directory.status(of: "a"))
        #expect(try directory.status(of: "c")?.links == 2)
        try directory.renameExclusively("c", to: directory, as: "d")
        try directory.rename("d", to: "b")
        #expect(try text(of: "b", in: directory) == "one")
    }

    @Test("Removing a missing entry is an error")
    func removingMissingEntrySaysSo() throws {
        let directory = try directory()
        try make("a", "", in: directory)
        #expect(try directory.remove("a"))
        #expect(try !directory.remove("a"))
        #expect(try directory.status(of: "a") == nil)
    }

    @Test("A file system has free bytes")
    func fileSystemHasRoom() throws {
        let space = try FileSystemSpace(at: temporary.path)
        #expect(space.size > 0 && space.free <= space.size)
        #expect(throws: SystemError(ENOENT)) { try FileSystemSpace(at: temporary.path + "/none") }
    }
}
