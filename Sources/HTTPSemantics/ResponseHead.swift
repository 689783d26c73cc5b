/// The status line and header of an answer.
public struct ResponseHead: Sendable, Hashable {
    /// 200 to 599 in an honest answer.
    public var status: Int
    /// The header.
    public var fields: HTTPFields

    /// A head of this status and header.
    public init(status: Int, fields: HTTPFields = HTTPFields()) {
        self.status = status
        self.fields = fields
    }

    /// The length the server promises for the body, in bytes: nil if it promises none or what it says is no number.
    public var contentLength: Int? {
        fields["content-length"].flatMap { Int($0) }.flatMap { $0 >= 0 ? $0 : nil }
    }
}
