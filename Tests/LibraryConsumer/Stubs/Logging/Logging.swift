// What the article uses of swift-log, with the same signatures.

package struct Logger: Sendable {
    package typealias Metadata = [String: MetadataValue]

    package struct Message: Sendable, ExpressibleByStringInterpolation {
        package init(stringLiteral value: String) {}
    }

    package struct MetadataValue: Sendable, ExpressibleByStringInterpolation {
        package init(stringLiteral value: String) {}
    }

    package init(label: String) {}
    package func debug(
        _ message: @autoclosure () -> Message, metadata: @autoclosure () -> Metadata? = nil
    ) {}
    package func warning(
        _ message: @autoclosure () -> Message, metadata: @autoclosure () -> Metadata? = nil
    ) {}
}
