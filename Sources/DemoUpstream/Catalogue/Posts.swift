internal import JSON

/// A hundred short texts in the shape of JSONPlaceholder's posts: `userId`, `id`, `title`, `body`.
enum Posts {
    /// The array of all posts.
    static let all: [UInt8] = {
        var json = JSONWriter()
        json.beginArray()
        for id in 1...100 { encode(id, into: &json) }
        json.endArray()
        return json.bytes
    }()

    /// One post; `nil` if there is none with this id.
    static func post(_ id: Int) -> [UInt8]? {
        guard (1...100).contains(id) else { return nil }
        var json = JSONWriter()
        encode(id, into: &json)
        return json.bytes
    }

    private static func encode(_ id: Int, into json: inout JSONWriter) {
        let topic = topics[(id - 1) % topics.count]
        let angle = angles[(id - 1) / topics.count % angles.count]
        json.beginObject()
        json.member("userId", (id - 1) / 10 + 1)
        json.member("id", id)
        json.member("title", angle.title + topic.name)
        json.member("body", topic.fact + "\n" + angle.thought)
        json.endObject()
    }

    private static let topics: [(name: String, fact: String)] = [
        ("piano rolls", "A piano roll is a strip of paper that plays a tune by the holes in it."),
        ("tuning forks", "A tuning fork gives one pitch, and gives it for years."),
        ("metronomes", "A metronome keeps a beat that no player keeps alone."),
        ("sheet music", "A page of music tells the hands what the ears will hear."),
        ("church bells", "A bell sounds a little sharp when it is struck, and lower as it rings."),
        ("tide tables", "A tide table says when the water comes, and it is right for years ahead."),
        ("lighthouses", "Every lighthouse has a rhythm of its own, so that sailors can tell them apart."),
        ("pocket watches", "A watch is a spring that is let out very slowly."),
        ("card catalogues", "A card catalogue finds a book in a building full of them."),
        ("night trains", "A night train turns a long way into a short night."),
    ]

    private static let angles: [(title: String, thought: String)] = [
        ("in praise of ", "What is simple is often what lasted long enough to become so."),
        ("a first look at ", "Whoever looks at it for an hour sees more than in a year of passing by."),
        ("what I learned from ", "I began with the wrong end of it, and was put right by somebody patient."),
        ("questions about ", "Who made the first one, and what did they think they were making?"),
        ("a short history of ", "It was invented twice, forgotten once, and is with us still."),
        ("the trouble with ", "It works best when nobody notices it, which is no way to become famous."),
        ("a museum of ", "The best ones are behind glass, and want to be out."),
        ("how to draw ", "Begin with the shadow; the rest follows."),
        ("a week without ", "By Thursday nobody remembered what day it was."),
        ("the last of the ", "There is a workshop that still makes them, on request."),
    ]
}
