// The language itself of a BCP-47 tag, without script and region.
export function primarySubtag(tag: string): string {
  return (tag.split("-")[0] ?? tag).toLowerCase();
}
