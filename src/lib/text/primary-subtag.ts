// The primary language of a BCP-47 tag, without script and region.

/** Providers list Norwegian as `no`. Phones and browsers send Bokmål, `nb`. */
const OTHER_NAMES: Readonly<Record<string, string>> = { nb: "no" };

export function primarySubtag(tag: string): string {
  const language = (tag.split("-")[0] ?? tag).toLowerCase();
  return OTHER_NAMES[language] ?? language;
}
