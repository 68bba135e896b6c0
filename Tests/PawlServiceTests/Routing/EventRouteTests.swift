import JSON
import TestSupport
import Testing

@testable import PawlService

@Suite("Server-sent events", .timeLimit(.minutes(3)))
struct EventRouteTests {
    @Test("A stream begins with a snapshot, and has each transition and the removal")
    func allDownloads() async throws {
        try await RunningService.with { running in
            let url = running.upstreamURL
            let (names, states, ids) = try await running.blocking { client in
                let reader = try EventReader(client, "/downloads/events?interval=50")
                #expect(reader.head["content-type"] == "text/event-stream; charset=utf-8")
                #expect(reader.head["cache-control"] == "no-store")
                let snapshot = try #require(try reader.next())
                #expect(snapshot.name == "snapshot")
                #expect(snapshot.data == .array([]))
                let made = try client.send("POST", "/downloads", json: #"{"url":"\#(url)/entity?size=5000"}"#)
                let id = try #require(made.json["id"]?.string)
                var names: [String] = []
                var states: [String] = []
                var ids: [String] = []
                while let event = try reader.next() {
                    names.append(event.name)
                    ids.append(event.id)
                    #expect(event.data["id"]?.string == id)
                    if let state = event.data["state"]?.string { states.append(state) }
                    if states.last == "completed", event.name == "download" {
                        #expect(try client.send("DELETE", "/downloads/\(id)").status == 204)
                    }
                    if event.name == "removed" { break }
                }
                return (names, states, ids)
            }
            #expect(names.last == "removed")
            #expect(states.first == "queued")
            #expect(states.contains("downloading"))
            #expect(states.last == "completed")
            #expect(ids.allSatisfy { $0.contains("-") })
        }
    }

    @Test("A stream of one download begins with this download, and ends when it is removed")
    func oneDownload() async throws {
        try await RunningService.with { running in
            let id = try await running.add("/entity?size=10&seed=1", #","paused":true"#)
            _ = try await running.add("/entity?size=10&seed=2", #","paused":true"#)
            try await running.blocking { client in
                let reader = try EventReader(client, "/downloads/\(id)/events")
                let snapshot = try #require(try reader.next())
                #expect(snapshot.data.array?.map { $0["id"]?.string } == [id])
                _ = try client.send("POST", "/downloads/\(id)/cancel")
                #expect(try #require(try reader.next()).data["state"]?.string == "cancelled")
                _ = try client.send("DELETE", "/downloads/\(id)")
                #expect(try #require(try reader.next()).name == "removed")
                #expect(try reader.next() == nil)
            }
        }
    }

    @Test("Last-Event-ID replays missed events; an unknown one gets a snapshot")
    func replay() async throws {
        try await RunningService.with { running in
            let id = try await running.add("/entity?size=10", #","paused":true"#)
            try await running.blocking { client in
                let first = try #require(try EventReader(client, "/downloads/events").next())
                _ = try client.send("POST", "/downloads/\(id)/cancel")
                let replayed = try EventReader(client, "/downloads/events", fields: [("Last-Event-ID", first.id)])
                let event = try #require(try replayed.next())
                #expect(event.name == "download")
                #expect(event.data["state"]?.string == "cancelled")
                // A new `EventSource` cannot send the field. Once it reconnects, the field has the newer id.
                let asked = try EventReader(client, "/downloads/events?lastEventId=\(first.id)")
                let missed = try #require(try asked.next())
                #expect(missed.name == "download")
                let newer = try EventReader(
                    client, "/downloads/\(id)/events?lastEventId=\(first.id)", fields: [("Last-Event-ID", missed.id)])
                _ = try client.send("DELETE", "/downloads/\(id)")
                #expect(try #require(try newer.next()).name == "removed")
                for stranger in ["zzz-0", "nonsense", ""] {
                    let named = try EventReader(client, "/downloads/events?lastEventId=\(stranger)")
                    #expect(try #require(try named.next()).name == "snapshot")
                    let reader = try EventReader(client, "/downloads/events", fields: [("Last-Event-ID", stranger)])
                    #expect(try #require(try reader.next()).name == "snapshot")
                }
            }
        }
    }

    @Test("Streams end properly when the service stops")
    func stopping() async throws {
        try await RunningService.with { running in
            let opened = Gate()
            async let ended: Bool = running.blocking { client in
                let reader = try EventReader(client, "/downloads/events")
                _ = try reader.next()
                opened.open()
                return try reader.next() == nil
            }
            try await opened.wait()
            await running.service.stop(within: .seconds(5))
            #expect(try await ended)
        }
    }
}
