// Parses and builds the page's hash address: workspace, screen, path and filters, so that every view can be linked.
export interface Address {
  /** Slug or id. Null: all workspaces. */
  readonly workspace: string | null;
  readonly screen: string;
  /** Path after the screen's name: `#/requests/req_…` has one part. */
  readonly path: readonly string[];
  readonly query: URLSearchParams;
}

export const HOME = "overview";
/** Path of the form for a new object. An object with this name is addressed by its id. */
export const NEW = "new";

/** `#/w/acme/requests/req_…`, `#/requests?outcome=failed`. Empty: the overview. */
export function addressIn(hash: string): Address {
  const [path = "", query = ""] = hash.replace(/^#/u, "").split("?", 2);
  const words = path.split("/").map(decoded);
  // A dot segment in the path of a call would leave the workspace.
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

/** A link to a screen of a workspace. Null: the shared scope. */
export function linkTo(
  workspace: string | null,
  screen: string,
  path: readonly string[] = [],
  query: Readonly<Record<string, string>> = {},
): string {
  return hashOf({ workspace, screen, path, query: new URLSearchParams(query) });
}

/** Changing filters does not change the place, so the keyboard focus stays. */
export const placeOf = ({ workspace, screen, path }: Address): string => JSON.stringify([workspace, screen, path]);

/** A malformed escape is kept unchanged. */
export function decoded(word: string): string {
  try {
    return decodeURIComponent(word);
  } catch {
    return word;
  }
}
