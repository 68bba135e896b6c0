extension CatalogueText {
    static let romantic = """
        @ 31 | Robert Schumann | Classical | piano
        # 1 | Kinderszenen, Op. 15 | 2005-06-08 | 7.99
        Von fremden Ländern und Menschen | 1:41
        Kuriose Geschichte | 1:08
        Hasche-Mann | 0:32
        Bittendes Kind | 0:57
        Glückes genug | 0:46
        Wichtige Begebenheit | 0:53
        Träumerei | 2:48
        Am Kamin | 0:58
        Ritter vom Steckenpferd | 0:39
        Fast zu ernst | 1:52
        Fürchtenmachen | 1:42
        Kind im Einschlummern | 2:03
        Der Dichter spricht | 2:17
        @ 32 | Felix Mendelssohn | Classical | piano
        # 1 | Songs without Words | 2009-02-03 | 8.99
        Venetian Gondola Song, Op. 30 No. 6 | 3:13
        Duetto, Op. 38 No. 6 | 2:55
        Spring Song, Op. 62 No. 6 | 2:20
        Spinning Song, Op. 67 No. 4 | 1:51
        Hunting Song, Op. 19 No. 3 | 2:12
        @ 33 | Modest Mussorgsky | Classical | brass
        # 1 | Pictures at an Exhibition | 1996-03-28 | 9.99
        Promenade | 1:40
        The Gnome | 2:31
        The Old Castle | 4:22
        Tuileries | 1:04
        Bydło | 2:46
        Ballet of the Unhatched Chicks | 1:13
        The Market at Limoges | 1:22
        Catacombs | 2:05
        The Hut on Fowl's Legs (Baba Yaga) | 3:27
        The Great Gate of Kiev | 5:29
        @ 34 | Pyotr Ilyich Tchaikovsky | Classical | strings
        # 1 | The Nutcracker Suite, Op. 71a | 2003-12-18 | 8.99
        Miniature Overture | 3:17
        March | 2:32
        Dance of the Sugar Plum Fairy | 1:54
        Russian Dance (Trepak) | 1:07
        Arabian Dance | 3:21
        Chinese Dance | 1:10
        Dance of the Reed Flutes | 2:31
        Waltz of the Flowers | 6:48
        # 2 | The Seasons, Op. 37a | 2013-05-07 | 9.99
        January: At the Fireside | 5:09
        March: Song of the Lark | 2:41
        May: Starlit Nights | 4:37
        June: Barcarolle | 4:58
        October: Autumn Song | 5:12
        November: Troika | 2:58
        December: Christmas | 4:20
        @ 35 | Edvard Grieg | Classical | strings
        # 1 | Peer Gynt Suites | 2001-09-04 | 8.99
        Morning Mood | 3:58
        The Death of Åse | 4:41
        Anitra's Dance | 3:29
        In the Hall of the Mountain King | 2:34
        Ingrid's Lament | 4:25
        Arabian Dance | 4:33
        Peer Gynt's Homecoming | 2:45
        Solveig's Song | 5:06
        # 2 | Lyric Pieces | 2010-06-15 | 7.99
        Arietta, Op. 12 No. 1 | 1:22
        Butterfly, Op. 43 No. 1 | 1:47
        To Spring, Op. 43 No. 6 | 2:56
        March of the Trolls, Op. 54 No. 3 | 3:04
        Notturno, Op. 54 No. 4 | 4:03
        Wedding Day at Troldhaugen, Op. 65 No. 6 | 6:11
        @ 36 | Camille Saint-Saëns | Classical | musicBox
        # 1 | The Carnival of the Animals | 2007-12-16 | 8.99
        Introduction and Royal March of the Lion | 2:24
        Hens and Roosters | 0:48
        Tortoises | 2:01
        The Elephant | 1:29
        Kangaroos | 0:52
        Aquarium | 2:23
        Characters with Long Ears | 0:47
        The Cuckoo in the Depths of the Woods | 2:26
        Aviary | 1:16
        Pianists | 1:21
        Fossils | 1:18
        The Swan | 2:57
        Finale | 2:03
        @ 37 | Antonín Dvořák | Classical | strings
        # 1 | Symphony No. 9 in E Minor, "From the New World" | 2004-05-01 | 9.99
        I. Adagio. Allegro molto | 11:58
        II. Largo | 12:36
        III. Molto vivace | 7:52
        IV. Allegro con fuoco | 11:21
        """
}
