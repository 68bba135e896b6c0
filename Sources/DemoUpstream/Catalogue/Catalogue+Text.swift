extension Catalogue {
    /// The source text of the catalogue: a line for each artist and album, and one for all tracks of an album.
    ///
    ///     @ number | artist | genre | timbre, or "recording" for the large files
    ///     # number | album | release date | price
    ///     title minutes:seconds; title minutes:seconds
    ///
    /// An `E` after the time marks explicit content. Ids are derived from the numbers, so lines may move but numbers
    /// must not change. The works and their movements are facts about music in the public domain. The sound is
    /// synthesised; there are no recordings.
    static let text = """
        @ 11 | Johann Sebastian Bach | Classical | plucked
        # 1 | The Well-Tempered Clavier, Book I | 1998-03-02 | 12.99
        Prelude and Fugue No. 1 in C Major, BWV 846 4:02; Prelude and Fugue No. 2 in C Minor, BWV 847 3:18; \
        Prelude and Fugue No. 3 in C-Sharp Major, BWV 848 3:51; Prelude and Fugue No. 4 in C-Sharp Minor, BWV 849 7:26; \
        Prelude and Fugue No. 5 in D Major, BWV 850 3:12; Prelude and Fugue No. 6 in D Minor, BWV 851 3:33; \
        Prelude and Fugue No. 7 in E-Flat Major, BWV 852 5:47; Prelude and Fugue No. 8 in E-Flat Minor, BWV 853 9:21; \
        Prelude and Fugue No. 9 in E Major, BWV 854 2:44; Prelude and Fugue No. 10 in E Minor, BWV 855 3:25; \
        Prelude and Fugue No. 11 in F Major, BWV 856 2:31; Prelude and Fugue No. 12 in F Minor, BWV 857 6:58
        # 2 | Goldberg Variations, BWV 988 | 2004-09-14 | 10.99
        Aria 3:05; Variation 1 1:49; Variation 2 1:36; Variation 3. Canone all'unisono 1:58; Variation 4 1:12; \
        Variation 5 1:25; Variation 6. Canone alla seconda 1:19; Variation 7. Al tempo di giga 1:45; Variation 8 1:52; \
        Variation 9. Canone alla terza 1:41; Variation 10. Fughetta 1:33; Variation 13 4:27; Variation 25 7:33; \
        Variation 30. Quodlibet 1:40; Aria da Capo 3:41
        # 3 | Cello Suite No. 1 in G Major, BWV 1007 | 2011-05-20 | 7.99
        I. Prélude 2:33; II. Allemande 4:44; III. Courante 2:41; IV. Sarabande 3:02; V. Menuets I & II 3:28; VI. Gigue 1:49
        # 4 | Two-Part Inventions | 2016-01-29 | 8.99
        Invention No. 1 in C Major, BWV 772 1:22; Invention No. 4 in D Minor, BWV 775 0:51; \
        Invention No. 8 in F Major, BWV 779 0:55; Invention No. 13 in A Minor, BWV 784 1:10; \
        Invention No. 14 in B-Flat Major, BWV 785 1:27
        # 5 | Organ Works | 1995-10-10 | 9.99
        Toccata and Fugue in D Minor, BWV 565 8:58; Passacaglia in C Minor, BWV 582 13:12; \
        Wachet auf, ruft uns die Stimme, BWV 645 4:37; Jesu, Joy of Man's Desiring, BWV 147 3:24
        @ 12 | Antonio Vivaldi | Classical | held
        # 1 | The Four Seasons | 2001-04-03 | 9.99
        Spring: I. Allegro 3:31; Spring: II. Largo e pianissimo sempre 2:38; Spring: III. Danza pastorale 4:02; \
        Summer: I. Allegro non molto 5:21; Summer: II. Adagio e piano 2:12; Summer: III. Presto 2:47; Autumn: I. Allegro 5:04; \
        Autumn: II. Adagio molto 2:26; Autumn: III. La caccia 3:15; Winter: I. Allegro non molto 3:24; Winter: II. Largo 2:01; \
        Winter: III. Allegro 3:09
        @ 21 | Wolfgang Amadeus Mozart | Classical | held
        # 1 | Eine kleine Nachtmusik, K. 525 | 1997-02-11 | 7.99
        I. Allegro 5:46; II. Romance. Andante 5:53; III. Menuetto. Allegretto 2:11; IV. Rondo. Allegro 4:20
        # 2 | Piano Sonatas K. 331 & K. 545 | 2006-01-27 | 8.99
        Sonata No. 11 in A Major, K. 331: I. Andante grazioso 8:31; Sonata No. 11 in A Major, K. 331: II. Menuetto 6:02; \
        Sonata No. 11 in A Major, K. 331: III. Rondo alla turca 3:28; Sonata No. 16 in C Major, K. 545: I. Allegro 3:11; \
        Sonata No. 16 in C Major, K. 545: II. Andante 5:07; Sonata No. 16 in C Major, K. 545: III. Rondo 1:44
        # 3 | Symphony No. 40 in G Minor, K. 550 | 2009-11-06 | 9.99
        I. Molto allegro 7:32; II. Andante 9:14; III. Menuetto 4:02; IV. Allegro assai 6:41
        @ 23 | Ludwig van Beethoven | Classical | struck
        # 1 | Moonlight, Pathétique & Appassionata | 2000-12-16 | 10.99
        Sonata No. 14 in C-Sharp Minor "Moonlight": I. Adagio sostenuto 5:52; \
        Sonata No. 14 in C-Sharp Minor "Moonlight": II. Allegretto 2:13; \
        Sonata No. 14 in C-Sharp Minor "Moonlight": III. Presto agitato 7:04; \
        Sonata No. 8 in C Minor "Pathétique": I. Grave. Allegro di molto e con brio 8:36; \
        Sonata No. 8 in C Minor "Pathétique": II. Adagio cantabile 5:14; \
        Sonata No. 8 in C Minor "Pathétique": III. Rondo. Allegro 4:25; \
        Sonata No. 23 in F Minor "Appassionata": I. Allegro assai 9:48; \
        Sonata No. 23 in F Minor "Appassionata": II. Andante con moto 6:29; \
        Sonata No. 23 in F Minor "Appassionata": III. Allegro ma non troppo 7:45
        # 2 | Symphony No. 5 in C Minor, Op. 67 | 2002-06-04 | 9.99
        I. Allegro con brio 7:21; II. Andante con moto 9:42; III. Allegro 5:09; IV. Allegro 10:51
        # 4 | Bagatelles | 2014-08-22 | 7.99
        Für Elise, WoO 59 2:55; Bagatelle in G Major, Op. 126 No. 1 3:02; Bagatelle in G Minor, Op. 126 No. 2 2:41; \
        Bagatelle in E-Flat Major, Op. 126 No. 3 2:24; Rondo alla ingharese "Rage over a Lost Penny", Op. 129 5:48
        @ 24 | Franz Schubert | Classical | struck
        # 1 | Winterreise, D. 911 | 2008-01-31 | 11.99
        Gute Nacht 5:43; Die Wetterfahne 1:46; Gefrorne Tränen 2:27; Erstarrung 2:58; Der Lindenbaum 4:52; Wasserflut 4:11; \
        Auf dem Flusse 3:26; Rückblick 2:12; Irrlicht 2:41; Rast 3:15; Frühlingstraum 4:08; Einsamkeit 2:49; Die Post 2:13; \
        Der Leiermann 3:54
        @ 31 | Robert Schumann | Classical | struck
        # 1 | Kinderszenen, Op. 15 | 2005-06-08 | 7.99
        Von fremden Ländern und Menschen 1:41; Kuriose Geschichte 1:08; Hasche-Mann 0:32; Bittendes Kind 0:57; \
        Glückes genug 0:46; Wichtige Begebenheit 0:53; Träumerei 2:48; Am Kamin 0:58; Ritter vom Steckenpferd 0:39; \
        Fast zu ernst 1:52; Fürchtenmachen 1:42; Kind im Einschlummern 2:03; Der Dichter spricht 2:17
        @ 33 | Modest Mussorgsky | Classical | held
        # 1 | Pictures at an Exhibition | 1996-03-28 | 9.99
        Promenade 1:40; The Gnome 2:31; The Old Castle 4:22; Tuileries 1:04; Bydło 2:46; Ballet of the Unhatched Chicks 1:13; \
        The Market at Limoges 1:22; Catacombs 2:05; The Hut on Fowl's Legs (Baba Yaga) 3:27; The Great Gate of Kiev 5:29
        @ 34 | Pyotr Ilyich Tchaikovsky | Classical | held
        # 1 | The Nutcracker Suite, Op. 71a | 2003-12-18 | 8.99
        Miniature Overture 3:17; March 2:32; Dance of the Sugar Plum Fairy 1:54; Russian Dance (Trepak) 1:07; \
        Arabian Dance 3:21; Chinese Dance 1:10; Dance of the Reed Flutes 2:31; Waltz of the Flowers 6:48
        @ 35 | Edvard Grieg | Classical | held
        # 1 | Peer Gynt Suites | 2001-09-04 | 8.99
        Morning Mood 3:58; The Death of Åse 4:41; Anitra's Dance 3:29; In the Hall of the Mountain King 2:34; \
        Ingrid's Lament 4:25; Arabian Dance 4:33; Peer Gynt's Homecoming 2:45; Solveig's Song 5:06
        @ 36 | Camille Saint-Saëns | Classical | bell
        # 1 | The Carnival of the Animals | 2007-12-16 | 8.99
        Introduction and Royal March of the Lion 2:24; Hens and Roosters 0:48; Tortoises 2:01; The Elephant 1:29; \
        Kangaroos 0:52; Aquarium 2:23; Characters with Long Ears 0:47; The Cuckoo in the Depths of the Woods 2:26; Aviary 1:16; \
        Pianists 1:21; Fossils 1:18; The Swan 2:57; Finale 2:03
        @ 37 | Antonín Dvořák | Classical | held
        # 1 | Symphony No. 9 in E Minor, "From the New World" | 2004-05-01 | 9.99
        I. Adagio. Allegro molto 11:58; II. Largo 12:36; III. Molto vivace 7:52; IV. Allegro con fuoco 11:21
        @ 41 | Frédéric Chopin | Classical | struck
        # 1 | Préludes, Op. 28 | 1999-10-17 | 10.99
        Prélude No. 1 in C Major 0:41; Prélude No. 2 in A Minor 2:09; Prélude No. 3 in G Major 0:57; \
        Prélude No. 4 in E Minor 2:18; Prélude No. 5 in D Major 0:36; Prélude No. 6 in B Minor 2:01; \
        Prélude No. 7 in A Major 0:46; Prélude No. 8 in F-Sharp Minor 1:55; Prélude No. 9 in E Major 1:27; \
        Prélude No. 10 in C-Sharp Minor 0:31; Prélude No. 11 in B Major 0:38; Prélude No. 12 in G-Sharp Minor 1:14; \
        Prélude No. 13 in F-Sharp Major 3:19; Prélude No. 14 in E-Flat Minor 0:29; \
        Prélude No. 15 in D-Flat Major "Raindrop" 5:22; Prélude No. 16 in B-Flat Minor 1:06; \
        Prélude No. 17 in A-Flat Major 3:24; Prélude No. 18 in F Minor 0:56; Prélude No. 19 in E-Flat Major 1:25; \
        Prélude No. 20 in C Minor 1:43; Prélude No. 21 in B-Flat Major 1:52; Prélude No. 22 in G Minor 0:45; \
        Prélude No. 23 in F Major 0:54; Prélude No. 24 in D Minor 2:36
        # 2 | Nocturnes | 2005-03-01 | 9.99
        Nocturne No. 1 in B-Flat Minor, Op. 9 No. 1 5:32; Nocturne No. 2 in E-Flat Major, Op. 9 No. 2 4:31; \
        Nocturne No. 5 in F-Sharp Major, Op. 15 No. 2 3:37; Nocturne No. 8 in D-Flat Major, Op. 27 No. 2 6:05; \
        Nocturne No. 13 in C Minor, Op. 48 No. 1 6:12; Nocturne No. 20 in C-Sharp Minor, Op. posth. 4:06
        # 3 | Waltzes | 2010-02-22 | 8.99
        Grande valse brillante in E-Flat Major, Op. 18 5:29; Waltz in A Minor, Op. 34 No. 2 5:51; \
        Minute Waltz in D-Flat Major, Op. 64 No. 1 1:52; Waltz in C-Sharp Minor, Op. 64 No. 2 3:33
        @ 42 | Erik Satie | Classical | struck
        # 1 | Gymnopédies & Gnossiennes | 2002-05-17 | 8.99
        Gymnopédie No. 1: Lent et douloureux 3:09; Gymnopédie No. 2: Lent et triste 2:48; Gymnopédie No. 3: Lent et grave 2:31; \
        Gnossienne No. 1 3:18; Gnossienne No. 2 2:09; Gnossienne No. 3 2:41; Gnossienne No. 4 2:52; Gnossienne No. 5 3:14; \
        Gnossienne No. 6 1:42
        @ 51 | Claude Debussy | Classical | struck
        # 1 | Suite bergamasque | 2003-08-22 | 6.99
        Prélude 4:21; Menuet 4:18; Clair de lune 5:02; Passepied 3:46
        # 2 | Children's Corner | 2003-08-22 | 7.99
        Doctor Gradus ad Parnassum 2:11; Jimbo's Lullaby 3:25; Serenade for the Doll 2:29; The Snow Is Dancing 2:42; \
        The Little Shepherd 2:19; Golliwogg's Cakewalk 2:56
        # 3 | Préludes, Livre I | 2012-04-10 | 9.99
        Danseuses de Delphes 3:11; Voiles 3:46; Le vent dans la plaine 2:07; Des pas sur la neige 4:13; \
        Ce qu'a vu le vent d'ouest 3:32; La fille aux cheveux de lin 2:28; La cathédrale engloutie 6:24; Minstrels 2:19
        @ 52 | Gustav Holst | Classical | held
        # 1 | The Planets | 2006-09-21 | 9.99
        Mars, the Bringer of War 7:14; Venus, the Bringer of Peace 8:02; Mercury, the Winged Messenger 4:06; \
        Jupiter, the Bringer of Jollity 7:51; Saturn, the Bringer of Old Age 9:17; Uranus, the Magician 6:01; \
        Neptune, the Mystic 7:33
        @ 61 | Scott Joplin | Ragtime | struck
        # 1 | Piano Rags | 1998-11-24 | 9.99
        Maple Leaf Rag 3:14; The Entertainer 4:01; The Easy Winners 3:42; Elite Syncopations 3:05; Peacherine Rag 3:21; \
        Pine Apple Rag 3:28; Solace: A Mexican Serenade 6:11; Bethena: A Concert Waltz 5:28; Magnetic Rag 4:43; \
        Original Rags 4:09; Weeping Willow 3:55; Sugar Cane 3:33; Gladiolus Rag 4:14; The Cascades 3:02; The Ragtime Dance 3:17
        @ 62 | The Lantern Street Ramblers | Folk | plucked
        # 1 | Songs from the Towpath | 2018-06-01 | 9.99
        Greensleeves 3:38; Scarborough Fair 3:51; The Water Is Wide 4:05; Danny Boy 3:30; Shenandoah 3:44; Barbara Allen 4:16; \
        Wayfaring Stranger 3:22; Loch Lomond 3:57; The Parting Glass 2:59; Auld Lang Syne 3:03
        # 2 | Below Deck | 2021-09-17 | 8.99
        Drunken Sailor 2:26; Leave Her, Johnny 3:09; Haul Away, Joe 2:15; Blow the Man Down 2:48; Spanish Ladies 2:57; \
        The Bosun's Complaint 1:58E
        @ 63 | Ada and the Looms | Electronic | bell
        # 1 | Patterns for Punched Cards | 2022-02-11 | 7.99
        Overture for Two Cylinders 3:16; Operation Cards 2:58; Variable Cards 3:24; The Mill and the Store 4:12; \
        Difference of the Seventh Order 5:05; Note G 2:37; Weaving Algebraical Patterns 4:44
        @ 71 | Tidewater Field Recordings | Ambient | recording
        # 1 | Field Recordings, Volume One | 2023-03-21 | 4.99
        Field Recording 1: Harbour at Dawn 52:11; Field Recording 2: Night Rain on a Tin Roof 104:22; \
        Field Recording 3: A Walk along the Estuary 208:45
        """
}
