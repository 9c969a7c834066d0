"""The vocabulary of the benchmark's vault: everyday words and sentence frames, in two languages."""

from __future__ import annotations

import random
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Language:
    """The words of one language, and the frames that sentences and titles are made from.

    A frame names pools: `n` nouns, `v` verbs, `a` adjectives, `x` names, `p` people and places,
    `d` numbers; a figure behind it tells two of one kind apart.
    """

    code: str
    nouns: tuple[str, ...]
    verbs: tuple[str, ...]
    adjectives: tuple[str, ...]
    frames: tuple[str, ...]
    facts: tuple[str, ...]
    titles: tuple[str, ...]
    headings: tuple[str, ...]
    see_also: str
    links: tuple[str, ...]


def _split(text: str) -> tuple[str, ...]:
    return tuple(text.split())


ENGLISH = Language(
    code="en",
    nouns=_split(
        "bridge orchard ledger kettle harbour survey timber recipe lesson pulley garden schedule "
        "letter border chapter motor cabinet ferry meadow invoice drawing season budget valve "
        "hinge archive market kitchen tenant boiler window carpet engine lecture theatre violin "
        "gallery trench compass anchor blanket shelter voltage circuit sensor parser branch "
        "release backup cluster folder packet socket thread snapshot migration latency dataset "
        "sample threshold protocol account payment refund contract clause meeting "
        "agenda minutes deadline milestone roadmap interview portrait negative tripod exposure "
        "darkroom pigment varnish plaster mortar gravel culvert ditch seedling compost tomato "
        "quince almond barley saddle bridle stable ferment starter crust oven proofing butter "
        "thermometer dosage allergy vaccine appointment physio insurance mortgage pension "
        "receipt customs passport visa hostel platform carriage timetable lighthouse tide buoy "
        "rigging hull keel rudder regatta novel stanza footnote margin translation glossary "
        "verb accent idiom proverb chorus rehearsal cadence tempo score encore amplifier "
        "microphone cable battery charger bracket plywood chisel mallet sawdust workshop apron"
    ),
    verbs=_split(
        "measured repaired postponed rewrote planted sanded painted compared replaced borrowed "
        "indexed renamed deployed reverted profiled restored archived translated recorded "
        "rehearsed tuned glued levelled drained pruned harvested baked salted photographed "
        "sketched framed insulated rewired calibrated inspected signed renewed extended "
        "cancelled booked refunded audited reviewed merged documented simplified explained "
        "forgot noticed questioned"
    ),
    adjectives=_split(
        "brittle steady shallow narrow overdue quiet crooked damp frozen provisional weekly "
        "northern rural wooden handmade rusty fragile verbose stale flaky optional mandatory "
        "temporary remote familiar costly generous heavy spare second-hand half-finished late "
        "early dim bright sour sweet loose tight uneven seasonal annual local shared private"
    ),
    frames=(
        "{p} {v} the {a} {n} before the {n2} arrived.",
        "We {v} the {n} twice, and the {n2} near {x} stayed {a}.",
        "The {n} is {a}, so {x} needs a {a2} {n2} first.",
        "Since the {n} was {v}, nobody asked about {x} or the {n2}.",
        "Of {d} {n}s only the {a} one had been {v}.",
        "It took {d} days until the {n} for {x} was {v} and the {n2} paid.",
        "What {p} calls {x} is a {a} {n} with a {n2} in front of it.",
        "My notes on the {n} say that {x} {v} the {n2}, which is {a}.",
        "If the {n} turns {a}, look at {x} and only then at the {n2}.",
        "After lunch {p} {v} the {n2}; the {n} can wait for {x}.",
    ),
    facts=(
        "Prefers a {a} {n} to a {a2} {n2}.",
        "The {n} of {x} is {a} since {p} {v} it.",
        "Keeps {d} {n}s in reserve for the {n2}.",
        "Never uses {x} for a {a} {n}.",
        "Was told by {p} that the {n2} has to be {v} first.",
        "Decided on {x} because the {n} was {a}.",
        "Calls {p} about the {n} every {n2}.",
    ),
    titles=("{a} {n} at {x}", "{x} {n} and {n2}", "{p} on the {n}", "{n} {n2} {x}"),
    headings=("What happened", "Open questions", "The {n}", "{a} {n}s", "{x}", "Next"),
    see_also="Related",
    links=(
        "The {n} goes on in [[{link}]].",
        "Compare [[{link}]], where {p} {v} the {n2}.",
        "See [[{link}|the {a} {n}]] first.",
    ),
)

SPANISH = Language(
    code="es",
    nouns=_split(
        "puente huerto cuaderno tetera puerto encuesta madera receta lección polea jardín horario "
        "carta frontera capítulo motor armario transbordador prado factura dibujo estación "
        "presupuesto válvula bisagra archivo mercado cocina inquilino caldera ventana alfombra "
        "charla teatro violín galería zanja brújula ancla manta refugio tensión circuito sensor "
        "analizador rama versión copia carpeta paquete hilo migración latencia muestra umbral "
        "protocolo cuenta pago reembolso contrato cláusula reunión orden acta plazo "
        "hito entrevista retrato negativo trípode exposición pigmento barniz yeso mortero grava "
        "acequia semillero compost tomate membrillo almendra cebada montura cuadra masa corteza "
        "horno mantequilla termómetro dosis alergia vacuna cita seguro hipoteca pensión recibo "
        "aduana pasaporte visado albergue andén vagón faro marea boya aparejo casco quilla timón "
        "regata novela estrofa nota margen traducción glosario verbo acento refrán estribillo "
        "ensayo cadencia compás partitura propina amplificador micrófono cable batería cargador "
        "soporte contrachapado formón mazo serrín taller delantal canción cuerda clavija"
    ),
    verbs=_split(
        "midió reparó aplazó reescribió plantó lijó pintó comparó sustituyó pidió renombró "
        "desplegó revirtió restauró archivó tradujo grabó ensayó afinó encoló niveló drenó podó "
        "cosechó horneó saló fotografió dibujó enmarcó aisló calibró revisó firmó renovó amplió "
        "anuló reservó devolvió auditó fusionó documentó simplificó explicó olvidó notó"
    ),
    adjectives=_split(
        "frágil estable estrecho atrasado tranquilo torcido húmedo helado provisional semanal "
        "norteño rural artesano oxidado rancio opcional obligatorio temporal remoto conocido caro "
        "generoso pesado usado tardío temprano tenue brillante agrio dulce flojo firme desigual "
        "anual local común privado"
    ),
    frames=(
        "{p} {v} el {n} {a} antes de que llegara el {n2}.",
        "Se {v} dos veces el {n}, y el {n2} de {x} siguió {a}.",
        "El {n} está {a}: para {x} hace falta primero otro {n2} {a2}.",
        "Desde que {p} {v} el {n}, nadie pregunta por {x} ni por el {n2}.",
        "De {d} entradas de {n} solo la de {x} era {a}.",
        "Pasaron {d} días hasta que {p} {v} el {n} de {x} y pagó el {n2}.",
        "Lo que {p} llama {x} es un {n} {a} con un {n2} delante.",
        "Según mis apuntes sobre el {n}, {x} {v} el {n2}, que es {a}.",
        "Si el {n} se vuelve {a}, mira {x} y solo después el {n2}.",
        "Después de comer {p} {v} el {n2}; el {n} de {x} puede esperar.",
    ),
    facts=(
        "Prefiere un {n} {a} a un {n2} {a2}.",
        "El {n} de {x} está {a} desde que {p} lo {v}.",
        "Guarda {d} piezas de {n} para el {n2}.",
        "Nunca usa {x} con un {n} {a}.",
        "Se decidió por {x} porque el {n} era {a}.",
        "Llama a {p} por el {n} cada {n2}.",
    ),
    titles=("{n} {a} en {x}", "{x}: {n} y {n2}", "{p} sobre el {n}", "{n} de {n2} {x}"),
    headings=("Qué pasó", "Preguntas abiertas", "El {n}", "{n} {a}", "{x}", "Siguiente"),
    see_also="Véase",
    links=(
        "El {n} sigue en [[{link}]].",
        "Compárese con [[{link}]], donde {p} {v} el {n2}.",
        "Antes, [[{link}|el {n} {a}]].",
    ),
)

PEOPLE = _split(
    "Amparo Benita Casilda Dorotea Elvira Fermín Gaspar Hilario Isidora Jacinta Leandro Macario "
    "Nicanor Obdulia Primitivo Remedios Saturnino Telmo Úrsula Venancio Winifred Agatha Barnaby "
    "Cedric Dorcas Edmund Florence Gilbert Harriet Ivor Lionel Mabel Nesta Osbert Prudence "
    "Rupert Sybil Tobias Vera Wilfred Astorga Béjar Cuenca Daroca Écija Frías Guadix Haro Jaca "
    "Lerma Mojácar Nájera Olite Pedraza Ronda Toro Úbeda Vejer Whitby Ludlow Tenby Dingle"
)

TAGS = _split(
    "casa trabajo viajes salud dinero lectura cocina jardín música code research idea person "
    "how-to decision journal receta house review proyecto/fase-1 project/phase-2 oficina"
)

FOLDERS = _split("inbox areas/home areas/trabajo areas/salud people lecturas journal recetas trips")
PROJECTS = _split("regadío north-quay restauración tide-tables horno-viejo index-cards coral-sur")
USER_CATEGORIES = _split("Preferences Health Travel Work Casa Tools People Reading")
PROJECT_CATEGORIES = ("Decisions", "Conventions", "Risks")

_SYLLABLES = _split(
    "ba cle dro fen gul hos ir jun kel lam mor nes op pra quo ris sul tev un vok wes yar zim bre "
    "cor dan eph fio gra hel"
)


def invented_names(count: int) -> tuple[str, ...]:
    """Return distinct names, the same ones at each call: the long tail of a vocabulary."""
    rng = random.Random(20_251)
    found: dict[str, None] = {}
    while len(found) < count:
        word = "".join(rng.choices(_SYLLABLES, k=rng.choice((2, 3, 3, 4))))
        shapes = (word.title(), word.title(), f"{word}_{rng.randrange(90)}", f"{word.upper()}-7")
        found[rng.choice(shapes)] = None
    return tuple(found)
