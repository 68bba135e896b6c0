import FuzzProperties
import Glibc

/// The property that `PAWL_FUZZ_PROPERTY` names.
private let property: Property = {
    let name = unsafe getenv("PAWL_FUZZ_PROPERTY").map { unsafe String(cString: $0) } ?? ""
    guard let property = Property(rawValue: name) else {
        print("PAWL_FUZZ_PROPERTY must be one of \(Property.allCases.map(\.rawValue).joined(separator: ", "))")
        exit(2)
    }
    return property
}()

/// The entry point of libFuzzer for each input (https://llvm.org/docs/LibFuzzer.html). Ends the process on a violation,
/// so that libFuzzer keeps the input.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    do {
        try property.check(unsafe Array(UnsafeBufferPointer(start: data, count: count)))
        return 0
    } catch {
        print("VIOLATION: \(error)")
        // Otherwise buffered output is lost.
        fflush(nil)
        abort()
    }
}
