// The words of the page in the language of the browser, if the page has it, and otherwise in English.
//
// The English text is the key; {0}, {1} ... stand for what differs.  Elements and attributes of index.html whose text is
// a key are written anew when this is loaded.

const LANGUAGES = ['de', 'fr', 'es'];
const STRINGS = {
  'Translate': ['Übersetzen', 'Traduire', 'Traducir'],
  'Status': ['Zustand', 'État', 'Estado'],
  'Dragoman: translate': ['Dragoman: übersetzen', 'Dragoman : traduire', 'Dragoman: traducir'],
  'Pages': ['Seiten', 'Pages', 'Páginas'],
  'From': ['Von', 'De', 'De'],
  'To': ['Nach', 'Vers', 'A'],
  'Loading…': ['Wird geladen …', 'Chargement…', 'Cargando…'],
  'Swap languages and texts': ['Sprachen und Texte tauschen', 'Échanger langues et textes', 'Intercambiar idiomas y textos'],
  'Search {0} languages': ['{0} Sprachen durchsuchen', 'Chercher parmi {0} langues', 'Buscar entre {0} idiomas'],
  'Find the language of the text': ['Sprache des Textes suchen', 'Chercher la langue du texte', 'Buscar el idioma del texto'],
  'Find the language to translate into': ['Zielsprache suchen', 'Chercher la langue cible', 'Buscar el idioma de destino'],
  'Recent': ['Zuletzt', 'Récentes', 'Recientes'],
  'All': ['Alle', 'Toutes', 'Todos'],
  'Any language': ['Beliebige Sprache', 'Toute langue', 'Cualquier idioma'],
  'Detect': ['Erkennen', 'Détecter', 'Detectar'],
  '{0} (detected)': ['{0} (erkannt)', '{0} (détecté)', '{0} (detectado)'],
  '{0} (a guess)': ['{0} (vermutet)', '{0} (supposé)', '{0} (supuesto)'],
  'Text': ['Text', 'Texte', 'Texto'],
  'Type or paste a text': ['Text eingeben oder einfügen', 'Saisissez ou collez un texte', 'Escriba o pegue un texto'],
  'Try again': ['Noch einmal', 'Réessayer', 'Reintentar'],
  'Tags stay where they belong; only the text between them is translated': [
    'Tags bleiben, wo sie hingehören; nur der Text dazwischen wird übersetzt',
    'Les balises restent à leur place ; seul le texte entre elles est traduit',
    'Las etiquetas quedan en su sitio; solo se traduce el texto entre ellas'],
  'File': ['Datei', 'Fichier', 'Archivo'],
  'Translate a file, which may also be dropped on the page: {0}': [
    'Eine Datei übersetzen; sie kann auch auf die Seite gezogen werden: {0}',
    'Traduire un fichier, que l’on peut aussi déposer sur la page : {0}',
    'Traducir un archivo, que también se puede soltar en la página: {0}'],
  'Files, too, chosen or dropped here: {0} and others': [
    'Auch Dateien, gewählt oder hierher gezogen: {0} und andere', 'Des fichiers aussi, choisis ou déposés ici : {0} et autres',
    'También archivos, elegidos o soltados aquí: {0} y otros'],
  'Drop the file to translate it': ['Datei loslassen, um sie zu übersetzen', 'Déposez le fichier pour le traduire', 'Suelte el archivo para traducirlo'],
  'File to translate': ['Zu übersetzende Datei', 'Fichier à traduire', 'Archivo que traducir'],
  'Clear': ['Löschen', 'Effacer', 'Borrar'],
  ' characters': [' Zeichen', ' caractères', ' caracteres'],
  '{0} of {1}': ['{0} von {1}', '{0} sur {1}', '{0} de {1}'],
  'Translation': ['Übersetzung', 'Traduction', 'Traducción'],
  'The arrow keys move from word to word and mark where each came from. Enter, or a click, shows what could stand there instead.': [
    'Die Pfeiltasten gehen von Wort zu Wort und zeigen, woher jedes kommt. Eingabe oder ein Klick zeigt, was stattdessen stehen könnte.',
    'Les flèches vont de mot en mot et montrent d’où vient chacun. Entrée, ou un clic, montre ce qui pourrait être à sa place.',
    'Las flechas van de palabra en palabra y marcan de dónde viene cada una. Intro, o un clic, muestra qué podría estar en su lugar.'],
  'Underlines the words of which the model is least sure': [
    'Unterstreicht die Wörter, bei denen das Modell am unsichersten ist', 'Souligne les mots dont le modèle est le moins sûr',
    'Subraya las palabras de las que el modelo está menos seguro'],
  'Doubtful': ['Zweifelhafte', 'Mots', 'Palabras'],
  ' words': [' Wörter', ' douteux', ' dudosas'],
  'Teaches the translation memory a better translation': [
    'Lehrt den Übersetzungsspeicher eine bessere Übersetzung', 'Apprend une meilleure traduction à la mémoire', 'Enseña a la memoria una traducción mejor'],
  'Correct': ['Verbessern', 'Corriger', 'Corregir'],
  'Copy': ['Kopieren', 'Copier', 'Copiar'],
  'Copied': ['Kopiert', 'Copié', 'Copiado'],
  'Not copied': ['Nicht kopiert', 'Non copié', 'No copiado'],
  'Share': ['Teilen', 'Partager', 'Compartir'],
  'The address of this page with the languages and the text': [
    'Die Adresse dieser Seite mit den Sprachen und dem Text', 'L’adresse de cette page avec les langues et le texte',
    'La dirección de esta página con los idiomas y el texto'],
  'Link copied': ['Link kopiert', 'Lien copié', 'Enlace copiado'],
  'Save': ['Speichern', 'Enregistrer', 'Guardar'],
  'Save {0}': ['{0} speichern', 'Enregistrer {0}', 'Guardar {0}'],
  'The translation as a file': ['Die Übersetzung als Datei', 'La traduction dans un fichier', 'La traducción como archivo'],
  'Learn': ['Lernen', 'Apprendre', 'Aprender'],
  'Cancel': ['Abbrechen', 'Annuler', 'Cancelar'],
  'Close': ['Schließen', 'Fermer', 'Cerrar'],
  'Translation of: {0}': ['Übersetzung von: {0}', 'Traduction de : {0}', 'Traducción de: {0}'],
  'Nothing was changed.': ['Nichts wurde geändert.', 'Rien n’a été modifié.', 'No se cambió nada.'],
  'Not learned: {0}': ['Nicht gelernt: {0}', 'Non appris : {0}', 'No aprendido: {0}'],
  'Progress': ['Fortschritt', 'Progression', 'Progreso'],
  '{0} left': ['noch {0}', 'encore {0}', 'faltan {0}'],
  '{0} passages translated': ['{0} Abschnitte übersetzt', '{0} passages traduits', '{0} pasajes traducidos'],
  '{0} of them doubtful': ['davon {0} zweifelhaft', 'dont {0} douteux', '{0} de ellos dudosos'],
  'This server requires a token': ['Dieser Server verlangt ein Token', 'Ce serveur exige un jeton', 'Este servidor exige un token'],
  'The server does not know this token': ['Der Server kennt dieses Token nicht', 'Le serveur ne connaît pas ce jeton', 'El servidor no conoce este token'],
  'Use it': ['Verwenden', 'L’utiliser', 'Usarlo'],
  'Alternatives': ['Alternativen', 'Alternatives', 'Alternativas'],
  'probability of a token on average': ['Wahrscheinlichkeit eines Tokens im Mittel', 'probabilité moyenne d’un token', 'probabilidad media de un token'],
  'Instead of “{0}”': ['Statt „{0}“', 'Au lieu de « {0} »', 'En lugar de «{0}»'],
  'Nothing else fits here.': ['Nichts anderes passt hier.', 'Rien d’autre ne convient ici.', 'Aquí no encaja nada más.'],
  'As you chose': ['Wie Sie gewählt haben', 'Comme vous l’avez choisi', 'Como usted eligió'],
  'Options': ['Optionen', 'Options', 'Opciones'],
  'Model ': ['Modell ', 'Modèle ', 'Modelo '],
  'Alternatives ': ['Alternativen ', 'Alternatives ', 'Alternativas '],
  'Memory ': ['Speicher ', 'Mémoire ', 'Memoria '],
  'Glossary ': ['Glossar ', 'Glossaire ', 'Glosario '],
  'none': ['keine', 'aucun', 'ninguno'],
  'the best one': ['das beste', 'le meilleur', 'el mejor'],
  'two, through {0}': ['zwei, über {0}', 'deux, par {0}', 'dos, por {0}'],
  'What each word attends to': ['Worauf jedes Wort achtet', 'À quoi chaque mot fait attention', 'A qué atiende cada palabra'],
  'Columns are {0}, rows {1}; the darker, the more attention. Point at a cell, or move with the arrow keys.': [
    'Spalten sind {0}, Zeilen {1}; je dunkler, desto mehr Aufmerksamkeit. Zeigen Sie auf ein Feld, oder nehmen Sie die Pfeiltasten.',
    'Les colonnes sont {0}, les lignes {1} ; plus c’est foncé, plus il y a d’attention. Pointez une case, ou prenez les flèches.',
    'Las columnas son {0}, las filas {1}; cuanto más oscuro, más atención. Señale una celda o use las flechas.'],
  'the source': ['der Ausgangstext', 'le texte source', 'el texto de origen'],
  'the source again': ['wieder der Ausgangstext', 'encore le texte source', 'otra vez el texto de origen'],
  'the translation': ['die Übersetzung', 'la traduction', 'la traducción'],
  'what was translated before': ['was davor übersetzt war', 'ce qui était traduit avant', 'lo traducido antes'],
  'The picture is drawn for texts of up to 4,000 characters.': [
    'Das Bild wird für Texte von bis zu 4000 Zeichen gezeichnet.', 'L’image est dessinée pour des textes de 4 000 caractères au plus.',
    'La imagen se dibuja para textos de hasta 4000 caracteres.'],
  'Previous sentence': ['Voriger Satz', 'Phrase précédente', 'Frase anterior'],
  'Next sentence': ['Nächster Satz', 'Phrase suivante', 'Frase siguiente'],
  'Sentence {0} of {1}': ['Satz {0} von {1}', 'Phrase {0} sur {1}', 'Frase {0} de {1}'],
  'Attention ': ['Aufmerksamkeit ', 'Attention ', 'Atención '],
  'as words are aligned': ['wie die Wörter sich entsprechen', 'telle que les mots s’alignent', 'tal como se alinean las palabras'],
  'of a head, to the source': ['eines Kopfes, zum Ausgangstext', 'd’une tête, vers la source', 'de una cabeza, al origen'],
  'of a head, within the source': ['eines Kopfes, im Ausgangstext', 'd’une tête, dans la source', 'de una cabeza, en el origen'],
  'of a head, within the translation': ['eines Kopfes, in der Übersetzung', 'd’une tête, dans la traduction', 'de una cabeza, en la traducción'],
  'Layer ': ['Schicht ', 'Couche ', 'Capa '],
  'Head ': ['Kopf ', 'Tête ', 'Cabeza '],
  'all': ['alle', 'toutes', 'todas'],
  'Language tags and ends': ['Sprachmarken und Satzenden', 'Marques de langue et fins', 'Marcas de idioma y finales'],
  'Attention of each row’s token to each column’s token; arrow keys move': [
    'Aufmerksamkeit des Tokens jeder Zeile für das jeder Spalte; Pfeiltasten bewegen',
    'Attention du token de chaque ligne à celui de chaque colonne ; les flèches déplacent',
    'Atención del token de cada fila al de cada columna; las flechas mueven'],
  'What could have come there': ['Was dort hätte stehen können', 'Ce qui aurait pu venir là', 'Lo que podría haber ido ahí'],
  '“{0}” gives {1} of its attention to “{2}”.': [
    '„{0}“ gibt „{2}“ {1} seiner Aufmerksamkeit.', '« {0} » donne {1} de son attention à « {2} ».', '«{0}» da {1} de su atención a «{2}».'],
  ' Of the heads: {0}.': [' Die Köpfe: {0}.', ' Par tête : {0}.', ' Por cabeza: {0}.'],
  'start': ['Anfang', 'début', 'inicio'],
  'end': ['Ende', 'fin', 'fin'],
  'Where the time went': ['Wohin die Zeit ging', 'Où est passé le temps', 'En qué se fue el tiempo'],
  'in the server': ['im Server', 'dans le serveur', 'en el servidor'],
  'tokens a second': ['Tokens je Sekunde', 'tokens par seconde', 'tokens por segundo'],
  'model': ['Modell', 'modèle', 'modelo'],
  'arithmetic': ['Arithmetik', 'arithmétique', 'aritmética'],
  'model version {0}': ['Modellversion {0}', 'version du modèle {0}', 'versión del modelo {0}'],
  'The same from your program': ['Dasselbe aus Ihrem Programm', 'La même chose depuis votre programme', 'Lo mismo desde su programa'],
  'Tool': ['Werkzeug', 'Outil', 'Herramienta'],
  'Translating…': ['Wird übersetzt …', 'Traduction…', 'Traduciendo…'],
  'Translated in {0}': ['In {0} übersetzt', 'Traduit en {0}', 'Traducido en {0}'],
  'Nothing in this text was translated': ['In diesem Text wurde nichts übersetzt', 'Rien n’a été traduit dans ce texte', 'No se tradujo nada de este texto'],
  'The model found no words for this text': ['Das Modell fand keine Worte für diesen Text', 'Le modèle n’a pas trouvé de mots', 'El modelo no encontró palabras'],
  'This is {0} already. ': ['Das ist schon {0}. ', 'C’est déjà en {0}. ', 'Esto ya está en {0}. '],
  'Translate it into ': ['Übersetzen in ', 'Traduire en ', 'Traducir a '],
  '{0} sure': ['zu {0} sicher', 'sûr à {0}', 'seguro al {0}'],
  '{0}: from the glossary': ['{0}: aus dem Glossar', '{0} : du glossaire', '{0}: del glosario'],
  'Not as the glossary has it: {0}': ['Nicht wie im Glossar: {0}', 'Pas comme dans le glossaire : {0}', 'No como en el glosario: {0}'],
  'This server has no models.': ['Dieser Server hat keine Modelle.', 'Ce serveur n’a pas de modèles.', 'Este servidor no tiene modelos.'],
  '{0} is a toy: a small model of {1} tokens for short everyday sentences. It shows the server at work. For real texts fetch a real model by ': [
    '{0} ist ein Spielzeug: ein kleines Modell mit {1} Tokens für kurze Alltagssätze. Es zeigt den Server bei der Arbeit. Ein echtes Modell holt ',
    '{0} est un jouet : un petit modèle de {1} tokens pour des phrases courtes. Il montre le serveur au travail. Pour un vrai modèle : ',
    '{0} es un juguete: un modelo pequeño de {1} tokens para frases cortas. Muestra el servidor en acción. Para un modelo de verdad: '],
  'The text is too long: at most {0} characters are translated at once. Shorten it, or translate it in parts.': [
    'Der Text ist zu lang: höchstens {0} Zeichen werden auf einmal übersetzt. Kürzen Sie ihn, oder übersetzen Sie ihn in Teilen.',
    'Le texte est trop long : au plus {0} caractères à la fois. Raccourcissez-le, ou traduisez-le par parties.',
    'El texto es demasiado largo: como máximo {0} caracteres a la vez. Acórtelo, o tradúzcalo por partes.'],
  'A sentence is too long for this model ({0} tokens, at most {1}). Divide it by a full stop or a line break.': [
    'Ein Satz ist zu lang für dieses Modell ({0} Tokens, höchstens {1}). Teilen Sie ihn durch einen Punkt oder Zeilenumbruch.',
    'Une phrase est trop longue pour ce modèle ({0} tokens, au plus {1}). Coupez-la par un point ou un saut de ligne.',
    'Una frase es demasiado larga para este modelo ({0} tokens, como máximo {1}). Divídala con un punto o un salto de línea.'],
  'The text seems to be in {0}, which this server does not translate. If it is not, choose its language.': [
    'Der Text scheint {0} zu sein, was dieser Server nicht übersetzt. Wenn nicht, wählen Sie seine Sprache.',
    'Le texte semble être en {0}, que ce serveur ne traduit pas. Sinon, choisissez sa langue.',
    'El texto parece estar en {0}, que este servidor no traduce. Si no es así, elija su idioma.'],
  'This server does not translate from {0}.': ['Dieser Server übersetzt nicht aus: {0}.', 'Ce serveur ne traduit pas depuis : {0}.', 'Este servidor no traduce de: {0}.'],
  'This server does not translate into {0}.': ['Dieser Server übersetzt nicht in: {0}.', 'Ce serveur ne traduit pas vers : {0}.', 'Este servidor no traduce a: {0}.'],
  'This server does not translate {0} into {1}.': ['Dieser Server übersetzt nicht: {0} in {1}.', 'Ce serveur ne traduit pas : {0} vers {1}.', 'Este servidor no traduce: {0} a {1}.'],
  'The server is busy.': ['Der Server ist ausgelastet.', 'Le serveur est occupé.', 'El servidor está ocupado.'],
  'It took too long.': ['Es hat zu lange gedauert.', 'Cela a pris trop de temps.', 'Tardó demasiado.'],
  '{0} Trying again in {1} s.': ['{0} Nächster Versuch in {1} s.', '{0} Nouvel essai dans {1} s.', '{0} Nuevo intento en {1} s.'],
  'The server cannot be reached.': ['Der Server ist nicht zu erreichen.', 'Le serveur est injoignable.', 'No se puede acceder al servidor.'],
  'The connection was lost.': ['Die Verbindung ist abgebrochen.', 'La connexion a été perdue.', 'Se perdió la conexión.'],
  'Version {0}, Apache License 2.0': ['Version {0}, Apache License 2.0', 'Version {0}, licence Apache 2.0', 'Versión {0}, licencia Apache 2.0'],
  'How programs call this server': ['Wie Programme diesen Server aufrufen', 'Comment les programmes appellent ce serveur', 'Cómo llaman los programas a este servidor'],
};

const base = (tag) => tag.split('-')[0];
const wanted = navigator.languages.find((tag) => ['en', ...LANGUAGES].includes(base(tag))) ?? 'en';
const column = LANGUAGES.indexOf(base(wanted));

// How the page writes numbers, and names languages.
export const locale = column < 0 ? 'en' : wanted;
export const count = (number) => Number(number).toLocaleString(locale);

export function t(english, ...values) {
  const text = STRINGS[english]?.[column] ?? english;
  return text.replace(/\{(\d)\}/g, (_, place) => values[place]);
}

// Writes the texts and attributes of a document that are keys.
export function localize(root = document) {
  if (column < 0) return;
  root.documentElement.lang = base(locale);
  const walk = root.createTreeWalker(root, NodeFilter.SHOW_ALL);
  for (let node = walk.nextNode(); node; node = walk.nextNode()) {
    if (node.nodeType === Node.TEXT_NODE) node.data = t(node.data);
    for (const name of ['title', 'aria-label', 'placeholder']) {
      if (node.getAttribute?.(name)) node.setAttribute(name, t(node.getAttribute(name)));
    }
  }
}
