/// A table of colours at the points of a grid with 1, 3 or 4 dimensions. Between its points it interpolates: in three
/// dimensions by tetrahedra, as is usual (Kang, Computational Color Technology, 9.2); in four between two such values.
struct ColourGrid {
    /// The points in each dimension, at least 2. The last dimension varies quickest.
    private let sides: [Int]
    private let points: [SIMD4<Float>]

    /// - Parameter levels: three for each point.
    init(sides: [Int], levels: [Float]) {
        self.sides = sides
        points = stride(from: 0, to: levels.count, by: 3).map {
            SIMD4(levels[$0], levels[$0 + 1], levels[$0 + 2], 0)
        }
    }

    /// The table of a function.
    init(sides: [Int], _ colour: (SIMD4<Float>) -> SIMD4<Float>) {
        self.sides = sides
        points = (0..<sides.reduce(1, *)).map { index in
            var rest = index
            var place = SIMD4<Float>()
            for dimension in sides.indices.reversed() {
                place[dimension] = Float(rest % sides[dimension]) / Float(sides[dimension] - 1)
                rest /= sides[dimension]
            }
            return colour(place)
        }
    }

    /// The colour at a place, whose coordinates are from 0 to 1.
    func value(at place: SIMD4<Float>) -> SIMD4<Float> {
        switch sides.count {
        case 1:
            let (index, part) = Self.cell(place.x, sides[0])
            return points[index] + (points[index + 1] - points[index]) * part
        case 3: return tetrahedral(0, place, 0)
        default:
            let (index, part) = Self.cell(place.x, sides[0])
            let size = sides[1] * sides[2] * sides[3]
            let rest = SIMD4(place.y, place.z, place.w, 0)
            let low = tetrahedral(index * size, rest, 1)
            if part == 0 { return low }
            return low + (tetrahedral((index + 1) * size, rest, 1) - low) * part
        }
    }

    /// The point before a coordinate, and how far behind it that is.
    @inline(__always)
    private static func cell(_ coordinate: Float, _ side: Int) -> (index: Int, part: Float) {
        let position = coordinate * Float(side - 1)
        let index = min(Int(position), side - 2)
        return (index, position - Float(index))
    }

    /// The value in the three dimensions from `first`, of the grid that begins at `start`.
    @inline(__always)
    private func tetrahedral(_ start: Int, _ place: SIMD4<Float>, _ first: Int) -> SIMD4<Float> {
        let (x, partX) = Self.cell(place.x, sides[first])
        let (y, partY) = Self.cell(place.y, sides[first + 1])
        let (z, partZ) = Self.cell(place.z, sides[first + 2])
        let stepY = sides[first + 2]
        let stepX = stepY * sides[first + 1]
        let corner = start + x * stepX + y * stepY + z
        // From the corner to the opposite one, along the longest part first.
        let steps: (first: Int, second: Int, parts: SIMD3<Float>) =
            if partX >= partY {
                if partY >= partZ {
                    (stepX, stepX + stepY, SIMD3(partX, partY, partZ))
                } else if partX >= partZ {
                    (stepX, stepX + 1, SIMD3(partX, partZ, partY))
                } else {
                    (1, stepX + 1, SIMD3(partZ, partX, partY))
                }
            } else if partX >= partZ {
                (stepY, stepX + stepY, SIMD3(partY, partX, partZ))
            } else if partY >= partZ {
                (stepY, stepY + 1, SIMD3(partY, partZ, partX))
            } else {
                (1, stepY + 1, SIMD3(partZ, partY, partX))
            }
        let parts = steps.parts
        return points[corner] * (1 - parts.x) + points[corner + steps.first] * (parts.x - parts.y)
            + points[corner + steps.second] * (parts.y - parts.z)
            + points[corner + stepX + stepY + 1] * parts.z
    }
}
