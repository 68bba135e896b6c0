import System
import TestSupport
import Testing

struct ExactTextTests {
    @Test("Texts that look alike are different", arguments: LookAlikes.texts)
    func lookAlikes(first: String, second: String) {
        #expect(first == second)
        #expect(!first.isExactly(second) && first.isExactly(first))
        #expect(Set([ExactText(first), ExactText(second), ExactText(first)]).count == 2)
        #expect(![first].containsExactly(second) && [second, first].containsExactly(first))
        #expect(![first].isExactly([second]) && [first].isExactly([first]) && ![first].isExactly([first, first]))
    }
}
