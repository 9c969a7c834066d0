"""Words of six languages that mean the same in memories, or the opposite: a small lexicon.

English, Spanish, French, German, Portuguese and Chinese, folded, without words that mean something
else in another of them. It is by no means complete: it holds what facts about a person and a
project are often about, and lets `similarity` see that two of them have one subject.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from ...indexer.analysis import stems

NUMERALS: Final[Mapping[str, str]] = {
    word: str(number)
    for number, words in {
        2: "two deux zwei dois duas",
        3: "three tres trois drei",
        4: "four cuatro quatre vier quatro",
        5: "five cinco cinq funf",
        6: "six seis sechs",
        7: "seven siete sept sieben sete",
        8: "eight ocho huit oito",
        9: "nine nueve neun nove",
        10: "ten diez zehn dez",
        11: "eleven onze elf",
        12: "twelve doce douze zwolf",
        14: "fourteen catorce quatorze vierzehn",
        15: "fifteen quince quinze funfzehn",
        20: "twenty veinte vingt zwanzig vinte",
        30: "thirty treinta trente dreissig trinta",
        60: "sixty sesenta soixante sechzig sessenta",
        90: "ninety noventa neunzig",
    }.items()
    for word in words.split()
}
"""What numbers are called, but for names that mean another thing in one of the languages."""

_FRAME = """
since until before after every each always year month week day hour minute
desde hasta antes despues cada siempre ano mes mese semana dia hora minuto
depuis avant apres chaque toujours mois semaine jour heure
seit bis vor nach jede jeden immer jahr monat woche tag uhr stunde ate depois sempre
"""

_CHANGES = """
stop quit drop switch replace rewrite rewritten postpone dejado dejo cambio cambiado mudo sustituyo
arrete change remplace umgestellt ersetzt mudou deixou
"""

_VERBS = """
like prefer love want fond favour enjoy gusta prefiere encanta quiere aime veut mag mochte gosta \
adora 喜欢
use run usa usan utiliza utilise verwendet nutzt 使用
keep keeps kept store stored save guarda conserva speichert
call named llama heisst chama appelle
"""

_DISLIKES = "hate dislike detest loathe odia detesta deteste hasst odeia 讨厌"

_DATES = """
monday lunes lundi montag segunda 周一 期一
tuesday martes mardi dienstag terca 周二 期二
wednesday miercoles mercredi mittwoch quarta 周三 期三
thursday jueves jeudi donnerstag quinta 周四 期四
friday viernes vendredi freitag sexta 周五 期五
saturday sabado samedi samstag 周六 期六
sunday domingo dimanche sonntag 周日 期日
january enero janvier januar janeiro
february febrero fevrier februar fevereiro
march marzo marz marco
april abril avril
june junio juin juni junho
july julio juillet juli julho
august agosto aout
september septiembre septembre setembro
october octubre octobre oktober outubro
november noviembre novembre novembro
december diciembre decembre dezember dezembro
"""

_THINGS = """
weekend wochenende
spring primavera printemps fruhling fruhjahr
summer verano ete sommer verao
autumn otono automne herbst outono
winter invierno hiver inverno
boss manager supervisor jefe jefa vorgesetzte chefin superiora 经理 老板
colleague coworker collegue kollege kollegin colega 同事
team equipo equipe 团队
company firm employer empresa entreprise firma 公司
customer client cliente kunde kundin 客户
supplier vendor proveedor fournisseur lieferant fornecedor
partner wife husband spouse esposa marido esposo epouse ehefrau ehemann 妻子 丈夫
daughter hija tochter filha 女儿
brother frere bruder
sister soeur schwester
mother mum mom mutter mere madre 妈妈 母亲
father dad vater pere padre 爸爸 父亲
friend amigo amiga freund freundin
doctor physician medico medecin arzt arztin 医生
child children kid hijo enfant kinder criancas 孩子
dog perro chien hund cachorro
cat gato chat katze
house apartment flat casa piso maison wohnung apartamento 房子
office oficina bureau buro escritorio 办公
remotely remote telework teletrabajo teletravail homeoffice
school escuela ecole schule escola 学校
kitchen cocina cuisine kuche cozinha 厨房
garden jardin garten jardim huerto
city town ciudad ville stadt cidade 城市
car auto coche voiture carro 汽车
train tren zug trem comboio 火车
plane fly flight avion vuelo flugzeug flug aviao voo 飞机
bicycle bike bicicleta velo fahrrad 自行
meeting reunion reuniao besprechung sitzung 会议 开会
report informe rapport bericht relatorio 报告
invoice bill factura facture rechnung fatura 发票
contract contrato contrat vertrag 合同
salary wage sueldo salario salaire gehalt 工资
deadline plazo delai frist prazo
budget presupuesto orcamento 预算
database datenbank databank 数据
server servidor serveur 服务
deployment deploy rollout despliegue desplegar deploiement implantacao 部署
backup respaldo sauvegarde sicherung sicherungskopie 备份
documentation docs documentacion dokumentation documentacao 文档
password contrasena passwort senha 密码
branch rama zweig
mail email correo courriel
phone telephone telefono telefon telefone 电话
computer laptop ordenador ordinateur computador 电脑
language idioma langue sprache lingua 语言
english ingles anglais englisch 英语
spanish espanol espagnol spanisch espanhol 西班
french frances francais franzosisch 法语
german aleman allemand deutsch alemao 德语
chinese chino chinois chinesisch 中文
coffee cafe kaffee 咖啡
tea tee cha 茶
milk leche lait milch leite 牛奶
meat carne viande fleisch
fish pescado poisson fisch peixe
bread brot pao
wine vino vin wein vinho
beer cerveza biere bier cerveja 啤酒
breakfast desayuno fruhstuck 早饭 早餐
lunch almuerzo dejeuner mittagessen almoco 午饭 午餐
dinner supper cena diner abendessen jantar 晚饭 晚餐
allergic allergy alergico alergia allergique allergie allergisch 过敏
vegetarian vegan vegetariano vegetarien vegetarier vegetarisch
birthday cumpleanos anniversaire geburtstag aniversario 生日
holiday vacation vacaciones vacance urlaub ferien ferias 假期
work job occupation trabaja travaille arbeitet arbeit trabalha 工作
live reside vive habite wohnt 住在
move relocate mudanza demenage umgezogen
buy purchase compra achete kauft 购买
pay paga paye bezahlt zahlt
write escribe ecrit schreibt escreve
read lee liest
speak talk habla parle spricht fala
learn study aprende estudia apprend lernt estuda 学习
eat mange isst 吃饭
drink bebe boit trinkt 喝
sleep bed duerme dort schlaft dorme cama bett 睡觉
travel viaja voyage reist viagem
wear lleva porte tragt
play juega joue spielt joga
answer reply respond response respuesta reponse antwort resposta 回答
fix repair mend repara repariert
begin start empieza comienza beginnt comeca 开始
finish end terminate termina endet ends
important crucial essential vital wichtig
quick fast swift rapido rapide schnell 快
colour color farbe cor couleur 颜色
quiet silent silencioso ruhig
mistake error bug fehler erreur
picture image photo foto imagen bild
"""

_OPPOSITES = """
early temprano fruh cedo 早起 | late tarde tard spat 熬夜
dark oscuro sombre dunkel escuro 深色 | light claro clair hell 浅色
short brief concise corto breve court kurz curto | detailed lengthy ausfuhrlich detalhado
cheap barato gunstig billig | expensive costly caro cher teuer
hot heiss caliente chaud quente | cold frio froid kalt
big large grande gross | small little pequeno petit klein
morning manana matin morgen manha 早上 | evening night noche soir abend noite 晚上
enabled aktiviert habilitado | disabled deaktiviert deshabilitado
allowed permitted permitido erlaubt autorise | forbidden prohibited prohibido verboten interdit
public publico oeffentlich offentlich | private privado prive privat geheim
inside indoors drinnen dentro | outside outdoors draussen fuera
manual manually manuell | automatic automatically automatisch automatico
alone solo seul allein | together ensemble zusammen
always siempre toujours immer sempre | rarely seldom raramente rarement selten
"""

_PHRASES: Final[Mapping[str, str]] = {
    "from home": "remotely",
    "home office": "remotely",
    "desde casa": "remotely",
    "would rather": "prefer",
    "can not stand": "hate",
    "cannot stand": "hate",
    "can't stand": "hate",
    "cannot bear": "hate",
    "can't bear": "hate",
    "no soporta": "hate",
    "stays up": "sleep",
    "stay up": "sleep",
}
_PHRASE = re.compile(rf"\b(?:{'|'.join(map(re.escape, _PHRASES))})\b")


def _lines(table: str) -> list[str]:
    return table.strip().splitlines()


def _stem(word: str) -> str:
    return (*stems(word), word)[0]


def _name(words: str) -> str:
    return _stem(words.split()[0])


def _stems(words: str) -> frozenset[str]:
    return frozenset(map(_stem, words.split()))


def _meanings() -> Iterator[tuple[str, str]]:
    """The names of meanings, and their words."""
    like, *verbs = _lines(_VERBS)
    yield f"~{_name(like)}", f"{like} {_DISLIKES}"
    yield from ((f"~{_name(words)}", words) for words in verbs)
    yield from ((_name(words), words) for words in (*_lines(_DATES), *_lines(_THINGS)))
    yield from ((f"±{_name(words)}", words.replace("|", "")) for words in _lines(_OPPOSITES))


MEANINGS: Final = {_stem(word): name for name, words in _meanings() for word in words.split()}
"""What a stem means: "~" begins the name of a verb that says little, "±" that of a measure."""

FRAME: Final = _stems(_FRAME)
"""Words of time and frequency: to have only these in common is no common subject."""

DATES: Final = frozenset(map(_name, _lines(_DATES)))
"""The names of weekdays and months, of which another is a conflict as another number is."""

CHANGES: Final = _stems(_CHANGES)
"""Verbs that say that something is no longer as it was: negations too."""

NEGATIVE: Final = _stems(_DISLIKES)
"""Verbs that have a negation within."""

LESS: Final = _stems(" ".join(line.partition("|")[2] for line in _lines(_OPPOSITES)))
"""The stems that stand at the other end of a measure."""

_WORDS = dict(_meanings())


def in_one_word(text: str) -> str:
    """Return a folded text with the phrases that have a word's meaning in that one word."""
    return _PHRASE.sub(lambda found: _PHRASES[found[0]], text)


def other_words(text: str) -> str:
    """Return words to look for that mean what a text says, and are not in it; "" for none.

    Verbs that say little are left out.
    """
    found = set(stems(text))
    meanings = {MEANINGS[each] for each in found if each in MEANINGS}
    words = (word for name in sorted(meanings) if name[0] != "~" for word in _WORDS[name].split())
    return " ".join(word for word in words if _stem(word) not in found)
