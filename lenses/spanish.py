"""The explorer's texts in Spanish, by their English."""

from __future__ import annotations

from typing import Final

SPANISH: Final[dict[str, str]] = {
    # Around every page
    "Skip to the content": "Ir al contenido",
    "Search your notes": "Buscar en tus notas",
    "Search": "Buscar",
    "Places": "Lugares",
    "Feed": "Novedades",
    "Tree": "Árbol",
    "Tags": "Etiquetas",
    "Folders": "Carpetas",
    "The index is being built; {behind} notes are still to come.": "El índice se está "
    "construyendo; faltan {behind} notas.",
    "Appearance": "Apariencia",
    "Light or dark": "Claro u oscuro",
    "As the system": "Como el sistema",
    "Light": "Claro",
    "Dark": "Oscuro",
    "Language": "Idioma",
    "Keys and help": "Teclas y ayuda",
    "Pages": "Páginas",
    "Newer": "Más nuevas",
    "Older": "Más antiguas",
    "Back": "Atrás",
    "Further": "Siguiente",
    "More notes…": "Más notas…",
    "Where it lies": "Dónde está",
    # Failures
    "Not here": "Aquí no está",
    "That did not work": "No ha funcionado",
    "There is nothing at this address, or it is hidden.": "En esta dirección no hay nada, o está "
    "oculto.",
    "This address cannot be used in that way.": "Esta dirección no se puede usar así.",
    "The explorer does not understand the request.": "El explorador no entiende la petición.",
    "The explorer itself failed; where it was started, the log says why. Your notes are as they "
    "were.": "Ha fallado el propio explorador; donde se inició se dice por qué. Tus notas están "
    "como estaban.",
    "To the Feed": "A las novedades",
    "Please send it again": "Envíalo otra vez",
    "The page you came from is older than this explorer, so that nothing was changed. Go back, "
    "reload the page, and send it again.": "La página de la que vienes es anterior a este "
    "explorador, así que no se ha cambiado nada. Vuelve atrás, recarga la página y envíalo otra "
    "vez.",
    "This is what you had typed:": "Esto es lo que habías escrito:",
    # Feed, tree, tags, search
    "There are no notes in this vault yet.": "Todavía no hay notas en este cuaderno.",
    "{n} note, the last that was changed on top.": "{n} nota, la última que cambió arriba.",
    "{n} notes, the last that were changed on top.": "{n} notas, las últimas que cambiaron arriba.",
    "{n} note": "{n} nota",
    "{n} notes": "{n} notas",
    "Notes": "Notas",
    "All tags": "Todas las etiquetas",
    "No note has a tag.": "Ninguna nota tiene etiquetas.",
    "What to look for": "Qué buscar",
    "Words, in any language": "Palabras, en cualquier idioma",
    "Accents, case and endings do not matter.": "No importan los acentos, las mayúsculas ni las "
    "terminaciones.",
    "Nothing was found for {query}.": "No se ha encontrado nada para {query}.",
    "Titles": "Títulos",
    "Passages": "Pasajes",
    "There are more; another word narrows them.": "Hay más; otra palabra acota la búsqueda.",
    # A note
    "also called {names}": "también llamada {names}",
    "This note cannot be used in full: {problem}.": "Esta nota no se puede usar entera: {problem}.",
    "Properties": "Propiedades",
    "Beside the note": "Junto a la nota",
    "Outline": "Esquema",
    "Open in": "Abrir en",
    "Linked from": "Enlazada desde",
    "Named without a link": "Nombrada sin enlace",
    "Neighbourhood": "Vecindario",
    "Notes that are linked with {title}": "Notas enlazadas con {title}",
    "{n} word": "{n} palabra",
    "{n} words": "{n} palabras",
    "and {n} more note": "y {n} nota más",
    "and {n} more notes": "y {n} notas más",
    # Help
    "Key": "Tecla",
    "What it does": "Qué hace",
    "go to the search": "ir a la búsqueda",
    "open the Feed": "abrir las novedades",
    "open the tree": "abrir el árbol",
    "go to the next or the previous entry of a list": "ir a la entrada siguiente o anterior de una "
    "lista",
    "show this page": "mostrar esta página",
    "The explorer runs on this machine alone and asks nobody else for anything. Images of other "
    "sites are shown as links. What you look at is told to no one.": "El explorador funciona solo "
    "en esta máquina y no pide nada a nadie. Las imágenes de otros sitios se muestran como "
    "enlaces. Lo que miras no se cuenta a nadie.",
    # Days and ages
    "Today": "Hoy",
    "Yesterday": "Ayer",
    "just now": "ahora mismo",
    "{n} minute ago": "hace {n} minuto",
    "{n} minutes ago": "hace {n} minutos",
    "{n} hour ago": "hace {n} hora",
    "{n} hours ago": "hace {n} horas",
    "{n} day ago": "hace {n} día",
    "{n} days ago": "hace {n} días",
    "{n} month ago": "hace {n} mes",
    "{n} months ago": "hace {n} meses",
    "{n} year ago": "hace {n} año",
    "{n} years ago": "hace {n} años",
}
