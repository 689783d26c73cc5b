/// The samples of all components, whole blocks each, behind one another in one array.
struct JPEGPlanes {
    /// Where one component's samples lie.
    struct Plane {
        let offset: Int
        /// Samples from one row to the next.
        let stride: Int
        /// The samples that belong to the picture.
        let size: ImageSize
    }

    let planes: [Plane]
    var samples: [UInt8]

    init(_ frame: JPEGFrame) {
        var offset = 0
        var planes: [Plane] = []
        for component in frame.components {
            let stride = component.blockColumns * 8
            planes.append(Plane(offset: offset, stride: stride, size: component.size))
            offset += stride * component.blockRows * 8
        }
        self.planes = planes
        samples = [UInt8](repeating: 0, count: offset)
    }
}
