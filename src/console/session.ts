// The session: an API key, entered once and stored in this tab, and what it may administer on this listener.
import type { KeyDescription } from "../contract/account.ts";
import type { WorkspaceView } from "../contract/admin/workspaces.ts";
import { ask, type Refused } from "../page/ask.ts";
import { kept } from "../page/keep.ts";
import { decoded } from "./address.ts";
import type { Listener, Page, Scope } from "./visit.ts";

export type Place = Pick<WorkspaceView, "id" | "slug">;

export interface Session {
  readonly key: string;
  readonly who: string;
  /** Id of an administrator's key; operator keys are not listed. */
  readonly keyId: string | null;
  /** The selectable workspaces, in order. */
  readonly workspaces: readonly Place[];
  /** Whether the list is complete. */
  readonly areAll: boolean;
  /** Whether the shared scope is available, too. */
  readonly isOperator: boolean;
}

const KEPT = "patchbay.console-key";
/**
 * `#key=…` in a link from `patchbay console`. It is removed from the address at once, and a fragment is never sent to a server. For operator keys only: a
 * sender of such a link controls the gateway already, while an administrator's key could lure another user into a foreign workspace.
 */
const LINKED = /^#key=([\x21-\x7e]+)$/u;

/** Takes the key out of the address, even if it cannot sign in. */
export function linkedKey(listener: Listener): string | null {
  const [, linked] = LINKED.exec(location.hash) ?? [];
  if (linked === undefined) return null;
  history.replaceState(null, "", location.pathname);
  // A key chosen by the operator may contain characters that addresses escape.
  return listener === "admin" ? decoded(linked) : null;
}

export const keptKey = (): string | null => kept()?.getItem(KEPT) ?? null;

export function keep(key: string | null): void {
  if (key === null) kept()?.removeItem(KEPT);
  else kept()?.setItem(KEPT, key);
}

/** A text: the key is not valid here. */
type SignedIn = Session | Refused | string;

export function signIn(listener: Listener, key: string): Promise<SignedIn> {
  return listener === "admin" ? asOperator(key) : asAdministrator(key);
}

async function asOperator(key: string): Promise<SignedIn> {
  const outcome = await ask<Page<WorkspaceView>>("/admin/v1/workspaces?limit=100", key);
  if (!outcome.ok)
    return isForbidden(outcome)
      ? "This is not an operator key. Workspace administrators use the console on the gateway's public address."
      : outcome;
  const workspaces = outcome.data.data.toSorted(({ slug: one }, { slug: other }) => (one < other ? -1 : 1));
  const areAll = outcome.data.next_cursor === null;
  return { key, who: "Operator", keyId: null, workspaces, areAll, isOperator: true };
}

async function asAdministrator(key: string): Promise<SignedIn> {
  const outcome = await ask<KeyDescription>("/v1/me", key);
  if (!outcome.ok) return outcome;
  const { workspace, key: own } = outcome.data;
  if (own.role === "member")
    return `This key belongs to an app${outcome.data.app === null ? "" : ` (${outcome.data.app.name})`}, so it cannot sign in here. Use a key with the role admin, or open the playground.`;
  return { key, who: own.name, keyId: own.id, workspaces: [workspace], areAll: true, isOperator: false };
}

/** False if the gateway was unreachable or unavailable: the key may be valid. */
export const isNoKey = (signed: Refused | string): boolean =>
  typeof signed === "string" || (signed.failure.kind === "refused" && [401, 403].includes(signed.failure.status));

const isForbidden = ({ failure }: Refused): boolean => failure.kind === "refused" && failure.status === 403;

/** Null: this session can administer nothing there. */
export function scopeOf(listener: Listener, session: Session, workspace: string | null): Scope | null {
  if (workspace === null) return session.isOperator ? { listener, workspace, base: "/admin/v1" } : null;
  const below = `${listener === "admin" ? "/admin/v1/workspaces" : "/workspace"}/${encodeURIComponent(workspace)}`;
  return { listener, workspace, base: below };
}
