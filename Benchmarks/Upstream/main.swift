// An origin that fails as requests ask it to (`Fault` in Tests/TestUpstream). Prints its address, and ends with its standard input.
//
// Built and run by Benchmarks/soak.

import Foundation
import TestUpstream

let upstream = TestUpstream()
FileHandle.standardOutput.write(Data((try upstream.start() + "\n").utf8))
while readLine() != nil {}
