/// An upright image in JPEG's own form: a plane of luma and, unless grey, two of chroma (Cb and Cr). Resizing JPEG to
/// JPEG in this form avoids the conversion to RGB and keeps chroma small.
package struct PlanarPicture: Sendable {
    /// The position of one component's samples in `samples`, rows from the top.
    struct Plane {
        let offset: Int
        /// The distance between rows, in samples.
        let stride: Int
        /// The size of the component in samples.
        let size: ImageSize
        /// The samples per pixel in each direction: 1, or 0.5 for 4:2:0 chroma.
        let perPixel: (across: Double, down: Double)
    }

    /// The width and height in pixels.
    package let size: ImageSize
    /// Luma alone, or luma, Cb and Cr.
    let planes: [Plane]
    /// With 1.5 vectors of padding, because vectors may extend past the end of the last row.
    let samples: [UInt8]
    /// What is missing or wrong; see ``Bitmap/damage``.
    package let damage: ImageDecodingError?

    /// The size in memory, in bytes.
    package var cost: Int { samples.count }

    /// Whether the image is 4:2:0: one chroma sample for four pixels.
    var isQuarter: Bool {
        planes.indices.allSatisfy { planes[$0].perPixel == ($0 == 0 ? (1, 1) : (0.5, 0.5)) }
    }

    /// Whether the image has no colour: luma alone, or neutral chroma everywhere.
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
    /// Takes the samples of a frame with one component, or with three that are YCbCr.
    init(_ frame: JPEGFrame, scale: JPEGScale, planes: JPEGPlanes, damage: ImageDecodingError?) {
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
        self.damage = damage
    }
}
