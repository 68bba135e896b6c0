/// Writes figures in Prometheus' text format, version 0.0.4.
struct MetricsText {
    private(set) var bytes: [UInt8] = []

    /// The kinds of figures.
    enum Kind: String {
        case counter, gauge, histogram
    }

    /// Begins a family: the samples that follow belong to it.
    mutating func family(_ name: String, _ kind: Kind, _ help: String) {
        line("# HELP \(name) \(help)")
        line("# TYPE \(name) \(kind.rawValue)")
    }

    /// Writes a sample. Label values come from the program and contain nothing that needs escaping.
    mutating func sample(_ name: String, _ labels: [(name: String, value: String)], _ value: Double) {
        let text = labels.map { "\($0.name)=\"\($0.value)\"" }.joined(separator: ",")
        let isWhole = value == value.rounded() && abs(value) < 1e15
        line(name + (labels.isEmpty ? "" : "{\(text)}") + " " + (isWhole ? String(Int64(value)) : String(value)))
    }

    /// Writes a family of one sample.
    mutating func gauge(_ name: String, _ help: String, _ value: Double) {
        family(name, .gauge, help)
        sample(name, value)
    }

    /// Writes a sample without labels.
    mutating func sample(_ name: String, _ value: Double) {
        sample(name, [], value)
    }

    /// Writes the samples of a histogram.
    mutating func histogram(_ name: String, _ labels: [(name: String, value: String)], _ histogram: Histogram) {
        var total: UInt64 = 0
        for (index, count) in histogram.counts.enumerated() {
            total &+= count
            let bound = index < histogram.bounds.count ? String(histogram.bounds[index]) : "+Inf"
            sample(name + "_bucket", labels + [("le", bound)], Double(total))
        }
        sample(name + "_sum", labels, histogram.sum)
        sample(name + "_count", labels, Double(total))
    }

    private mutating func line(_ text: String) {
        bytes.append(contentsOf: text.utf8)
        bytes.append(UInt8(ascii: "\n"))
    }
}
