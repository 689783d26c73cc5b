/// The bits of one scan, from restart marker to restart marker.
struct EntropyReader {
    var bits: EntropyBits
    /// Whether the data ended too early: what follows is not there.
    private(set) var isCut = false
    private let interval: Int
    private var untilRestart: Int
    private var restarts = 0

    init(at position: Int, restartInterval: Int) {
        bits = EntropyBits(position: position)
        interval = restartInterval
        untilRestart = restartInterval
    }

    /// To be called ahead of each minimum coded unit. True where a restart marker was passed, so that predictions begin
    /// anew (T.81 F.2.1.3.1).
    @inline(__always)
    mutating func beginUnit(in file: Span<UInt8>) throws(ImageDecodingError) -> Bool {
        guard interval > 0 else { return false }
        if untilRestart > 0 {
            untilRestart &-= 1
            return false
        }
        untilRestart = interval &- 1
        return try restart(in: file)
    }

    /// How many units may be passed before the next restart marker.
    var unitsToRestart: Int { interval > 0 ? untilRestart : .max }

    /// Passes units that take no bits: at most `unitsToRestart`.
    @inline(__always)
    mutating func passUnits(_ count: Int) {
        if interval > 0 { untilRestart &-= count }
    }

    private mutating func restart(in file: Span<UInt8>) throws(ImageDecodingError) -> Bool {
        let end = JPEGSegments.firstMarker(in: file, from: bits.position, skippingRestarts: false)
        guard let code = file.byte(at: end + 1), JPEGMarker(rawValue: code).isRestart else {
            isCut = true
            return false
        }
        guard Int(code & 7) == restarts & 7 else {
            throw .corrupt(segment: "RST\(code & 7) instead of restart marker \(restarts & 7)", offset: end)
        }
        restarts &+= 1
        bits = EntropyBits(position: end + 2)
        return true
    }

    /// To be called when a unit was decoded, soundly or not. Where the data ended, that is the reason, whatever the bits
    /// looked like.
    @inline(__always)
    mutating func endUnit(isSound: Bool) throws(ImageDecodingError) {
        if isSound, !bits.overran { return }
        guard bits.isNearEnd else {
            throw .corrupt(segment: "coefficients of a scan", offset: bits.position)
        }
        isCut = true
    }
}
