extension Archive {
    /// The source text of the items: a line for each item, followed by one for each of its files.
    ///
    ///     @ identifier | name=value | name=value
    ///     path | bytes | format | name=value
    ///     > path | bytes | format | name=value
    ///
    /// The third line is a file derived from the last one without `>`. `*` stands for the identifier. `damaged=true`
    /// gives a file wrong digests. All names are invented, and all bytes are noise.
    static let text = #"""
        @ tidewater-soundings-2023 | mediatype=audio | title=Soundings: Live at the Tide Mill \#
        | creator=Tidewater Field Recordings | creator=Ada and the Looms | date=2023-09-16 \#
        | collection=tidewater-concerts | collection=audio_music | runtime=46:27 | subject=live concert | subject=ambient \#
        | licenseurl=https://creativecommons.org/licenses/by/4.0/
        01 Slack Water.flac | 5199047 | Flac | title=Slack Water | track=1 | length=311.4
        > 01 Slack Water.mp3 | 1134592 | VBR MP3 | title=Slack Water | track=1 | length=05:11
        02 Salt & Silver.flac | 5942858 | Flac | title=Salt &amp; Silver | track=2 | length=358.02
        > 02 Salt & Silver.mp3 | 1297408 | VBR MP3 | title=Salt &amp; Silver | track=2 | length=05:58
        03 The Mill Wheel.flac | 5841331 | Flac | title=The Mill Wheel | track=3 | length=351.4
        > 03 The Mill Wheel.mp3 | 1274880 | VBR MP3 | title=The Mill Wheel | track=3 | length=05:51
        04 Eelgrass.flac | 4973516 | Flac | title=Eelgrass | track=4 | length=04:58
        > 04 Eelgrass.mp3 | 1085440 | VBR MP3 | title=Eelgrass | track=4 | length=298.39
        05 Spring Tide.flac | 5475852 | Flac | title=Spring Tide | track=5 | length=05:37
        > 05 Spring Tide.mp3 | 1194752 | VBR MP3 | title=Spring Tide | track=5 | length=337.18
        06 Neap Tide.flac | 5966512 | Flac | title=Neap Tide | track=6 | length=0
        > 06 Neap Tide.mp3 | 1302528 | VBR MP3 | title=Neap Tide | track=6 | length=06:02
        07 Bell Buoy.flac | 5694162 | Flac | title=Bell Buoy | track=7 | length=346.8
        > 07 Bell Buoy.mp3 | 1242112 | VBR MP3 | title=Bell Buoy | track=7 | length=05:46
        08 Ebb, for Two Looms.flac | 6012230 | Flac | title=Ebb, for Two Looms | track=8 | length=0:07:03
        > 08 Ebb, for Two Looms.mp3 | 1311744 | VBR MP3 | title=Ebb, for Two Looms | track=8 | length=423.2
        soundings-notes.txt | 3166 | Text
        @ paper-trails-maps | mediatype=image | title=Paper Trails: Maps and Marginalia | creator=The Lantern Street Ramblers \#
        | date=2019 | collection=paper-trails | subject=maps
        plate 2.png | 210345 | PNG
        plate 10.png | 198211 | PNG
        Atlas/Saltö – båtkarta nr 7.jpg | 301877 | JPEG
        Atlas/日本/東京湾 (1923).tif | 402113 | TIFF
        Field notes/"Tides & Tallies", 100%.txt | 4099 | Text
        Field notes/Sketch #3 + a key.png | 90210 | PNG
        Field notes/What is a fathom?.txt | 2048 | Text
        Lettres/Où êtes-vous, Zoé ?.pdf | 120877 | Image Container PDF
        Lettres/2ᵉ série/Répondez… vite !.pdf | 98304 | Image Container PDF
        > Lettres/2ᵉ série/Répondez… vite !_text.pdf | 101233 | Text PDF
        @ harbour-pilots-handbook-1881 | mediatype=texts | title=The Harbour Pilot's Handbook | creator=Merrow, Josiah \#
        | creator=Merrow, Constance | date=1881 | collection=tidewater-library | collection=americana | imagecount=196
        *_orig_jp2.tar | 2457600 | Single Page Original JP2 Tar | private=true
        > *_jp2.zip | 3829940 | Single Page Processed JP2 ZIP
        > *.pdf | 1544581 | Text PDF
        > *.epub | 608904 | EPUB
        > *_djvu.txt | 122522 | DjVuTXT
        > *_lcp.epub | 626666 | LCP Encrypted EPUB
        *_scandata.xml | 25630 | Scandata
        @ lanterns-of-the-estuary | mediatype=texts | title=Lanterns of the Estuary | creator=Quill, Imogen | date=1994-05-02 \#
        | collection=inlibrary | collection=printdisabled | access-restricted-item=true
        *_orig_jp2.tar | 5242880 | Single Page Original JP2 Tar | private=true
        > *.pdf | 1244581 | Text PDF | private=true
        > *.epub | 508904 | EPUB | private=true
        > *_djvu.txt | 102522 | DjVuTXT | private=true
        > *_encrypted.pdf | 1344581 | ACS Encrypted PDF
        > *_lcp.epub | 526666 | LCP Encrypted EPUB
        *_scandata.xml | 21630 | Scandata
        @ lighthouse-weather-calls | mediatype=audio | title=Lighthouse Weather Calls | creator=Tidewater Field Recordings \#
        | date=2021-02-11 | collection=tidewater-concerts | subject=radio
        dogger.mp3 | 401408 | VBR MP3 | title=Dogger | length=00:25
        fisher.mp3 | 389120 | VBR MP3 | title=Fisher | length=24.32 | damaged=true
        german-bight.mp3 | 413696 | VBR MP3 | title=German Bight | length=25.86
        @ nightjar-1977-08-13 | mediatype=etree | title=Nightjar Live at the Rope Walk on 1977-08-13 | creator=Nightjar \#
        | date=1977-08-13 | collection=Nightjar | collection=etree | venue=The Rope Walk
        nj77-08-13d1t01.flac | 3145728 | Flac | title=Tuning | track=01/3 | length=0 | private=true
        > nj77-08-13d1t01.mp3 | 512000 | VBR MP3 | title=Tuning | track=01/3 | length=00:51
        nj77-08-13d1t02.flac | 4194304 | Flac | title=Cold Harbour Lane | track=02/3 | length=0 | private=true
        > nj77-08-13d1t02.mp3 | 716800 | VBR MP3 | title=Cold Harbour Lane | track=02/3 | length=03:09
        nj77-08-13d2t01.flac | 2097152 | Flac | title=Ropemaker's Reel | track=03/3 | length=0 | private=true
        > nj77-08-13d2t01.mp3 | 409600 | VBR MP3 | title=Ropemaker's Reel | track=03/3 | length=02:27
        nj77-08-13.txt | 1215 | Text
        @ gannet-rock-broadcasts | is_dark=true
        """#
}
