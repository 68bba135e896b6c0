extension CatalogueText {
    static let classical = """
        @ 21 | Wolfgang Amadeus Mozart | Classical | strings
        # 1 | Eine kleine Nachtmusik, K. 525 | 1997-02-11 | 7.99
        I. Allegro | 5:46
        II. Romance. Andante | 5:53
        III. Menuetto. Allegretto | 2:11
        IV. Rondo. Allegro | 4:20
        # 2 | Piano Sonatas K. 331 & K. 545 | 2006-01-27 | 8.99
        Sonata No. 11 in A Major, K. 331: I. Andante grazioso | 8:31
        Sonata No. 11 in A Major, K. 331: II. Menuetto | 6:02
        Sonata No. 11 in A Major, K. 331: III. Rondo alla turca | 3:28
        Sonata No. 16 in C Major, K. 545: I. Allegro | 3:11
        Sonata No. 16 in C Major, K. 545: II. Andante | 5:07
        Sonata No. 16 in C Major, K. 545: III. Rondo | 1:44
        # 3 | Symphony No. 40 in G Minor, K. 550 | 2009-11-06 | 9.99
        I. Molto allegro | 7:32
        II. Andante | 9:14
        III. Menuetto | 4:02
        IV. Allegro assai | 6:41
        @ 22 | Joseph Haydn | Classical | strings
        # 1 | Symphony No. 94 in G Major, "Surprise" | 2003-03-31 | 8.99
        I. Adagio. Vivace assai | 8:47
        II. Andante | 6:22
        III. Menuetto. Allegro molto | 5:11
        IV. Allegro di molto | 3:54
        @ 23 | Ludwig van Beethoven | Classical | piano
        # 1 | Moonlight, Pathétique & Appassionata | 2000-12-16 | 10.99
        Sonata No. 14 in C-Sharp Minor "Moonlight": I. Adagio sostenuto | 5:52
        Sonata No. 14 in C-Sharp Minor "Moonlight": II. Allegretto | 2:13
        Sonata No. 14 in C-Sharp Minor "Moonlight": III. Presto agitato | 7:04
        Sonata No. 8 in C Minor "Pathétique": I. Grave. Allegro di molto e con brio | 8:36
        Sonata No. 8 in C Minor "Pathétique": II. Adagio cantabile | 5:14
        Sonata No. 8 in C Minor "Pathétique": III. Rondo. Allegro | 4:25
        Sonata No. 23 in F Minor "Appassionata": I. Allegro assai | 9:48
        Sonata No. 23 in F Minor "Appassionata": II. Andante con moto | 6:29
        Sonata No. 23 in F Minor "Appassionata": III. Allegro ma non troppo | 7:45
        # 2 | Symphony No. 5 in C Minor, Op. 67 | 2002-06-04 | 9.99
        I. Allegro con brio | 7:21
        II. Andante con moto | 9:42
        III. Allegro | 5:09
        IV. Allegro | 10:51
        # 3 | Symphony No. 6 in F Major, Op. 68 "Pastoral" | 2002-06-04 | 9.99
        Awakening of Cheerful Feelings on Arrival in the Country | 11:32
        Scene by the Brook | 12:47
        Merry Gathering of Country Folk | 5:21
        Thunderstorm | 3:40
        Shepherd's Song: Happy and Thankful Feelings after the Storm | 9:38
        # 4 | Bagatelles | 2014-08-22 | 7.99
        Für Elise, WoO 59 | 2:55
        Bagatelle in G Major, Op. 126 No. 1 | 3:02
        Bagatelle in G Minor, Op. 126 No. 2 | 2:41
        Bagatelle in E-Flat Major, Op. 126 No. 3 | 2:24
        Rondo alla ingharese "Rage over a Lost Penny", Op. 129 | 5:48
        @ 24 | Franz Schubert | Classical | piano
        # 1 | Winterreise, D. 911 | 2008-01-31 | 11.99
        Gute Nacht | 5:43
        Die Wetterfahne | 1:46
        Gefrorne Tränen | 2:27
        Erstarrung | 2:58
        Der Lindenbaum | 4:52
        Wasserflut | 4:11
        Auf dem Flusse | 3:26
        Rückblick | 2:12
        Irrlicht | 2:41
        Rast | 3:15
        Frühlingstraum | 4:08
        Einsamkeit | 2:49
        Die Post | 2:13
        Der Leiermann | 3:54
        # 2 | Impromptus, D. 899 | 2012-10-05 | 7.99
        Impromptu No. 1 in C Minor | 10:05
        Impromptu No. 2 in E-Flat Major | 4:36
        Impromptu No. 3 in G-Flat Major | 6:12
        Impromptu No. 4 in A-Flat Major | 7:28
        """
}
