// Where somebody may want to go, by what they typed: a screen, a workspace, or what an id names. Nothing is asked of the gateway.
import { HOME, linkTo } from "./address.ts";
import type { Session } from "./session.ts";
import { isIn, type Listener, type Scope, type Screen } from "./visit.ts";

export interface Destination {
  readonly label: string;
  /** Which of several it is: the workspace that it is of. */
  readonly whose: string;
  readonly href: string;
}

const MOST = 9;

/** The screens on which what an id names can be seen; the others are on a list. */
const BY_ID: Readonly<Record<string, readonly [screen: string, what: string]>> = {
  req: ["requests", "Request"],
  job: ["jobs", "Job"],
};
const ID = /^(?<kind>[a-z]+)_[0-9a-hjkmnp-tv-z]{26}$/u;

/** The best first; with nothing typed the screens of the place where they are. */
export function destinationsFor(
  typed: string,
  session: Pick<Session, "workspaces" | "isOperator">,
  { listener, workspace: here }: Pick<Scope, "listener" | "workspace">,
  screens: readonly Screen[],
): readonly Destination[] {
  const text = typed.trim();
  // Whoever rules the platform may have the id of something that is not of the workspace where they are.
  const named = [...new Set(session.isOperator ? [here, null] : [here])].flatMap((place) => ofId(text, place));
  if (named.length > 0) return named;
  const places = [...(session.isOperator ? [null] : []), ...session.workspaces.map(({ slug }) => slug)];
  // One that was opened by its address may lie behind the workspaces that are known.
  const others = places.filter((place) => place !== here);
  const all = [here, ...(text === "" ? [] : others)].flatMap((place) => inPlace(place, listener, screens));
  const words = text.toLowerCase().split(/\s+/u);
  return all.filter(({ label, whose }) => isMeant(words, `${whose} ${label}`.toLowerCase())).slice(0, MOST);
}

function ofId(text: string, workspace: string | null): readonly Destination[] {
  const id = text.toLowerCase();
  const found = BY_ID[ID.exec(id)?.groups?.["kind"] ?? ""];
  if (found === undefined) return [];
  const [screen, what] = found;
  const href = screen === "jobs" ? linkTo(workspace, screen, [], { job: id }) : linkTo(workspace, screen, [id]);
  return [{ label: `${what} ${id}`, whose: whoseOf(workspace), href }];
}

function inPlace(workspace: string | null, listener: Listener, screens: readonly Screen[]): readonly Destination[] {
  const whose = whoseOf(workspace);
  return (
    screens
      .filter((screen) => isIn(screen, { listener, workspace }))
      // What a workspace's own name leads to first.
      .toSorted((one, other) => Number(other.name === HOME) - Number(one.name === HOME))
      .map(({ name, title }) => ({ label: title, whose, href: linkTo(workspace, name) }))
  );
}

const whoseOf = (workspace: string | null): string => workspace ?? "the whole platform";

/** Each word that was typed begins one of theirs. */
function isMeant(typed: readonly string[], text: string): boolean {
  const words = text.split(/[\s-]+/u);
  return typed.every((each) => text.startsWith(each) || words.some((word) => word.startsWith(each)));
}
