// The name of a route's target wherever requests are shown.
import type { RecordedCandidateView } from "../contract/requests.ts";

type Target = Pick<RecordedCandidateView, "position" | "connection" | "provider" | "model">;

/** Without the scope `routing:read` a target is a number. */
export function targetName({ position, connection, provider, model }: Target): string {
  return connection === undefined
    ? `target ${position}`
    : `${position}. ${connection}: ${provider ?? ""} ${model ?? ""}`;
}
