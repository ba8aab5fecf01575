// Reports answers of another model than the one that was asked for [alerts.model-substitution]. Observing only remembers the pair: no request waits for it.
import type { ModelSubstitution } from "../../gateway/calls/observer.ts";
import type { Alert, AlertWorkspace } from "../alert.ts";

/** What the observer of calls reports. */
export type Substitution = Pick<
  ModelSubstitution,
  "workspaceId" | "connection" | "isWorkspaceOwned" | "asked" | "answered" | "isRefused" | "testMode"
>;

export interface SubstitutionSource {
  readonly observe: (substitution: Substitution) => void;
  readonly read: (
    workspacesOf: (ids: readonly string[]) => Promise<ReadonlyMap<string, AlertWorkspace>>,
  ) => Promise<readonly Alert[]>;
}

/** Of asked models that wait for the next look. */
const MAX_CAUSES = 1_000;
/** The answered name is a provider's text. */
const MAX_MODEL_CHARACTERS = 200;

interface Counted {
  readonly first: Substitution;
  /** Further calls were answered by yet another model. */
  readonly hasOthers: boolean;
  readonly calls: number;
  readonly latestMs: number;
}

export function createSubstitutionSource(nowMs: () => number): SubstitutionSource {
  let counts = new Map<string, Counted>();
  return {
    observe: (seen) => {
      // Test keys do not alert: their calls are simulated.
      if (seen.testMode) return;
      const cause = causeOf(seen);
      const known = counts.get(cause);
      if (known === undefined && counts.size >= MAX_CAUSES) return;
      const first = known?.first ?? seen;
      counts.set(cause, {
        first,
        hasOthers: known?.hasOthers === true || first.answered !== seen.answered,
        calls: (known?.calls ?? 0) + 1,
        latestMs: nowMs(),
      });
    },
    read: async (workspacesOf) => {
      const seen = counts;
      counts = new Map();
      if (seen.size === 0) return [];
      const workspaces = await workspacesOf([...new Set([...seen.values()].map(({ first }) => first.workspaceId))]);
      return [...seen].map(([cause, counted]) => describe(cause, counted, workspaces));
    },
  };
}

/**
 * By the account: a shared one, whichever workspace called, or a workspace's own. Without the model that answered, because a server that invents a name for each
 * answer would send an alert for each call.
 */
function causeOf({ connection, isWorkspaceOwned, workspaceId, asked }: Substitution): string {
  const account = isWorkspaceOwned ? `${workspaceId}/${connection}` : connection;
  return `model_substitution/${account}/${asked}`;
}

function describe(
  cause: string,
  { first, hasOthers, calls, latestMs }: Counted,
  workspaces: ReadonlyMap<string, AlertWorkspace>,
): Alert {
  const { connection, asked, workspaceId, isRefused } = first;
  const answered = first.answered.slice(0, MAX_MODEL_CHARACTERS);
  const consequence = isRefused ? " The answer was withheld." : "";
  return {
    event: "model_substitution",
    cause,
    workspace: workspaces.get(workspaceId) ?? null,
    summary: `${connection} answered ${asked} with ${answered}${hasOthers ? " and other models" : ""}.${consequence}`,
    details: { connection, asked_model: asked, answered_model: answered, withheld: isRefused, calls },
    occurredAt: new Date(latestMs),
  };
}
