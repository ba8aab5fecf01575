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

/** Of pairs that wait for the next look. */
const MAX_PAIRS = 1_000;
/** The answered name is a provider's text. */
const MAX_MODEL_CHARACTERS = 200;

interface Counted {
  readonly first: Substitution;
  readonly calls: number;
  readonly latestMs: number;
}

export function createSubstitutionSource(nowMs: () => number): SubstitutionSource {
  let pairs = new Map<string, Counted>();
  return {
    observe: (seen) => {
      // Test keys do not alert: their calls are simulated.
      if (seen.testMode) return;
      const cause = causeOf(seen);
      const known = pairs.get(cause);
      if (known === undefined && pairs.size >= MAX_PAIRS) return;
      pairs.set(cause, { first: known?.first ?? seen, calls: (known?.calls ?? 0) + 1, latestMs: nowMs() });
    },
    read: async (workspacesOf) => {
      const seen = pairs;
      pairs = new Map();
      if (seen.size === 0) return [];
      const workspaces = await workspacesOf([...new Set([...seen.values()].map(({ first }) => first.workspaceId))]);
      return [...seen].map(([cause, counted]) => describe(cause, counted, workspaces));
    },
  };
}

/** By the account: a shared one, whichever workspace called, or a workspace's own. */
function causeOf({ connection, isWorkspaceOwned, workspaceId, asked, answered }: Substitution): string {
  const account = isWorkspaceOwned ? `${workspaceId}/${connection}` : connection;
  return `model_substitution/${account}/${asked}/${answered.slice(0, MAX_MODEL_CHARACTERS)}`;
}

function describe(
  cause: string,
  { first, calls, latestMs }: Counted,
  workspaces: ReadonlyMap<string, AlertWorkspace>,
): Alert {
  const { connection, asked, workspaceId, isRefused } = first;
  const answered = first.answered.slice(0, MAX_MODEL_CHARACTERS);
  const consequence = isRefused ? " The answer was withheld." : "";
  return {
    event: "model_substitution",
    cause,
    workspace: workspaces.get(workspaceId) ?? null,
    summary: `${connection} answered ${asked} with ${answered}.${consequence}`,
    details: { connection, asked_model: asked, answered_model: answered, withheld: isRefused, calls },
    occurredAt: new Date(latestMs),
  };
}
