/// A picture as JPEG stores it: a plane of luma, and two of colour differences (Cb and Cr) unless it is grey. It is upright.
/// Pictures that begin and end as JPEG are resized in this form: nothing is converted to RGB, and colour stays small.
package struct PlanarPicture: Sendable {
    /// Where one component's samples lie in `samples`: rows from the top.
    struct Plane {
        let offset: Int
        /// Samples from one row to the next.
        let stride: Int
        /// The samples that belong to the picture.
        let size: ImageSize
        /// Samples for each pixel of the picture, each way: 1, or 0.5 in the colour of 4:2:0.
        let perPixel: (across: Double, down: Double)
    }

    /// Both sides, in pixels.
    package let size: ImageSize
    /// One, or luma, Cb and Cr.
    let planes: [Plane]
    /// With room for one and a half vectors more, which may reach past the end of the last row.
    let samples: [UInt8]
    /// False where the file ended before its picture did.
    package let isComplete: Bool

    /// What the planes cost in memory, in bytes.
    package var cost: Int { samples.count }

    /// Whether luma has a sample for every pixel, and colour one for every four.
    var isQuarter: Bool {
        planes.indices.allSatisfy { planes[$0].perPixel == ($0 == 0 ? (1, 1) : (0.5, 0.5)) }
    }

    /// Whether there is no colour: one plane alone, or differences that are nought everywhere.
    var isGrey: Bool {
        let samples = samples.span
        for plane in planes.dropFirst() {
            for row in 0..<plane.size.height {
                let start = plane.offset &+ row &* plane.stride
                for index in start..<start &+ plane.size.width where samples[index] != 128 { return false }
            }
        }
        return true
    }
}

extension PlanarPicture {
    /// The samples of a whole frame of one component, or of three that are YCbCr.
    init(_ frame: JPEGFrame, scale: JPEGScale, planes: JPEGPlanes, isWhole: Bool) {
        size = scale.size
        self.planes = zip(frame.components, planes.planes).map { component, plane in
            Plane(
                offset: plane.offset, stride: plane.stride, size: plane.size,
                perPixel: (
                    Double(component.horizontalFactor) / Double(frame.horizontalMaximum),
                    Double(component.verticalFactor) / Double(frame.verticalMaximum)
                ))
        }
        samples = planes.samples
        isComplete =
            isWhole
            && zip(planes.planes, planes.decodedBlocks).allSatisfy { plane, decoded in
                decoded >= plane.blocks.width * plane.blocks.height
            }
    }
}
