extension JPEGSegment {
    /// The lines a frame header of `file` promises. Where they are nought, a DNL segment behind the first scan tells
    /// them (T.81 B.2.5); nil for a header too short for any.
    ///
    ///     FF DC 00 04 02 EE    DNL: 750 lines
    func height(in file: Span<UInt8>) throws(ImageDecodingError) -> Int? {
        guard body.count >= 3, let lines = file.bigEndian16(at: body.lowerBound + 1) else { return nil }
        if lines > 0 { return lines }
        var segments = JPEGSegments(offset: body.upperBound)
        var isBehindScan = false
        while true {
            let segment = try segments.next(in: file)
            switch segment.marker {
            case .startOfScan where !isBehindScan:
                segments.skipEntropyCodedData(in: file)
                isBehindScan = true
            case .numberOfLines:
                guard segment.body.count == 2, let lines = file.bigEndian16(at: segment.body.lowerBound),
                    lines > 0
                else { throw .corrupt(segment: "number of lines", offset: segment.offset) }
                return lines
            case .startOfScan, .endOfImage:
                throw .corrupt(segment: "JPEG without a height", offset: offset)
            default: break
            }
        }
    }
}
