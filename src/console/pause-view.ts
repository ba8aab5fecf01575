// Shows manual pauses, with end, author and reason, and a button to resume.
import type { PauseView, Resumption } from "../contract/admin/pauses.ts";
import { element, table } from "../page/element.ts";
import { actionView } from "./action-view.ts";
import { linkTo } from "./address.ts";
import { connectionPath } from "./connection-kinds.ts";
import { type Names, NO_NAMES } from "./names.ts";
import { tag } from "./owner-view.ts";
import type { Visit } from "./visit.ts";
import { link, orNone, timeView } from "./words.ts";

/** The owner of the account and the connection; a null model means all models. */
export type Place = Pick<PauseView, "workspace_id" | "connection" | "model">;

export const placeText = ({ connection, model }: Place): string =>
  model === null ? `all of ${connection}` : `${model} on ${connection}`;

/** Path in the current scope or, in the shared scope, of the workspace that owns the account. */
export function placePath({ scope }: Visit, { workspace_id: owner, connection }: Place): string {
  const of = scope.workspace === null && owner !== null ? `/workspaces/${owner}` : "";
  return of + connectionPath(connection);
}

export function pausedBy(pauses: readonly PauseView[], place: Place): PauseView | undefined {
  return pauses.find(
    ({ workspace_id: owner, connection, model }) =>
      owner === place.workspace_id && connection === place.connection && (model === null || model === place.model),
  );
}

const HEADS = ["Model", "Until", "Reason", "Created", "Change"];

export function pausesTable(visit: Visit, pauses: readonly PauseView[], owners: Names = NO_NAMES): Node {
  const rows = pauses.map((pause) => [
    element(
      "div",
      {},
      link(linkTo(visit.scope.workspace ?? pause.workspace_id, "connections", [pause.connection]), pause.connection),
      pause.model === null ? ": all models" : `: ${pause.model}`,
      ...(visit.scope.workspace !== null || pause.workspace_id === null
        ? []
        : [tag(`of ${owners.of(pause.workspace_id)}`)]),
    ),
    timeView(pause.until),
    orNone(pause.reason),
    element("div", {}, timeView(pause.created_at), " ", element("code", {}, pause.created_by)),
    resumeButton(visit, pause, `Every process calls ${placeText(pause)} again from now on.`),
  ]);
  return table("Manual pauses on all processes", HEADS, rows);
}

/** `what`: the effect. Circuits that are open after failures are closed too. */
export function resumeButton(visit: Visit, place: Place, what: string): HTMLElement {
  const { connection, model } = place;
  return actionView({
    label: "Resume",
    name: `Resume ${placeText(place)}`,
    tone: "plain",
    title: `Resume ${placeText(place)}?`,
    what,
    run: () => visit.ask<Resumption>("POST", `${placePath(visit, place)}/resume`, { body: { model } }),
    done: async ({ still_paused: left }) => {
      visit.say(`${placeText(place)} ${left.length === 0 ? "resumed" : `remains paused, with all of ${connection}`}.`);
      await visit.redraw();
    },
  });
}
