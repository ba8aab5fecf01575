// Refuses new targets whose model has ended or ends soon, by its provider's own evidence, unless the change confirms it [routing.ending-confirmed].
import type { SetUpScope } from "../../config/check-route.ts";
import { knownLife } from "../../config/known-models.ts";
import { text } from "../../config/raw-data.ts";
import { GatewayError } from "../../contract/errors.ts";
import { isKind } from "../../contract/provider-kinds.ts";
import { withListedEnd } from "../../directory/listed-end.ts";
import type { DirectoryScope } from "../../directory/snapshot.ts";
import { ownProperty } from "../../lib/json/own-property.ts";
import { nearEnd, NEAR_END_DAYS, nearEndText } from "../../providers/life-status.ts";
import type { SetUpServices } from "../set-up-scope.ts";

interface Targets {
  readonly targets: readonly { readonly connection: string; readonly model: string }[];
}

export function refuseEnding(
  { directory, modelClock }: Pick<SetUpServices, "directory" | "modelClock">,
  scope: DirectoryScope,
  connections: SetUpScope["connections"],
  { targets }: Targets,
): void {
  const nowMs = modelClock().getTime();
  const accounts = new Map(
    directory()
      .accountsOf(scope)
      .map(({ account }) => [account.connection, account]),
  );
  const ending = targets.flatMap(({ connection, model }, index) => {
    // By the change's own transaction: the snapshot of this process may not have the connection yet.
    const kind = text(connections.get(connection)?.value, "kind");
    const listed = ownProperty(accounts.get(connection)?.listedEnds ?? {}, model);
    const life = kind === undefined || !isKind(kind) ? undefined : knownLife(kind, model);
    const end = nearEnd(withListedEnd(life, listed), nowMs);
    // Second-hand evidence is shown in lists of models and is no reason to refuse.
    return end === null || end.evidence !== "vendor" ? [] : [{ position: index + 1, connection, model, end }];
  });
  if (ending.length === 0) return;
  const ends = ending.map(({ connection, model, end }) => nearEndText(`${connection}/${model}`, end)).join("; ");
  throw new GatewayError("CONFLICT", {
    message: `A target has a model that has ended or ends in fewer than ${NEAR_END_DAYS} days: ${ends}. Choose another model, or send \`confirm_ending: true\`.`,
    param: "targets",
    details: {
      reason: "model_ending",
      targets: ending.map(({ position, connection, model, end }) => ({
        position,
        connection,
        model,
        ends_on: end.date,
        source: end.source,
        replaced_by: end.replacedBy.map(({ model: name, lacks }) => ({ model: name, lacks: [...lacks] })),
      })),
    },
  });
}
