/// What the components of a JPEG mean.
enum JPEGColour: Equatable {
    case grey
    case yCbCr
    case rgb
    /// Inks, full at 255, or at nought where inverted.
    case cmyk(isInverted: Bool)
    /// The complements of three inks as YCbCr, and black.
    case ycck(isInverted: Bool)

    /// Whether the first three components are to be converted.
    var isBasedOnYCbCr: Bool {
        switch self {
        case .yCbCr, .ycck: true
        case .grey, .rgb, .cmyk: false
        }
    }

    /// Whether the three components are YCbCr or RGB: JFIF says the first; Adobe's APP14 says which; without both,
    /// components named R, G, B are that (as libjpeg takes them). Four are inks, which Adobe's programs, and so all
    /// that write its segment, store inverted.
    init(frame: JPEGFrame, hasJFIF: Bool, adobeTransform: UInt8?) {
        switch frame.components.count {
        case 1: self = .grey
        case 4:
            let isInverted = adobeTransform != nil
            self = adobeTransform == 2 ? .ycck(isInverted: isInverted) : .cmyk(isInverted: isInverted)
        default:
            if hasJFIF {
                self = .yCbCr
            } else if let adobeTransform {
                self = adobeTransform == 0 ? .rgb : .yCbCr
            } else {
                self = frame.components.map(\.identifier) == [0x52, 0x47, 0x42] ? .rgb : .yCbCr
            }
        }
    }
}
