import Foundation
import FuzzProperties
import TestSupport
import Testing

/// The seeds of the fuzzing and the inputs that it found: each satisfies its properties.
@Suite @OffPool struct CorpusTests {
    /// A file of the corpus.
    nonisolated struct Input: CustomTestStringConvertible {
        let property: Property
        let url: URL

        var testDescription: String { "\(property)/\(url.lastPathComponent)" }
    }

    private nonisolated static let directory = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Fuzz")

    nonisolated static let inputs: [Input] = Property.allCases.flatMap { property in
        let folder = directory.appending(path: "Corpus/\(property)")
        let files = (try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)) ?? []
        return files.sorted { $0.path < $1.path }.map { Input(property: property, url: $0) }
    }

    @Test("Every input satisfies its properties", arguments: inputs)
    func everyInputSatisfiesItsProperties(input: Input) throws {
        try input.property.check(Array(Data(contentsOf: input.url)))
    }

    @Test("Every property has seeds and a dictionary", arguments: Property.allCases)
    func everyPropertyHasSeedsAndADictionary(property: Property) {
        #expect(Self.inputs.contains { $0.property == property })
        #expect(FileManager.default.fileExists(atPath: Self.directory.path + "/Dictionaries/\(property).dict"))
    }
}
