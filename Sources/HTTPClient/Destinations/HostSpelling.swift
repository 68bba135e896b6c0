import HTTPCore

/// Normalisation of host spellings. Some spellings are an address to one reader and a name to another.
enum HostSpelling {
    /// Returns the spelling of a host that is checked: percent-decoded, in lowercase, without brackets and without the
    /// trailing dot of an absolute name. Digits and dots of other scripts become ASCII, as in IDNA (UTS #46).
    static func normalize(_ host: String) -> String {
        // The fast path: nearly all hosts are already normal.
        let isNormal = host.utf8.allSatisfy {
            $0 &- 0x61 < 26 || $0 &- 0x30 < 10 || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: ".")
        }
        if isNormal, host.utf8.last != UInt8(ascii: ".") { return host }
        var name = ""
        for scalar in percentDecoded(host).unicodeScalars {
            switch scalar.value {
            case 0x3002, 0xff0e, 0xff61: name.append(".")
            // Full-width forms are in the order of ASCII.
            case 0xff01...0xff5e: name.unicodeScalars.append(Unicode.Scalar(UInt8(truncatingIfNeeded: scalar.value - 0xfee0)))
            // IDNA removes the soft hyphen, zero-width characters and variation selectors.
            case 0xad, 0x200b...0x200d, 0x2060, 0xfe00...0xfe0f, 0xfeff: continue
            case 0x80...: name += asciiDigit(scalar) ?? String(scalar)
            default: name.unicodeScalars.append(scalar)
            }
        }
        name = name.lowercased()
        if name.hasPrefix("["), name.hasSuffix("]"), name.utf8.count >= 2 { name = String(name.dropFirst().dropLast()) }
        if name.hasSuffix(".") { name.removeLast() }
        return name
    }

    /// The reason why a normalised name cannot be a host, as a predicate; nil if it can.
    static func problem(_ name: String) -> String? {
        if name.isEmpty { return "is not a host" }
        if name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).contains(where: \.isEmpty) {
            return "has an empty label"
        }
        for scalar in name.unicodeScalars {
            switch scalar {
            case "a"..."z", "0"..."9", "-", "_", ".": continue
            case "\u{80}"...: continue
            case ":": return "is not a valid IPv6 address"
            default: return "has an invalid character"
            }
        }
        return nil
    }

    /// A name whose addresses are known without the DNS.
    struct KnownName: Sendable {
        let addresses: [IPAddress]
        let use: String
    }

    /// The addresses and use of a normalised name of this machine, of the cluster or of a cloud's metadata service; nil
    /// for other names.
    static func knownName(_ name: String) -> KnownName? {
        // RFC 6761 §6.3: localhost and the names below it are loopback. /etc/hosts defines the others.
        if name == "localhost" || name.hasSuffix(".localhost") || loopbackNames.contains(name) {
            return KnownName(addresses: [.v4(0x7f00_0001), .v6(1)], use: "this machine")
        }
        if clusterSuffixes.contains(where: name.hasSuffix) || clusterNames.contains(name) {
            return KnownName(addresses: [], use: "a service of the cluster")
        }
        if hostNames.contains(name) { return KnownName(addresses: [], use: "the host of the container") }
        // Amazon has a name in each region: instance-data.eu-west-1.compute.internal.
        let isAmazons = name.hasPrefix("instance-data.") && name.hasSuffix(".compute.internal")
        return metadataNames[isAmazons ? "instance-data" : name].map {
            KnownName(addresses: [$0], use: $0.specialUse ?? "metadata service of clouds")
        }
    }

    /// The use of a name that a proxy resolves, judged by the name alone; nil if there is none.
    ///
    /// Every cloud has its own names for its metadata service. Names below `.internal` depend on the network that
    /// resolves them.
    static func useElsewhere(_ name: String) -> String? {
        if ["metadata.", "instance-data."].contains(where: name.hasPrefix) { return "a metadata service by its name" }
        // Suffixes reserved for private networks: RFC 6762 §3, RFC 8375, and ICANN's resolution 2024.07.29.06.
        if [".internal", ".local", ".home.arpa", ".localdomain"].contains(where: name.hasSuffix) {
            return "in a private network by its name"
        }
        return nil
    }

    // https://kubernetes.io/docs/concepts/services-networking/dns-pod-service/: a search domain completes the shorter
    // names.
    private static let clusterSuffixes = [".svc", ".cluster.local"]
    private static let clusterNames: Set<String> = ["kubernetes", "kubernetes.default", "cluster.local"]
    // https://docs.docker.com/desktop/features/networking/, and the names of Podman.
    private static let hostNames: Set<String> = [
        "host.docker.internal", "gateway.docker.internal", "kubernetes.docker.internal", "host.containers.internal",
    ]

    private static let loopbackNames: Set<String> = [
        "localhost.localdomain", "localhost4", "localhost4.localdomain4", "localhost6", "localhost6.localdomain6",
        "ip6-localhost",
        "ip6-loopback",
    ]

    // If a proxy resolves a name, only the name can be checked. The documents of the clouds are listed with the
    // addresses, in IPAddress+SpecialUse.swift. A cloud's search domain, perhaps the proxy's, completes names of one
    // label. An operator with a host of such a name can allow it by a rule.
    private static let metadataNames: [String: IPAddress] = [
        "metadata": .v4(0xa9fe_a9fe), "metadata.google.internal": .v4(0xa9fe_a9fe), "metadata.goog": .v4(0xa9fe_a9fe),
        "instance-data": .v4(0xa9fe_a9fe), "instance-data.ec2.internal": .v4(0xa9fe_a9fe),
        "metadata.azure.internal": .v4(0xa9fe_a9fe), "api.metadata.cloud.ibm.com": .v4(0xa9fe_a9fe),
        "metadata.tencentyun.com": .v4(0xa9fe_0017),
    ]

    /// A digit of another script or style (superscript, circled, Arabic-Indic, …) as ASCII; nil for other characters.
    private static func asciiDigit(_ scalar: Unicode.Scalar) -> String? {
        guard let value = scalar.properties.numericValue, (0...9).contains(value), value == value.rounded() else { return nil }
        return String(Int(value))
    }

    private static func percentDecoded(_ host: String) -> String {
        guard host.utf8.contains(UInt8(ascii: "%")) else { return host }
        let bytes = Array(host.utf8)
        var decoded: [UInt8] = []
        var index = 0
        while index < bytes.count {
            if bytes[index] == UInt8(ascii: "%"), index + 2 < bytes.count,
                let value = UInt8(String(decoding: bytes[(index + 1)...(index + 2)], as: UTF8.self), radix: 16)
            {
                decoded.append(value)
                index += 3
            } else {
                decoded.append(bytes[index])
                index += 1
            }
        }
        return String(decoding: decoded, as: UTF8.self)
    }
}
