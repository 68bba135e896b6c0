extension CatalogueText {
    static let popular = """
        @ 61 | Scott Joplin | Ragtime | honkyTonk
        # 1 | Piano Rags | 1998-11-24 | 9.99
        Maple Leaf Rag | 3:14
        The Entertainer | 4:01
        The Easy Winners | 3:42
        Elite Syncopations | 3:05
        Peacherine Rag | 3:21
        Pine Apple Rag | 3:28
        Solace: A Mexican Serenade | 6:11
        Bethena: A Concert Waltz | 5:28
        Magnetic Rag | 4:43
        Original Rags | 4:09
        Weeping Willow | 3:55
        Sugar Cane | 3:33
        Gladiolus Rag | 4:14
        The Cascades | 3:02
        The Ragtime Dance | 3:17
        @ 62 | The Lantern Street Ramblers | Folk | guitar
        # 1 | Songs from the Towpath | 2018-06-01 | 9.99
        Greensleeves | 3:38
        Scarborough Fair | 3:51
        The Water Is Wide | 4:05
        Danny Boy | 3:30
        Shenandoah | 3:44
        Barbara Allen | 4:16
        Wayfaring Stranger | 3:22
        Loch Lomond | 3:57
        The Parting Glass | 2:59
        Auld Lang Syne | 3:03
        # 2 | Below Deck | 2021-09-17 | 8.99
        Drunken Sailor | 2:26
        Leave Her, Johnny | 3:09
        Haul Away, Joe | 2:15
        Blow the Man Down | 2:48
        Spanish Ladies | 2:57
        The Bosun's Complaint | 1:58 | explicit
        @ 63 | Ada and the Looms | Electronic | musicBox
        # 1 | Patterns for Punched Cards | 2022-02-11 | 7.99
        Overture for Two Cylinders | 3:16
        Operation Cards | 2:58
        Variable Cards | 3:24
        The Mill and the Store | 4:12
        Difference of the Seventh Order | 5:05
        Note G | 2:37
        Weaving Algebraical Patterns | 4:44
        """

    /// Long recordings: each is one of ``LargeFile``'s entities, a file big enough for pausing and resuming to be felt.
    static let fieldRecordings = """
        @ 71 | Tidewater Field Recordings | Ambient | organ
        # 1 | Field Recordings, Volume One | 2023-03-21 | 4.99
        Field Recording 1: Harbour at Dawn | 52:11 | large=field-recording-1.bin
        Field Recording 2: Night Rain on a Tin Roof | 104:22 | large=field-recording-2.bin
        Field Recording 3: A Walk along the Estuary | 208:45 | large=field-recording-3.bin
        """
}
