"""Sentences in five languages, with accents, names, numbers and addresses."""

import random

LANGUAGES = ("eng", "fra", "deu", "spa", "ces")
"""Named as tesseract names them."""

_SENTENCES = {
    "eng": """\
The reading room opens at nine, and every desk by the window has a lamp and a chair.
Readers may keep up to {few} books at their desk for a week; after that they go back to the shelf.
On {date} the committee accepted the offer of {name} for {sum}, subject to a final survey.
“Nobody expects the roof to last another winter,” said {name}, who inspected it in {place}.
The catalogue lists {many} titles, of which roughly {share} were bound before the fire.
Write to {mail} if a volume is missing, and quote the shelf mark {code} in your message.
Rain had fallen since Tuesday, so the ferry to {place} left forty minutes behind its timetable.
A quick survey of the vaults showed mould behind cabinet {code}, but the maps were unharmed.
Both brothers studied chemistry; the younger, {name}, later opened a small pharmacy in {place}.
Payment is due within thirty days (see clause {few}.2), otherwise interest of {share} is charged.
The new bridge carries {many} vehicles a day – twice what the engineers had expected.
Whoever wishes to photograph an original must ask the archivist first and may not use a flash.
It took {name} almost {few} years to translate the diaries, and the last volume is still in proof.
Half of the collection travels to {place} next spring; the rest stays in the reading room.
Their well-known method, described in appendix {few}, measures the acidity of the paper itself.""",
    "fra": """\
La salle de lecture ouvre à neuf heures et chaque bureau près de la fenêtre a une lampe.
Les lecteurs peuvent garder jusqu’à {few} ouvrages pendant une semaine, après quoi on les range.
Le {date}, le comité a accepté l’offre de {name} pour {sum}, sous réserve d’un dernier contrôle.
« Personne n’espère que la toiture tiendra un hiver de plus », a déclaré {name} à {place}.
Le catalogue répertorie {many} titres, dont près de {share} furent reliés avant l’incendie.
Écrivez à {mail} si un volume manque, en précisant la cote {code} dans votre message.
Il pleuvait depuis mardi, si bien que le bac pour {place} est parti avec quarante minutes de retard.
Où que l’on aille, la poussière s’était déposée sur les cartes, les globes et les vieux manuscrits.
Les deux frères étudièrent la chimie ; le cadet, {name}, ouvrit plus tard une pharmacie à {place}.
Le paiement est dû sous trente jours (voir l’article {few}.2), faute de quoi {share} s’y ajoutent.
Le nouveau pont supporte {many} véhicules par jour, soit le double de ce que l’on prévoyait.
Ça et là, des élèves zélés relisaient leurs leçons à voix basse, naïvement sûrs de réussir.
Il fallut {few} années à {name} pour traduire ces journaux ; le dernier tome paraîtra bientôt.
La moitié du fonds voyagera à {place} au printemps, le reste demeurera à l’intérieur.""",
    "deu": """\
Der Lesesaal öffnet um neun Uhr, und an jedem Tisch am Fenster stehen Lampe und Stuhl.
Bis zu {few} Bücher dürfen eine Woche lang am Platz bleiben, danach kommen sie zurück ins Regal.
Am {date} nahm der Ausschuss das Angebot von {name} über {sum} vorbehaltlich der Prüfung an.
Niemand rechnet damit, dass das Dach noch einen Winter übersteht, erklärte {name} in {place}.
Der Katalog führt {many} Titel auf, von denen etwa {share} schon vor dem Brand gebunden wurden.
Schreiben Sie an {mail}, falls ein Band fehlt, und nennen Sie dabei die Signatur {code}.
Seit Dienstag regnete es, weshalb die Fähre nach {place} vierzig Minuten später ablegte.
Die Überprüfung der Gewölbe ergab Schimmel hinter Schrank {code}, doch die Karten blieben heil.
Beide Brüder studierten Chemie; der jüngere, {name}, eröffnete später eine Apotheke in {place}.
Die Zahlung ist binnen dreißig Tagen fällig (siehe Ziffer {few}.2), sonst fallen {share} Zinsen an.
Die neue Brücke trägt täglich {many} Fahrzeuge – doppelt so viele, wie man erwartet hatte.
Größere Maßstäbe müssen gemäß Satzung rückwärts überprüft werden, bevor man sie veröffentlicht.
Fast {few} Jahre brauchte {name} für die Übersetzung; der letzte Band ist noch in der Korrektur.
Im Frühjahr reist die Hälfte der Sammlung nach {place}, der übrige Teil bleibt im Lesesaal.""",
    "spa": """\
La sala de lectura abre a las nueve y cada mesa junto a la ventana tiene lámpara y silla.
Los lectores pueden conservar hasta {few} libros durante una semana; después vuelven al estante.
El {date} la comisión aceptó la oferta de {name} por {sum}, pendiente de una última revisión.
Nadie espera que el tejado resista otro invierno, señaló {name} tras inspeccionarlo en {place}.
El catálogo reúne {many} títulos, de los cuales cerca del {share} se encuadernó antes del incendio.
Escriba a {mail} si falta algún volumen e indique la signatura {code} en su mensaje.
Llovía desde el martes, así que el transbordador a {place} salió con cuarenta minutos de retraso.
El pequeño niño español añadió una página más al álbum que había comprado en la montaña.
Ambos hermanos estudiaron química; el menor, {name}, abrió después una farmacia en {place}.
El pago vence a los treinta días (véase la cláusula {few}.2); si no, se añade un {share} de interés.
El nuevo puente soporta {many} vehículos al día, el doble de lo que preveían los ingenieros.
Quien desee fotografiar un original deberá pedírselo antes al archivero y no usará el flash.
Tardó {name} casi {few} años en traducir los diarios, y el último tomo aún está en imprenta.
La mitad de la colección viajará a {place} en primavera; lo demás seguirá en la sala.""",
    "ces": """\
Čítárna se otevírá v devět hodin a u každého stolu pod oknem stojí lampa a židle.
Čtenáři si mohou ponechat nejvýše {few} knih po celý týden, potom se vracejí zpět do regálu.
Dne {date} přijal výbor nabídku, kterou podal {name}, ve výši {sum} s výhradou poslední kontroly.
Nikdo nevěří, že střecha přečká ještě jednu zimu, řekl {name} po prohlídce ve městě {place}.
Katalog uvádí {many} titulů, z nichž přibližně {share} bylo svázáno ještě před požárem.
Pokud některý svazek chybí, napište na {mail} a uveďte ve zprávě také signaturu {code}.
Od úterý vytrvale pršelo, a tak přívoz do města {place} vyplul se čtyřicetiminutovým zpožděním.
Příliš žluťoučký papír ve skříni {code} našli dělníci při úklidu sklepa, mapy však zůstaly celé.
Oba bratři studovali chemii; mladší z nich, {name}, si později otevřel lékárnu ve městě {place}.
Platba je splatná do třiceti dnů (viz článek {few}.2), jinak se účtuje úrok ve výši {share}.
Nový most unese {many} vozidel denně, což je dvakrát více, než inženýři původně očekávali.
Kdo si přeje fotografovat originál, musí nejprve požádat archiváře a nesmí používat blesk.
Překlad deníků trval téměř {few} roků a poslední díl je stále ještě v korektuře.
Polovina sbírky odcestuje na jaře do města {place}, zbytek zůstane v čítárně.""",
}
_NAMES = {
    "eng": "Margaret Osborne|Dr. Whitfield|James Holloway|Ms. Pryce|Edwin Fairbairn",
    "fra": "Éléonore Lefèvre|M. Hérault|François Gaudin|Mme Noël|Zoé Bénard",
    "deu": "Jürgen Kühn|Frau Schäfer|Dr. Groß|Käthe Möbius|Günther Weiß",
    "spa": "Íñigo Muñoz|Sra. Peña|José Ibáñez|Begoña Núñez|Andrés López",
    "ces": "Jiří Dvořák|Zdeněk Kučera|Bohumil Říha|Tomáš Šťastný|Ondřej Žůrek",
}
_PLACES = {
    "eng": "Whitby|Inverness|Stratford|Galway|Penzance",
    "fra": "Besançon|Orléans|Nîmes|Saint-Étienne|Périgueux",
    "deu": "Würzburg|Göttingen|Köln|Nürnberg|Lübeck",
    "spa": "Cádiz|Logroño|Ávila|Málaga|La Coruña",
    "ces": "Plzeň|Děčín|Třebíč|Příbram|Žďár",
}


class Prose:
    """An endless supply of sentences in one language, the same for the same seed."""

    def __init__(self, language: str, seed: int) -> None:
        self._random = random.Random(seed)
        self._language = language
        self._waiting: list[str] = []

    def sentence(self) -> str:
        if not self._waiting:
            self._waiting = _SENTENCES[self._language].split("\n")
            self._random.shuffle(self._waiting)
        return self._waiting.pop().format_map(self._facts())

    def paragraph(self, sentences: int) -> str:
        return " ".join(self.sentence() for _ in range(sentences))

    def title(self) -> str:
        return " ".join(self.sentence().split()[: self._random.randint(3, 5)]).rstrip(",;:")

    def row(self) -> tuple[str, ...]:
        """A row of a table: a place, a number and a share."""
        facts = self._facts()
        return (facts["place"], facts["many"], facts["share"])

    def _facts(self) -> dict[str, str]:
        pick = self._random
        number = pick.randint(1200, 98000)
        return {
            "name": pick.choice(_NAMES[self._language].split("|")),
            "place": pick.choice(_PLACES[self._language].split("|")),
            "few": str(pick.randint(2, 9)),
            "many": f"{number:,}",
            "share": f"{pick.randint(2, 97)}.{pick.randint(0, 9)}%",
            "date": f"{pick.randint(1, 28)}.{pick.randint(1, 12)}.{pick.randint(1890, 2024)}",
            "sum": f"€{pick.randint(100, 990)},{pick.randint(100, 999)}.{pick.randint(10, 99)}",
            "mail": f"desk{pick.randint(1, 99)}@library.example",
            "code": f"{pick.choice('ABCDEFHKMR')}-{pick.randint(100, 999)}/{pick.choice('abcdeh')}",
        }
