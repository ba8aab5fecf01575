// The language itself of a BCP-47 tag, without script and region.

/** Bokmål is what every list of languages means by Norwegian, and what telephones and browsers call it. */
const OTHER_NAMES: Readonly<Record<string, string>> = { nb: "no" };

export function primarySubtag(tag: string): string {
  const language = (tag.split("-")[0] ?? tag).toLowerCase();
  return OTHER_NAMES[language] ?? language;
}
