internal import JSON

/// A hundred short texts in the shape of JSONPlaceholder's posts: `userId`, `id`, `title`, `body`.
enum Posts {
    static let count = 100

    /// The array.
    static let all: [UInt8] = {
        var json = JSONWriter()
        json.beginArray()
        for id in 1...count { encode(id, into: &json) }
        json.endArray()
        return json.bytes
    }()

    /// One object, or nil if there is none with that id.
    static func post(_ id: Int) -> [UInt8]? {
        guard (1...count).contains(id) else { return nil }
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
        ("church bells", "A bell sounds a little sharp when it is struck and settles as it rings."),
        ("tide tables", "A tide table says when the water comes, and it is right for years ahead."),
        ("lighthouses", "Every lighthouse has a rhythm of its own, so that sailors can tell them apart."),
        ("pocket watches", "A watch is a spring that is let out very slowly."),
        ("letterpress", "In a letterpress every letter is a thing that somebody put in its place."),
        ("card catalogues", "A card catalogue finds a book in a building full of them."),
        ("telegraph lines", "The telegraph made news faster than horses for the first time."),
        ("weather stations", "A weather station writes down what everybody else forgets."),
        ("bicycle repair", "A bicycle can be understood by looking at it."),
        ("bread ovens", "A brick oven is heated first and baked in afterwards."),
        ("kite strings", "The string is what makes a kite fly."),
        ("snow shovels", "A good shovel is light, and its handle is long."),
        ("garden walls", "A garden wall gives back at night the warmth of the day."),
        ("river ferries", "A ferry on a cable crosses by the force of the river itself."),
        ("night trains", "A night train turns a long way into a short night."),
        ("field notes", "Field notes are written standing up and read sitting down."),
    ]

    private static let angles: [(title: String, thought: String)] = [
        ("in praise of ", "What is simple is often what lasted long enough to become so."),
        ("a first look at ", "Whoever looks at it for an hour sees more than in a year of passing by."),
        ("what I learned from ", "I began with the wrong end of it, as one does, and was put right by somebody patient."),
        ("questions about ", "Who made the first one, and what did they think they were making?"),
        ("a short history of ", "It was invented twice, forgotten once, and is with us still."),
    ]
}
