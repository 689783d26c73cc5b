import CCurl

/// A list of lines as libcurl takes them, freed with the object. It does not change.
@safe final class CurlList {
    /// Nil for an empty one.
    let first: OpaquePointer?

    init(_ lines: [String]) {
        var first: OpaquePointer?
        for line in lines { unsafe first = line.withCString { unsafe ccurl_list_append(first, $0) } }
        unsafe self.first = first
    }

    /// Header fields; one without a value is written in a way of libcurl's own.
    convenience init(_ fields: HTTPFields) {
        self.init(fields.fields.map { $0.value.isEmpty ? "\($0.name);" : "\($0.name): \($0.value)" })
    }

    deinit { unsafe ccurl_list_free(first) }
}
