// Builds the body of an alert's deliveries [alerts.body].
import type { AlertBody } from "../contract/alerts.ts";
import type { AlertId } from "../contract/ids.ts";
import type { Alert } from "./alert.ts";

export function alertBody(
  id: AlertId,
  alert: Omit<Alert, "event" | "workspace"> & Pick<AlertBody, "event" | "workspace">,
): AlertBody {
  const { event, occurredAt, workspace, cause, summary, details } = alert;
  return {
    id,
    event,
    occurred_at: occurredAt.toISOString(),
    workspace,
    cause,
    summary,
    details,
    text: slackText(`Patchbay: ${summary}`),
  };
}

/** Slack reads `&`, `<` and `>` as markup: a model's name must not mention a channel. */
function slackText(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
