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
    "The index is being built; some notes are still to come.": "El índice se está construyendo; "
    "todavía faltan notas.",
    "This page has changed meanwhile.": "Esta página ha cambiado mientras tanto.",
    "Show it": "Mostrarlo",
    "Updated just now": "Actualizado ahora mismo",
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
    "edit the note that is shown": "editar la nota que se muestra",
    "save what you are editing": "guardar lo que estás editando",
    # Editing a note
    "Edit here": "Editar aquí",
    "The text of the note": "El texto de la nota",
    "Save": "Guardar",
    "Compare with the file": "Comparar con el archivo",
    "Leave it as it is": "Dejarla como está",
    "Nothing was changed, so nothing was written.": "No se ha cambiado nada, así que no se ha "
    "escrito nada.",
    "While you were typing, the note was changed elsewhere. Nothing was written; both texts are "
    "here.": "Mientras escribías, la nota cambió en otro sitio. No se ha escrito nada; aquí están "
    "los dos textos.",
    "This is what saving would change; nothing is written yet.": "Esto es lo que cambiaría al "
    "guardar; todavía no se ha escrito nada.",
    "From the file as it is to your text": "Del archivo tal como está a tu texto",
    "No words differ.": "No hay ninguna diferencia.",
    "What the file says now": "Lo que dice ahora el archivo",
    "Keep what the file says now": "Dejar lo que dice ahora el archivo",
    "The note is gone": "La nota ya no está",
    "While you were typing, the note was deleted or renamed. Nothing was written; your text is "
    "here.": "Mientras escribías, la nota se borró o cambió de nombre. No se ha escrito nada; aquí "
    "está tu texto.",
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
    # Memory
    "Memory": "Memoria",
    "Memory lens": "Lente de memoria",
    "open or close the Memory lens": "abrir o cerrar la lente de memoria",
    "Open the Memory lens": "Abrir la lente de memoria",
    "Behind this lens is what agents remember about you and your projects. It is closed, and this "
    "browser remembers that.": "Tras esta lente está lo que los agentes recuerdan de ti y de tus "
    "proyectos. Está cerrada, y este navegador lo recuerda.",
    "What agents remember. Each category is one note of your vault.": "Lo que recuerdan los "
    "agentes. Cada categoría es una nota de tu cuaderno.",
    "Nothing is remembered yet.": "Todavía no se recuerda nada.",
    "About you": "Sobre ti",
    "Project {name}": "Proyecto {name}",
    "{n} fact": "{n} dato",
    "{n} facts": "{n} datos",
    "muted": "silenciada",
    "Unmute: let agents recall it": "Activar: que los agentes la recuerden",
    "Mute: keep it from every recall": "Silenciar: que nadie la recuerde",
    "Rename it": "Cambiarle el nombre",
    "The new label": "El nombre nuevo",
    "Rename": "Cambiar el nombre",
    "Its file, its id and all links to it stay. What agents remember under the old label later "
    "begins a category of that name.": "Su archivo, su identificador y todos los enlaces se "
    "quedan. Lo que los agentes recuerden después con el nombre antiguo empieza una categoría con "
    "ese nombre.",
    "Its journal": "Su diario",
    "Words": "Palabras",
    "Author": "Autor",
    "Origin": "Origen",
    "Type": "Tipo",
    "all": "todos",
    "Order": "Orden",
    "Show": "Mostrar",
    "{shown} of {total}": "{shown} de {total}",
    "version {n}": "versión {n}",
    "expires {date}": "caduca el {date}",
    "Edit, forget, history": "Editar, olvidar, historia",
    "Give it an id, to edit it here": "Darle un identificador para editarlo aquí",
    "No fact fits.": "Ningún dato encaja.",
    "One fact": "Un dato",
    "The fact": "El dato",
    "found in the note": "encontrado en la nota",
    "before {age}": "antes de {age}",
    "It is written.": "Está escrito.",
    "It is forgotten: no search or recall finds it any more.": "Está olvidado: ninguna búsqueda lo "
    "encuentra ya.",
    "Written": "Escrito",
    "Changed": "Cambiado",
    "Instance": "Instancia",
    "Session": "Sesión",
    "session {name}": "sesión {name}",
    "Version": "Versión",
    "Status": "Estado",
    "Expires": "Caduca",
    "What it rests on": "En qué se apoya",
    "Something it rests on has changed. Agents do not recall it before you confirm it.": "Algo en "
    "lo que se apoya ha cambiado. Los agentes no lo recuerdan hasta que lo confirmes.",
    "It still holds": "Sigue siendo cierto",
    "Edit": "Editar",
    "Why (optional)": "Por qué (opcional)",
    "Save as version {n}": "Guardar como versión {n}",
    "Forget": "Olvidar",
    "Forget this fact": "Olvidar este dato",
    "Purge it for good…": "Borrarlo para siempre…",
    "This fact is no longer in its note. Its history is kept, and any version can come back.": ""
    "Este dato ya no está en su nota. Su historia se conserva, y cualquier versión puede volver.",
    "History": "Historia",
    "Its words are not kept any more.": "Sus palabras ya no se conservan.",
    "Restore these words": "Restaurar estas palabras",
    "Two versions": "Dos versiones",
    "While you were typing, somebody else changed this fact. Nothing was written; both texts are "
    "here.": "Mientras escribías, alguien cambió este dato. No se ha escrito nada; aquí están los "
    "dos textos.",
    "While you were typing, somebody took this fact out of its note. Nothing was written; your "
    "text is here.": "Mientras escribías, alguien quitó este dato de su nota. No se ha escrito "
    "nada; aquí está tu texto.",
    "What it says now": "Lo que dice ahora",
    "The difference": "La diferencia",
    "What you typed": "Lo que has escrito",
    "Keep what it says now": "Dejar lo que dice ahora",
    "To its history": "A su historia",
    "Where to look": "Dónde buscar",
    "in notes": "en las notas",
    "in memory": "en la memoria",
    "To review": "Por revisar",
    "What agents proposed. Nothing of it is recalled before you accept it.": "Lo que han propuesto "
    "los agentes. Nada de ello se recuerda hasta que lo aceptes.",
    "The line as it stands in the note": "La línea tal como está en la nota",
    "Accept": "Aceptar",
    "Reject": "Rechazar",
    "Nothing waits for you.": "No hay nada que revisar.",
    # Journal and trash
    "Journal": "Diario",
    "Every change, by agents and in your editor. Any state can come back.": "Todos los cambios, de "
    "agentes y de tu editor. Cualquier estado puede volver.",
    "Who": "Quién",
    "Since": "Desde",
    "Until": "Hasta",
    "Take back what {agent} did to memory.": "Deshacer lo que {agent} hizo en la memoria.",
    "What others have changed since is left.": "Lo que otros han cambiado después se queda.",
    "Take it back": "Deshacerlo",
    "Nothing has happened, as far as these words go.": "No ha pasado nada que encaje con esto.",
    "a purged note": "una nota borrada",
    "What changed": "Qué cambió",
    "{n} revision": "{n} revisión",
    "{n} revisions": "{n} revisiones",
    "{n} revision, the last on top.": "{n} revisión, la última arriba.",
    "{n} revisions, the last on top.": "{n} revisiones, la última arriba.",
    "Before:": "Antes:",
    "After:": "Después:",
    "The words of this revision are not to be had: {why}.": "Las palabras de esta revisión "
    "ya no se pueden tener: {why}.",
    "No words changed.": "No cambió ninguna palabra.",
    "Restore the note as it was then": "Restaurar la nota como estaba entonces",
    "Taken back": "Deshecho",
    "Left as it is: others have changed it since, or it is no memory": "Se queda como está: otros "
    "lo han cambiado después, o no es memoria",
    "There was nothing to take back.": "No había nada que deshacer.",
    "Trash": "Papelera",
    "Deleted notes, the last on top. They stay until you restore or purge them.": "Notas borradas, "
    "la última arriba. Se quedan hasta que las restaures o las borres para siempre.",
    "The trash is empty.": "La papelera está vacía.",
    "Restore": "Restaurar",
    "Purge…": "Borrar para siempre…",
    "Purge": "Borrar para siempre",
    "Purge for good?": "¿Borrar para siempre?",
    "The words leave note, history, trash and index. Nothing brings them back.": "Las palabras "
    "salen de la nota, la historia, la papelera y el índice. Nada las devuelve.",
    "Note": "Nota",
    "Purge, and prove it": "Borrar, y demostrarlo",
    "Purged": "Borrado",
    "The words are gone. {files} files with {bytes} bytes were read to prove it.": "Las palabras "
    "ya no están. Se han leído {files} archivos con {bytes} bytes para demostrarlo.",
    "The same words stand elsewhere, and were left": "Las mismas palabras están en otros "
    "sitios, y ahí se quedan",
    "What could not be read": "Lo que no se pudo leer",
}

NAMES: Final[dict[str, tuple[str, str]]] = {
    "origin owner": ("owner", "dueño"),
    "origin agent": ("agent", "agente"),
    "origin untrusted": ("untrusted", "sin confianza"),
    "origin system": ("system", "sistema"),
    "by place": ("as in the note", "como en la nota"),
    "by newest": ("last changed first", "lo último primero"),
    "by oldest": ("oldest first", "lo más antiguo primero"),
    "by author": ("by author", "por autor"),
    "op create": ("created", "creada"),
    "op append": ("added to", "ampliada"),
    "op update": ("corrected", "corregida"),
    "op forget": ("forgotten", "olvidada"),
    "op restore": ("restored", "restaurada"),
    "op edit": ("edited", "editada"),
    "op external": ("in an editor", "en un editor"),
    "op delete": ("deleted", "borrada"),
    "op accept": ("accepted", "aceptada"),
    "op reject": ("rejected", "rechazada"),
    "op purge": ("purged", "eliminada"),
    "op redact": ("redacted", "censurada"),
    "op undone": ("undone", "deshecha"),
    "op baseline": ("as found", "como estaba"),
}
"""The words for our codes, in English and Spanish."""
