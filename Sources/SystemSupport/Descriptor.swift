internal import Glibc

/// An open file, closed when it goes.
package struct Descriptor: ~Copyable {
    package let number: Int32

    package init(_ number: Int32) { self.number = number }

    // An error of close tells of a write that failed late (network file systems); the checksum finds such an entry.
    deinit { close(number) }
}
