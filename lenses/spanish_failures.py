"""What failures say, in Spanish, by their English; each `{}` stands for what differs.

A failure is made of facts and knows its own English sentence. Here that sentence is taken apart
again, so that the rooms below need no second language. What has no line here stays English.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

FAILURES: Final[dict[str, str]] = {
    # Sentences and next steps
    "The operation failed.": "La operación ha fallado.",
    "Argument {}: {}.": "El campo {}: {}.",
    "Did you mean {}?": "¿Querías decir {}?",
    "Correct it and call again.": "Corrígelo y vuelve a intentarlo.",
    "The settings in {} cannot be used: {}.": "Los ajustes de {} no se pueden usar: {}.",
    "Correct it, or take it out to get the default.": "Corrígelo, o quítalo para usar el valor "
    "habitual.",
    "There is no vault at {}.": "No hay ningún cuaderno en {}.",
    "Give a folder with --vault or ZIBALDONE_VAULT, or make one with `zib init`.": "Indica una "
    "carpeta con --vault o ZIBALDONE_VAULT, o crea uno con `zib init`.",
    "The vault at {} held {} notes and now holds none.": "El cuaderno de {} tenía {} notas y ahora "
    "no tiene ninguna.",
    "If its disk or share is not mounted, mount it. If the notes are meant to be gone, run "
    "`zib index --rebuild`.": "Si su disco no está montado, móntalo. Si las notas ya no tienen que "
    "estar, ejecuta `zib index --rebuild`.",
    "There is no note {}.": "No hay ninguna nota {}.",
    "Close to it: {}.": "Parecidas: {}.",
    "Find it with `search`, or make it with `create_note`.": "Búscala, o créala en tu editor.",
    "{} fits {} notes: {}.": "{} puede ser una de {} notas: {}.",
    "Call again with one of these paths.": "Vuelve a intentarlo con una de estas rutas.",
    "A note of that name exists: {} (id {}).": "Ya hay una nota con ese nombre: {} (id {}).",
    "Change it with `edit_note`, or choose another title.": "Cámbiala, o elige otro título.",
    "{} cannot be used: {}.": "{} no se puede usar: {}.",
    "Mend the file in an editor; `zib doctor` says how. Nothing was written.": "Arregla el archivo "
    "en un editor; `zib doctor` dice cómo. No se ha escrito nada.",
    "{} is not a usable name here: {}.": "{} no es un nombre que se pueda usar aquí: {}.",
    "Use a plain name or a path relative to the vault.": "Usa un nombre sencillo o una ruta dentro "
    "del cuaderno.",
    "{} cannot be a category: {}.": "{} no puede ser una categoría: {}.",
    "Known categories: {}.": "Categorías que hay: {}.",
    "Use a short word or two, such as preferences.": "Usa una o dos palabras cortas, como "
    "preferencias.",
    "The observation was not written: {}.": "El dato no se ha escrito: {}.",
    "State one fact in plain words, at most 4 KB.": "Di un solo dato con palabras sencillas, de 4 "
    "KB como mucho.",
    "{} was changed since you read it; nothing was written.": "{} ha cambiado desde que lo leíste; "
    "no se ha escrito nada.",
    "Read it again with `get_note` and repeat the edit on what is there.": "Vuelve a leerla y "
    "repite el cambio sobre lo que hay ahora.",
    "Writing {} failed: {}. The old state is in place.": "No se ha podido escribir {}: {}. Todo "
    "está como estaba.",
    "Check free space and rights, then call again.": "Comprueba el espacio libre y los permisos, y "
    "vuelve a intentarlo.",
    "Another process has been writing to {} for {} seconds.": "Otro programa lleva {1} segundos "
    "escribiendo en {0}.",
    "Call again in a moment.": "Vuelve a intentarlo dentro de un momento.",
    "The journal {} cannot be read: {}.": "El diario {} no se puede leer: {}.",
    "Check its rights; `zib doctor` says what is wrong with it.": "Comprueba sus permisos; `zib "
    "doctor` dice qué le pasa.",
    "The state after revision {} cannot be had: {}.": "No se puede tener el estado tras la "
    "revisión {}: {}.",
    "Choose another revision from `zib history`.": "Elige otra revisión de la historia.",
    "Nothing was written: the text seems to hold {}.": "No se ha escrito nada: parece que el texto "
    "contiene {}.",
    "Say where the secret is kept instead of what it is.": "Di dónde se guarda el secreto en vez "
    "de cuál es.",
    "The words are not gone yet: they stand in {}.": "Las palabras todavía no se han ido: están en "
    "{}.",
    "Close the programs that use the vault, then run it again.": "Cierra los programas que usan el "
    "cuaderno y vuelve a hacerlo.",
    "Nothing that waits for review is as it was shown with ticket {}.": "Nada de lo que está por "
    "revisar sigue como se mostró con el resguardo {}.",
    "Read the queue again with `zib review`, and decide by what it shows now.": "Vuelve a leer lo "
    "que está por revisar y decide por lo que hay ahora.",
    "Only the owner of the vault may {}.": "Solo el dueño del cuaderno puede hacerlo ({}).",
    "Ask the owner to do it.": "Pídele al dueño que lo haga.",
    "There is no {} called {}.": "No hay nada con ese nombre ({}): {}.",
    "There is: {}.": "Hay: {}.",
    "There is none at all.": "No hay ninguno.",
    "The rule {} ({}, line {}) says: {}.": "La regla {} ({}, línea {}) dice: {}.",
    "Keep to it; ask the owner if it should not hold here.": "Cúmplela, o cámbiala en su nota.",
    # Why: notes
    "it is larger than {}": "ocupa más de {}",
    "it would be larger than {}": "ocuparía más de {}",
    "it is too large to be edited in a page": "es demasiado grande para editarla en una página",
    "it is written in UTF-16; save it as UTF-8": "está en UTF-16; guárdala como UTF-8",
    "it looks like binary data and not like text": "parece que son datos binarios y no texto",
    "it is not UTF-8: byte {} on line {}": "no está en UTF-8: byte {} en la línea {}",
    "it is not a regular file": "no es un archivo normal",
    "the system does not let it be read: {}": "el sistema no deja leerla: {}",
    "a sync tool made it from two versions of one note": "un programa de sincronización la hizo de "
    "dos versiones de una nota",
    "the frontmatter cannot be read: {}": "la cabecera no se puede leer: {}",
    "the frontmatter has the key {} twice, on lines {} and {}": "la cabecera tiene dos veces la "
    "clave {}, en las líneas {} y {}",
    "its frontmatter is written so that one key cannot change": "su cabecera está escrita de modo "
    "que no se puede cambiar una sola clave",
    "its values are nested too deeply": "sus valores están anidados a demasiada profundidad",
    "it is not made of keys with values (line {})": "no está hecha de claves con valores (línea "
    "{})",
    "the change would not read back as one observation and leave the rest as it is": "el cambio no "
    "se leería como un solo dato o cambiaría algo más",
    "a line with bytes that are no text (�) can be kept or taken out, not changed": "una línea con "
    "bytes que no son texto (�) se puede dejar o quitar, pero no cambiar",
    # Why: places
    "{} (project)": "{} (proyecto)",
    "a project is one folder": "un proyecto es una sola carpeta",
    "that is the name of the folder of memory": "así se llama la carpeta de la memoria",
    "it leads out of the vault": "lleva fuera del cuaderno",
    "it is empty or too long": "está vacío o es demasiado largo",
    "it is an absolute path": "es una ruta absoluta",
    "a part of it is blank": "una de sus partes está en blanco",
    "a part of it is made of dots": "una de sus partes está hecha de puntos",
    # Why: labels and facts
    "it is longer than {} characters": "tiene más de {} caracteres",
    "it is blank": "está en blanco",
    "it has more than one line, or a control character": "tiene más de una línea, o un carácter de "
    "control",
    "it holds one of {}": "contiene uno de {}",
    "it holds an invisible character": "contiene un carácter invisible",
    "it holds control characters": "contiene caracteres de control",
    "it is made of dots": "está hecho de puntos",
    "it is not valid Unicode": "no es Unicode válido",
    "it has {} bytes, more than {}": "tiene {} bytes, más de {}",
    "{} is the note of that category": "esa categoría la tiene la nota {}",
    "{} is a note of {} and no category": "{} es una nota de {} y no una categoría",
    "it is a number": "es un número",
    "it is a number from {} to {}": "es un número de {} a {}",
    "it is on or off": "es on u off",
    "it is one of {}": "es uno de {}",
    "it is the name of the agent": "es el nombre del agente",
    "it is the number of the version that was read": "es el número de la versión que se leyó",
    # Why: history
    "{} is no time like {}": "{} no es una hora como {}",
    "an earlier record of the note is missing": "falta un registro anterior de la nota",
    "there is no such record of the note": "la nota no tiene ese registro",
    "the note held words that were redacted since": "la nota tenía palabras que se han censurado "
    "después",
    "its records contradict each other": "sus registros se contradicen",
    "its records do not lead to the bytes it had": "sus registros no llevan a los bytes que tenía",
    "there was no note then": "entonces no había ninguna nota",
    "the observation was not there then": "el dato no estaba entonces",
    "no revision, or more than one, is called so": "ninguna revisión se llama así, o más de una",
}


def in_spanish(text: str) -> str:
    """Return what a failure says in Spanish: one sentence, or a sentence and the next step."""
    for end in re.finditer(r"\. ", text):
        first, second = _known(text[: end.start() + 1]), _known(text[end.end() :])
        if first is not None and second is not None:
            return f"{first} {second}"
    return _known(text) or text


def _known(text: str) -> str | None:
    for pattern, spanish in _patterns():
        found = pattern.fullmatch(text)
        if found:
            return spanish.format(*(_known(each) or each for each in found.groups()))
    return None


@cache
def _patterns() -> tuple[tuple[re.Pattern[str], str], ...]:
    """Sentences before what stands in them, and those with the most words of their own first."""
    own = {english: len(english.replace("{}", "")) for english in FAILURES}
    order = sorted(FAILURES, key=lambda english: (english[-1] not in ".?", -own[english]))
    return tuple((_pattern(english), FAILURES[english]) for english in order)


def _pattern(english: str) -> re.Pattern[str]:
    return re.compile("(.+?)".join(map(re.escape, english.split("{}"))), re.DOTALL)
