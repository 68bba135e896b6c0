import Testing

@testable import HTTPServer

@Suite struct ReadAheadTests {
    /// Offsets in the order in which they are reached, slices of 10, and the request at each.
    @Test(
        "Requests the next slice once, one slice ahead",
        arguments: [
            // Two slices at once, and again when less than a slice is left.
            (100, [0, 5, 10, 15, 20, 25, 30], [10..<30, nil, nil, 30..<50, nil, nil, nil]),
            (
                100, [0, 10, 20, 30, 40, 50, 60, 70, 80, 90],
                [10..<30, nil, 30..<50, nil, 50..<70, nil, 70..<90, nil, 90..<100, nil]
            ),
            // No request goes beyond the end.
            (10, [0, 5], [nil, nil]), (11, [0, 5, 10], [10..<11, nil, nil]), (25, [0, 10, 20], [10..<25, nil, nil]),
            // Passed bytes are not requested.
            (100, [50, 60], [60..<80, nil]), (0, [0], [nil]),
        ] as [(Int64, [Int64], [Range<Int64>?])])
    func nextSliceIsRequested(_ length: Int64, _ offsets: [Int64], _ asked: [Range<Int64>?]) {
        var ahead = ReadAhead()
        #expect(offsets.map { ahead.next(offset: $0, length: length, slice: 10) } == asked)
    }
}
