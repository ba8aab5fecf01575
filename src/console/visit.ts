// What a screen is given, and what it gives: it reads, and answers with elements. Drawn anew when something changed.
import type { Outcome, Refused } from "../page/ask.ts";

export type Listener = "admin" | "public";

/** Where a screen stands: the whole platform or one workspace, and what its calls begin with. */
export interface Scope {
  readonly listener: Listener;
  /** Slug or id; null: the platform, which the admin listener alone has. */
  readonly workspace: string | null;
  /** `/admin/v1`, `/admin/v1/workspaces/acme` or `/workspace/acme`. */
  readonly base: string;
}

export interface Change {
  readonly body?: unknown;
  /** The ETag of what is replaced. */
  readonly ifMatch?: string | null;
  /** Only where there is nothing yet. */
  readonly isFirst?: true;
  /** What must be done once, however often it is sent. */
  readonly idempotencyKey?: string;
}

export interface Answer<T> {
  readonly data: T;
  readonly etag: string | null;
}

export interface Visit {
  readonly scope: Scope;
  /** Id of the key that sits here, where it is a workspace's own: whoever revokes it ends the visit. */
  readonly ownKey: string | null;
  /** What the address says behind the screen's name. */
  readonly path: readonly string[];
  /** The filters in the address. */
  readonly query: URLSearchParams;
  /** Ends when something else is drawn. */
  readonly signal: AbortSignal;
  /** GET below the scope's base. Where there is no answer the screen ends, and the failure is shown in its place. */
  read<T>(path: string): Promise<T>;
  /** As `read`, with the ETag that a change must name. */
  readWithEtag<T>(path: string): Promise<Answer<T>>;
  /** GET of the platform, whatever the scope; null: who sits here has none. */
  readPlatform<T>(path: string): Promise<T | null>;
  /** Below the scope's base. What went wrong is the asker's to show. */
  ask<T>(method: "GET" | "POST" | "PUT" | "DELETE", path: string, change?: Change): Promise<Outcome<T>>;
  /** A link to a screen of this scope: `link("requests", [id])`. */
  link(screen: string, path?: readonly string[], query?: Readonly<Record<string, string>>): string;
  /** The same screen with other filters. */
  filter(query: URLSearchParams): void;
  go(href: string): void;
  /** Reads and draws the screen anew; whoever stands in a field stays there. */
  redraw(): Promise<void>;
  /** Workspaces were made or removed: those that can be chosen are read anew. */
  placesChanged(): Promise<void>;
  /** Tells what was done, also to whoever does not see the screen. */
  say(text: string): void;
}

export interface Screen {
  readonly name: string;
  readonly title: string;
  /** Under which heading of the navigation it stands. */
  readonly group: string;
  /** Where it is: of the platform, of a workspace. */
  readonly scopes: readonly ("platform" | "workspace")[];
  /** Only where its endpoints are; both unless told. */
  readonly listener?: Listener;
  readonly load: () => Promise<(visit: Visit) => Promise<readonly Node[]>>;
}

/** Whether there is such a screen there. */
export function isIn({ scopes, listener }: Screen, there: Pick<Scope, "listener" | "workspace">): boolean {
  const where = there.workspace === null ? "platform" : "workspace";
  return scopes.includes(where) && (listener ?? there.listener) === there.listener;
}

export interface Page<T> {
  readonly data: readonly T[];
  readonly next_cursor: string | null;
}

/** Ends a screen: what it could not be drawn without was not answered. */
export class Unanswered extends Error {
  readonly outcome: Refused;

  constructor(outcome: Refused) {
    super("unanswered");
    this.outcome = outcome;
  }
}
