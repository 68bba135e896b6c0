/// The faults that apply to one request, each where its effect is looked for.
struct ActiveFaults: Sendable {
    private let kinds: [Fault.Kind]
    /// Which edition of the entity this request finds: 1 unless it changes.
    let version: Int

    /// - Parameter request: the number of the request for its target, from 1.
    init(_ faults: [Fault], request: Int) {
        kinds = faults.filter { $0.isChange || $0.applies(to: request) }.map(\.kind)
        var version = 1
        for fault in faults where fault.isChange {
            // Request `from` still finds the first edition; each later one finds the next, until `times` changes have been made.
            let changes = max(0, request - fault.from)
            version += min(changes, fault.times ?? changes)
        }
        self.version = version
    }

    func has(_ kind: Fault.Kind) -> Bool { kinds.contains(kind) }

    /// Where and how the body breaks off.
    var cut: BodyCut? {
        for kind in kinds {
            switch kind {
            case .reset(let after): return BodyCut(after: after, ending: .reset)
            case .truncate(let after): return BodyCut(after: after, ending: .close)
            case .stall(let after): return BodyCut(after: after, ending: .stall)
            default: continue
            }
        }
        return has(.chunkedWithoutEnd) ? BodyCut(after: .max, ending: .close) : nil
    }

    var headDelay: Duration? {
        for case .slowHead(let milliseconds) in kinds { return .milliseconds(milliseconds) }
        return nil
    }

    /// The status to answer with instead of the entity.
    var failure: Int? {
        for case .fail(let status) in kinds { return status }
        return nil
    }

    var emptyStatus: Int? {
        for case .empty(let status) in kinds { return status }
        return nil
    }

    var unsatisfiable: Fault.Unsatisfiable? {
        for case .unsatisfiable(let what) in kinds { return what }
        return nil
    }

    var retryAfter: (seconds: Int64, asDate: Bool)? {
        for case .retryAfter(let seconds, let asDate) in kinds { return (seconds, asDate) }
        return nil
    }

    var redirectTarget: String? {
        for case .redirect(let target) in kinds { return target }
        return nil
    }

    var redirectCount: Int? {
        for case .redirects(let count) in kinds { return count }
        return nil
    }

    var isChunked: Bool { has(.chunked) || has(.chunkedWithoutEnd) }
    var changesLength: Bool { has(.changeLength) }
}

/// A body that does not end as it should.
struct BodyCut: Sendable, Equatable {
    enum Ending: Sendable { case reset, close, stall }
    /// In bytes of the answer's body. More than the body has: the ending follows the last byte.
    let after: Int64
    let ending: Ending
}

extension Fault {
    fileprivate var isChange: Bool { kind == .change || kind == .changeLength }
}
