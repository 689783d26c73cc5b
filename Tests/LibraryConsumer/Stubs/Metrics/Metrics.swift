// What the article uses of swift-metrics, with the same signatures.

package final class Counter: Sendable {
    package init(label: String, dimensions: [(String, String)] = []) {}
    package func increment<DataType: BinaryInteger>(by amount: DataType) {}
    package func increment() {}
}

package final class Timer: Sendable {
    package init(label: String, dimensions: [(String, String)] = []) {}
    package func recordNanoseconds<DataType: BinaryInteger>(_ duration: DataType) {}
}

package final class Gauge: Sendable {
    package init(label: String, dimensions: [(String, String)] = []) {}
    package func record<DataType: BinaryInteger>(_ value: DataType) {}
}
