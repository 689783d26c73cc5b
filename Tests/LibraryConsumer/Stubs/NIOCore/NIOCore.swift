// What the article uses of swift-nio, with the same signatures.

package struct ByteBuffer: Sendable {
    package init(bytes: some Sequence<UInt8>) { fatalError("swift-nio is not linked") }
    package var readableBytesView: ByteBufferView { ByteBufferView() }
}

package struct ByteBufferView: Sendable, RandomAccessCollection {
    package var startIndex: Int { 0 }
    package var endIndex: Int { 0 }
    package subscript(position: Int) -> UInt8 { fatalError("swift-nio is not linked") }
}
