"""Names of people, to call the people of a text otherwise: written down for this project, from no corpus.

No trained feature reads them, so that they may be mended at any time.
"""

from __future__ import annotations

from streamcoref.language.lexicon import Gender

GIVEN_NAMES = {
    Gender.SHE: (
        "Abigail Ada Adele Agatha Agnes Aisha Alma Amara Amelia Amina Anita Anja Annika Astrid Beatrice Bella "
        "Bianca Birgit Bridget Camilla Carmen Carol Cecilia Chiara Clara Claudia Cora Dagmar Daphne Deborah Delia "
        "Denise Diana Dolores Dora Edith Eileen Elena Elisa Ellen Elsa Erika Esther Eva Fatima Felicity Fiona "
        "Flora Frances Freya Gabriela Gemma Georgina Gerda Gloria Greta Gudrun Hanna Harriet Hazel Hedda Heidi "
        "Helena Hilda Ida Imogen Ines Ingrid Irene Iris Isabel Jacqueline Jasmine Jean Joanna Josephine Judith "
        "Julia Karin Katherine Keiko Kirsten Laila Laura Leah Leila Lena Leonora Linda Louisa Lucia Lydia Mabel "
        "Magda Maja Margaret Maria Marta Matilda Mei Mina Miriam Molly Monica Nadia Naomi Nina Nora Olga Olivia "
        "Ottilie Paula Penelope Petra Phoebe Priya Rachel Rebecca Renata Rita Rosa Roxana Ruth Sabine Sally "
        "Sandra Sarah Selma Shirin Sigrid Silvia Sonja Stella Susan Sylvia Tamara Teresa Thea Tilda Ursula "
        "Valerie Vera Veronica Viola Wilma Yasmin Yolanda Yuki Zara Zelda"
    ).split(),
    Gender.HE: (
        "Aaron Abdul Adam Adrian Ahmed Alan Albert Aldo Alexander Alfred Ali Andreas Anton Arjun Arnold Arthur "
        "Axel Barnaby Basil Benedict Bernard Boris Brendan Bruno Callum Carlos Caspar Cecil Cedric Claude Conrad "
        "Cyril Damian Daniel David Dennis Derek Diego Dieter Dominic Donald Douglas Duncan Edgar Edmund Eduardo "
        "Egon Elias Emil Emmanuel Eric Ernest Ethan Eugene Felix Fergus Fernando Finn Francis Fritz Gareth "
        "Geoffrey Gerald Gilbert Giovanni Gordon Graham Gregory Gunnar Gustav Hamid Hans Harald Hector Henrik "
        "Herbert Hiro Horace Howard Hugo Humphrey Ian Ibrahim Igor Isaac Ivan Jacob James Javier Jerome Joachim "
        "Joel Jonathan Jorge Joseph Julian Karl Keith Kenji Kurt Lars Laurence Leo Leonard Lionel Lorenzo Louis "
        "Lucas Magnus Malcolm Manuel Marcus Martin Matthew Maurice Michael Miguel Milan Mohamed Nathan Neil "
        "Nicholas Nigel Nils Noah Olaf Omar Oscar Otto Pablo Patrick Paulo Pedro Percy Philip Pierre Quentin "
        "Rafael Ralph Raymond Reinhold Richard Robert Roland Rupert Samuel Sebastian Sergei Silas Simon Stefan "
        "Stephen Sven Tariq Theodore Thomas Timothy Tobias Tristan Ulrich Umberto Victor Vincent Walter Werner "
        "Wilfred Winston Yusuf"
    ).split(),
}
SURNAMES = (
    "Abbott Ackroyd Adeyemi Ainsworth Alderton Almeida Ambrose Andersen Appleby Arkwright Ashdown Atherton Baines "
    "Balfour Bannister Barlow Barrientos Bauer Beckett Bellamy Benning Berger Bianchi Blackwood Bradshaw Brandt "
    "Brennan Brinkley Bukowski Burgess Calloway Cardoso Carmichael Castellano Chandra Chen Clayton Colville "
    "Coombes Corrigan Cranston Crowther Dahlgren Dalton Danvers Delgado Denham Devereux Donnelly Drummond Dunmore "
    "Eastwood Eklund Ellsworth Everett Fairbank Fanshawe Farrell Ferreira Finch Fitzroy Fontaine Forsyth Fraser "
    "Gallagher Garrick Gibbons Goldberg Gonzales Graves Greenhalgh Grimshaw Haddad Halloran Hargrove Harrington "
    "Hathaway Hawthorn Henderson Heywood Hoffmann Holloway Hutchins Ibsen Ingram Ivanov Jansen Jessop Johansson "
    "Kapoor Kavanagh Keller Kendrick Khan Kingsley Kowalski Lambert Larkin Larsen Lattimer Lehmann Lindqvist "
    "Lockwood Lombardi Macready Maddox Mahoney Mandel Marchetti Marlow Maxwell McAllister Mendoza Merriweather "
    "Middleton Moretti Mulligan Nakamura Nash Navarro Nightingale Novak Oakley Okafor Oldfield Ortega Osborne "
    "Palmer Papadakis Pemberton Penrose Pereira Petrov Pickering Pritchard Quigley Radcliffe Ramsey Rasmussen "
    "Redmond Renard Ridley Rosenthal Rossi Rutherford Sanderson Santos Schneider Sedgwick Shah Sheridan Silva "
    "Sinclair Sorensen Stanhope Stavros Sterling Sutherland Takahashi Tanner Thackeray Thorburn Trevelyan "
    "Underhill Vandermeer Vargas Vaughan Wainwright Walters Weatherby Wentzel Whitaker Wickham Winslow Wolfe "
    "Yamamoto Yates Zimmermann"
).split()
