// What the article uses of swift-nio.

package struct ByteBuffer: Sendable {
    package init(bytes: some Sequence<UInt8>) { fatalError("swift-nio is not linked") }
}
