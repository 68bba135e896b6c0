extension CatalogueText {
    static let piano = """
        @ 41 | Frédéric Chopin | Classical | piano
        # 1 | Préludes, Op. 28 | 1999-10-17 | 10.99
        Prélude No. 1 in C Major | 0:41
        Prélude No. 2 in A Minor | 2:09
        Prélude No. 3 in G Major | 0:57
        Prélude No. 4 in E Minor | 2:18
        Prélude No. 5 in D Major | 0:36
        Prélude No. 6 in B Minor | 2:01
        Prélude No. 7 in A Major | 0:46
        Prélude No. 8 in F-Sharp Minor | 1:55
        Prélude No. 9 in E Major | 1:27
        Prélude No. 10 in C-Sharp Minor | 0:31
        Prélude No. 11 in B Major | 0:38
        Prélude No. 12 in G-Sharp Minor | 1:14
        Prélude No. 13 in F-Sharp Major | 3:19
        Prélude No. 14 in E-Flat Minor | 0:29
        Prélude No. 15 in D-Flat Major "Raindrop" | 5:22
        Prélude No. 16 in B-Flat Minor | 1:06
        Prélude No. 17 in A-Flat Major | 3:24
        Prélude No. 18 in F Minor | 0:56
        Prélude No. 19 in E-Flat Major | 1:25
        Prélude No. 20 in C Minor | 1:43
        Prélude No. 21 in B-Flat Major | 1:52
        Prélude No. 22 in G Minor | 0:45
        Prélude No. 23 in F Major | 0:54
        Prélude No. 24 in D Minor | 2:36
        # 2 | Nocturnes | 2005-03-01 | 9.99
        Nocturne No. 1 in B-Flat Minor, Op. 9 No. 1 | 5:32
        Nocturne No. 2 in E-Flat Major, Op. 9 No. 2 | 4:31
        Nocturne No. 5 in F-Sharp Major, Op. 15 No. 2 | 3:37
        Nocturne No. 8 in D-Flat Major, Op. 27 No. 2 | 6:05
        Nocturne No. 13 in C Minor, Op. 48 No. 1 | 6:12
        Nocturne No. 20 in C-Sharp Minor, Op. posth. | 4:06
        # 3 | Waltzes | 2010-02-22 | 8.99
        Grande valse brillante in E-Flat Major, Op. 18 | 5:29
        Waltz in A Minor, Op. 34 No. 2 | 5:51
        Minute Waltz in D-Flat Major, Op. 64 No. 1 | 1:52
        Waltz in C-Sharp Minor, Op. 64 No. 2 | 3:33
        @ 42 | Erik Satie | Classical | piano
        # 1 | Gymnopédies & Gnossiennes | 2002-05-17 | 8.99
        Gymnopédie No. 1: Lent et douloureux | 3:09
        Gymnopédie No. 2: Lent et triste | 2:48
        Gymnopédie No. 3: Lent et grave | 2:31
        Gnossienne No. 1 | 3:18
        Gnossienne No. 2 | 2:09
        Gnossienne No. 3 | 2:41
        Gnossienne No. 4 | 2:52
        Gnossienne No. 5 | 3:14
        Gnossienne No. 6 | 1:42
        # 2 | Sports et divertissements | 2014-03-14 | 7.99
        Choral inappétissant | 1:12
        La balançoire | 0:58
        La chasse | 0:24
        Le golf | 0:47
        Le feu d'artifice | 0:31
        # 3 | Café-concert | 2014-03-14 | 6.99
        Je te veux | 5:13
        La diva de l'Empire | 2:35
        Le Piccadilly | 1:35
        @ 43 | Franz Liszt | Classical | piano
        # 1 | Consolations & Liebesträume | 2011-10-22 | 8.99
        Consolation No. 3 in D-Flat Major | 4:28
        Liebestraum No. 1 in A-Flat Major | 6:15
        Liebestraum No. 3 in A-Flat Major | 4:34
        La campanella | 4:49
        Hungarian Rhapsody No. 2 in C-Sharp Minor | 9:57
        """
}
