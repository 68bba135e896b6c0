/// An album's cover: rings and stripes in a few colours, all of which follow from the album's id. The same picture in every size.
enum Artwork {
    /// Sizes in pixels that are drawn. 30, 60 and 100 are those named in search results.
    static let sides = 16...600

    static func png(albumId: Int64, side: Int) -> [UInt8] {
        let side = min(max(side, sides.lowerBound), sides.upperBound)
        var numbers = SeededNumbers(seed: UInt64(bitPattern: albumId))
        let palette = makePalette(&numbers)
        let centre = (x: 200 + numbers.next(below: 600), y: 200 + numbers.next(below: 600))
        let ringWidth = 60 + numbers.next(below: 90)
        let slope = (x: numbers.next(below: 5) - 2, y: 1 + numbers.next(below: 3))
        let radius = 260 + numbers.next(below: 160)
        var pixels: [UInt8] = []
        pixels.reserveCapacity(side * side)
        for row in 0..<side {
            // The picture is drawn on a square of 1000 by 1000.
            let y = row * 1000 / side
            for column in 0..<side {
                let x = column * 1000 / side
                let (dx, dy) = (x - centre.x, y - centre.y)
                let distance = dx * dx + dy * dy
                let shade: Int
                if distance < radius * radius {
                    shade = 8 + (distance / (ringWidth * ringWidth)) % 8
                } else {
                    shade = ((slope.x * x + slope.y * y + 4000) / 130) % 8
                }
                pixels.append(UInt8(truncatingIfNeeded: shade))
            }
        }
        return PNGEncoder.encode(side: side, palette: palette, pixels: pixels)
    }

    /// Eight shades of one hue for the ground, eight of another for the disc.
    private static func makePalette(_ numbers: inout SeededNumbers) -> [PNGEncoder.Colour] {
        let ground = (0..<3).map { _ in 30 + numbers.next(below: 110) }
        let disc = (0..<3).map { _ in 110 + numbers.next(below: 130) }
        return [ground, disc].flatMap { base in
            (0..<8).map { step in
                let shades = base.map { UInt8(clamping: $0 * (12 + step) / 16) }
                return PNGEncoder.Colour(red: shades[0], green: shades[1], blue: shades[2])
            }
        }
    }
}
