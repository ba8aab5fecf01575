// The words that the gateway masks if a model has no profanity filter. One list for all languages, because the language of a transcript is often unknown: words
// that are harmless in another language are excluded, such as "con", "fick" and "slut".

const WORDS: Readonly<Record<string, string>> = {
  en: `arsehole arseholes asshole assholes bastard bastards bitch bitches bitching bullshit clusterfuck cocksucker cocksuckers cunt cunts
    dickhead dickheads dipshit dumbass fuck fucked fucker fuckers fuckin fucking fucks fuckup goddamn horseshit jackass motherfucker
    motherfuckers motherfucking piss pissed pissing pussies pussy shit shithead shitheads shits shitting shitty twat twats
    wank wanker wankers wanking whore whores`,
  de: `arschloch arschlöcher arschlöchern beschissen beschissene beschissener beschissenes drecksau ficken ficker fickt fotze fotzen
    hurensohn hurensöhne miststück scheiss scheisse scheissegal scheiß scheiße scheißegal schlampe schlampen verfickt verfickte wichser`,
  es: `cabrón cabrones chingada chingar coño cojones gilipollas hijoputa hijueputa joder jodido jodida maricón mierda pendejo pendejos
    pinche puta putas puto putos`,
  fr: `connard connards connasse connasses enculé enculés foutre merde merdes merdique nique niquer pétasse putain putains salaud
    salauds salope salopes`,
  it: `cazzo cazzi cazzata coglione coglioni fanculo minchia puttana puttane stronza stronze stronzi stronzo vaffanculo`,
  nl: `godverdomme hoer hoeren klootzak klootzakken kutwijf lul neuken`,
  pt: `boceta buceta caralho cacete filhadaputa foda fodase merda merdas porra putaria viado`,
};

export const PROFANITIES: ReadonlySet<string> = new Set(
  Object.values(WORDS).flatMap((words) => words.trim().split(/\s+/u)),
);
