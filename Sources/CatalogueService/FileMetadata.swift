/// What is known of a file without reading it, and what HTTP says of it.
struct FileMetadata: Hashable, Sendable {
    /// Bytes.
    let size: Int
    /// When it was last changed: whole seconds since 1970 and the nanoseconds after them.
    let seconds: Int
    let nanoseconds: Int
    let inode: UInt64

    /// A strong entity tag (RFC 9110 section 8.8.3). A file replaced by renaming has another inode, one written
    /// in place another time; nanoseconds tell apart what happens within one second.
    var entityTag: String {
        let parts = [
            UInt64(bitPattern: Int64(size)), UInt64(bitPattern: Int64(seconds)),
            UInt64(bitPattern: Int64(nanoseconds)), inode,
        ]
        return "\"" + parts.map { String($0, radix: 16) }.joined(separator: "-") + "\""
    }
}
