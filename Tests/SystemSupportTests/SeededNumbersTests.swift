import SystemSupport
import TestTraits
import Testing

@Suite("SeededNumbers", .bounded)
struct SeededNumbersTests {
    @Test("the numbers equal those that the authors of SplitMix64 publish for the seed 1234567")
    func published() {
        var numbers = SeededNumbers(seed: 1_234_567)
        #expect(
            (0..<3).map { _ in numbers.next() } == [
                6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423,
            ])
    }
}
