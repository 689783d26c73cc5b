import SystemSupport

extension WakeDescriptor {
    /// A descriptor for something that happens once. Nobody resets it.
    static func forService() throws(CatalogueServiceError) -> WakeDescriptor {
        do {
            return try WakeDescriptor()
        } catch {
            throw .system(call: "eventfd", errno: error.code)
        }
    }
}
