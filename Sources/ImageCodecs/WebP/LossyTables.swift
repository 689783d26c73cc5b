/// The tables of VP8 (RFC 6386).
enum LossyTables {
    /// The probabilities of a coefficient's decisions have these indices, from the outermost: kind of block, band,
    /// context, decision. There are this many contexts and decisions.
    static let contexts = 3
    static let decisions = 11
    static let bands = 8

    /// The default probabilities of the coefficients (section 13.5).
    static let coefficients = probabilities(PackageResources.coefficients_txt)

    /// The probabilities that one of them is replaced (section 13.4).
    static let updates = probabilities(PackageResources.updates_txt)

    /// The probabilities of a 4 x 4 block's mode: for each mode above and to the left, nine decisions (section 11.5).
    static let modes = probabilities(PackageResources.modes_txt)

    /// The steps of DC coefficients, by quantiser index (section 14.1).
    static let dcSteps: [Int16] = [
        4, 5, 6, 7, 8, 9, 10, 10, 11, 12, 13, 14, 15, 16, 17, 17, 18, 19, 20, 20, 21, 21, 22, 22, 23, 23,
        24, 25, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46,
        46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63, 64, 65, 66, 67, 68, 69, 70,
        71, 72, 73, 74, 75, 76, 76, 77, 78, 79, 80, 81, 82, 83, 84, 85, 86, 87, 88, 89, 91, 93, 95, 96, 98,
        100, 101, 102, 104, 106, 108, 110, 112, 114, 116, 118, 122, 124, 126, 128, 130, 132, 134, 136, 138,
        140, 143, 145, 148, 151, 154, 157,
    ]

    /// The steps of AC coefficients.
    static let acSteps: [Int16] = [
        4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29,
        30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54,
        55, 56, 57, 58, 60, 62, 64, 66, 68, 70, 72, 74, 76, 78, 80, 82, 84, 86, 88, 90, 92, 94, 96, 98, 100,
        102, 104, 106, 108, 110, 112, 114, 116, 119, 122, 125, 128, 131, 134, 137, 140, 143, 146, 149, 152,
        155, 158, 161, 164, 167, 170, 173, 177, 181, 185, 189, 193, 197, 201, 205, 209, 213, 217, 221, 225,
        229, 234, 239, 245, 249, 254, 259, 264, 269, 274, 279, 284,
    ]

    /// The band of each coefficient, and one for the position after the last (section 13.3).
    static let bandOfPosition = [0, 1, 2, 3, 6, 4, 5, 6, 6, 6, 6, 6, 6, 6, 6, 7, 0]
    /// The place of each coefficient in its block (section 13).
    static let zigzag: [UInt8] = [0, 1, 4, 8, 5, 2, 3, 6, 9, 12, 13, 10, 7, 11, 14, 15]
    /// The probabilities of the extra bits of large coefficients, in four categories of up to 11 (section 13.2).
    static let extraBits: [[UInt8]] = [
        [173, 148, 140], [176, 155, 140, 135], [180, 157, 141, 134, 130],
        [254, 254, 243, 230, 196, 177, 153, 140, 133, 130, 129],
    ]

    /// Reads the numbers of a text. A line that begins with `#` is a comment.
    private static func probabilities(_ text: [UInt8]) -> [UInt8] {
        text.split(separator: UInt8(ascii: "\n")).filter { $0.first != UInt8(ascii: "#") }.flatMap {
            $0.split(separator: UInt8(ascii: " ")).map { $0.reduce(0) { $0 * 10 + ($1 - UInt8(ascii: "0")) } }
        }
    }
}
