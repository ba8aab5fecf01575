// Finds destinations for a typed text without calling the gateway: a screen, a workspace, or the object with an id.
import { HOME, linkTo } from "./address.ts";
import type { Session } from "./session.ts";
import { isIn, type Listener, type Scope, type Screen } from "./visit.ts";

export interface Destination {
  readonly label: string;
  /** The workspace that distinguishes destinations of the same name. */
  readonly owner: string;
  readonly href: string;
}

const MOST = 9;

/** Screens that can show an object by its id; others appear in lists only. */
const BY_ID: Readonly<Record<string, readonly [screen: string, what: string]>> = {
  req: ["requests", "Request"],
  job: ["jobs", "Job"],
};
const ID = /^(?<kind>[a-z]+)_[0-9a-hjkmnp-tv-z]{26}$/u;

/** Best match first. Without a text: the screens of the current workspace. */
export function destinationsFor(
  typed: string,
  session: Pick<Session, "workspaces" | "isOperator">,
  { listener, workspace: here }: Pick<Scope, "listener" | "workspace">,
  screens: readonly Screen[],
): readonly Destination[] {
  const text = typed.trim();
  // The operator may have the id of an object outside the current workspace.
  const matches = [...new Set(session.isOperator ? [here, null] : [here])].flatMap((place) => ofId(text, place));
  if (matches.length > 0) return matches;
  const places = [...(session.isOperator ? [null] : []), ...session.workspaces.map(({ slug }) => slug)];
  // A workspace opened by its address may be missing from the list of known ones.
  const others = places.filter((place) => place !== here);
  const all = [here, ...(text === "" ? [] : others)].flatMap((place) => inPlace(place, listener, screens));
  const words = text.toLowerCase().split(/\s+/u);
  return all.filter(({ label, owner }) => isMeant(words, `${owner} ${label}`.toLowerCase())).slice(0, MOST);
}

function ofId(text: string, workspace: string | null): readonly Destination[] {
  const id = text.toLowerCase();
  const found = BY_ID[ID.exec(id)?.groups?.["kind"] ?? ""];
  if (found === undefined) return [];
  const [screen, what] = found;
  const href = screen === "jobs" ? linkTo(workspace, screen, [], { job: id }) : linkTo(workspace, screen, [id]);
  return [{ label: `${what} ${id}`, owner: whoseOf(workspace), href }];
}

function inPlace(workspace: string | null, listener: Listener, screens: readonly Screen[]): readonly Destination[] {
  const owner = whoseOf(workspace);
  return (
    screens
      .filter((screen) => isIn(screen, { listener, workspace }))
      // A workspace's name leads to its overview first.
      .toSorted((one, other) => Number(other.name === HOME) - Number(one.name === HOME))
      .map(({ name, title }) => ({ label: title, owner, href: linkTo(workspace, name) }))
  );
}

const whoseOf = (workspace: string | null): string => workspace ?? "all workspaces";

/** Each typed word is a prefix of a word of the text. */
function isMeant(typed: readonly string[], text: string): boolean {
  const words = text.split(/[\s-]+/u);
  return typed.every((each) => text.startsWith(each) || words.some((word) => word.startsWith(each)));
}
