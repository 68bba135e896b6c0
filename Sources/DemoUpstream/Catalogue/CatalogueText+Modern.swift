extension CatalogueText {
    static let modern = """
        @ 51 | Claude Debussy | Classical | piano
        # 1 | Suite bergamasque | 2003-08-22 | 6.99
        Prélude | 4:21
        Menuet | 4:18
        Clair de lune | 5:02
        Passepied | 3:46
        # 2 | Children's Corner | 2003-08-22 | 7.99
        Doctor Gradus ad Parnassum | 2:11
        Jimbo's Lullaby | 3:25
        Serenade for the Doll | 2:29
        The Snow Is Dancing | 2:42
        The Little Shepherd | 2:19
        Golliwogg's Cakewalk | 2:56
        # 3 | Préludes, Livre I | 2012-04-10 | 9.99
        Danseuses de Delphes | 3:11
        Voiles | 3:46
        Le vent dans la plaine | 2:07
        Des pas sur la neige | 4:13
        Ce qu'a vu le vent d'ouest | 3:32
        La fille aux cheveux de lin | 2:28
        La cathédrale engloutie | 6:24
        Minstrels | 2:19
        @ 52 | Gustav Holst | Classical | brass
        # 1 | The Planets | 2006-09-21 | 9.99
        Mars, the Bringer of War | 7:14
        Venus, the Bringer of Peace | 8:02
        Mercury, the Winged Messenger | 4:06
        Jupiter, the Bringer of Jollity | 7:51
        Saturn, the Bringer of Old Age | 9:17
        Uranus, the Magician | 6:01
        Neptune, the Mystic | 7:33
        @ 53 | Gabriel Fauré | Classical | strings
        # 1 | Pelléas et Mélisande & Pavane | 2008-05-12 | 7.99
        Pavane, Op. 50 | 6:11
        Prélude | 6:19
        La fileuse | 2:38
        Sicilienne | 3:44
        La mort de Mélisande | 4:47
        """
}
