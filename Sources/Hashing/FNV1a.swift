extension Sequence<UInt8> {
    /// The FNV-1a hash of 64 bits (http://www.isthe.com/chongo/tech/comp/fnv/): the same in every run, for names and
    /// colours. Anyone can make bytes with a given hash.
    package var fnv1a: UInt64 { reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 } }
}
