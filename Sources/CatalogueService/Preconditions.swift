import HTTPSemantics
import HTTPServer

/// The conditions of a request, held against the file (RFC 9110 section 13).
struct Preconditions {
    enum Outcome: Hashable {
        case proceed
        case notModified
        case failed
    }

    let request: RequestHead
    let file: FileMetadata
    /// Seconds since 1970.
    let now: Int

    /// In the order of section 13.2.2. A condition on dates counts only without one on tags.
    var outcome: Outcome {
        if !request.fields.values(of: "if-match").isEmpty {
            if !contains("if-match", comparingWeakly: false) { return .failed }
        } else if let date = date("if-unmodified-since"), file.seconds > date {
            return .failed
        }
        if !request.fields.values(of: "if-none-match").isEmpty {
            return contains("if-none-match", comparingWeakly: true) ? .notModified : .proceed
        }
        if let date = date("if-modified-since"), file.seconds <= date { return .notModified }
        return .proceed
    }

    /// Whether a Range may be answered with a part (section 13.1.5): without If-Range, or when it names exactly
    /// this file by a strong tag, or by a date that a second has passed since.
    var allowsRange: Bool {
        guard let value = request.value(of: "if-range") else {
            return request.fields.values(of: "if-range").isEmpty
        }
        if value.hasPrefix("\"") || value.hasPrefix("W/") { return value == file.entityTag }
        return date("if-range") == file.seconds && now > file.seconds
    }

    private func date(_ name: String) -> Int? {
        request.value(of: name).flatMap { HTTPDate.parse($0, now: now) }
    }

    private func contains(_ name: String, comparingWeakly: Bool) -> Bool {
        request.list(name).contains { tag in
            tag == "*" || tag == file.entityTag || comparingWeakly && tag == "W/" + file.entityTag
        }
    }
}
