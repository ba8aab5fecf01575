// The context of a screen: its scope, address, reads and changes. A screen returns elements and is redrawn after changes.
import type { Outcome, Refused } from "../page/ask.ts";

export type Listener = "admin" | "public";

/** The scope of a screen: all workspaces or one, with the base path of its calls. */
export interface Scope {
  readonly listener: Listener;
  /** Slug or id. Null: the shared scope, which only the admin listener has. */
  readonly workspace: string | null;
  /** `/admin/v1`, `/admin/v1/workspaces/acme` or `/workspace/acme`. */
  readonly base: string;
}

export interface Change {
  readonly body?: unknown;
  /** ETag of the replaced object. */
  readonly ifMatch?: string | null;
  /** Only if the object does not exist yet. */
  readonly isFirst?: true;
  /** For operations that must happen once. */
  readonly idempotencyKey?: string;
}

export interface Answer<T> {
  readonly data: T;
  readonly etag: string | null;
}

export interface Visit {
  readonly scope: Scope;
  /** Id of the user's own key if it is a workspace's: revoking it ends the session. */
  readonly ownKey: string | null;
  /** Path of the address after the screen's name. */
  readonly path: readonly string[];
  /** The filters in the address. */
  readonly query: URLSearchParams;
  /** Aborts when another screen is drawn. */
  readonly signal: AbortSignal;
  /** GET relative to the scope's base. A failure ends the screen and is shown in its place. */
  read<T>(path: string): Promise<T>;
  /** Like `read`, with the ETag that a change must name. */
  readWithEtag<T>(path: string): Promise<Answer<T>>;
  /** GET in the shared scope. Null: the user has no access. */
  readPlatform<T>(path: string): Promise<T | null>;
  /** Relative to the scope's base. The caller shows failures. */
  ask<T>(method: "GET" | "POST" | "PUT" | "DELETE", path: string, change?: Change): Promise<Outcome<T>>;
  /** A link to a screen of this scope: `link("requests", [id])`. */
  link(screen: string, path?: readonly string[], query?: Readonly<Record<string, string>>): string;
  /** The same screen with other filters. */
  filter(query: URLSearchParams): void;
  go(href: string): void;
  /** Rereads and redraws the screen; the focus stays in its field. */
  redraw(): Promise<void>;
  /** Reloads the list of workspaces after one was created or removed. */
  placesChanged(): Promise<void>;
  /** Announces what was done, to screen readers too. */
  say(text: string): void;
}

export interface Screen {
  readonly name: string;
  readonly title: string;
  /** Its heading in the navigation. */
  readonly group: string;
  /** Where it exists: in the shared scope, in a workspace. */
  readonly scopes: readonly ("platform" | "workspace")[];
  /** Only on this listener. Default: both. */
  readonly listener?: Listener;
  readonly load: () => Promise<(visit: Visit) => Promise<readonly Node[]>>;
}

/** Whether the screen exists there. */
export function isIn({ scopes, listener }: Screen, target: Pick<Scope, "listener" | "workspace">): boolean {
  const where = target.workspace === null ? "platform" : "workspace";
  return scopes.includes(where) && (listener ?? target.listener) === target.listener;
}

export interface Page<T> {
  readonly data: readonly T[];
  readonly next_cursor: string | null;
}

/** Ends a screen after its essential read failed. */
export class Unanswered extends Error {
  readonly outcome: Refused;

  constructor(outcome: Refused) {
    super("unanswered");
    this.outcome = outcome;
  }
}
