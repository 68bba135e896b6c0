import Testing

@testable import DemoUpstream

@Suite("Pages") struct PageTests {
    @Test("Every artist, album, track and work has a page, with an escaped name")
    func pages() {
        let catalogue = Catalogue.shared
        for artist in catalogue.artists { #expect(Page.html(["artist", "\(artist.id)"])?.contains(artist.name) == true) }
        for album in catalogue.albums { #expect(Page.html(["album", "\(album.id)"]) != nil) }
        for track in catalogue.tracks { #expect(Page.html(["track", "\(track.id)"])?.contains(track.mediaTarget) == true) }
        let items = Archive.shared.items.filter { !$0.isDark }
        for item in items { #expect(Page.html(["details", item.identifier])?.contains("/download/\(item.identifier)/") == true) }
        #expect(Page.html(["podcast", "\(Podcast.id)"])?.contains("Foghorns") == true)
        #expect(Page.html([]) != nil)
        #expect(Page.html(["track", "1"]) == nil)
        #expect(Page.html(["album"]) == nil)
        #expect(Page.escaped("a<b>&\"c\"") == "a&lt;b&gt;&amp;&quot;c&quot;")
    }
}
