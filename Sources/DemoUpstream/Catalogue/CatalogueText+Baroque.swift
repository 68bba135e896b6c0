/// The catalogue as its authors write it: one line per artist, album and track.
///
///     @ number | artist | genre | instrument
///     # number | album | release date | price
///     track title | minutes:seconds
///
/// Numbers make the ids (see ``Catalogue``), so a line may move but its number may not change. The works and their movements are
/// facts about music that is in the public domain; no recording of them is offered, only sound made up by ``Composition``.
enum CatalogueText {
    static let all = [baroque, classical, romantic, piano, modern, popular, fieldRecordings]

    static let baroque = """
        @ 11 | Johann Sebastian Bach | Classical | harpsichord
        # 1 | The Well-Tempered Clavier, Book I | 1998-03-02 | 12.99
        Prelude and Fugue No. 1 in C Major, BWV 846 | 4:02
        Prelude and Fugue No. 2 in C Minor, BWV 847 | 3:18
        Prelude and Fugue No. 3 in C-Sharp Major, BWV 848 | 3:51
        Prelude and Fugue No. 4 in C-Sharp Minor, BWV 849 | 7:26
        Prelude and Fugue No. 5 in D Major, BWV 850 | 3:12
        Prelude and Fugue No. 6 in D Minor, BWV 851 | 3:33
        Prelude and Fugue No. 7 in E-Flat Major, BWV 852 | 5:47
        Prelude and Fugue No. 8 in E-Flat Minor, BWV 853 | 9:21
        Prelude and Fugue No. 9 in E Major, BWV 854 | 2:44
        Prelude and Fugue No. 10 in E Minor, BWV 855 | 3:25
        Prelude and Fugue No. 11 in F Major, BWV 856 | 2:31
        Prelude and Fugue No. 12 in F Minor, BWV 857 | 6:58
        # 2 | Goldberg Variations, BWV 988 | 2004-09-14 | 10.99
        Aria | 3:05
        Variation 1 | 1:49
        Variation 2 | 1:36
        Variation 3. Canone all'unisono | 1:58
        Variation 4 | 1:12
        Variation 5 | 1:25
        Variation 6. Canone alla seconda | 1:19
        Variation 7. Al tempo di giga | 1:45
        Variation 8 | 1:52
        Variation 9. Canone alla terza | 1:41
        Variation 10. Fughetta | 1:33
        Variation 13 | 4:27
        Variation 25 | 7:33
        Variation 30. Quodlibet | 1:40
        Aria da Capo | 3:41
        # 3 | Cello Suite No. 1 in G Major, BWV 1007 | 2011-05-20 | 7.99
        I. Prélude | 2:33
        II. Allemande | 4:44
        III. Courante | 2:41
        IV. Sarabande | 3:02
        V. Menuets I & II | 3:28
        VI. Gigue | 1:49
        # 4 | Two-Part Inventions | 2016-01-29 | 8.99
        Invention No. 1 in C Major, BWV 772 | 1:22
        Invention No. 4 in D Minor, BWV 775 | 0:51
        Invention No. 8 in F Major, BWV 779 | 0:55
        Invention No. 13 in A Minor, BWV 784 | 1:10
        Invention No. 14 in B-Flat Major, BWV 785 | 1:27
        # 5 | Organ Works | 1995-10-10 | 9.99
        Toccata and Fugue in D Minor, BWV 565 | 8:58
        Passacaglia in C Minor, BWV 582 | 13:12
        Wachet auf, ruft uns die Stimme, BWV 645 | 4:37
        Jesu, Joy of Man's Desiring, BWV 147 | 3:24
        @ 12 | Antonio Vivaldi | Classical | strings
        # 1 | The Four Seasons | 2001-04-03 | 9.99
        Spring: I. Allegro | 3:31
        Spring: II. Largo e pianissimo sempre | 2:38
        Spring: III. Danza pastorale | 4:02
        Summer: I. Allegro non molto | 5:21
        Summer: II. Adagio e piano | 2:12
        Summer: III. Presto | 2:47
        Autumn: I. Allegro | 5:04
        Autumn: II. Adagio molto | 2:26
        Autumn: III. La caccia | 3:15
        Winter: I. Allegro non molto | 3:24
        Winter: II. Largo | 2:01
        Winter: III. Allegro | 3:09
        @ 13 | George Frideric Handel | Classical | strings
        # 1 | Water Music | 1999-07-17 | 9.99
        Suite No. 1: Ouverture | 3:22
        Suite No. 1: Air | 2:51
        Suite No. 1: Bourrée | 1:14
        Suite No. 2: Alla Hornpipe | 3:09
        Suite No. 3: Rigaudon | 2:36
        # 2 | Music for the Royal Fireworks | 1999-07-17 | 6.99
        Ouverture | 8:05
        La Paix | 3:24
        La Réjouissance | 2:48
        Menuets I & II | 2:58
        """
}
