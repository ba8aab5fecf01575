// What the page's address says behind its #: a workspace or none, a screen, what of it, and its filters. So every view has a link.
export interface Address {
  /** Slug or id; null: the whole platform. */
  readonly workspace: string | null;
  readonly screen: string;
  /** What stands behind the screen's name: `#/requests/req_…` has one. */
  readonly path: readonly string[];
  readonly query: URLSearchParams;
}

export const HOME = "overview";
/** Behind a screen's name: where one is made. What has this name goes by its id. */
export const NEW = "new";

/** `#/w/acme/requests/req_…`, `#/requests?outcome=failed`; nothing at all is the overview. */
export function addressIn(hash: string): Address {
  const [path = "", query = ""] = hash.replace(/^#/u, "").split("?", 2);
  const words = path.split("/").map(decoded);
  // In the path of a call a dot segment would lead out of the workspace that the page names.
  const parts = words.filter((word) => !/^\.{0,2}$/u.test(word));
  const workspace = parts[0] === "w" && parts[1] !== undefined ? parts[1] : null;
  const [screen = HOME, ...rest] = workspace === null ? parts : parts.slice(2);
  return { workspace, screen, path: rest, query: new URLSearchParams(query) };
}

export function hashOf({ workspace, screen, path, query }: Address): string {
  const words = workspace === null ? [screen, ...path] : ["w", workspace, screen, ...path];
  const filters = new URLSearchParams([...query].filter(([, value]) => value !== "")).toString();
  return `#/${words.map(encodeURIComponent).join("/")}${filters === "" ? "" : `?${filters}`}`;
}

/** A link from anywhere to a screen of a workspace; null: of the platform. */
export function linkTo(
  workspace: string | null,
  screen: string,
  path: readonly string[] = [],
  query: Readonly<Record<string, string>> = {},
): string {
  return hashOf({ workspace, screen, path, query: new URLSearchParams(query) });
}

/** Filters that change are the same place: whoever stands in one stays there. */
export const placeOf = ({ workspace, screen, path }: Address): string => JSON.stringify([workspace, screen, path]);

/** What a hand broke stays as it is. */
export function decoded(word: string): string {
  try {
    return decodeURIComponent(word);
  } catch {
    return word;
  }
}
