// Whisper's languages: ISO 639-1 codes and the English names in its answers.

const NAMES =
  `af afrikaans ar arabic hy armenian az azerbaijani be belarusian bs bosnian bg bulgarian ca catalan zh chinese
  hr croatian cs czech da danish nl dutch en english et estonian fi finnish fr french gl galician de german el greek he hebrew
  hi hindi hu hungarian is icelandic id indonesian it italian ja japanese kn kannada kk kazakh ko korean lv latvian lt lithuanian
  mk macedonian ms malay mr marathi mi maori ne nepali no norwegian fa persian pl polish pt portuguese ro romanian ru russian
  sr serbian sk slovak sl slovenian es spanish sw swahili sv swedish tl tagalog ta tamil th thai tr turkish uk ukrainian ur urdu
  vi vietnamese cy welsh am amharic as assamese ba bashkir eu basque bn bengali bo tibetan br breton fo faroese gu gujarati
  ha hausa ht haitian_creole jw javanese ka georgian km khmer la latin lb luxembourgish ln lingala lo lao mg malagasy
  ml malayalam mn mongolian mt maltese my myanmar nn nynorsk oc occitan pa punjabi ps pashto sa sanskrit sd sindhi si sinhala
  sn shona so somali sq albanian su sundanese te telugu tg tajik tk turkmen tt tatar uz uzbek yi yiddish yo yoruba`.split(
    /\s+/,
  );

const NAME_OF = new Map<string, string>();
for (let index = 0; index + 1 < NAMES.length; index += 2)
  NAME_OF.set(NAMES[index] ?? "", (NAMES[index + 1] ?? "").replaceAll("_", " "));

export const isLanguageCode = (code: string): boolean => NAME_OF.has(code);
export const languageName = (code: string): string => NAME_OF.get(code) ?? code;
