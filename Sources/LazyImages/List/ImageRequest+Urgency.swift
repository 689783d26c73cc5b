extension ImageRequest {
    /// The priority it is loaded with. A download that a person waits for goes before one that nobody looks at, whatever
    /// the request says.
    func priority(_ urgency: ScrollWindow<LoadKey>.Urgency) -> Priority {
        switch urgency {
        case .visible: max(priority, .high)
        case .ahead: min(priority, .low)
        }
    }
}
