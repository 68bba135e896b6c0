import HTTPCore
import ObjectStorage
import Testing

@Suite
struct ObjectLocationTests {
    @Test("A bucket alone is at AWS; parameters change everything else")
    func locationIsRead() throws {
        let plain = try ObjectLocation(parsing: "s3://my-bucket.1")
        #expect(plain.bucket == "my-bucket.1")
        #expect(plain.prefix == "")
        #expect(plain.region == "us-east-1")
        #expect(plain.endpoint.string == "https://s3.us-east-1.amazonaws.com/")
        #expect(plain.publicEndpoint == nil)
        let regional = try ObjectLocation(parsing: "s3://b/?region=eu-west-1")
        #expect(regional.endpoint.string == "https://s3.eu-west-1.amazonaws.com/")
        #expect(regional.prefix == "")
        let full = try ObjectLocation(
            parsing: "s3://b_B/a/b%20c%23/?endpoint=http://minio:9000/s3/&public=https://files.example.org&region=garage")
        #expect(full.bucket == "b_B")
        #expect(full.prefix == "a/b c#")
        #expect(full.region == "garage")
        #expect(full.endpoint.string == "http://minio:9000/s3/")
        #expect(full.publicEndpoint?.string == "https://files.example.org/")
    }

    @Test(
        "A refusal names the fault and the accepted form",
        arguments: [
            ("https://b/p", "s3://"), ("s3:b", "s3://"), ("s3://", "bucket"), ("s3:///p", "bucket"), ("s3://b c", "bucket"),
            ("s3://-b", "bucket"), ("s3://\(String(repeating: "b", count: 256))", "bucket"), ("s3://b/p#q", "prefix"),
            ("s3://b/%zz", "prefix"), ("s3://b/%0A", "prefix"), ("s3://b/\(String(repeating: "p", count: 513))", "prefix"),
            ("s3://b?endpoint=minio:9000", "endpoint"), ("s3://b?endpoint=ftp://x", "endpoint"),
            ("s3://b?endpoint=https://u:p@x", "endpoint"), ("s3://b?endpoint=https://x/?q", "endpoint"),
            ("s3://b?endpoint=https://x/a%20b", "endpoint"), ("s3://b?public=x", "public"), ("s3://b?region=", "region"),
            ("s3://b?region=a/b", "region"), ("s3://b?region=a&region=b", "twice"), ("s3://b?zone=a", "zone"),
            ("s3://b?region=%z", "escape"),
        ])
    func mistakesAreNamed(text: String, word: String) {
        let error = #expect(throws: ObjectLocation.ParsingError.self) { try ObjectLocation(parsing: text) }
        let message = error?.description ?? ""
        #expect(message.split(separator: "; accepted is").first?.contains(word) == true, "\(message)")
        #expect(message.contains("s3://BUCKET[/PREFIX]"))
    }
}
